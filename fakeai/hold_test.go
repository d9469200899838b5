package fakeai_test

import (
	"io"
	"strings"
	"testing"

	"parley/fakeai"
)

// readUntil reads from a stream until it holds want.
func readUntil(t *testing.T, r io.Reader, want string) string {
	t.Helper()
	var got strings.Builder
	buf := make([]byte, 1024)
	for !strings.Contains(got.String(), want) {
		n, err := r.Read(buf)
		got.Write(buf[:n])
		if err != nil {
			t.Fatalf("no %q in %q: %v", want, got.String(), err)
		}
	}
	return got.String()
}

func TestHoldBeforeHeader(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
		hold := make(chan struct{})
		up.Script("m", fakeai.Script{Text: "x", Hold: hold})
		got := make(chan string, 1)
		go func() {
			resp, err := post(deadline(t), t, up.URL+d.path("m", false), d.body("m", "why?", false))
			if err != nil {
				got <- err.Error()
				return
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			got <- string(body)
		}()
		if _, err := up.Await(deadline(t), 1); err != nil {
			t.Fatal(err)
		}
		select {
		case body := <-got:
			t.Fatalf("answered while held: %s", body)
		default:
		}
		close(hold)
		if body := <-got; dig(decode(t, body), d.text...) != "x" {
			t.Errorf("got %s", body)
		}
	})
}

func TestHoldBetweenChunks(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
		hold := make(chan struct{})
		up.Script("m", fakeai.Script{Text: "firstother", Chunks: 2, HoldAfter: 1, HoldChunks: hold})
		resp := d.ask(deadline(t), t, up, true)
		begin := readUntil(t, resp.Body, `"first"`)
		if strings.Contains(begin, "other") {
			t.Errorf("not held: %s", begin)
		}
		close(hold)
		rest, err := io.ReadAll(resp.Body)
		if err != nil || !strings.Contains(string(rest), `"other"`) {
			t.Errorf("got %s, %v", rest, err)
		}
		r := up.Requests()[0]
		<-r.Done()
		select {
		case <-r.Gone():
			t.Error("gone, but the response was complete")
		default:
		}
	})
}

// A stream that holds before its first delta must show its header all the same.
func TestHoldAtStartSendsHeader(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
		hold := make(chan struct{})
		up.Script("m", fakeai.Script{Text: "x", HoldChunks: hold})
		resp := d.ask(deadline(t), t, up, true)
		close(hold)
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Error(err)
		}
	})
}

func TestHoldWholeInTheMiddle(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
		hold := make(chan struct{})
		up.Script("m", fakeai.Script{Text: "x", HoldChunks: hold})
		resp := d.ask(deadline(t), t, up, false)
		begin := readUntil(t, resp.Body, "{")
		close(hold)
		rest, err := io.ReadAll(resp.Body)
		if err != nil || dig(decode(t, begin+string(rest)), d.text...) != "x" {
			t.Errorf("got %s %s, %v", begin, rest, err)
		}
	})
}
