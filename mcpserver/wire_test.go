package mcpserver_test

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"parley/listen"
)

// lineClient speaks JSON-RPC by the line, as a client on stdio does.
type lineClient struct {
	t    *testing.T
	to   io.Writer
	from *bufio.Reader
}

func (b *testBundle) lines(t *testing.T) *lineClient {
	t.Helper()
	serverIn, to := io.Pipe()
	from, serverOut := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = b.server.Run(t.Context(), &listen.Lines{Reader: serverIn, Writer: serverOut})
	}()
	t.Cleanup(func() {
		_ = to.Close()
		go func() { _, _ = io.Copy(io.Discard, from) }()
		wait(t, "the end of the connection", ended)
		_ = serverOut.Close()
	})
	return &lineClient{t, to, bufio.NewReader(from)}
}

func (c *lineClient) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.to, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *lineClient) read() string {
	c.t.Helper()
	line, err := c.from.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

// initialize shakes hands as a client of that name.
func (c *lineClient) initialize(name, revision string) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + revision +
		`","capabilities":{},"clientInfo":{"name":"` + name + `","version":"1"}}}`)
	c.read()
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// result sends a line and returns the result of the response.
func (c *lineClient) result(line string) json.RawMessage {
	c.t.Helper()
	c.send(line)
	var response struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal([]byte(c.read()), &response); err != nil {
		c.t.Fatal(err)
	}
	return response.Result
}
