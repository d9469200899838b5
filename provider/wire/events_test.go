package wire_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"parley/provider/wire"
)

type event struct{ Name, Data string }

func readAll(r io.Reader, limit int) ([]event, error) {
	events := wire.NewEvents(r)
	events.MaxEvent = limit
	var got []event
	for name, data := range events.All() {
		got = append(got, event{name, string(data)})
	}
	return got, events.Err()
}

func TestEvents(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200<<10)
	for _, c := range []struct {
		name, in string
		want     []event
	}{
		{"empty", "", nil},
		{"one", "data: a\n\n", []event{{"", "a"}}},
		{"named", "event: e\ndata: a\n\ndata: b\n\n", []event{{"e", "a"}, {"", "b"}}},
		{"same name twice", "event: e\ndata: a\n\nevent: e\ndata: b\n\n", []event{{"e", "a"}, {"e", "b"}}},
		{"name after data", "data: a\nevent: e\n\n", []event{{"e", "a"}}},
		{"lines joined", "data: a\ndata:\ndata: b\n\n", []event{{"", "a\n\nb"}}},
		{"one space only", "data:  a\n\ndata:b\n\n", []event{{"", " a"}, {"", "b"}}},
		{"colons in data", "data: a: b\n\n", []event{{"", "a: b"}}},
		{"field without colon", "data\n\n", []event{{"", ""}}},
		{"CRLF", "event: e\r\ndata: a\r\n\r\n", []event{{"e", "a"}}},
		{"byte order mark", "\xEF\xBB\xBFdata: a\n\n", []event{{"", "a"}}},
		{"other fields", "id: 7\nretry: 10\ndata: a\n\n", []event{{"", "a"}}},
		{"event without data", "event: ping\n\ndata: a\n\n", []event{{"", "a"}}},
		{"comment between", ": keepalive\n\ndata: a\n\n", []event{{wire.Comment, ""}, {"", "a"}}},
		{"comment inside", "data: a\n: keepalive\ndata: b\n\n", []event{{"", "a\nb"}}},
		{"no blank line at the end", "data: a\n\ndata: b\n", []event{{"", "a"}, {"", "b"}}},
		{"no line feed at the end", "data: a\n\ndata: b", []event{{"", "a"}, {"", "b"}}},
		{"long line", "data: " + long + "\n\ndata: b\n\n", []event{{"", long}, {"", "b"}}},
		{"long line, CRLF", "data: " + long + "\r\n\r\n", []event{{"", long}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for how, r := range map[string]io.Reader{
				"whole": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in)),
				"with EOF": iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				got, err := readAll(r, 0)
				if err != nil {
					t.Errorf("%s: %v", how, err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", how, diff)
				}
			}
		})
	}
}

func TestEventsBroken(t *testing.T) {
	t.Parallel()
	r := io.MultiReader(strings.NewReader("data: a\n\ndata: half"), iotest.ErrReader(io.ErrUnexpectedEOF))
	got, err := readAll(r, 0)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v, want %v", err, io.ErrUnexpectedEOF)
	}
	if diff := cmp.Diff([]event{{"", "a"}}, got); diff != "" {
		t.Errorf("half an event was shown (-want +got):\n%s", diff)
	}
}

func TestEventsTooLarge(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"one line":   "data: " + strings.Repeat("x", 101) + "\n\n",
		"many lines": strings.Repeat("data: x\n", 101) + "\n",
	} {
		got, err := readAll(strings.NewReader(in), 100)
		var large *wire.TooLargeError
		if !errors.As(err, &large) || large.Limit != 100 || len(got) != 0 {
			t.Errorf("%s: %d events, error %v, want TooLargeError", name, len(got), err)
		}
	}
}

func TestEventsStopEarly(t *testing.T) {
	t.Parallel()
	events := wire.NewEvents(strings.NewReader("data: a\n\ndata: b\n\n"))
	for range events.All() {
		break
	}
	for _, data := range events.All() {
		if string(data) != "b" {
			t.Errorf("went on with %q, want b", data)
		}
	}
}

func TestPeek(t *testing.T) {
	t.Parallel()
	events := wire.NewEvents(strings.NewReader("\xEF\xBB\xBF \r\n{\"a\":1}"))
	if c, err := events.Peek(); c != '{' || err != nil {
		t.Errorf("Peek = %q, %v", c, err)
	}
	if rest, err := events.Rest(); string(rest) != `{"a":1}` || err != nil {
		t.Errorf("Rest = %q, %v", rest, err)
	}
	if _, err := wire.NewEvents(strings.NewReader(" \n")).Peek(); !errors.Is(err, io.EOF) {
		t.Errorf("Peek of nothing: %v, want EOF", err)
	}
}

// What is read does not depend on how it arrives, and no data has a line feed
// that was not between two data lines.
func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"data: a\n\n", "event: e\r\ndata: b\r\n\r\n", ": c\n\ndata\n", "data: a\ndata: b", "\xEF\xBB\xBFdata:x\n\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		whole, err := readAll(strings.NewReader(in), 0)
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := readAll(iotest.OneByteReader(strings.NewReader(in)), 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole, pieces); diff != "" {
			t.Errorf("whole and byte by byte differ:\n%s", diff)
		}
		size := 0
		for _, e := range whole {
			size += len(e.Data)
		}
		if size > len(in) {
			t.Errorf("%d bytes of data out of %d", size, len(in))
		}
	})
}
