package wire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest wait that is believed. It only keeps nonsense
// from overflowing; a limit that resets in days is reported in days.
const MaxRetryAfter = 366 * 24 * time.Hour

// RetryAfter returns how long the provider asks to wait: zero if it does not
// say, says something unreadable, or names a time that has passed. Dates are
// read against the server's own clock where it gives one.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := number(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if d, ok := number(value, time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(value); err == nil {
		if date, err := http.ParseTime(h.Get("Date")); err == nil {
			now = date
		}
		return within(at.Sub(now))
	}
	return limitReset(h)
}

// number reads a count of units, which may have a fraction.
func number(s string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if math.IsNaN(f) || err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	if f >= float64(MaxRetryAfter)/float64(unit) {
		return MaxRetryAfter, true
	}
	return within(time.Duration(max(f, 0) * float64(unit))), true
}

func within(d time.Duration) time.Duration { return min(max(d, 0), MaxRetryAfter) }

// limitReset reads OpenAI's headers: the longest wait among the limits that are
// used up.
func limitReset(h http.Header) time.Duration {
	var wait time.Duration
	for _, what := range []string{"Requests", "Tokens"} {
		if h.Get("X-Ratelimit-Remaining-"+what) != "0" {
			continue
		}
		if d, err := time.ParseDuration(h.Get("X-Ratelimit-Reset-" + what)); err == nil {
			wait = max(wait, within(d))
		}
	}
	return wait
}
