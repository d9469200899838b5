package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"parley/listen"
)

type serveFlags struct {
	http      string
	stdio     bool
	transport string
}

func serveCommand(g *global) *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve MCP on stdio, or on a loopback address", Args: cobra.NoArgs,
		Long: "serve is what an MCP client starts. On stdio it ends when its input closes; with --http it\n" +
			"serves any number of clients until it is stopped.",
		Example: "  parley serve                      # stdio\n" +
			"  parley serve --http               # http://" + listen.DefaultHTTP + "/mcp\n" +
			"  parley serve --http 127.0.0.1:4000 --stdio",
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), g, f) },
	}
	cmd.Flags().StringVar(&f.http, "http", "", "listen for streamable HTTP on this address (bare: "+listen.DefaultHTTP+")")
	cmd.Flags().Lookup("http").NoOptDefVal = "default"
	cmd.Flags().BoolVar(&f.stdio, "stdio", false, "serve stdio as well")
	cmd.Flags().StringVar(&f.transport, "transport", "", "stdio or http, as an alternative to --http")
	return cmd
}

// settle decides what to serve from flags and configuration.
func (f *serveFlags) settle(transport string, port int) (addr string, stdio bool, err error) {
	if f.transport != "" {
		transport = f.transport
	}
	own := "127.0.0.1:" + strconv.Itoa(port)
	switch {
	case transport != "stdio" && transport != "http":
		return "", false, wrongUsage("--transport cannot be %q; it is stdio or http", transport)
	case f.http == "default":
		addr = own
	case f.http != "":
		addr = f.http
	case transport == "http":
		addr = own
	}
	return addr, addr == "" || f.stdio, nil
}

// stdinGrace leaves the end of the process, all told, under 100 ms after its
// input has closed.
const stdinGrace = 40 * time.Millisecond

func serve(ctx context.Context, g *global, f *serveFlags) error {
	// Nothing but JSON-RPC may reach stdout: whatever else is printed by
	// mistake goes to stderr.
	stdout := os.Stdout
	os.Stdout = os.Stderr //nolint:reassign // the only way to catch what a library prints

	cfg, err := load(g)
	if err != nil {
		return err
	}
	addr, stdio, err := f.settle(cfg.Transport, cfg.HTTPPort)
	if err != nil {
		return err
	}
	a, err := openServer(ctx, g)
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.listenAndServe(ctx, addr, stdio, stdout); err != nil || a.trouble == nil {
		return err
	}
	return &quietError{exitFailed} // it was said at the start
}

// listenAndServe serves until the client or the user ends it.
func (a *app) listenAndServe(ctx context.Context, addr string, stdio bool, stdout io.Writer) error {
	server := a.server()

	ended := make(chan error, 2)
	if addr != "" {
		h, err := listen.NewHTTP(ctx, addr, server, a.health, a.log.Logger)
		if err != nil {
			return err
		}
		defer h.Close()
		go func() { ended <- h.Serve() }()
		fmt.Fprintf(os.Stderr, "parley %s serves MCP at %s (health page: http://%s/). Ctrl-C ends it; nothing is lost.\n", version, h.URL(), h.Addr())
	}
	a.greet(addr != "")
	if stdio {
		go func() {
			err := server.Run(context.WithoutCancel(ctx), &listen.Lines{Reader: os.Stdin, Writer: stdout, Grace: stdinGrace})
			if addr == "" {
				ended <- err
			}
		}()
	}
	defer a.Close() // before the listeners, so that waiting calls answer
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) {
			return nil // the client left, by whichever end
		}
		return err
	}
}

// greet says in one line what answers, if that is not what the user expects.
func (a *app) greet(loud bool) {
	switch {
	case a.trouble != nil:
		fmt.Fprintf(os.Stderr, "parley: %s\n%s\n", a.trouble.Message, a.trouble.Hint)
	case a.demoOn && len(a.providers) == 1:
		fmt.Fprintln(os.Stderr, "No key and no local model found: the simulated demo models answer (demo-fast, demo-deep, demo-slow). Set OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or CUSTOM_API_URL for real ones.")
	case len(a.providers) == 0:
		fmt.Fprintln(os.Stderr, "No key and no local model found: tools are listed, but no model can answer. Run `parley doctor` to see what to set.")
	case loud:
		fmt.Fprintf(os.Stderr, "Providers: %s.\n", a.providerNames())
	}
}

func (a *app) providerNames() string {
	names := make([]string, len(a.providers))
	for i, p := range a.providers {
		names[i] = p.ID()
	}
	return strings.Join(names, ", ")
}

// health is what the health page shows.
func (a *app) health() map[string]any {
	status, providers := "ok", a.providerNames()
	if a.trouble != nil {
		status = a.trouble.Message
	} else if providers == "" {
		status, providers = "no model can answer", "none; run `parley doctor`"
	}
	return map[string]any{
		"status": status, "version": version, "providers": providers, "time": time.Now().UTC().Format(time.RFC3339),
	}
}
