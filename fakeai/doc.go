// Package fakeai is a model service that does what it is told. It speaks the
// wire formats of OpenAI (Responses and Chat Completions), Anthropic (Messages)
// and Google (generateContent), streamed and whole, and remembers every request
// exactly as it arrived.
//
// Start one, point a client at it and look at what the client sent:
//
//	up := fakeai.Start()
//	defer up.Close()
//	up.Script("gpt-5", fakeai.Script{Text: "four", Chunks: 2})
//
//	ask(up.OpenAI(), "gpt-5", "2+2?")
//	fmt.Println(up.Requests()[0].Text()) // 2+2?
//
// Without a script a model answers "ECHO: " and the last thing the user said.
// A script may also answer slowly, break off, hang, or fail in the vendor's own
// words; Hold and HoldChunks let a test decide when, so that no test sleeps.
//
// Requests that the real service would refuse are refused here as well, with
// status 400 and the vendor's error body: a test that passes against fakeai has
// sent something a real service would read.
package fakeai
