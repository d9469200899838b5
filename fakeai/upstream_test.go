package fakeai_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/fakeai"
)

func TestScriptOrder(t *testing.T) {
	t.Parallel()
	up := start(t)
	d := dialects[0]
	up.Script("", fakeai.Script{Text: "default"})
	up.Script("m", fakeai.Script{Text: "standing"})
	up.Enqueue("", fakeai.Script{Text: "any"})
	up.Enqueue("m", fakeai.Script{Text: "one"}, fakeai.Script{Text: "two"})
	up.Enqueue("other", fakeai.Script{Text: "not for m"})
	for _, want := range []string{"one", "two", "any", "standing", "standing"} {
		_, body, _ := d.answer(t, up, false)
		if got := dig(decode(t, body), d.text...); got != want {
			t.Errorf("got %v, want %q", got, want)
		}
	}
	up.Enqueue("m", fakeai.Script{Text: "forgotten"})
	up.Reset()
	if n := len(up.Requests()); n != 0 {
		t.Errorf("after Reset: %d requests", n)
	}
	if _, body, _ := d.answer(t, up, false); dig(decode(t, body), d.text...) != "standing" {
		t.Errorf("after Reset: got %s", body)
	}
}

func TestAwait(t *testing.T) {
	t.Parallel()
	up := start(t)
	const n = 8
	var asked sync.WaitGroup
	for range n {
		asked.Go(func() {
			resp, err := post(deadline(t), t, up.OpenAI()+"/responses", dialects[0].body("m", "why?", true))
			if err == nil {
				resp.Body.Close()
			}
		})
	}
	all, err := up.Await(deadline(t), n)
	asked.Wait()
	if err != nil || len(all) != n {
		t.Errorf("got %d requests, %v", len(all), err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := up.Await(ctx, n+1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	up := start(t)
	up.Keep(2)
	for range 5 {
		_, _, _ = dialects[0].answer(t, up, false)
	}
	if all, err := up.Await(deadline(t), 5); err != nil || len(all) != 2 {
		t.Errorf("kept %d, %v; want 2", len(all), err)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	up := start(t)
	up.Script("", fakeai.Script{Status: 500})
	up.Script("b", fakeai.Script{})
	up.Enqueue("a", fakeai.Script{})
	tests := map[string]struct {
		url    string
		header string
		list   string
		name   string
		prefix string
	}{
		"OpenAI":    {url: up.OpenAI() + "/models", list: "data", name: "id"},
		"Anthropic": {url: up.Anthropic() + "/v1/models", header: "2023-06-01", list: "data", name: "id"},
		"Gemini":    {url: up.Gemini() + "/v1beta/models", list: "models", name: "name", prefix: "models/"},
	}
	for name, test := range tests {
		body := get(t, test.url, test.header)
		var got []any
		list, _ := dig(decode(t, body), test.list).([]any)
		for _, model := range list {
			got = append(got, dig(model, test.name))
		}
		if diff := cmp.Diff([]any{test.prefix + "a", test.prefix + "b"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	up.Script(fakeai.ModelList, fakeai.Script{Status: 401, Message: "who are you?"})
	if body := get(t, up.OpenAI()+"/models", ""); !strings.Contains(body, "who are you?") {
		t.Errorf("scripted list: got %s", body)
	}
	if got := up.Requests()[0].Wire; got != fakeai.WireModels {
		t.Errorf("wire: got %q", got)
	}
}

func get(t *testing.T, url, version string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(deadline(t), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if version != "" {
		req.Header.Set("Anthropic-Version", version)
	}
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return string(body)
}

func TestCloseFreesHandlers(t *testing.T) {
	t.Parallel()
	scripts := map[string]fakeai.Script{
		"Hang": {Hang: true},
		"Hold": {Hold: make(chan struct{})},
		// The client of this one never reads, so the handler is stuck in a write.
		"Unread": {Text: strings.Repeat("x", 64<<20), Chunks: 4},
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := fakeai.Start()
			up.Script("m", script)
			conn, err := (&net.Dialer{}).DialContext(deadline(t), "tcp", strings.TrimPrefix(up.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			body := dialects[0].body("m", "why?", true)
			req, _ := http.NewRequestWithContext(deadline(t), http.MethodPost, up.OpenAI()+"/responses", strings.NewReader(body))
			if err := req.Write(conn); err != nil {
				t.Fatal(err)
			}
			all, err := up.Await(deadline(t), 1)
			if err != nil {
				t.Fatal(err)
			}
			up.Close()
			up.Close()
			<-all[0].Done()
			select {
			case <-all[0].Gone():
				t.Error("the client is said to have gone, but it was us")
			default:
			}
		})
	}
}

// A request that never comes whole must not keep Close waiting.
func TestCloseWithHalfARequest(t *testing.T) {
	t.Parallel()
	up := fakeai.Start()
	conn, err := (&net.Dialer{}).DialContext(deadline(t), "tcp", strings.TrimPrefix(up.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "POST /v1/responses HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	up.Close()
	if n := len(up.Requests()); n != 0 {
		t.Errorf("recorded %d requests", n)
	}
}
