package listen_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"parley/fakeai"
	"parley/listen"
)

const (
	parseError     = jsonrpc.CodeParseError
	invalidRequest = jsonrpc.CodeInvalidRequest
	silence        = 1 // no response at all
)

func TestFrames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frame string
		code  int
		id    any
	}{
		"NotJSON":         {"hello\n", parseError, nil},
		"HalfJSON":        {`{"jsonrpc":"2.0","id":1,` + "\n", parseError, nil},
		"TwoOnALine":      {`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n", parseError, nil},
		"InvalidUTF8":     {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"` + "\xff\xfe" + `"}}` + "\n", parseError, nil},
		"Nul":             {"\x00\n", parseError, nil},
		"DeepJSON":        {strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "\n", parseError, nil},
		"Empty":           {"\n", silence, nil},
		"Blank":           {" \t \r\n", silence, nil},
		"CRLF":            {`{"jsonrpc":"2.0","id":"x","method":"ping"}` + "\r\n", 0, "x"},
		"Spaces":          {"  \t" + `{"jsonrpc":"2.0","id":"x","method":"ping"}` + "  \n", 0, "x"},
		"String":          {`"hello"` + "\n", invalidRequest, nil},
		"Number":          {"42\n", invalidRequest, nil},
		"Null":            {"null\n", invalidRequest, nil},
		"EmptyObject":     {"{}\n", invalidRequest, nil},
		"NoVersion":       {`{"id":4,"method":"ping"}` + "\n", invalidRequest, 4.0},
		"OldVersion":      {`{"jsonrpc":"1.0","id":"five","method":"ping"}` + "\n", invalidRequest, "five"},
		"ObjectID":        {`{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n", invalidRequest, nil},
		"NumberMethod":    {`{"jsonrpc":"2.0","id":9,"method":7}` + "\n", invalidRequest, 9.0},
		"UnknownMethod":   {`{"jsonrpc":"2.0","id":"x","method":"nothing"}` + "\n", jsonrpc.CodeMethodNotFound, "x"},
		"UnknownNotice":   {`{"jsonrpc":"2.0","method":"notifications/nothing"}` + "\n", silence, nil},
		"StrayResponse":   {`{"jsonrpc":"2.0","id":99,"result":{}}` + "\n", silence, nil},
		"StrayCancel":     {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99,"reason":"late"}}` + "\n", silence, nil},
		"BadCancel":       {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}` + "\n", silence, nil},
		"EmptyBatch":      {"[]\n", invalidRequest, nil},
		"BadBatch":        {`[{"jsonrpc":"2.0","id":1,"method":"ping"},7]` + "\n", invalidRequest, nil},
		"BatchTwice":      {`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]` + "\n", invalidRequest, nil},
		"NoticeBatch":     {`[{"jsonrpc":"2.0","method":"notifications/initialized"}]` + "\n", silence, nil},
		"OverLong":        {strings.Repeat("x", listen.MaxFrame+1) + "\n", invalidRequest, nil},
		"LongestPossible": {`{"jsonrpc":"2.0","id":"x","method":"ping"}` + strings.Repeat(" ", listen.MaxFrame-43) + "\n", 0, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := setup(t).lines(t, 0).initialize()
			p.send(c.frame)
			if c.code != silence {
				if r := p.read(); r.code() != c.code || r.ID != c.id {
					t.Errorf("got %+v %+v, want code %d and id %v", r, r.Error, c.code, c.id)
				}
			}
			p.ping()
		})
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.lines(t, 0).initialize()
	p.send("[" + ask("1", "one") + `,{"jsonrpc":"2.0","method":"notifications/initialized"},` + ask(`"2"`, "two") + `,{"jsonrpc":"2.0","id":3,"method":"nothing"}]` + "\n")
	line, err := p.from.ReadString('\n')
	var all []response
	if err != nil || json.Unmarshal([]byte(line), &all) != nil || len(all) != 3 {
		t.Fatalf("got %s, %v", line, err)
	}
	for _, r := range all {
		ok := r.ID == 1.0 && said(r, "ECHO: one") || r.ID == "2" && said(r, "ECHO: two") || r.ID == 3.0 && r.code() == jsonrpc.CodeMethodNotFound
		if !ok {
			t.Errorf("got %+v %s", r, r.Result)
		}
	}
	p.ping()
}

func TestDuplicateID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	goOn := make(chan struct{})
	b.up.Script("gpt-5-mini", fakeai.Script{Text: "the first", Hold: goOn})
	p := b.lines(t, 0).initialize()
	p.send(ask("1", "first") + "\n")
	b.awaitRequest(t)
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
	} {
		p.send(frame + "\n")
		if r := p.read(); r.code() != invalidRequest || r.ID != nil {
			t.Errorf("%s: got %+v", frame, r)
		}
	}
	close(goOn)
	if r := p.read(); r.ID != 1.0 || !said(r, "the first") {
		t.Errorf("got %+v %s", r, r.Result)
	}
	for range 500 { // once answered, an id may be used again at once
		p.ping()
	}
}

func (b *testBundle) awaitRequest(t *testing.T) *fakeai.Request {
	t.Helper()
	all, err := b.up.Await(deadline(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func TestEOF(t *testing.T) {
	t.Parallel()
	t.Run("NoNewline", func(t *testing.T) {
		t.Parallel()
		p := setup(t).lines(t, time.Minute).initialize()
		p.send(strings.TrimSpace(ping))
		_ = p.to.Close()
		if r := p.read(); r.ID != "ping" || r.Error != nil {
			t.Errorf("got %+v", r)
		}
		wait(t, "the end of the connection", p.ended)
	})
	t.Run("Grace", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		goOn := make(chan struct{})
		b.up.Script("gpt-5-mini", fakeai.Script{Text: "just in time", Hold: goOn})
		p := b.lines(t, time.Minute).initialize()
		p.send(ask("1", "x") + "\n")
		b.awaitRequest(t)
		_ = p.to.Close()
		close(goOn)
		if r := p.read(); !said(r, "just in time") {
			t.Errorf("got %+v %s", r, r.Result)
		}
		wait(t, "the end of the connection", p.ended)
	})
	t.Run("NoGrace", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.up.Script("gpt-5-mini", fakeai.Script{Hang: true})
		p := b.lines(t, 0).initialize()
		p.send(ask("1", "x") + "\n")
		b.awaitRequest(t)
		_ = p.to.Close()
		wait(t, "the end of the connection", p.ended)
	})
	// The last answer has been written when the server is done.
	t.Run("LastWords", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for range 20 {
			var out bytes.Buffer
			in := io.MultiReader(strings.NewReader(initialize), strings.NewReader(ping))
			_ = b.server.Run(deadline(t), &listen.Lines{Reader: in, Writer: &out, Grace: time.Minute})
			if !strings.Contains(out.String(), `"id":"ping"`) {
				t.Fatalf("got %s", out.String())
			}
		}
	})
}

// A client that stops reading holds up nobody but itself.
func TestUnreadClient(t *testing.T) {
	t.Parallel()
	b := setup(t)
	deaf, other := b.lines(t, time.Millisecond).initialize(), b.lines(t, 0).initialize()
	for range 100 {
		deaf.send(ping)
	}
	deaf.send(strings.Repeat("not JSON at all\n", 50)) // which the reader itself answers
	other.send(ask("1", "still there?") + "\n")
	if r := other.read(); !said(r, "ECHO: still there?") {
		t.Errorf("got %+v %s", r, r.Result)
	}
	_ = deaf.to.Close()
	wait(t, "the end of the deaf client's connection", deaf.ended)
}

func TestClose(t *testing.T) {
	t.Parallel()
	in, to := io.Pipe()
	from, out := io.Pipe()
	conn, err := (&listen.Lines{Reader: in, Writer: out}).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Nobody reads: the first line occupies the writer, the second waits for it.
	written := make(chan error, 2)
	for range 2 {
		go func() {
			written <- conn.Write(context.Background(), &jsonrpc.Request{Method: "notifications/progress"}) //nolint:usetesting // as the SDK does: it never ends
		}()
	}
	if err := <-written; err != nil {
		t.Errorf("the first line: %v", err)
	}
	read := make(chan error, 1)
	go func() { _, err := conn.Read(deadline(t)); read <- err }()
	for range 2 {
		if err := conn.Close(); err != nil {
			t.Errorf("got %v", err)
		}
	}
	if err := <-written; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the second line: got %v", err)
	}
	if err := <-read; !errors.Is(err, io.EOF) {
		t.Errorf("reading: got %v", err)
	}
	if err := conn.Write(deadline(t), &jsonrpc.Request{Method: "x"}); err == nil {
		t.Error("writing to a closed connection succeeded")
	}
	_, _ = to.Close(), from.Close() // which frees the two goroutines that cannot be interrupted
}

func TestBrokenWriter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.lines(t, 0).initialize()
	_ = p.out.Close()
	p.send(ping)
	_ = p.to.Close()
	wait(t, "the end of the connection", p.ended)
}

// FuzzLines sends anything at all. Whatever it is, the valid request after it
// is read, and what was answered is JSON by the line.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "\r\n\r\n", "hello", ping, strings.TrimSpace(ping), "[]", "[[]]", "[{}]", `{"jsonrpc":"2.0"}`,
		`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]`, `{"jsonrpc":"2.0","id":1e400,"method":"a"}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"a"}`, `{"jsonrpc":"2.0","id":null,"method":"a"}`, "\xff\xfe", "\x00too long",
		`{"jsonrpc":"2.0","id":1,"method":"a"}` + "\n" + `{"jsonrpc":"2.0","id":1,"method":"a"}`,
	} {
		f.Add([]byte(seed))
	}
	const last = `{"jsonrpc":"2.0","id":"the-last-one","method":"ping"}`
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("the-last-one")) {
			t.Skip()
		}
		var out bytes.Buffer
		in := io.MultiReader(bytes.NewReader(data), strings.NewReader("\n"+last))
		conn, err := (&listen.Lines{Reader: in, Writer: &out}).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for {
			m, err := conn.Read(t.Context())
			if err != nil {
				break
			}
			if _, err := jsonrpc.EncodeMessage(m); err != nil {
				t.Errorf("a message that cannot be written was read: %v", err)
			}
			if req, ok := m.(*jsonrpc.Request); ok && req.ID.Raw() == "the-last-one" {
				found = true
			}
		}
		_ = conn.Close()
		if !found {
			t.Errorf("the request after %q was not read", data)
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("answered %q", line)
			}
		}
	})
}

// A number that would come back as another one is refused with the id as sent.
func TestInexactIDs(t *testing.T) {
	t.Parallel()
	for id, ok := range map[string]bool{
		"1": true, "-7": true, `"x"`: true, "9007199254740991": true,
		"9007199254740993": false, "1.5": false, "1e3": false,
	} {
		in, out := io.Pipe()
		back, answers := io.Pipe()
		conn, err := (&listen.Lines{Reader: in, Writer: answers}).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(out, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`+"\n") }()
		if ok {
			if _, err := conn.Read(t.Context()); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		} else {
			reading := make(chan struct{})
			go func() { defer close(reading); _, _ = conn.Read(t.Context()) }()
			line, err := bufio.NewReader(back).ReadString('\n')
			if err != nil || !strings.Contains(line, `"id":`+id) || !strings.Contains(line, "2^53") {
				t.Errorf("%s: %s %v", id, line, err)
			}
			_ = out.Close()
			<-reading
		}
		_ = out.Close()
		_ = conn.Close()
	}
}
