package fakeai_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"parley/fakeai"
)

// discard is a response that costs nothing, so that the benchmark sees the
// upstream and not the network.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) WriteHeader(int)             {}
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) Flush()                      {}

func BenchmarkStream(b *testing.B) {
	for _, d := range dialects {
		b.Run(d.name, func(b *testing.B) {
			up := fakeai.New()
			defer up.Close()
			up.Keep(1)
			up.Script("m", fakeai.Script{Text: strings.Repeat("some words and more ", 1000), Chunks: 1000})
			body := d.body("m", "why?", true)
			b.ReportAllocs()
			for b.Loop() {
				r, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, d.path("m", true), io.NopCloser(strings.NewReader(body)))
				r.Header.Set("Anthropic-Version", "2023-06-01")
				up.ServeHTTP(discard{http.Header{}}, r)
			}
		})
	}
}
