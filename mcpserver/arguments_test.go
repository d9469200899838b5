package mcpserver_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"parley"
)

func TestArguments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.connect(t, "tester")
	huge := strings.Repeat("verylong", 100_000)
	for name, c := range map[string]struct {
		tool, args string
		// has are what the text must say beside the code.
		code parley.Code
		has  []string
	}{
		"UnknownField":        {args: `{"prompt":"x","modle":"a"}`, has: []string{`no field "modle"`, "Did you mean model?"}},
		"UnknownFarField":     {args: `{"prompt":"x","zzzzzz":1}`, has: []string{`no field "zzzzzz"`, "Its fields are prompt, model"}},
		"UnknownHugeField":    {args: `{"prompt":"x","` + huge + `":1}`, has: []string{"no field"}},
		"UnknownUnicodeField": {args: `{"prompt":"x","` + strings.Repeat("日", 40) + `":1}`, has: []string{"no field", "日"}},
		"SeveralUnknown":      {args: `{"prompt":"x","zzb":1,"zza":1,"zzc":1}`, has: []string{`no field "zza"`}},
		"WrongCase":           {args: `{"Prompt":"x"}`, has: []string{`no field "Prompt"`, "Did you mean prompt?"}},
		"MissingPrompt":       {args: `{}`, has: []string{"prompt is required"}},
		"NullArguments":       {args: `null`, has: []string{"prompt is required"}},
		"NullPrompt":          {args: `{"prompt":null}`, has: []string{"prompt is required"}},
		"EmptyPrompt":         {args: `{"prompt":""}`, has: []string{"prompt is empty"}},
		"BlankPrompt":         {args: `{"prompt":" \n\t"}`, has: []string{"prompt is empty"}},
		"NulInPrompt":         {args: `{"prompt":"a\u0000b"}`, has: []string{"NUL character at byte 1"}},
		"NulInModel":          {args: `{"prompt":"a","model":"\u0000"}`, has: []string{"model holds a NUL"}},
		"PromptNumber":        {args: `{"prompt":42}`, has: []string{"prompt must be a string, not the number 42"}},
		"PromptList":          {args: `{"prompt":["a"]}`, has: []string{"prompt must be a string, not a list"}},
		"PromptObject":        {args: `{"prompt":{"a":1}}`, has: []string{"prompt must be a string, not an object"}},
		"AsyncString":         {args: `{"prompt":"x","async":"true"}`, has: []string{"async must be a boolean, not a string"}},
		"TemperatureString":   {args: `{"prompt":"x","temperature":"0.5"}`, has: []string{"temperature must be a number, not a string"}},
		"TemperatureHigh":     {args: `{"prompt":"x","temperature":1.5}`, has: []string{"temperature must be between 0 and 1, not 1.5"}},
		"TemperatureLow":      {args: `{"prompt":"x","temperature":-0.1}`, has: []string{"temperature must be between 0 and 1"}},
		"TemperatureEndless":  {args: `{"prompt":"x","temperature":1e999}`, has: []string{"temperature"}},
		"EffortWord":          {args: `{"prompt":"x","reasoning_effort":"heavy"}`, has: []string{`cannot be "heavy"`, "none, minimal, low, medium, high, xhigh, max"}},
		"EffortCase":          {args: `{"prompt":"x","reasoning_effort":"High"}`, has: []string{`cannot be "High"`, "none, minimal"}},
		"EffortHuge":          {args: `{"prompt":"x","reasoning_effort":"` + huge + `"}`, has: []string{"none, minimal"}},
		"ThinkingWord":        {args: `{"prompt":"x","thinking_mode":"deep"}`, has: []string{`cannot be "deep"`, "none, minimal"}},
		"VerbosityWord":       {args: `{"prompt":"x","verbosity":"loud"}`, has: []string{`cannot be "loud"`, "low, medium, high"}},
		"OutputZero":          {args: `{"prompt":"x","max_output_tokens":0}`, has: []string{"max_output_tokens must be between 1 and"}},
		"OutputFraction":      {args: `{"prompt":"x","max_output_tokens":1.5}`, has: []string{"max_output_tokens must be an integer, not the number 1.5"}},
		"FilesLater":          {args: `{"prompt":"x","files":["a"]}`, has: []string{"files is not supported by this version", "Leave files out"}},
		"ImagesLater":         {args: `{"prompt":"x","images":["a"]}`, has: []string{"images is not supported by this version"}},
		"ExportLater":         {args: `{"prompt":"x","export":true}`, has: []string{"export is not supported by this version"}},
		"ProfileLater":        {args: `{"prompt":"x","profile":"speed"}`, has: []string{"profile is not supported by this version"}},
		"ArgumentsList":       {args: `[1]`, has: []string{"must be a JSON object"}},
		"ArgumentsString":     {args: `"prompt"`, has: []string{"must be a JSON object"}},

		"UnknownThread":   {args: `{"prompt":"x","continuation_id":"conv_aaaaaaaaaaaaaaaaaaaaaaaaaa"}`, code: parley.CodeContinuationNotFound, has: []string{"To begin a new thread, name none"}},
		"UnknownRun":      {args: `{"prompt":"x","continuation_id":"run_aaaaaaaaaaaaaaaaaaaaaaaaaa"}`, code: parley.CodeRunNotFound},
		"PathAsThread":    {args: `{"prompt":"x","continuation_id":"../../etc/passwd"}`, code: parley.CodeContinuationNotFound},
		"SpaceAsThread":   {args: `{"prompt":"x","continuation_id":" "}`, code: parley.CodeContinuationNotFound},
		"LongThread":      {args: `{"prompt":"x","continuation_id":"` + strings.Repeat("a", 65) + `"}`, code: parley.CodeContinuationNotFound},
		"VeryLongThread":  {args: `{"prompt":"x","continuation_id":"` + huge + `"}`, code: parley.CodeContinuationNotFound},
		"NewThreadConv":   {args: `{"prompt":"x","continuation_id":"conv_mine","new_thread":true}`, has: []string{"cannot be chosen", "1 to 64 letters"}},
		"NewThreadRun":    {args: `{"prompt":"x","continuation_id":"run_mine","new_thread":true}`, has: []string{"cannot be chosen"}},
		"NewThreadPath":   {args: `{"prompt":"x","continuation_id":"../x","new_thread":true}`, has: []string{"cannot be chosen"}},
		"NewThreadLong":   {args: `{"prompt":"x","continuation_id":"` + strings.Repeat("a", 65) + `","new_thread":true}`, has: []string{"cannot be chosen"}},
		"UnknownProvider": {args: `{"prompt":"x","provider":"nobody"}`, has: []string{`no provider "nobody"`, "INVALID_ARGUMENT | nobody\n"}},

		"StatusUnknownThread": {tool: "check_status", args: `{"continuation_id":"nobody"}`, code: parley.CodeContinuationNotFound},
		"StatusUnknownRun":    {tool: "check_status", args: `{"continuation_id":"run_aaaaaaaaaaaaaaaaaaaaaaaaaa"}`, code: parley.CodeRunNotFound},
		"StatusPath":          {tool: "check_status", args: `{"continuation_id":"../../etc/passwd"}`, code: parley.CodeContinuationNotFound},
		"StatusHistory":       {tool: "check_status", args: `{"continuation_id":"nobody","full_history":true}`, code: parley.CodeContinuationNotFound},
		"StatusWait":          {tool: "check_status", args: `{"wait_seconds":-1}`, has: []string{"wait_seconds must be between 0 and 3600"}},
		"StatusFrom":          {tool: "check_status", args: `{"from":-1}`, has: []string{"from must be between 0"}},
		"CancelMissing":       {tool: "cancel_job", args: `{}`, has: []string{"continuation_id is required"}},
		"CancelEmpty":         {tool: "cancel_job", args: `{"continuation_id":""}`, has: []string{"continuation_id is empty"}},
		"CancelUnknown":       {tool: "cancel_job", args: `{"continuation_id":"nobody"}`, code: parley.CodeContinuationNotFound},
		"CancelUnknownRun":    {tool: "cancel_job", args: `{"continuation_id":"run_aaaaaaaaaaaaaaaaaaaaaaaaaa"}`, code: parley.CodeRunNotFound},
		"ModelsProvider":      {tool: "listmodels", args: `{"provider":"nobody"}`, has: []string{`no provider "nobody"`}},
		"ModelsCapability":    {tool: "listmodels", args: `{"capability":"flying"}`, has: []string{"images, websearch, reasoning"}},
		"VersionField":        {tool: "version", args: `{"verbose":true}`, has: []string{`version has no field "verbose"`}},
		"ChallengeEmpty":      {tool: "challenge", args: `{"prompt":""}`, has: []string{"prompt is empty"}},
		"ChallengeFiles":      {tool: "challenge", args: `{"prompt":"x","files":[]}`, has: []string{`challenge has no field "files"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool, code := c.tool, c.code
			if tool == "" {
				tool = "chat"
			}
			if code == "" {
				code = parley.CodeInvalidArgument
			}
			s := &session{s.ClientSession, t}
			r := s.call(tool, json.RawMessage(c.args))
			if want := "FAILED | " + strings.ToUpper(tool) + " | " + string(code); !r.isError || !strings.HasPrefix(r.head(), want) {
				t.Errorf("got isError %v %q, want %q", r.isError, r.head(), want)
			}
			if r.str("status") != "failed" || r.str("code") != string(code) || r.str("error") == "" {
				t.Errorf("structured: got %v", r.structured)
			}
			for _, want := range c.has {
				if !strings.Contains(r.text, want) {
					t.Errorf("%q is not in:\n%.1000s", want, r.text)
				}
			}
			if len(r.text) > 2000 || strings.Contains(r.text, "passwd") {
				t.Errorf("the error repeats its input: %.300s… (%d bytes)", r.text, len(r.text))
			}
		})
	}
	t.Cleanup(func() {
		if n := len(b.up.Requests()); n != 0 {
			t.Errorf("%d requests went upstream", n)
		}
		ctx := deadline(t)
		threads, err := b.store.Threads(ctx, parley.ThreadQuery{Principal: "local:test", Limit: 10})
		runs, err2 := b.store.Runs(ctx, parley.RunQuery{Principal: "local:test", Limit: 10})
		if err := errors.Join(err, err2); err != nil || len(threads)+len(runs) > 0 {
			t.Errorf("%d threads and %d runs were begun, %v", len(threads), len(runs), err)
		}
	})
}

// What a client leaves out and what it sends as null are the same.
func TestNullIsAbsent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.connect(t, "tester").call("chat", json.RawMessage(`{"prompt":"hello","model":null,"continuation_id":null,
		"reasoning_effort":null,"temperature":null,"use_websearch":null,"async":null,"files":null,"images":null,
		"export":null,"verbosity":null,"max_output_tokens":null,"new_thread":null,"provider":null}`))
	if r.isError || r.str("content") != "ECHO: hello" {
		t.Errorf("got %s", r.text)
	}
	if r := b.connect(t, "tester").call("chat", nil); !strings.Contains(r.text, "prompt is required") {
		t.Errorf("without arguments: got %s", r.text)
	}
}

func TestHugePrompt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.connect(t, "tester")
	for name, prompt := range map[string]string{
		"Words":     strings.Repeat("lorem ipsum ", 10<<20/12),
		"OneLetter": strings.Repeat("a", 10<<20),
	} {
		// Half a second, but the race detector has its own idea of that.
		r := s.call("chat", fields{"prompt": prompt, "model": model})
		if want := "FAILED | CHAT | CONTEXT_LENGTH_EXCEEDED | " + model; !r.isError || r.head() != want {
			t.Errorf("%s: got %q, want %q", name, r.head(), want)
		}
		given, _ := r.at("provided_tokens").(float64)
		if r.at("max_tokens") != 400_000.0 || given < 1_000_000 || r.str("provider") != "openai" {
			t.Errorf("%s: got %v", name, r.structured)
		}
		if len(r.text) > 1000 {
			t.Errorf("%s: the error has %d bytes", name, len(r.text))
		}
	}
	if n := len(b.up.Requests()); n != 0 {
		t.Errorf("%d requests went upstream", n)
	}
}

func TestChosenThreadID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.connect(t, "tester")
	args := fields{"prompt": "one", "model": model, "continuation_id": "my_thread-1", "new_thread": true}
	if r := s.call("chat", args); r.isError || r.thread() != "my_thread-1" {
		t.Fatalf("got %s", r.text)
	}
	again := s.call("chat", args)
	if again.str("code") != string(parley.CodeInvalidArgument) || len(b.up.Requests()) != 1 {
		t.Errorf("the same id again: got %s", again.text)
	}
	if r := s.chat("two", "my_thread-1"); r.thread() != "my_thread-1" || r.at("continuation", "messageCount") != 4.0 {
		t.Errorf("continuing: got %v", r.structured)
	}
	if r := s.call("chat", fields{"prompt": "x", "model": model, "new_thread": true}); r.isError || !strings.HasPrefix(r.thread(), "conv_") {
		t.Errorf("new_thread without an id: got %s", r.text)
	}
}

func TestUnknownTools(t *testing.T) {
	t.Parallel()
	b := setup(t, withServer(func(c *mcpserverConfig) { c.Disabled = []string{"challenge", "VERSION"} }))
	s := b.connect(t, "tester")
	for name, want := range map[string]string{
		"chatt":                       "Did you mean chat?",
		"Chat":                        "Did you mean chat?",
		"check-status":                "Did you mean check_status?",
		"listModels":                  "Did you mean listmodels?",
		"consensus":                   "The tools are",
		"":                            "The tools are",
		"challenge":                   "The tools are",
		strings.Repeat("日本", 100_000): "The tools are",
	} {
		_, err := s.try(deadline(t), name, fields{"prompt": "x"})
		refused, ok := errors.AsType[*jsonrpc.Error](err)
		if !ok || refused.Code != jsonrpc.CodeInvalidParams || !strings.Contains(refused.Message, want) || len(refused.Message) > 600 {
			t.Errorf("%.20q: got %.300v, want %q", name, err, want)
		}
	}
	if r := s.call("version", nil); r.isError {
		t.Errorf("an essential tool was switched off: %s", r.text)
	}
	for _, name := range []string{"chat_EXAI-WS", "chat-EXAI-WS", "chat_EXAI_WS"} {
		if r := s.call(name, fields{"prompt": "hi", "model": model}); r.isError || !strings.HasPrefix(r.head(), "COMPLETED | CHAT | ") {
			t.Errorf("%s: got %s", name, r.text)
		}
	}
}
