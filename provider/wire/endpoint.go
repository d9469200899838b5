package wire

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"parley"
)

// Endpoint is where a provider's requests go and with which account. It asks,
// and says what went wrong in parley's words. It is safe for concurrent use.
type Endpoint struct {
	// Base has no trailing slash and no query.
	Base *url.URL
	// Query is what the base URL had.
	Query url.Values
	// Fingerprint is the same wherever the same account would be asked at the
	// same place, and reveals neither.
	Fingerprint string
	// Client keeps to the rules of this package.
	Client *http.Client

	provider string
	example  string
	broken   string // why nothing can be asked
	secrets  []string
}

// EndpointConfig is what an [Endpoint] is made of.
type EndpointConfig struct {
	// Provider is the id, such as "gemini".
	Provider string
	BaseURL  string
	// Example is a base URL as it should look, for the hint of [Endpoint.Usable];
	// empty means https://host.
	Example string
	// Broken is why nothing can be asked even if the base URL is good.
	Broken string
	Key    string
	// Header holds further headers. Those whose names speak of a key or a token
	// are treated as secrets.
	Header http.Header
	// HTTPClient is wrapped with [Client]; nil means [Shared].
	HTTPClient *http.Client
	// Identity is what else the fingerprint is made of.
	Identity Identity
}

// Identity shapes a fingerprint. Stores hold fingerprints: what a provider has
// once put here must stay.
type Identity struct {
	// Family is what several providers of one package have in common; empty means
	// the provider's id.
	Family string
	// Account is what tells accounts apart besides the secrets.
	Account []string
	// Address counts the user and the query of the base URL among the secrets,
	// though they are in the base URL already.
	Address bool
}

// NewEndpoint returns an endpoint. A base URL that is none is reported by
// [Endpoint.Usable].
func NewEndpoint(cfg EndpointConfig) *Endpoint {
	e := &Endpoint{provider: cfg.Provider, example: cmp.Or(cfg.Example, "https://host"), Base: new(url.URL), Client: Shared()}
	if cfg.HTTPClient != nil {
		e.Client = Client(cfg.HTTPClient)
	}
	raw := strings.TrimSpace(cfg.BaseURL)
	base, err := url.Parse(raw)
	credentials, address := secrets(cfg, base)
	e.secrets = longestFirst(credentials, address)
	e.Fingerprint = fingerprint(cfg, strings.TrimRight(raw, "/"), credentials, address)
	switch {
	case raw == "":
		e.broken = "no base URL is configured"
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		e.broken = "the base URL is not an http or https address"
	default:
		e.broken = cfg.Broken
	}
	if e.broken != "" {
		return e
	}
	e.Query = base.Query()
	base.RawQuery, base.ForceQuery, base.Fragment, base.RawPath = "", false, "", ""
	base.Path = strings.TrimRight(base.Path, "/")
	e.Base = base
	return e
}

// secrets lists what no message may show: what an account is opened with, and
// what else the base URL has that may be a secret.
func secrets(cfg EndpointConfig, base *url.URL) (credentials, address []string) {
	credentials = []string{cfg.Key}
	for name, values := range cfg.Header {
		name = strings.ToLower(name)
		if !slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie"}, func(word string) bool {
			return strings.Contains(name, word)
		}) {
			continue
		}
		for _, v := range values {
			credentials = append(credentials, v)
			if _, credential, ok := strings.Cut(v, " "); ok { // "Bearer …"
				credentials = append(credentials, credential)
			}
		}
	}
	if base == nil {
		return credentials, nil
	}
	if base.User != nil {
		password, _ := base.User.Password()
		credentials = append(credentials, password)
		address = append(address, base.User.Username())
	}
	for _, values := range base.Query() {
		address = append(address, values...)
	}
	return credentials, address
}

// longestFirst puts secrets in order: one may be a part of another.
func longestFirst(secrets ...[]string) []string {
	return slices.SortedFunc(slices.Values(slices.Concat(secrets...)), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
}

func fingerprint(cfg EndpointConfig, base string, credentials, address []string) string {
	if !cfg.Identity.Address {
		address = nil
	}
	parts := slices.Concat(
		[]string{"parley/provider/" + cmp.Or(cfg.Identity.Family, cfg.Provider), base},
		cfg.Identity.Account, longestFirst(credentials, address),
	)
	hash := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(hash[:8])
}

// Usable is an error if the endpoint was set up wrong.
func (e *Endpoint) Usable(model string) error {
	if e.broken == "" {
		return nil
	}
	return &parley.Error{
		Code:    parley.CodeProviderUnavailable,
		Message: e.provider + " cannot be asked: " + e.broken,
		Hint:    "Set the base URL of " + e.provider + ", such as " + e.example + ".", Provider: e.provider, Model: model,
	}
}

// Question is one request and how its answer is read.
type Question struct {
	Model string
	// Send makes the request, once.
	Send    func(ctx context.Context) (*http.Response, error)
	Decoder Decoder
	// Stream may be nil.
	Stream func(parley.Delta)
	Notes  []string
}

// lingering is how long the end of a response is waited for once the answer is
// complete. Reading to the end is what lets the connection be used again.
const lingering = 100 * time.Millisecond

// Ask sends a question and reads its answer, as [parley.Provider] promises.
func (e *Endpoint) Ask(ctx context.Context, q Question) (parley.Reply, error) {
	if err := e.Usable(q.Model); err != nil {
		return parley.Reply{}, err
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	asking, record := WithRecord(asking)

	a := &Answer{Reply: parley.Reply{Notes: q.Notes}, stream: q.Stream}
	if a.stream == nil {
		a.stream = func(parley.Delta) {}
	}
	res, err := q.Send(asking)
	if err != nil {
		return a.result(), e.Failed(ctx, q.Model, record, err)
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusMultipleChoices {
		return a.result(), e.Failed(ctx, q.Model, record, nil)
	}
	if err := a.read(res.Body, q.Decoder); err != nil {
		return a.result(), e.broke(ctx, q.Model, a, record.Last(), err)
	}
	timer := time.AfterFunc(lingering, stop)
	_, _ = io.Copy(io.Discard, res.Body)
	timer.Stop()
	return a.result(), e.judge(q.Model, a)
}

// Failed is the error for a request that was not answered. The record is of the
// context that it was sent under, err what the sender made of it.
func (e *Endpoint) Failed(ctx context.Context, model string, record *Record, err error) error {
	if interrupted := Interrupted(ctx, e.provider, model); interrupted != nil {
		return interrupted
	}
	last := record.Last()
	if last.Host == "" && err != nil {
		return &parley.Error{
			Code: parley.CodeInternal, Message: "the request to " + e.provider + " could not be built",
			Provider: e.provider, Model: model, Err: errors.New(Mask(err.Error(), e.secrets...)),
		}
	}
	if last.Status < http.StatusMultipleChoices && last.Err == nil && err == nil {
		err = io.ErrUnexpectedEOF
	}
	return e.classify(model, Failed(last, err))
}

func (e *Endpoint) classify(model string, f Failure) *parley.Error {
	f.Provider, f.Model, f.Secrets = e.provider, model, e.secrets
	return f.Classify()
}

// broke is for answers that did not come to their end.
func (e *Endpoint) broke(ctx context.Context, model string, a *Answer, last Exchange, err error) error {
	if interrupted := Interrupted(ctx, e.provider, model); interrupted != nil {
		return interrupted
	}
	var (
		said  *SaidError
		large *TooLargeError
	)
	switch {
	case errors.As(err, &said):
		return e.classify(model, Failure{
			Host: last.Host, Status: http.StatusOK, Header: last.Header, RequestID: last.RequestID(), Words: said.Words,
		})
	case errors.As(err, &large):
		return e.classify(model, Failure{Host: last.Host, Err: err})
	case errors.Is(err, ErrNothing):
		return e.empty(model, a)
	}
	f := e.upstream(model, "the answer was cut off: "+e.provider+" ended it in the middle", true)
	f.Err = err
	const elsewhere = "Check the base URL: something other than the provider's API answered."
	switch {
	case errors.Is(err, errGarbled):
		f.Message = "the answer was cut off: " + e.provider + " sent an event that could not be read"
	case errors.Is(err, errNoStream):
		f.Message = e.provider + " sent something that is neither JSON nor an event stream"
		f.Hint, f.Retryable = elsewhere, false
	case errors.Is(err, errHTML):
		f.Message = e.provider + " sent an HTML page instead of JSON"
		f.Hint, f.Retryable = elsewhere, false
	}
	return f
}

// judge looks at an answer that came to its end.
func (e *Endpoint) judge(model string, a *Answer) error {
	switch {
	case a.Said():
		return nil
	case a.Reply.FinishReason == FinishFilter:
		return &parley.Error{
			Code: parley.CodeContentFiltered, Message: e.provider + " withheld the answer: its content filter stopped it",
			Hint:     "Rephrase the question or leave out the part that was refused; another provider may judge differently.",
			Provider: e.provider, Model: model,
		}
	}
	return e.empty(model, a)
}

func (e *Endpoint) empty(model string, a *Answer) error {
	if a.Reply.FinishReason == FinishLength {
		return e.upstream(model, e.provider+" sent an empty answer: the output limit was used up before the first word", false).
			WithHint("Raise max_output_tokens or lower reasoning_effort; thinking counts as output.")
	}
	return e.upstream(model, e.provider+" sent an empty answer", true)
}

func (e *Endpoint) upstream(model, message string, retryable bool) *parley.Error {
	return &parley.Error{
		Code: parley.CodeUpstreamError, Message: message, Retryable: retryable, Provider: e.provider, Model: model,
	}
}
