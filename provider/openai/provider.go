package openai

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
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
	id          string
	wire        string
	base        *url.URL
	broken      string // why nothing can be asked
	secrets     []string
	fingerprint string
	responses   responses.ResponseService
	chat        openai.ChatService
	models      openai.ModelService
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
	base := strings.TrimSpace(cfg.BaseURL)
	if base == "" && p.id == ID {
		base = defaultBaseURL
	}
	var err error
	p.base, err = url.Parse(base)
	p.secrets = secrets(cfg, p.base)
	p.fingerprint = fingerprint(strings.TrimRight(base, "/"), cfg, p.secrets)
	switch {
	case base == "":
		p.broken = "no base URL is configured"
	case err != nil || p.base.Host == "" || p.base.Scheme != "http" && p.base.Scheme != "https":
		p.broken = "the base URL is not an http or https address"
	case p.wire != WireResponses && p.wire != WireChat:
		p.broken = "the wire is neither responses nor chat"
	default:
		options := p.options(cfg)
		p.responses = responses.NewResponseService(options...)
		p.chat = openai.NewChatService(options...)
		p.models = openai.NewModelService(options...)
	}
	return p
}

// options leaves nothing to the SDK's own choice: its defaults come from
// OPENAI_* variables, which belong to OpenAI and not to this base URL.
func (p *Provider) options(cfg Config) []option.RequestOption {
	client := wire.Shared()
	if cfg.HTTPClient != nil {
		client = wire.Client(cfg.HTTPClient)
	}
	base := *p.base
	base.RawQuery = ""
	base.Path = strings.TrimRight(base.Path, "/") + "/"
	base.RawPath = ""
	options := []option.RequestOption{
		option.WithBaseURL(base.String()),
		option.WithMaxRetries(0),
		option.WithHTTPClient(client),
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
	for name, values := range p.base.Query() {
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
func (p *Provider) Fingerprint() string { return p.fingerprint }

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

// secrets lists what no message may show.
func secrets(cfg Config, base *url.URL) []string {
	list := []string{cfg.Key}
	if base != nil && base.User != nil {
		password, _ := base.User.Password()
		list = append(list, password, base.User.Username())
	}
	if base != nil {
		for _, values := range base.Query() {
			list = append(list, values...)
		}
	}
	for name, values := range cfg.Header {
		name = strings.ToLower(name)
		if !slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie"}, func(word string) bool {
			return strings.Contains(name, word)
		}) {
			continue
		}
		for _, v := range values {
			list = append(list, v)
			if _, credential, ok := strings.Cut(v, " "); ok { // "Bearer …"
				list = append(list, credential)
			}
		}
	}
	slices.Sort(list)
	// The longest first: one secret may be a part of another.
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return list
}

// fingerprint is the same wherever the same account would be asked at the same
// place.
func fingerprint(base string, cfg Config, secrets []string) string {
	parts := append([]string{"parley/provider/openai", base, cfg.Organization, cfg.Project}, secrets...)
	hash := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(hash[:8])
}
