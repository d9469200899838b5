package fakeai_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/fakeai"
)

func TestWhole(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
		status, body, err := d.answer(t, up, false)
		if status != 200 || err != nil {
			t.Fatalf("got %d %s, %v", status, body, err)
		}
		if got, want := dig(decode(t, body), d.text...), "ECHO: why?"; got != want {
			t.Errorf("got %v, want %q in %s", got, want, body)
		}

		r := up.Requests()[0]
		want := []fakeai.Message{{Role: "user", Text: "why?"}}
		if diff := cmp.Diff(want, r.Messages); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		if r.Wire != d.name || r.Model != "m" || r.Stream || r.System != "be brief" || r.Text() != "be brief\nwhy?" {
			t.Errorf("request read wrong: %+v", r)
		}
		if got, want := string(r.Body), d.body("m", "why?", false); got != want {
			t.Errorf("body: got %s, want %s", got, want)
		}
	})
}

func TestStream(t *testing.T) {
	t.Parallel()
	nasty := "\x00\x1f\"\\\n\r\t</script> \u2028 日本語 🙂🙂 é" + strings.Repeat("word ", 50) + strings.Repeat("日", 100)
	tests := map[string]struct {
		script fakeai.Script
		deltas int // 0: as many as come
	}{
		"Words":          {script: fakeai.Script{Text: nasty}},
		"Chunks":         {script: fakeai.Script{Text: nasty, Chunks: 7}, deltas: 7},
		"ChunkPerRune":   {script: fakeai.Script{Text: "a🙂b🙂", Chunks: 100}, deltas: 4},
		"Comments":       {script: fakeai.Script{Text: nasty, Comments: true}},
		"Reply":          {script: fakeai.Script{Reply: func(*fakeai.Request) string { return nasty }, Text: "no"}},
		"Reasoning":      {script: fakeai.Script{Text: nasty, Reasoning: "let me see " + nasty}},
		"ThousandsCheap": {script: fakeai.Script{Text: strings.Repeat("0123456789", 30_000), Chunks: 3000}, deltas: 3000},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
				up.Script("m", test.script)
				status, body, err := d.answer(t, up, true)
				if status != 200 || err != nil {
					t.Fatalf("got %d, %v", status, err)
				}
				if got := strings.Contains(body, "\n: keepalive\n"); got != test.script.Comments {
					t.Errorf("comments: got %v, want %v", got, test.script.Comments)
				}
				all := events(t, strings.ReplaceAll(body, ": keepalive\n", ""))
				want := test.script.Text
				if test.script.Reply != nil {
					want = nasty
				}
				deltas := d.deltas(all)
				if diff := cmp.Diff(want, strings.Join(deltas, "")); diff != "" {
					t.Errorf("text (-want +got):\n%s", diff)
				}
				if test.deltas > 0 && len(deltas) != test.deltas {
					t.Errorf("got %d deltas, want %d", len(deltas), test.deltas)
				}
				if got, want := reasoningOf(d, all), test.script.Reasoning; got != want {
					t.Errorf("reasoning: got %q, want %q", got, want)
				}
				if last := all[len(all)-1]; !strings.Contains(last.name+last.raw, d.end) {
					t.Errorf("ends with %s %.300s, want %s", last.name, last.raw, d.end)
				}
			})
		})
	}
}

func reasoningOf(d dialect, all []event) string {
	var b strings.Builder
	for _, e := range all {
		path := d.reasoning
		switch {
		case e.name == "response.reasoning_summary_text.delta":
			path = d.delta
		case dig(e.data, "candidates", 0, "content", "parts", 0, "thought") == true:
			path = d.delta
		case path == nil:
			continue
		}
		s, _ := dig(e.data, path...).(string)
		b.WriteString(s)
	}
	return b.String()
}

func TestResponsesEventOrder(t *testing.T) {
	t.Parallel()
	up := start(t)
	up.Script("m", fakeai.Script{Text: "four", Reasoning: "2+2", Chunks: 2})
	_, body, _ := dialects[0].answer(t, up, true)
	var got []string
	for i, e := range events(t, body) {
		if e.name != dig(e.data, "type") || dig(e.data, "sequence_number") != float64(i) {
			t.Errorf("event %d: line says %s, data %s", i, e.name, e.raw)
		}
		got = append(got, strings.TrimPrefix(e.name, "response."))
	}
	want := []string{
		"created", "in_progress",
		"output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta",
		"reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done",
		"output_item.added", "content_part.added", "output_text.delta", "output_text.delta",
		"output_text.done", "content_part.done", "output_item.done", "completed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnthropicEventOrder(t *testing.T) {
	t.Parallel()
	up := start(t)
	up.Script("m", fakeai.Script{Text: "four", Reasoning: "2+2", Chunks: 2})
	_, body, _ := dialects[2].answer(t, up, true)
	var got []string
	for _, e := range events(t, body) {
		got = append(got, e.name)
	}
	want := []string{
		"message_start", "content_block_start", "ping", "content_block_delta", "content_block_delta",
		"content_block_stop", "content_block_start", "content_block_delta", "content_block_delta",
		"content_block_stop", "message_delta", "message_stop",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGeminiArray(t *testing.T) {
	t.Parallel()
	up := start(t)
	up.Script("m", fakeai.Script{Text: "four", Chunks: 2})
	d := dialects[3]
	d.path = fixed("/v1beta/models/m:streamGenerateContent")
	_, body, _ := d.answer(t, up, true)
	list, _ := decode(t, body).([]any)
	if len(list) != 3 || dig(list, 0, "candidates", 0, "content", "parts", 0, "text") != "fo" ||
		dig(list, 2, "candidates", 0, "finishReason") != "STOP" {
		t.Errorf("got %s", body)
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	eachDialect(t, func(t *testing.T, up *fakeai.Server, d dialect) {
		up.Script("m", fakeai.Script{Empty: true})
		status, body, err := d.answer(t, up, true)
		if all := events(t, body); status != 200 || err != nil || len(d.deltas(all)) != 0 {
			t.Errorf("stream: got %d %s, %v", status, body, err)
		}
		status, body, err = d.answer(t, up, false)
		if text, _ := dig(decode(t, body), d.text...).(string); status != 200 || err != nil || text != "" {
			t.Errorf("whole: got %d %s, %v", status, body, err)
		}
	})
}
