package anthropic

import (
	"cmp"
	"context"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"parley"
	"parley/provider/wire"
)

const (
	// ID is the provider's name.
	ID             = "anthropic"
	defaultBaseURL = "https://api.anthropic.com"
)

// Config says whom to ask. Nothing is taken from the environment.
type Config struct {
	// BaseURL is where v1/messages is appended. A trailing slash does not matter,
	// a query is kept. Empty means Anthropic's own.
	BaseURL string
	// Key is sent as x-api-key; empty sends none.
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
	client   sdk.Client
}

var _ parley.Provider = (*Provider)(nil)

// New returns a provider. A base URL that is none is reported by Ask.
func New(cfg Config) *Provider {
	endpoint := wire.NewEndpoint(wire.EndpointConfig{
		Provider: ID, BaseURL: cmp.Or(cfg.BaseURL, defaultBaseURL), Key: cfg.Key, Header: cfg.Header, HTTPClient: cfg.HTTPClient,
	})
	// Not sdk.NewClient: it would take keys, headers and a base URL from
	// ANTHROPIC_* variables, which belong to Anthropic and not to this base URL.
	return &Provider{endpoint: endpoint, client: sdk.Client{Options: options(cfg, endpoint)}}
}

func options(cfg Config, endpoint *wire.Endpoint) []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(endpoint.Base.String() + "/"),
		option.WithMaxRetries(0),
		option.WithHTTPClient(endpoint.Client),
	}
	if cfg.Key != "" {
		options = append(options, option.WithAPIKey(cfg.Key))
	}
	for name, values := range endpoint.Query {
		for _, v := range values {
			options = append(options, option.WithQueryAdd(name, v))
		}
	}
	for name, values := range cfg.Header {
		options = append(options, option.WithHeaderDel(name))
		for _, v := range values {
			options = append(options, option.WithHeaderAdd(name, v))
		}
	}
	return options
}

// ID implements [parley.Provider].
func (p *Provider) ID() string { return ID }

// Fingerprint implements [parley.Provider].
func (p *Provider) Fingerprint() string { return p.endpoint.Fingerprint }

// Ask implements [parley.Provider].
func (p *Provider) Ask(ctx context.Context, call parley.Call, stream func(parley.Delta)) (parley.Reply, error) {
	params, notes := buildParams(call)
	return p.endpoint.Ask(ctx, wire.Question{
		Model: call.Model.Name, Decoder: new(decoder), Stream: stream, Notes: notes,
		Send: func(ctx context.Context) (*http.Response, error) {
			var res *http.Response
			err := p.client.Post(ctx, "v1/messages", params, &res, option.WithJSONSet("stream", true))
			return res, err
		},
	})
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
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := p.client.Get(asking, "v1/models", sdk.ModelListParams{Limit: param.NewOpt(int64(maxListed))}, &list); err != nil {
		return nil, p.endpoint.Failed(ctx, "", record, err)
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names, nil
}
