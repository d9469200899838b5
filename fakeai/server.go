package fakeai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is an Upstream on a loopback listener.
type Server struct {
	URL string
	*Upstream

	http   *http.Server
	served chan struct{}
	conns  sync.WaitGroup
	once   sync.Once
}

// Start serves a new Upstream on a free port of 127.0.0.1. Like httptest, it
// panics when it cannot listen.
func Start() *Server {
	var lc net.ListenConfig
	ln, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		panic(fmt.Sprintf("fakeai: listen on loopback: %v", err))
	}
	s := &Server{
		URL:      "http://" + ln.Addr().String(),
		Upstream: New(),
		served:   make(chan struct{}),
	}
	s.http = &http.Server{Handler: s.Upstream, ConnState: s.track, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.served)
		if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			panic(fmt.Sprintf("fakeai: serve: %v", err))
		}
	}()
	return s
}

// Close stops listening, cuts every answer that is still going out or held, and
// waits until all handlers and connections have ended. It may be called again.
func (s *Server) Close() {
	s.once.Do(func() {
		// Handlers first: closing their connections first would look to them as
		// if the clients had gone away.
		s.Upstream.Close()
		_ = s.http.Close()
		<-s.served
		s.conns.Wait()
	})
}

// track counts connections, so that Close leaves no goroutine behind for a leak
// detector to find. New ones are counted on the accepting goroutine, which has
// ended when Close waits.
func (s *Server) track(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.conns.Done()
	default:
	}
}

// OpenAI is the base URL as OpenAI's SDK takes it.
func (s *Server) OpenAI() string { return s.URL + "/v1" }

// Anthropic is the base URL as Anthropic's SDK takes it, which appends
// /v1/messages.
func (s *Server) Anthropic() string { return s.URL }

// Gemini is the base URL as genai takes it, which appends /v1beta/models/….
func (s *Server) Gemini() string { return s.URL }
