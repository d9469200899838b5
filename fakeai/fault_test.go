package fakeai_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/fakeai"
)

func TestErrorStatus(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		fakeai.WireResponses: `{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}`,
		fakeai.WireChat:      `{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}`,
		fakeai.WireAnthropic: `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`,
		fakeai.WireGemini:    `{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}`,
	}
	eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
		up.Script("m", fakeai.Script{Status: 429, Message: "slow down", Header: http.Header{"Retry-After": {"7"}}})
		for _, stream := range []bool{false, true} {
			resp := d.ask(deadline(t), t, up, stream)
			body, err := io.ReadAll(resp.Body)
			if diff := cmp.Diff(want[d.name], string(body)); resp.StatusCode != 429 || err != nil || diff != "" {
				t.Errorf("got %d, %v (-want +got):\n%s", resp.StatusCode, err, diff)
			}
			if got := resp.Header.Get("Retry-After"); got != "7" {
				t.Errorf("Retry-After: got %q", got)
			}
		}
	})
}

func TestErrorWords(t *testing.T) {
	t.Parallel()
	up := start(t)
	up.Script("m", fakeai.Script{Status: 403, Message: "no", Type: "a_type", Code: "a_code"})
	want := map[string]string{
		fakeai.WireResponses: `{"error":{"message":"no","type":"a_type","param":null,"code":"a_code"}}`,
		fakeai.WireChat:      `{"error":{"message":"no","type":"a_type","param":null,"code":"a_code"}}`,
		fakeai.WireAnthropic: `{"type":"error","error":{"type":"a_type","message":"no"}}`,
		fakeai.WireGemini: `{"error":{"code":403,"message":"no","status":"a_type","details":[` +
			`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"a_code","domain":"googleapis.com"}]}}`,
	}
	for _, d := range dialects {
		if _, body, _ := d.answer(t, up, false); body != want[d.name] {
			t.Errorf("%s: got %s, want %s", d.name, body, want[d.name])
		}
	}
}

func TestRawBody(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script fakeai.Script
		status int
	}{
		"Garbage":  {fakeai.Script{Body: "<html>"}, 200},
		"HTML502":  {fakeai.Script{Body: "<html>", Status: 502, Header: http.Header{"content-type": {"text/html"}}}, 502},
		"Redirect": {fakeai.Script{Status: 307, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}}, 307},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
				up.Script("m", test.script)
				resp := d.ask(deadline(t), t, up, true)
				body, err := io.ReadAll(resp.Body)
				if resp.StatusCode != test.status || err != nil || string(body) != test.script.Body {
					t.Errorf("got %d %q, %v", resp.StatusCode, body, err)
				}
				for name, values := range test.script.Header {
					if got := resp.Header.Get(name); got != values[0] {
						t.Errorf("%s: got %q, want %q", name, got, values[0])
					}
				}
			})
		})
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
		tests := map[string]struct{ after, deltas int }{
			"Middle":     {2, 2},
			"PastTheEnd": {99, 4},
		}
		for name, test := range tests {
			up.Script("m", fakeai.Script{Text: "abcdefgh", Chunks: 4, CutAfter: test.after})
			_, body, err := d.answer(t, up, true)
			deltas := d.deltas(events(t, body))
			if err == nil || len(deltas) != test.deltas || strings.Contains(body, d.end) {
				t.Errorf("%s: got %d deltas, %v: %s", name, len(deltas), err, body)
			}
		}
		if _, body, err := d.answer(t, up, false); err == nil || body == "" {
			t.Errorf("whole: got %q, %v", body, err)
		}

		up.Script("m", fakeai.Script{CutAfter: -1})
		resp, err := post(deadline(t), t, up.URL+d.path("m", true), d.body("m", "why?", true))
		if err == nil {
			resp.Body.Close()
			t.Error("cut before any byte: got a response")
		}
		for _, r := range up.Requests() {
			<-r.Done()
			select {
			case <-r.Gone():
				t.Error("the client is said to have gone, but was cut off")
			default:
			}
		}
	})
}

func TestErrorEvent(t *testing.T) {
	t.Parallel()
	paths := map[string][]any{
		fakeai.WireResponses: {"message"},
		fakeai.WireChat:      {"error", "message"},
		fakeai.WireAnthropic: {"error", "message"},
		fakeai.WireGemini:    {"error", "message"},
	}
	eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
		for after, deltas := range map[int]int{-1: 0, 2: 2, 99: 4} {
			up.Script("m", fakeai.Script{Text: "abcdefgh", Chunks: 4, ErrorAfter: after, Message: "broke"})
			status, body, err := d.answer(t, up, true)
			all := events(t, body)
			last := all[len(all)-1]
			if status != 200 || err != nil || len(d.deltas(all)) != deltas || dig(last.data, paths[d.name]...) != "broke" {
				t.Errorf("after %d: got %d, %v, %s", after, status, err, body)
			}
		}
		if status, body, _ := d.answer(t, up, false); status != 500 || !strings.Contains(body, "broke") {
			t.Errorf("whole: got %d %s", status, body)
		}
	})
}

func TestHangUntilClientGoes(t *testing.T) {
	t.Parallel()
	scripts := map[string]fakeai.Script{
		"Hang":      {Hang: true},
		"HangAfter": {Text: "abcdefgh", Chunks: 4, HangAfter: 2},
		"Hold":      {Hold: make(chan struct{})},
		"Latency":   {Latency: 1 << 60},
		"Delay":     {Text: "abcdefgh", Chunks: 4, ChunkDelay: 1 << 60},
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
				up.Script("m", script)
				ctx, leave := context.WithCancel(deadline(t))
				defer leave()
				ended := make(chan error, 1)
				go func() {
					resp, err := post(ctx, t, up.URL+d.path("m", true), d.body("m", "why?", true))
					if err == nil {
						_, err = io.ReadAll(resp.Body)
						resp.Body.Close()
					}
					ended <- err
				}()
				all, err := up.Await(deadline(t), 1)
				if err != nil {
					t.Fatal(err)
				}
				leave()
				if err := <-ended; err == nil {
					t.Error("the client got a whole answer")
				}
				select {
				case <-all[0].Gone():
				case <-deadline(t).Done():
					t.Fatal("the upstream did not notice")
				}
				<-all[0].Done()
			})
		})
	}
}
