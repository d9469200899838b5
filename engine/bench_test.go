package engine_test

import (
	"strings"
	"testing"

	"parley"
	"parley/catalog"
	"parley/chat"
	"parley/engine"
	"parley/fakeai"
	"parley/provider/openai"
	"parley/store/sqlite"
)

// BenchmarkLongAnswer streams 1 MB in 5,000 pieces, through provider, draft and
// store. B/op includes the fake upstream; x-answer is its ratio to the answer.
func BenchmarkLongAnswer(b *testing.B) {
	up := fakeai.Start()
	defer up.Close()
	up.Keep(1)
	text := strings.Repeat("twenty bytes of text", 50_000)
	up.Script("", fakeai.Script{Text: text, Chunks: 5000})
	store, err := sqlite.Open(b.Context(), b.TempDir(), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	models, err := catalog.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	e := engine.New(engine.Config{
		Store: store, Catalogue: models, Plans: map[string]parley.PlanFunc{"chat": chat.New},
		Providers: []parley.Provider{openai.New(openai.Config{BaseURL: up.OpenAI(), Key: "sk-bench"})},
	})
	defer e.Close()
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		run, err := e.Start(b.Context(), question("long?"))
		if err != nil {
			b.Fatal(err)
		}
		if run, err = e.Await(b.Context(), run.ID); err != nil || len(run.Result.Content) != len(text) {
			b.Fatal(err, run.Err)
		}
	}
}
