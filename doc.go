// Package parley is the language of the program: threads, turns, runs, and the
// few interfaces that the engine needs from the world around it.
//
// A call is a run. A run belongs to a thread. Everything else is a face on that.
//
//   - A [Thread] is an append-only sequence of turns. Tools, models and clients
//     take turns on it; none owns it.
//   - A [Run] is one piece of work on a thread: a chat, a panel, a workflow step.
//     It is written down before it starts, streams while it goes, and ends in
//     exactly one [State].
//   - What a run does is a [Plan]. A plan asks models and leaves checkpoints
//     through [Work], so that another process can take it up where it stopped.
//
// The package does no I/O and imports nothing else of this module. Packages
// around it are named for what they know or whom they talk to; cmd/parley is
// the only place where they meet.
package parley
