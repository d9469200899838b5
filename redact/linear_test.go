//go:build !race

package redact_test

import (
	"strings"
	"testing"
	"time"

	"parley/redact"
)

// TestMaskIsLinear feeds texts that make a scanner start over at every byte. A
// quadratic one needs minutes for them; the limit is far above what a slow
// machine needs, unless the race detector slows it down.
func TestMaskIsLinear(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, piece := range map[string]string{
		"begins":  "-----BEGIN " + "PRIVATE KEY-----",
		"ends":    "-----END " + "PRIVATE KEY-----",
		"keys":    "key=",
		"masked":  "[masked: ",
		"jwt":     "eyJ",
		"curl":    "curl ",
		"urls":    "a://b:c",
		"secret":  "kind: Secret data: ",
		"one run": "a1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			redact.New(nil).Mask(strings.Repeat(piece, 1<<18/len(piece)))
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("256 KB took %v", took)
			}
		})
	}
}
