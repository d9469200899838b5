package wire_test

import (
	"net/http"
	"testing"
	"time"

	"parley/provider/wire"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) string { return noon.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		name   string
		header map[string]string
		want   time.Duration
	}{
		{"nothing", nil, 0},
		{"seconds", map[string]string{"Retry-After": "17"}, 17 * time.Second},
		{"spaces", map[string]string{"Retry-After": " 17 "}, 17 * time.Second},
		{"fraction", map[string]string{"Retry-After": "1.5"}, 1500 * time.Millisecond},
		{"zero", map[string]string{"Retry-After": "0"}, 0},
		{"negative", map[string]string{"Retry-After": "-17"}, 0},
		{"three days", map[string]string{"Retry-After": "259200"}, 72 * time.Hour},
		{"absurd", map[string]string{"Retry-After": "99999999999999999999"}, wire.MaxRetryAfter},
		{"overflow", map[string]string{"Retry-After": "1e999"}, wire.MaxRetryAfter},
		{"no number", map[string]string{"Retry-After": "soon"}, 0},
		{"not a number", map[string]string{"Retry-After": "NaN"}, 0},
		{"date", map[string]string{"Retry-After": at(90 * time.Second)}, 90 * time.Second},
		{"date in three days", map[string]string{"Retry-After": at(72 * time.Hour)}, 72 * time.Hour},
		{"date that has passed", map[string]string{"Retry-After": at(-time.Hour)}, 0},
		{"the server's clock", map[string]string{"Retry-After": at(time.Hour), "Date": at(time.Hour - time.Minute)}, time.Minute},
		{"milliseconds first", map[string]string{"Retry-After-Ms": "250", "Retry-After": "1"}, 250 * time.Millisecond},
		{"milliseconds unreadable", map[string]string{"Retry-After-Ms": "x", "Retry-After": "1"}, time.Second},
		{"limits", map[string]string{
			"X-Ratelimit-Remaining-Requests": "0", "X-Ratelimit-Reset-Requests": "6m0s",
			"X-Ratelimit-Remaining-Tokens": "17", "X-Ratelimit-Reset-Tokens": "1h",
		}, 6 * time.Minute},
		{"limits not used up", map[string]string{"X-Ratelimit-Remaining-Requests": "3", "X-Ratelimit-Reset-Requests": "6m0s"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			for name, value := range c.header {
				h.Set(name, value)
			}
			if got := wire.RetryAfter(h, noon); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "1", "-1", "1e400", "0x1p-2", "Sun, 15 Nov 2026 12:00:00 GMT", "Inf", "1_0"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, seconds, millis string) {
		h := http.Header{"Retry-After": {seconds}, "Retry-After-Ms": {millis}, "X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {seconds}}
		if got := wire.RetryAfter(h, noon); got < 0 || got > wire.MaxRetryAfter {
			t.Errorf("%q, %q: %s", seconds, millis, got)
		}
	})
}
