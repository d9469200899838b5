// Package telemetry is the program's log.
package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// logLimit is the size at which the log file is started anew; one old file is
// kept.
const logLimit = 10 << 20

// Log writes to stderr what a person should see, and to a file under home what
// someone who looks into a problem needs.
type Log struct {
	*slog.Logger

	file *os.File
}

// Options of a log. The zero value logs warnings to stderr and nothing to a file.
type Options struct {
	// Home is $PARLEY_HOME; the file is logs/parley.log below it. Empty for no file.
	Home string
	// Level of the file; stderr shows warnings unless Level is debug.
	Level slog.Level
	// Quiet keeps stderr free of the log, for commands that report themselves.
	Quiet bool
	// Stderr defaults to os.Stderr.
	Stderr io.Writer
	// Secrets are values that must never be written: they are masked wherever
	// they appear.
	Secrets []string
}

// Open starts the log. If the file cannot be written the log goes to stderr
// alone, and says so there.
func Open(o Options) *Log {
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	mask := masker(o.Secrets)
	console := slog.LevelWarn
	if o.Quiet {
		console = slog.LevelError + 1
	}
	if o.Level < slog.LevelInfo {
		console = o.Level
	}
	terminal := slog.NewTextHandler(o.Stderr, &slog.HandlerOptions{Level: console, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return mask(groups, a)
	}})
	if o.Home == "" {
		return &Log{Logger: slog.New(terminal)}
	}
	file, err := openFile(filepath.Join(o.Home, "logs"))
	if err != nil {
		log := slog.New(terminal)
		log.Warn("no log file; logging to stderr only", "error", err)
		return &Log{Logger: log}
	}
	quiet := slog.NewJSONHandler(file, &slog.HandlerOptions{Level: o.Level, ReplaceAttr: mask})
	return &Log{Logger: slog.New(slog.NewMultiHandler(terminal, quiet)), file: file}
}

func openFile(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the log folder: %w", err)
	}
	name := filepath.Join(dir, "parley.log")
	if info, err := os.Stat(name); err == nil && info.Size() > logLimit {
		_ = os.Rename(name, name+".1") // another process may have done it
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return file, nil
}

// Close closes the file.
func (l *Log) Close() {
	if l.file != nil {
		_ = l.file.Close() // nothing can be done, and nothing is buffered
	}
}

// masker replaces secret values wherever they stand in a message or an attribute.
func masker(secrets []string) func([]string, slog.Attr) slog.Attr {
	var pairs []string
	for _, s := range secrets {
		if len(s) >= 4 {
			pairs = append(pairs, s, "[key]")
		}
	}
	replacer := strings.NewReplacer(pairs...)
	return func(_ []string, a slog.Attr) slog.Attr {
		switch a.Value.Kind() {
		case slog.KindString:
			a.Value = slog.StringValue(replacer.Replace(a.Value.String()))
		case slog.KindAny:
			if err, ok := a.Value.Any().(error); ok {
				a.Value = slog.StringValue(replacer.Replace(err.Error()))
			} else {
				a.Value = slog.StringValue(replacer.Replace(fmt.Sprint(a.Value.Any())))
			}
		default:
		}
		return a
	}
}
