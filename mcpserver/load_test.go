package mcpserver_test

import (
	"fmt"
	"sync"
	"testing"

	"parley/fakeai"
)

func TestManyChatsOnOneConnection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	// One model hangs all the while and delays nobody.
	b.up.Script("gpt-5.5", fakeai.Script{Hang: true})
	s := b.connect(t, "stranger")
	var hung []reply
	for range 8 {
		hung = append(hung, s.call("chat", fields{"prompt": "hang", "model": "gpt-5.5", "async": true}))
	}
	b.await(t, len(hung))

	var chats sync.WaitGroup
	threads := make([]string, 64)
	for i := range threads {
		chats.Go(func() {
			r, err := s.try(deadline(t), "chat", fields{"prompt": fmt.Sprintf("question %d", i), "model": model})
			if err != nil || r.isError || r.str("content") != fmt.Sprintf("ECHO: question %d", i) {
				t.Errorf("chat %d: got %s, %v", i, r.text, err)
			}
			threads[i] = r.thread()
		})
	}
	chats.Wait()
	seen := map[string]bool{}
	for _, id := range threads {
		seen[id] = true
	}
	if len(seen) != len(threads) {
		t.Errorf("%d threads for %d chats", len(seen), len(threads))
	}
	for _, h := range hung {
		if r := s.call("cancel_job", fields{"continuation_id": h.run()}); r.str("status") != "cancelled" {
			t.Errorf("got %s", r.text)
		}
	}
}
