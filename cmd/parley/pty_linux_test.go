package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"parley/fakeai"
)

// terminal opens a pseudo terminal: what is written to tty can be read from pty.
func terminal(t *testing.T) (pty, tty *os.File) {
	t.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	fd := int(pty.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { _ = pty.Close(); _ = tty.Close() })
	return pty, tty
}

// On a terminal something turns until the answer comes, and the answer cannot
// steer the terminal.
func TestChatOnATerminal(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--json=false", "--json=true"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			hold := make(chan struct{})
			r.up.Script("", fakeai.Script{Text: "a \x1b]0;stolen title\x07b \x1b[2Jc", Chunks: 2, Hold: hold})
			pty, tty := terminal(t)
			cmd := r.command("chat", flag, "one?")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = tty.Close()
			var seen bytes.Buffer
			buf, released := make([]byte, 4096), false
			for {
				n, err := pty.Read(buf)
				seen.Write(buf[:n])
				if !released && strings.Contains(seen.String(), "waiting for openai/gpt-5-mini") {
					released = true
					close(hold)
				}
				if err != nil { // EIO, when the last one has closed the terminal
					break
				}
			}
			got := await(t, cmd, new(bytes.Buffer), &seen)
			if got.code != 0 || !released {
				t.Errorf("exit code %d, spinner %t\n%s", got.code, released, seen.String())
			}
			if strings.Contains(seen.String(), "\x1b]0;") || strings.Contains(seen.String(), "\x1b[2J") {
				t.Errorf("the answer reached the terminal with its escape sequences: %q", seen.String())
			}
		})
	}
}
