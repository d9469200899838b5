package anthropic_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"parley"
	"parley/provider/anthropic"
)

// A stream of 200 chunks, request included, network excluded.
func BenchmarkStream(b *testing.B) {
	const chunks = 200
	data := []string{start}
	for range chunks {
		data = append(data, say(0, "some twenty bytes of "))
	}
	body := events(append(data, end, stop)...)
	p := anthropic.New(anthropic.Config{BaseURL: "http://local", HTTPClient: &http.Client{
		Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
		}),
	}})
	call := parley.Call{Model: model, Messages: []parley.Message{user("hello")}}
	b.ReportAllocs()
	for b.Loop() {
		if reply, err := p.Ask(b.Context(), call, nil); err != nil || len(reply.Text) != 21*chunks {
			b.Fatal(len(reply.Text), err)
		}
	}
}
