// Package openai asks models over OpenAI's two wires, Responses and Chat
// Completions. With a base URL it serves everything that is compatible: other
// vendors, gateways, Ollama, vLLM, LM Studio.
//
// Requests are built and sent with the vendor's SDK, so that they are right by
// construction; answers are read with [wire.Events], because the SDK's stream
// costs ten kilobytes an event.
package openai
