package providertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"parley/fakeai"
)

// environment is what the SDKs would help themselves to.
var environment = []string{
	"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET",
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT",
	"GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_OPENAI_API_KEY", "OPENROUTER_API_KEY",
	"XAI_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY", "MOONSHOT_API_KEY", "ZAI_API_KEY", "CUSTOM_API_KEY",
}

func otherKeysStayHome(t *testing.T, h Harness) {
	const mark = "sentinel-of"
	other := fakeai.Start()
	t.Cleanup(other.Close)
	for _, name := range environment {
		t.Setenv(name, mark+"-"+name)
	}
	for _, name := range []string{"OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"} {
		t.Setenv(name, "X-Leak: "+mark+"-"+name)
	}
	t.Setenv("OPENAI_BASE_URL", other.OpenAI())
	t.Setenv("ANTHROPIC_BASE_URL", other.Anthropic())
	t.Setenv("GOOGLE_GEMINI_BASE_URL", other.Gemini())

	keys := []string{Key}
	if h.Keyless {
		keys = append(keys, "")
	}
	for _, key := range keys {
		up := fakeai.Start()
		t.Cleanup(up.Close)
		b := &bundle{h: h, up: up, provider: h.New(t, Endpoint{Upstream: up, Key: key, Client: newClient(t)})}
		b.mustAsk(t, h.call("hello"))
		if places := holders(b.request(t), mark); len(places) > 0 {
			t.Errorf("with key %q, what belongs to another account was sent in %v", key, places)
		}
	}
	if n := len(other.Requests()); n != 0 {
		t.Errorf("a base URL from the environment received %d requests", n)
	}
}

func keyIsNotShown(t *testing.T, h Harness) {
	said := "Incorrect API key provided: " + Key + ". Bearer " + Key
	for name, script := range map[string]fakeai.Script{
		"400":       {Status: 400, Message: said},
		"401":       {Status: 401, Message: said},
		"403":       {Status: 403, Message: said},
		"404":       {Status: 404, Message: said},
		"429":       {Status: 429, Message: said},
		"500":       {Status: 500, Message: said},
		"text":      {Status: 500, Body: said},
		"truncated": {Status: 400, Message: strings.Repeat("x", 290) + Key},
		"inside":    {ErrorAfter: 1, Message: said},
		"type":      {Status: 400, Type: Key, Code: Key, Message: "?"},
	} {
		t.Run(name, func(t *testing.T) {
			b := h.setup(t)
			b.up.Script("", script)
			d := b.ask(t, h.call("hello"))
			if d.err == nil {
				t.Fatal("no error")
			}
			for what, text := range spoken(d.err) {
				if strings.Contains(text, Key[:12]) {
					t.Errorf("the %s shows the key, or a part of it: %s", what, text)
				}
			}
		})
	}
}

// spoken is all that an error can be made to say.
func spoken(err error) map[string]string {
	said := map[string]string{"value": fmt.Sprintf("%+v", err)}
	if data, jsonErr := json.Marshal(err); jsonErr == nil {
		said["JSON"] = string(data)
	}
	for i := 0; err != nil; i++ {
		said[fmt.Sprintf("error at depth %d", i)] = err.Error()
		err = errors.Unwrap(err)
	}
	return said
}

func fingerprint(t *testing.T, h Harness) {
	one, two := fakeai.Start(), fakeai.Start()
	t.Cleanup(one.Close)
	t.Cleanup(two.Close)
	of := func(up *fakeai.Server, key string) string {
		return h.New(t, Endpoint{Upstream: up, Key: key, Client: newClient(t)}).Fingerprint()
	}
	base := of(one, Key)
	if base == "" || base != of(one, Key) {
		t.Errorf("fingerprint %q is empty or changes", base)
	}
	if base == of(two, Key) {
		t.Error("two endpoints have one fingerprint")
	}
	if base == of(one, Key+"2") {
		t.Error("two keys have one fingerprint")
	}
	host := strings.TrimPrefix(one.URL, "http://")
	if strings.Contains(base, Key[:8]) || strings.Contains(base, host) {
		t.Errorf("fingerprint %q reveals key or endpoint", base)
	}
}
