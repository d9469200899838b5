package wire

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// The limits of the shared client. There is no limit on the whole request: how
// long an answer may take is the caller's business, through the context.
const (
	ConnectTimeout = 10 * time.Second
	// MaxBody is the most that is read of an answer, after decompression.
	MaxBody = 64 << 20
	// MaxErrorBody is the same for the body of an error.
	MaxErrorBody = 1 << 20
	// KeptErrorBody is how much of an error's body a Record keeps.
	KeptErrorBody = 4 << 10

	maxRedirects = 3
)

// NewTransport returns a transport tuned for many slow answers from few hosts.
// It speaks HTTP/2 where the server does.
func NewTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: ConnectTimeout, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    ConnectTimeout,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		// A dead HTTP/2 connection would otherwise take all its streams with it,
		// silently, until their stall limits.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

var shared = sync.OnceValue(func() *http.Client { return Client(nil) })

// Shared is the client of all providers that were not given their own. Sharing
// it shares the pool of connections.
func Shared() *http.Client { return shared() }

// Client returns a copy of base, or of a client with [NewTransport] when base is
// nil, that keeps to the rules of this package: it records, bounds and refuses
// redirects to other hosts. A client that already does is returned as it is.
func Client(base *http.Client) *http.Client {
	if base == nil {
		base = &http.Client{Transport: NewTransport()}
	}
	if _, ok := base.Transport.(*Transport); ok {
		return base
	}
	client := *base
	client.Transport = &Transport{Base: base.Transport}
	client.CheckRedirect = checkRedirect
	return &client
}

// RedirectError is a redirect that was not followed. Nothing was sent to the
// new address.
type RedirectError struct {
	// To is the scheme and host that the redirect pointed at.
	To string
	// Lossy says that the host was right, but following would have turned the
	// request into one without a body.
	Lossy bool
}

// Error implements the error interface.
func (e *RedirectError) Error() string {
	if e.Lossy {
		return fmt.Sprintf("redirect within %s would drop the request body", e.To)
	}
	return fmt.Sprintf("redirect to another host (%s) refused", e.To)
}

func checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	to := next.URL.Scheme + "://" + next.URL.Host
	switch {
	case !sameOrigin(first.URL, next.URL):
		return &RedirectError{To: to}
	case next.Method != first.Method:
		return &RedirectError{To: to, Lossy: true}
	case len(via) > maxRedirects:
		return fmt.Errorf("stopped after %d redirects", maxRedirects)
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) &&
		strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case strings.EqualFold(u.Scheme, "https"):
		return "443"
	}
	return "80"
}
