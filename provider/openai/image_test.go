package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley"
	"parley/fakeai"
	"parley/provider/openai"
)

// An image goes where it stands among the parts, as a data URL, on both wires.
func TestImages(t *testing.T) {
	t.Parallel()
	url := "data:image/png;base64,AAEC"
	for wire, want := range map[string]string{
		openai.WireResponses: `[{"type":"input_text","text":"before"},{"type":"input_image","detail":"auto","image_url":"` + url + `"},{"type":"input_text","text":"after"}]`,
		openai.WireChat:      `[{"type":"text","text":"before"},{"type":"image_url","image_url":{"url":"` + url + `"}},{"type":"text","text":"after"}]`,
	} {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			up := fakeai.Start()
			t.Cleanup(up.Close)
			p := openai.New(openai.Config{BaseURL: up.OpenAI(), Key: "sk-image", Wire: wire})
			_, err := p.Ask(t.Context(), parley.Call{
				Model: parley.Model{ModelRef: parley.ModelRef{Provider: "openai", Name: "gpt-5-mini"}},
				Messages: []parley.Message{{Role: parley.RoleUser, Parts: []parley.Part{
					{Text: "before"}, {Image: &parley.Image{MIME: "image/png", Data: []byte{0, 1, 2}}}, {Text: "after"},
				}}},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := up.Requests()[0]
			messages, _ := got.JSON["input"].([]any)
			if wire == openai.WireChat {
				messages, _ = got.JSON["messages"].([]any)
			}
			message, _ := messages[len(messages)-1].(map[string]any)
			var wanted any
			if err := json.Unmarshal([]byte(want), &wanted); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wanted, message["content"]); diff != "" || got.Messages[0].Images != 1 {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
}
