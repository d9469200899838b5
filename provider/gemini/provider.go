package gemini

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"parley"
	"parley/provider/wire"
)

const (
	// ID is the provider's name.
	ID             = "gemini"
	defaultBaseURL = "https://generativelanguage.googleapis.com"
	apiVersion     = "v1beta"
)

// Config says whom to ask. Nothing is taken from the environment.
type Config struct {
	// BaseURL is where v1beta/models/… is appended. A trailing slash does not
	// matter, a query is kept. Empty means Google's own.
	BaseURL string
	// Key is sent as x-goog-api-key, never in the address; empty sends none.
	Key string
	// Header holds further headers. Those whose names speak of a key or a token
	// are treated as secrets.
	Header http.Header
	// HTTPClient is wrapped with [wire.Client]; nil means [wire.Shared].
	HTTPClient *http.Client
}

// Provider implements [parley.Provider]. It is safe for concurrent use.
type Provider struct {
	endpoint *wire.Endpoint
	header   http.Header
}

var _ parley.Provider = (*Provider)(nil)

// New returns a provider. A base URL that is none is reported by Ask.
func New(cfg Config) *Provider {
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"parley"}}
	if cfg.Key != "" {
		header.Set("X-Goog-Api-Key", cfg.Key)
	}
	for name, values := range cfg.Header {
		header[http.CanonicalHeaderKey(name)] = values
	}
	return &Provider{
		header: header,
		endpoint: wire.NewEndpoint(wire.EndpointConfig{
			Provider: ID, BaseURL: cmp.Or(cfg.BaseURL, defaultBaseURL), Key: cfg.Key, Header: cfg.Header, HTTPClient: cfg.HTTPClient,
		}),
	}
}

// ID implements [parley.Provider].
func (p *Provider) ID() string { return ID }

// Fingerprint implements [parley.Provider].
func (p *Provider) Fingerprint() string { return p.endpoint.Fingerprint }

// Ask implements [parley.Provider].
func (p *Provider) Ask(ctx context.Context, call parley.Call, stream func(parley.Delta)) (parley.Reply, error) {
	name := call.Model.Name
	if !usableName(name) {
		return parley.Reply{}, &parley.Error{
			Code: parley.CodeModelNotFound, Message: "the name of the model cannot be one of " + ID + "'s",
			Hint: "Check the name; listmodels shows what is configured.", Provider: ID, Model: name,
		}
	}
	return p.endpoint.Ask(ctx, wire.Question{
		Model: name, Decoder: decoder{}, Stream: stream,
		Send: func(ctx context.Context) (*http.Response, error) {
			body, err := json.Marshal(buildRequest(call))
			if err != nil {
				return nil, err
			}
			return p.send(ctx, http.MethodPost, resource(name)+":streamGenerateContent", url.Values{"alt": {"sse"}}, body)
		},
	})
}

// usableName keeps a name from becoming another address.
func usableName(name string) bool {
	return name != "" && !strings.Contains(name, "..") && !strings.ContainsAny(name, "?#&%:\\")
}

// resource is a model's name as the address has it. Tuned models say what they
// are.
func resource(name string) string {
	if strings.HasPrefix(name, "models/") || strings.HasPrefix(name, "tunedModels/") {
		return name
	}
	return "models/" + name
}

func (p *Provider) send(ctx context.Context, method, path string, query url.Values, body []byte) (*http.Response, error) {
	to := p.endpoint.Base.JoinPath(apiVersion, path)
	all := maps.Clone(p.endpoint.Query)
	maps.Copy(all, query)
	to.RawQuery = all.Encode()
	req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = p.header.Clone()
	return p.endpoint.Client.Do(req)
}

// maxListed is the most that one page of models may have.
const maxListed = 1000

// Models asks the endpoint which models it offers. It costs nothing, and shows
// whether the key is good.
func (p *Provider) Models(ctx context.Context) ([]string, error) {
	if err := p.endpoint.Usable(""); err != nil {
		return nil, err
	}
	asking, record := wire.WithRecord(ctx)
	res, err := p.send(asking, http.MethodGet, "models", url.Values{"pageSize": {strconv.Itoa(maxListed)}}, nil)
	if err != nil {
		return nil, p.endpoint.Failed(ctx, "", record, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= http.StatusMultipleChoices {
		return nil, p.endpoint.Failed(ctx, "", record, err)
	}
	var list struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, p.endpoint.Failed(ctx, "", record, err)
	}
	var names []string
	for _, m := range list.Models {
		names = append(names, strings.TrimPrefix(m.Name, "models/"))
	}
	return names, nil
}
