// Command parley lets a coding agent consult every other model: an MCP server
// with durable threads, and the same from the terminal.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"parley"
)

// Set by the linker; `go build` alone leaves the defaults.
var (
	version = "dev"
	commit  = ""
)

// Exit codes of every command.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	// A reader that left, of stdout or of stderr, is a failed write and not the
	// end of the process: runs are still to be written down. Being notified
	// rather than ignoring keeps this from programs that we start.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends at once whatever the first one could not end. A
	// second SIGTERM does not: clients send one after the other.
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) })
	root := rootCommand()
	out := &printed{File: os.Stdout}
	root.SetOut(out)
	root.SetArgs(joinOptional(args))
	code := exitCode(ctx, root.ExecuteContext(ctx))
	if code == exitDone && out.err != nil {
		fmt.Fprintf(os.Stderr, "parley: the output could not be written: %v\n", out.err)
		return exitFailed
	}
	return code
}

// exitCode reports err to the person at the terminal and decides how to end.
func exitCode(ctx context.Context, err error) int {
	if err == nil {
		return exitDone
	}
	if quiet, ok := errors.AsType[*quietError](err); ok {
		return quiet.code
	}
	if usage, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprintln(os.Stderr, "parley: "+usage.Error())
		return exitUsage
	}
	if known, ok := errors.AsType[*parley.Error](err); ok {
		fmt.Fprintf(os.Stderr, "parley: %s\n", known.Message)
		if known.Hint != "" {
			fmt.Fprintln(os.Stderr, known.Hint)
		}
		if known.Code == parley.CodeCancelled && ctx.Err() != nil {
			return exitInterrupted
		}
		return exitFailed
	}
	if ctx.Err() != nil {
		return exitInterrupted
	}
	fmt.Fprintln(os.Stderr, "parley: "+err.Error())
	return exitFailed
}

// usageError is a wrong call of the program.
type usageError struct{ error }

func wrongUsage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// quietError ends the program with a code; what there is to say was said.
type quietError struct{ code int }

func (e *quietError) Error() string { return fmt.Sprintf("exit %d", e.code) }

// joinOptional lets flags whose value is optional take it as the next word:
// --http 127.0.0.1:4000 as well as --http=127.0.0.1:4000 and a bare --http.
func joinOptional(args []string) []string {
	var joined []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--http" && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			joined = append(joined, args[i]+"="+args[i+1])
			i++
			continue
		}
		joined = append(joined, args[i])
	}
	return joined
}
