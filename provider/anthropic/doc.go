// Package anthropic asks models over Anthropic's Messages API.
//
// Requests are built and sent with the vendor's SDK, so that they are right by
// construction, but not through its Messages service: that reads the environment
// for tracing, writes warnings to stderr and refuses long answers. Answers are
// read with [wire.Events].
package anthropic
