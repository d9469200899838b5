// Package gemini asks models over Google's Gemini API, by streamGenerateContent.
//
// The request's body is made of the types of Google's SDK (genai), so that it is
// right by construction; sending it and reading the answer is a page of our own.
// The SDK's client would take keys and addresses from the environment, turn
// every body into maps and back, drop the headers of errors and fail on comments
// in the stream, put whole web pages into its errors and write to the global log,
// all of which would have to be undone around it.
package gemini
