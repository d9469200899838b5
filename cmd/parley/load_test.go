package main

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/fakeai"
)

func TestManyChatsOverOneConnection(t *testing.T) {
	t.Parallel()
	const chats = 64
	r := newRig(t)
	s := r.serve()
	hold := make(chan struct{})
	r.up.Script("", fakeai.Script{Hold: hold})
	calls := make([]*call, chats)
	for i := range calls {
		calls[i] = s.tool("chat", args{"prompt": fmt.Sprintf("question %d", i)})
	}
	r.requests(chats) // all of them are upstream at once
	if v := s.call("version", args{}); v.isError {
		t.Errorf("version while %d chats wait: %s", chats, v.text)
	}
	close(hold)
	threads := map[string]bool{}
	for i, c := range calls {
		got, err := c.answer()
		if want := fmt.Sprintf("ECHO: question %d", i); err != nil || got.Content != want {
			t.Errorf("chat %d: %v, %q, want %q", i, err, got.Content, want)
		}
		threads[got.Continuation.ID] = true
	}
	if len(threads) != chats {
		t.Errorf("%d chats began %d threads", chats, len(threads))
	}
}

func TestManyChatsOverHTTP(t *testing.T) {
	t.Parallel()
	const sessions, each = 20, 10
	r := newRig(t)
	h := r.serveHTTP()
	hold := make(chan struct{})
	r.up.Script("", fakeai.Script{Hold: hold})
	ctx := deadline(t)

	var clients sync.WaitGroup
	for i := range sessions {
		clients.Go(func() {
			client := mcp.NewClient(&mcp.Implementation{Name: "parley-test", Version: "1"}, nil)
			session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: h.url, MaxRetries: -1}, nil)
			if err != nil {
				t.Errorf("connect: %v", err)
				return
			}
			defer session.Close()
			var chats sync.WaitGroup
			for n := range each {
				chats.Go(func() { chatOverHTTP(ctx, t, session, fmt.Sprintf("question %d of session %d", n, i)) })
			}
			chats.Wait()
		})
	}
	r.requests(64) // as many as one provider is asked at once
	close(hold)
	clients.Wait()
	r.exactly(sessions * each)
}

func chatOverHTTP(ctx context.Context, t *testing.T, session *mcp.ClientSession, prompt string) {
	t.Helper()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "chat", Arguments: args{"prompt": prompt}})
	if err != nil {
		t.Errorf("%s: %v", prompt, err)
		return
	}
	got, _ := result.StructuredContent.(map[string]any)
	if result.IsError || got["content"] != "ECHO: "+prompt {
		t.Errorf("%s: %v", prompt, got)
	}
}
