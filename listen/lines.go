// Package listen brings connections in: newline-delimited JSON-RPC on stdio,
// and streamable HTTP on loopback.
package listen

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// MaxFrame is the longest JSON-RPC message taken from a client.
const MaxFrame = 32 << 20

// Lines is an [mcp.Transport] of one JSON-RPC message a line. Unlike the SDK's
// own it survives bad frames: what is not JSON, too long or not UTF-8 gets a
// JSON-RPC error, and the connection goes on.
type Lines struct {
	Reader io.Reader
	Writer io.Writer
	// Grace is how long calls that are under way when the reader ends may still
	// take to answer; zero for no time.
	Grace time.Duration
}

// Connect implements [mcp.Transport].
func (l *Lines) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConn{
		grace: l.Grace, open: make(map[jsonrpc.ID]bool), idle: make(chan struct{}, 1),
		in: make(chan frame), out: make(chan outLine), closed: make(chan struct{}),
		written: make(chan struct{}), batches: make(map[jsonrpc.ID]*batch),
	}
	go c.readLines(bufio.NewReaderSize(l.Reader, 64<<10))
	go c.writeLines(l.Writer)
	return c, nil
}

// lineConn is one connection. Its reader goroutine may outlive Close if the
// underlying reader cannot be interrupted, as is the case for stdin; so may its
// writer, in the middle of a line that the client does not read.
type lineConn struct {
	in  chan frame
	out chan outLine
	// deaf is set when the client did not take an error in time; only Read
	// touches it.
	deaf bool
	// queue holds the rest of the last batch; only Read touches it.
	queue []jsonrpc.Message

	grace time.Duration

	mu sync.Mutex
	// open are the calls without a response. pending counts those and the
	// responses that are on their way out; idle is told when there are none.
	open    map[jsonrpc.ID]bool
	pending int
	idle    chan struct{}
	batches map[jsonrpc.ID]*batch

	closeOnce sync.Once
	closed    chan struct{}
	// written is closed when the writer has stopped.
	written  chan struct{}
	writeErr error
}

// outLine is a line to write; sent is called when it has left, if not nil.
type outLine struct {
	data []byte
	sent func()
}

// batch collects the responses to a batch, which older clients may send.
type batch struct {
	open      map[jsonrpc.ID]bool
	responses []json.RawMessage
}

// SessionID implements [mcp.Connection]; a connection is its own session.
func (c *lineConn) SessionID() string { return "" }

// readLines feeds in with frames until the reader ends.
func (c *lineConn) readLines(r *bufio.Reader) {
	defer close(c.in)
	for {
		f, err := readFrame(r)
		if len(f.data) > 0 || f.over {
			select {
			case c.in <- f:
			case <-c.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// frame is a line without its end. One over MaxFrame has no data.
type frame struct {
	data []byte
	over bool
}

// readFrame returns the next line; what is over MaxFrame is skipped.
func readFrame(r *bufio.Reader) (frame, error) {
	var f frame
	for {
		piece, err := r.ReadSlice('\n')
		if f.over = f.over || len(f.data)+len(piece) > MaxFrame; f.over {
			f.data = nil
		} else {
			f.data = append(f.data, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		f.data = bytes.TrimSpace(f.data)
		return f, err
	}
}

// Read implements [mcp.Connection].
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if len(c.queue) > 0 {
			next := c.queue[0]
			c.queue = c.queue[1:]
			if problem := c.begin(next); problem != nil {
				c.refuse(ctx, nil, problem)
				continue
			}
			return next, nil
		}
		select {
		case f, ok := <-c.in:
			if !ok {
				c.settle()
				// Whoever still writes now would wait for a client that has left.
				_ = c.Close()
				return nil, io.EOF
			}
			messages, problem := c.decode(f)
			if problem != nil {
				c.refuse(ctx, idIn(f.data), problem)
				continue
			}
			c.queue = messages
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// requestIDHeader tells the server a call's JSON-RPC id, which the SDK keeps to
// itself. See mcpserver.
const requestIDHeader = "Parley-Request-Id"

// begin notes a call that needs a response. An id that is in use is refused:
// the SDK would drop the second call without a word.
func (c *lineConn) begin(m jsonrpc.Message) *jsonrpc.Error {
	req, ok := m.(*jsonrpc.Request)
	if !ok || !req.IsCall() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[req.ID] {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the id %.64v is in use by a call without a response", req.ID.Raw())}
	}
	c.open[req.ID] = true
	c.pending++
	if id, err := json.Marshal(req.ID.Raw()); err == nil {
		req.Extra = &mcp.RequestExtra{Header: http.Header{requestIDHeader: {string(id)}}}
	}
	return nil
}

// answering frees the id of a call, which the client may use again as soon as
// it has read the response. sent is to be called when that has left.
func (c *lineConn) answering(id jsonrpc.ID) (sent func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open[id] {
		return func() {}
	}
	delete(c.open, id)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pending--; c.pending == 0 {
			select {
			case c.idle <- struct{}{}:
			default:
			}
		}
	}
}

// settle waits until all calls are answered, or for the time of grace: a
// client may well close its end right after its last question.
func (c *lineConn) settle() {
	timer := time.NewTimer(c.grace)
	defer timer.Stop()
	for {
		c.mu.Lock()
		pending := c.pending
		c.mu.Unlock()
		if pending == 0 {
			return
		}
		select {
		case <-c.idle:
		case <-timer.C:
			return
		case <-c.closed:
			return
		}
	}
}

// decode turns a frame into messages, or says what is wrong with it.
func (c *lineConn) decode(f frame) ([]jsonrpc.Message, *jsonrpc.Error) {
	switch {
	case f.over:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the message is longer than %d bytes", MaxFrame)}
	case !utf8.Valid(f.data):
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the message is not valid UTF-8"}
	case !json.Valid(f.data):
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the message is not valid JSON"}
	}
	if f.data[0] == '[' {
		return c.decodeBatch(f.data)
	}
	m, err := jsonrpc.DecodeMessage(f.data)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the message is not a JSON-RPC 2.0 request, response or notification"}
	}
	if !exactID(idIn(f.data)) {
		return nil, inexactID()
	}
	return []jsonrpc.Message{m}, nil
}

// exactID reports whether an id comes back as it was sent: numbers go through a
// float on the way, so only whole ones below 2^53 do.
func exactID(raw json.RawMessage) bool {
	if len(raw) == 0 || raw[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil && n > -1<<53 && n < 1<<53
}

func inexactID() *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the id must be a string or a whole number below 2^53"}
}

func (c *lineConn) decodeBatch(data []byte) ([]jsonrpc.Message, *jsonrpc.Error) {
	invalid := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the batch holds something that is not a JSON-RPC 2.0 message"}
	var raw []json.RawMessage
	if json.Unmarshal(data, &raw) != nil || len(raw) == 0 {
		return nil, invalid
	}
	b := &batch{open: make(map[jsonrpc.ID]bool)}
	messages := make([]jsonrpc.Message, 0, len(raw))
	for _, r := range raw {
		m, err := jsonrpc.DecodeMessage(r)
		if err != nil {
			return nil, invalid
		}
		if !exactID(idIn(r)) {
			return nil, inexactID()
		}
		if req, ok := m.(*jsonrpc.Request); ok && req.IsCall() {
			if b.open[req.ID] || c.inUse(req.ID) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the batch uses an id twice, or one that is in use"}
			}
			b.open[req.ID] = true
		}
		messages = append(messages, m)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range b.open {
		c.batches[id] = b
	}
	return messages, nil
}

func (c *lineConn) inUse(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[id]
}

// idIn finds the id in a frame that is JSON but no message, so that its sender
// does not wait for ever. Null if there is none.
func idIn(data []byte) json.RawMessage {
	var found struct {
		ID json.RawMessage `json:"id"`
	}
	if !utf8.Valid(data) || json.Unmarshal(data, &found) != nil || len(found.ID) == 0 {
		return nil
	}
	if c := found.ID[0]; c != '"' && c != '-' && (c < '0' || c > '9') {
		return nil // neither text nor number
	}
	return found.ID
}

// errorPatience is how long an error waits for the client to read.
const errorPatience = 20 * time.Millisecond

// refuse answers a frame that is not taken; a nil id is null. The reader must
// not wait for a client that does not read, or it would not see it leave: an
// error that is not taken in time is dropped, and then all until one is taken.
func (c *lineConn) refuse(ctx context.Context, id json.RawMessage, problem *jsonrpc.Error) {
	data, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, problem})
	if err != nil {
		return
	}
	patience := errorPatience
	if c.deaf {
		patience = 0
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c.deaf = c.send(ctx, outLine{data: data}) != nil
}

// Write implements [mcp.Connection].
func (c *lineConn) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	resp, ok := m.(*jsonrpc.Response)
	if !ok {
		return c.send(ctx, outLine{data: data})
	}
	sent := c.answering(resp.ID)
	data, wait := c.collect(resp.ID, data)
	if wait {
		sent()
		return nil
	}
	if err := c.send(ctx, outLine{data, sent}); err != nil {
		sent()
		return err
	}
	return nil
}

// collect keeps the response if it belongs to a batch that is not complete,
// and returns the whole batch when it is.
func (c *lineConn) collect(id jsonrpc.ID, data []byte) (out []byte, wait bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, ok := c.batches[id]
	if !ok {
		return data, false
	}
	delete(c.batches, id)
	delete(b.open, id)
	b.responses = append(b.responses, data)
	if len(b.open) > 0 {
		return nil, true
	}
	out, err := json.Marshal(b.responses)
	return out, err != nil
}

// send hands a line to the writer. A client that does not read holds up only
// those who write to it, and only until their context ends.
func (c *lineConn) send(ctx context.Context, line outLine) error {
	line.data = append(line.data, '\n')
	select {
	case c.out <- line: // even if ctx has ended
		return nil
	default:
	}
	select {
	case c.out <- line:
		return nil
	case <-c.written:
		return fmt.Errorf("writing to the client: %w", c.writeErr)
	case <-c.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *lineConn) writeLines(w io.Writer) {
	defer close(c.written)
	for {
		select {
		case line := <-c.out:
			_, err := w.Write(line.data)
			if line.sent != nil {
				line.sent()
			}
			if err != nil {
				c.writeErr = err
				return
			}
		case <-c.closed:
			return
		}
	}
}

// lastWords is how long Close waits for the line that is being written.
const lastWords = 20 * time.Millisecond

// Close implements [mcp.Connection]. What has been handed to the writer still
// leaves, if the client reads.
func (c *lineConn) Close() error {
	c.closeOnce.Do(func() {
		close(c.closed)
		timer := time.NewTimer(lastWords)
		defer timer.Stop()
		select {
		case <-c.written:
		case <-timer.C:
		}
	})
	return nil
}
