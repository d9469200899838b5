package openai_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley"
	"parley/fakeai"
	"parley/provider/openai"
)

func TestModels(t *testing.T) {
	t.Parallel()
	up := fakeai.Start()
	t.Cleanup(up.Close)
	up.Script("gpt-5", fakeai.Script{})
	up.Script("o3", fakeai.Script{})
	p := openai.New(openai.Config{BaseURL: up.OpenAI(), Key: "sk-list"})
	names, err := p.Models(t.Context())
	if diff := cmp.Diff([]string{"gpt-5", "o3"}, names); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if got := up.Requests()[0].Header.Get("Authorization"); got != "Bearer sk-list" {
		t.Errorf("Authorization %q", got)
	}
	up.Script(fakeai.ModelList, fakeai.Script{Status: 401})
	if _, err := p.Models(t.Context()); parley.ErrorCode(err) != parley.CodeAuthenticationFailed {
		t.Errorf("a bad key: %v", err)
	}
	up.Script(fakeai.ModelList, fakeai.Script{Status: 200, Body: "<html>"})
	if _, err := p.Models(t.Context()); err == nil {
		t.Error("a page instead of a list is an error")
	}
}
