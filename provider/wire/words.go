package wire

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Words is what a vendor says about an error, whatever the shape it says it in.
type Words struct {
	// Type is the kind of error: OpenAI's and Anthropic's type, Google's status.
	Type string
	// Code is the narrower word: OpenAI's code, Google's reason.
	Code string
	// Message is meant for people. It is foreign text and not yet cleaned.
	Message string
	// HTML says that the body was a web page.
	HTML bool
	// Wait is how long Google asks to wait: it says so here and not in a header.
	Wait time.Duration
}

// ReadWords reads the body of an error. It knows the shapes of OpenAI, Anthropic
// and Google and those of common servers; anything else is the message.
func ReadWords(body []byte) Words {
	body = bytes.TrimSpace(body)
	if isHTML(body) {
		return Words{HTML: true}
	}
	if len(body) > 0 && body[0] == '[' { // Google's streams are arrays
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	var outer map[string]json.RawMessage
	if json.Unmarshal(body, &outer) != nil {
		return Words{Message: string(body)}
	}
	inner := outer
	if e := outer["error"]; len(e) > 0 && e[0] == '{' {
		inner = nil
		_ = json.Unmarshal(e, &inner)
	}
	reason, wait := readDetails(inner["details"])
	return Words{
		Type:    first(inner, "type", "status"),
		Code:    firstOf(reason, first(inner, "code")),
		Message: firstOf(first(inner, "message", "error", "detail", "msg", "error_description"), string(body)),
		Wait:    wait,
	}
}

func isHTML(body []byte) bool {
	head := strings.ToLower(string(body[:min(len(body), 64)]))
	return strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<html") ||
		strings.HasPrefix(head, "<head") || strings.HasPrefix(head, "<body") || strings.HasPrefix(head, "<!--")
}

// first is the first of the fields that holds text or a number.
func first(fields map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		raw := fields[name]
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" {
			return s
		}
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return strconv.FormatInt(n, 10)
		}
	}
	return ""
}

func firstOf(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// quotaPerDay is our word for Google's limits that last until tomorrow; it calls
// them RESOURCE_EXHAUSTED like those that last a minute.
const quotaPerDay = "quota_per_day"

// readDetails takes Google's apart: the reason in its ErrorInfo, the limit in its
// QuotaFailure, the delay in its RetryInfo.
func readDetails(details json.RawMessage) (reason string, wait time.Duration) {
	var list []struct {
		Reason     string `json:"reason"`
		RetryDelay string `json:"retryDelay"`
		Violations []struct {
			QuotaID string `json:"quotaId"`
		} `json:"violations"`
	}
	_ = json.Unmarshal(details, &list)
	for _, d := range list {
		reason = firstOf(reason, d.Reason)
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil {
			wait = within(delay)
		}
	}
	for _, d := range list {
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") {
				return quotaPerDay, wait
			}
		}
	}
	return reason, wait
}

// Plain makes foreign text fit for a line of our own: no control or invisible
// characters, one space between words, at most limit characters.
func Plain(s string, limit int) string {
	var b strings.Builder
	space, count := false, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = count > 0
			continue
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			continue
		}
		if space {
			b.WriteByte(' ')
			count++
		}
		space = false
		if count >= limit {
			b.WriteRune('…')
			break
		}
		b.WriteRune(r)
		count++
	}
	return b.String()
}

// minSecret keeps placeholders such as "x" from blotting out whole messages.
const minSecret = 4

// keyShape finds keys that are not ours, or ours half blotted out by the vendor.
var keyShape = regexp.MustCompile(`\b(?:sk|rk|pk|xai|gsk)-[A-Za-z0-9*_.…-]{6,}|\bAIza[A-Za-z0-9*_-]{6,}`)

// Mask replaces the secrets in s, and whatever looks like a vendor's key, with
// asterisks. Values of fewer than four characters are taken for placeholders.
func Mask(s string, secrets ...string) string {
	for _, secret := range secrets {
		if len(secret) < minSecret {
			continue
		}
		s = strings.ReplaceAll(s, secret, "***")
		if escaped := url.QueryEscape(secret); escaped != secret {
			s = strings.ReplaceAll(s, escaped, "***")
		}
	}
	return keyShape.ReplaceAllString(s, "***")
}

// clean makes the vendor's words plain, masks and shortens them, in this order:
// a key must be whole to be found.
func clean(s string, limit int, secrets []string) string {
	return Plain(Mask(Plain(s, 1<<20), secrets...), limit)
}
