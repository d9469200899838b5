package openai_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"parley"
	"parley/provider/openai"
)

func responsesStream(chunks int) string {
	var b strings.Builder
	for i := range chunks {
		fmt.Fprintf(&b, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":%d,"+
			"\"item_id\":\"msg_0123456789\",\"output_index\":0,\"content_index\":0,\"delta\":\"some twenty bytes of \",\"logprobs\":[]}\n\n", i)
	}
	text := strings.Repeat("some twenty bytes of ", chunks)
	fmt.Fprintf(&b, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"model\":\"m\","+
		"\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":%q}]}],"+
		"\"usage\":{\"input_tokens\":10,\"output_tokens\":%d}}}\n\n", text, chunks)
	return b.String()
}

func chatStream(chunks int) string {
	var b strings.Builder
	for range chunks {
		b.WriteString(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","system_fingerprint":"fp_1",` +
			`"choices":[{"index":0,"delta":{"content":"some twenty bytes of "},"logprobs":null,"finish_reason":null}]}` + "\n\n")
	}
	b.WriteString("data: " + chatEnd + "\n\ndata: [DONE]\n\n")
	return b.String()
}

// The same stream of 200 chunks through this package and through the SDK's own
// reader, request included, network excluded.
func BenchmarkStream(b *testing.B) {
	const chunks = 200
	bodies := map[string]string{openai.WireResponses: responsesStream(chunks), openai.WireChat: chatStream(chunks)}
	client := func(wireName string) *http.Client {
		return &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			return answered(bodies[wireName]), nil
		})}
	}
	for _, wireName := range []string{openai.WireResponses, openai.WireChat} {
		b.Run(wireName+"/parley", func(b *testing.B) {
			p := openai.New(openai.Config{ID: "custom", BaseURL: "http://local/v1", Wire: wireName, HTTPClient: client(wireName)})
			call := parley.Call{Model: model, Messages: []parley.Message{user("hello")}}
			b.ReportAllocs()
			for b.Loop() {
				if reply, err := p.Ask(b.Context(), call, nil); err != nil || len(reply.Text) != 21*chunks {
					b.Fatal(len(reply.Text), err)
				}
			}
		})
	}
	options := func(wireName string) []option.RequestOption {
		return []option.RequestOption{
			option.WithBaseURL("http://local/v1"), option.WithHTTPClient(client(wireName)), option.WithMaxRetries(0),
		}
	}
	b.Run("responses/sdk", func(b *testing.B) {
		service := responses.NewResponseService(options(openai.WireResponses)...)
		b.ReportAllocs()
		for b.Loop() {
			var text strings.Builder
			stream := service.NewStreaming(b.Context(), responses.ResponseNewParams{Model: "m"})
			for stream.Next() {
				if e := stream.Current(); e.Type == "response.output_text.delta" {
					text.WriteString(e.Delta)
				}
			}
			if stream.Err() != nil || text.Len() != 21*chunks {
				b.Fatal(text.Len(), stream.Err())
			}
		}
	})
	b.Run("chat/sdk", func(b *testing.B) {
		service := sdk.NewChatService(options(openai.WireChat)...)
		b.ReportAllocs()
		for b.Loop() {
			var text strings.Builder
			stream := service.Completions.NewStreaming(b.Context(), sdk.ChatCompletionNewParams{Model: "m"})
			for stream.Next() {
				for _, choice := range stream.Current().Choices {
					text.WriteString(choice.Delta.Content)
				}
			}
			if stream.Err() != nil || text.Len() != 21*chunks {
				b.Fatal(text.Len(), stream.Err())
			}
		}
	})
}
