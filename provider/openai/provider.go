package openai

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"parley"
	"parley/provider/wire"
)

// The wires.
const (
	WireResponses = "responses"
	WireChat      = "chat"
)

const (
	// ID is the provider that is OpenAI itself, or stands in for it.
	ID             = "openai"
	defaultBaseURL = "https://api.openai.com/v1"
)

// Config says whom to ask and how. Nothing is taken from the environment.
type Config struct {
	// ID is the provider's name, such as "openai", "deepseek" or "custom"; empty
	// means "openai". Fields that only OpenAI knows are sent for "openai" alone.
	ID string
	// BaseURL is where the wire's path is appended, usually ending in /v1. A
	// trailing slash does not matter, a query is kept. Empty means OpenAI's own
	// for "openai" and is an error for all others.
	BaseURL string
	// Key is sent as a bearer token; empty sends no Authorization header at all.
	Key string
	// Wire is WireResponses or WireChat; empty means WireResponses for "openai"
	// and WireChat for all others.
	Wire string
	// Organization and Project are sent if set.
	Organization, Project string
	// Header holds further headers. Those whose names speak of a key or a token
	// are treated as secrets.
	Header http.Header
	// HTTPClient is wrapped with [wire.Client]; nil means [wire.Shared].
	HTTPClient *http.Client
}

// Provider implements [parley.Provider]. It is safe for concurrent use.
type Provider struct {
	id        string
	wire      string
	endpoint  *wire.Endpoint
	responses responses.ResponseService
	chat      openai.ChatService
	models    openai.ModelService
}

var _ parley.Provider = (*Provider)(nil)

// New returns a provider. A base URL that is none is reported by Ask.
func New(cfg Config) *Provider {
	p := &Provider{id: cmp.Or(cfg.ID, ID), wire: cfg.Wire}
	if p.wire == "" {
		p.wire = WireChat
		if p.id == ID {
			p.wire = WireResponses
		}
	}
	p.endpoint = newEndpoint(cfg, p.id, p.wire)
	opts := options(cfg, p.endpoint)
	p.responses = responses.NewResponseService(opts...)
	p.chat = openai.NewChatService(opts...)
	p.models = openai.NewModelService(opts...)
	return p
}

func newEndpoint(cfg Config, id, wireName string) *wire.Endpoint {
	base, broken := strings.TrimSpace(cfg.BaseURL), ""
	if base == "" && id == ID {
		base = defaultBaseURL
	}
	if wireName != WireResponses && wireName != WireChat {
		broken = "the wire is neither responses nor chat"
	}
	return wire.NewEndpoint(wire.EndpointConfig{
		Provider: id, BaseURL: base, Example: "https://host/v1", Broken: broken,
		Key: cfg.Key, Header: cfg.Header, HTTPClient: cfg.HTTPClient,
		Identity: wire.Identity{Family: ID, Account: []string{cfg.Organization, cfg.Project}, Address: true},
	})
}

// options leaves nothing to the SDK's own choice: its defaults come from
// OPENAI_* variables, which belong to OpenAI and not to this base URL.
func options(cfg Config, endpoint *wire.Endpoint) []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(endpoint.Base.String() + "/"),
		option.WithMaxRetries(0),
		option.WithHTTPClient(endpoint.Client),
	}
	if cfg.Key != "" {
		options = append(options, option.WithAPIKey(cfg.Key))
	} else {
		options = append(options, option.WithHeaderDel("Authorization"))
	}
	if cfg.Organization != "" {
		options = append(options, option.WithOrganization(cfg.Organization))
	}
	if cfg.Project != "" {
		options = append(options, option.WithProject(cfg.Project))
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
func (p *Provider) ID() string { return p.id }

// Fingerprint implements [parley.Provider].
func (p *Provider) Fingerprint() string { return p.endpoint.Fingerprint }

// Ask implements [parley.Provider].
func (p *Provider) Ask(ctx context.Context, call parley.Call, stream func(parley.Delta)) (parley.Reply, error) {
	q := wire.Question{
		Model: call.Model.Name, Decoder: chatDecoder{}, Stream: stream,
		Send: func(ctx context.Context) (*http.Response, error) { return p.send(ctx, call) },
	}
	if p.wire == WireResponses {
		q.Decoder = new(responseDecoder)
	} else if call.Options.WebSearch {
		q.Notes = []string{"use_websearch dropped: Chat Completions has no web search"}
	}
	return p.endpoint.Ask(ctx, q)
}

func (p *Provider) send(ctx context.Context, call parley.Call) (*http.Response, error) {
	var res *http.Response
	raw := []option.RequestOption{option.WithResponseBodyInto(&res), option.WithJSONSet("stream", true)}
	var err error
	if p.wire == WireResponses {
		_, err = p.responses.New(ctx, p.responseParams(call), raw...)
	} else {
		_, err = p.chat.Completions.New(ctx, p.chatParams(call), raw...)
	}
	return res, err
}
