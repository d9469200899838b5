package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"golang.org/x/term"
)

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

func isTerminal(w io.Writer) bool {
	if out, ok := w.(*printed); ok {
		w = out.File
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// printed is stdout, which remembers whether all of it could be written: what a
// person asked to see and did not get is a failure. That nobody reads on, as
// with head, is not.
type printed struct {
	*os.File

	err error
}

func (o *printed) Write(p []byte) (int, error) {
	n, err := o.File.Write(p)
	if err != nil && o.err == nil && !errors.Is(err, syscall.EPIPE) {
		o.err = err
	}
	return n, err
}

// plain drops what could steer the terminal: a model's text is not trusted
// with escape sequences.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) && !steers(r) {
			return r
		}
		return -1
	}, s)
}

// steers reports characters that reorder or hide text.
func steers(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r >= 0xE0000 && r <= 0xE007F
}

// spinner turns on a terminal until it is stopped; elsewhere it does nothing.
type spinner struct {
	stop chan struct{}
	done sync.WaitGroup
	once sync.Once
}

func startSpinner(w io.Writer, text func() string) *spinner {
	s := &spinner{stop: make(chan struct{})}
	if !isTerminal(w) {
		return s
	}
	s.done.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			fmt.Fprintf(w, "\r\x1b[K%c %s", []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[n%10], text())
			select {
			case <-tick.C:
			case <-s.stop:
				fmt.Fprint(w, "\r\x1b[K")
				return
			}
		}
	})
	return s
}

// Stop removes the spinner. It may be called more than once.
func (s *spinner) Stop() {
	s.once.Do(func() { close(s.stop) })
	s.done.Wait()
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// ago is a time as people say it.
func ago(t time.Time) string {
	switch d := time.Since(t); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return t.Local().Format("2006-01-02 15:04")
}
