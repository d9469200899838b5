// Package brief decides what a model sees: how much of a thread fits beside the
// question, and how turns become messages.
//
// Everything here is a function of its arguments, so that for one thread and
// one model the messages of a request are a prefix of the next one's, and every
// provider's prompt cache hits. [Fit] says how much history is left out,
// [Build] renders the rest.
package brief
