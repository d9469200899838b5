package openai_test

import (
	"net/http"
	"testing"

	"parley/provider/openai"
)

// Stores hold fingerprints, so they must never change.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]openai.Config{
		"239fe73d3b8340dc": {},
		"5a954f51cdcbfeff": {
			ID: "deepseek", BaseURL: "https://someone:password@host/v1/?sig=signature&version=2024", Key: "sk-1234",
			Organization: "org", Project: "project",
			Header: http.Header{"X-Api-Key": {"header-secret"}, "Authorization": {"Bearer token-value"}, "X-Plain": {"plain"}},
		},
	} {
		if got := openai.New(cfg).Fingerprint(); got != want {
			t.Errorf("fingerprint of %q is %s, want %s", cfg.BaseURL, got, want)
		}
	}
}
