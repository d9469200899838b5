package parley

import "context"

// Provider answers questions through one endpoint and account.
type Provider interface {
	// ID is the provider's name in models and answers, such as "openai".
	ID() string
	// Fingerprint identifies endpoint and account without revealing either.
	Fingerprint() string
	// Ask makes one upstream request and returns when the answer is complete.
	// Deltas go to stream as they arrive, in order, from one goroutine; an empty
	// delta says that the upstream is alive. It does not retry. When ctx ends
	// the upstream connection is closed at once. On error the reply holds what
	// had arrived, and the error is an [*Error].
	Ask(ctx context.Context, call Call, stream func(Delta)) (Reply, error)
}

// Call is one upstream request.
type Call struct {
	Model    Model
	System   string
	Messages []Message
	Options  Options
	// MaxOutput is the output limit in tokens; zero leaves it to the provider.
	MaxOutput int
	// CacheKey is the same for all requests of one thread.
	CacheKey string
}

// Role says whose message it is, from the reading model's point of view.
type Role string

// The roles of a message. System prompts travel apart.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one message of a briefing. Parts are kept apart so that each
// provider can render and cache them as it likes.
type Message struct {
	Role  Role
	Parts []Part
}

// Part is a piece of a message: text, or an image.
type Part struct {
	Text string
	// Image is sent instead of Text if it is there.
	Image *Image
}

// Image is a picture as it is sent.
type Image struct {
	// MIME is image/png, image/jpeg, image/gif or image/webp.
	MIME string
	Data []byte
}

// Delta is a piece of an answer as it streams in.
type Delta struct {
	Text string
	// Reasoning is the model thinking aloud. It is progress, not answer.
	Reasoning string
}

// Reply is a whole answer.
type Reply struct {
	Text  string
	Usage Usage
	// FinishReason is stop, length or filter, or the provider's own word.
	FinishReason string
	// Model is the name that the provider says answered; empty if it did not say.
	Model string
	Notes []string
}
