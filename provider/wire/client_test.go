package wire_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/provider/wire"
)

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// post sends a request and returns what was recorded, the body and the error.
func post(t *testing.T, transport *wire.Transport, url string) (*wire.Record, string, error) {
	t.Helper()
	base := wire.NewTransport()
	t.Cleanup(base.CloseIdleConnections)
	transport.Base = base
	client := *wire.Client(nil) // for its redirect policy
	client.Transport = transport
	ctx, record := wire.WithRecord(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		return record, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return record, string(body), err
}

func TestRecord(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*wire.KeptErrorBody)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.Header().Set("X-Request-Id", "req_1")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, long)
	})
	record, body, err := post(t, &wire.Transport{}, s.URL)
	if err != nil || body != long {
		t.Errorf("the caller got %d bytes, %v, want all %d", len(body), err, len(long))
	}
	last := record.Last()
	if len(record.Exchanges()) != 1 || last.Status != http.StatusTooManyRequests || last.Header.Get("Retry-After") != "7" {
		t.Errorf("recorded %+v", last)
	}
	if string(last.ErrorBody) != long[:wire.KeptErrorBody] {
		t.Errorf("kept %d bytes, want %d", len(last.ErrorBody), wire.KeptErrorBody)
	}
	if last.RequestID() != "req_1" {
		t.Errorf("request id %q", last.RequestID())
	}
}

func TestRecordOfNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	s.Close()
	record, _, err := post(t, &wire.Transport{}, s.URL)
	if err == nil || record.Last().Err == nil || record.Last().Status != 0 {
		t.Errorf("error %v, recorded %+v", err, record.Last())
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	_, _ = zip.Write(make([]byte, 1<<20))
	_ = zip.Close()
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		large   bool
	}{
		{"at the limit", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1000)) }, false},
		{"over it", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1001)) }, true},
		{"error at the limit", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write(make([]byte, 100))
		}, false},
		{"bomb", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, body, err := post(t, &wire.Transport{MaxBody: 1000, MaxErrorBody: 100}, serve(t, c.handler).URL)
			var large *wire.TooLargeError
			if errors.As(err, &large) != c.large || len(body) > 1000 {
				t.Errorf("%d bytes, error %v, want too large: %t", len(body), err, c.large)
			}
		})
	}
}

func TestDropComments(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(w, ": hello\n\ndata: a\n:inside\ndata: : b\r\n\r\n: bye")
	})
	_, body, err := post(t, &wire.Transport{DropComments: true}, s.URL)
	if want := "\ndata: a\ndata: : b\n\n"; body != want || err != nil {
		t.Errorf("body %q, %v, want %q", body, err, want)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	visited := make(chan string, 10)
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { visited <- r.URL.Path })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL+"/stolen", http.StatusPermanentRedirect)
		case "/lossy":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusTemporaryRedirect)
		case "/here":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		default:
			_, _ = io.Copy(w, r.Body)
		}
	})
	for path, want := range map[string]string{"/away": "another host", "/lossy": "drop the request body", "/loop": "redirects", "/here": ""} {
		_, body, err := post(t, &wire.Transport{}, s.URL+path)
		switch {
		case want == "" && (err != nil || body != "{}"):
			t.Errorf("%s: %q, %v, want it followed", path, body, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
	select {
	case path := <-visited:
		t.Errorf("the other host was asked for %s", path)
	default:
	}
}

func TestClient(t *testing.T) {
	t.Parallel()
	if c := wire.Client(nil); wire.Client(c) != c {
		t.Error("a client of ours was wrapped again")
	}
	mine := &http.Client{}
	if c := wire.Client(mine); mine.Transport != nil || c.Transport == nil || c.CheckRedirect == nil {
		t.Error("a client of the caller's was changed, or not wrapped")
	}
	if shared := wire.Shared(); shared != wire.Shared() || shared.Timeout != 0 {
		t.Error("the shared client is not shared, or has a time limit")
	}
	if n := wire.NewTransport().MaxIdleConnsPerHost; n < 128 {
		t.Errorf("%d idle connections per host, want 128 at least", n)
	}
}
