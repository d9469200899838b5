package wire_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"parley/provider/wire"
)

func account(provider string) wire.EndpointConfig {
	return wire.EndpointConfig{
		Provider: provider, BaseURL: "https://someone:password@host/v1/?sig=signature&version=2024", Key: "sk-1234",
		Header: http.Header{"X-Api-Key": {"header-secret"}, "Authorization": {"Bearer token-value"}, "X-Plain": {"plain"}},
	}
}

// Stores hold fingerprints, so they must never change.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	for provider, want := range map[string]string{"anthropic": "49de28e99534b05c", "gemini": "48ee2ea825914d63"} {
		if got := wire.NewEndpoint(account(provider)).Fingerprint; got != want {
			t.Errorf("fingerprint of %s is %s, want %s", provider, got, want)
		}
	}
}

func TestSecretsOfEndpoint(t *testing.T) {
	t.Parallel()
	secrets := []string{"someone", "password", "signature", "2024", "sk-1234", "header-secret", "token-value"}
	_, err := wire.NewEndpoint(account("gemini")).Ask(t.Context(), wire.Question{
		Send: func(context.Context) (*http.Response, error) {
			return nil, errors.New("plain " + strings.Join(secrets, " "))
		},
	})
	cause := errors.Unwrap(err)
	if cause == nil || !strings.Contains(cause.Error(), "plain") {
		t.Fatalf("error %v has cause %v, want what was not secret", err, cause)
	}
	for _, secret := range secrets {
		if strings.Contains(cause.Error(), secret) {
			t.Errorf("%q shows %s", cause, secret)
		}
	}
}
