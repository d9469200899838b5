package parley

import (
	"crypto/rand"
	"encoding/base32"
	"regexp"
	"strings"
)

const (
	threadPrefix = "conv_"
	runPrefix    = "run_"
)

var (
	idEncoding     = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
	chosenThreadID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// NewThreadID returns an unguessable thread id: conv_ and 128 random bits.
func NewThreadID() string { return threadPrefix + randomID() }

// NewRunID returns an unguessable run id: run_ and 128 random bits.
func NewRunID() string { return runPrefix + randomID() }

// NewOwnerID returns an id for a process that owns runs.
func NewOwnerID() string { return "own_" + randomID() }

// IsRunID tells a run's id from a thread's.
func IsRunID(id string) bool { return strings.HasPrefix(id, runPrefix) }

// ValidID reports whether id could name a thread or a run at all. Everything
// else is refused before it comes near a store or a file system.
func ValidID(id string) bool { return chosenThreadID.MatchString(id) }

// ValidChosenID reports whether a caller may choose id for a new thread.
func ValidChosenID(id string) bool {
	return ValidID(id) && !strings.HasPrefix(id, threadPrefix) && !strings.HasPrefix(id, runPrefix)
}

func randomID() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails: crypto/rand aborts the program instead
	return idEncoding.EncodeToString(bits[:])
}
