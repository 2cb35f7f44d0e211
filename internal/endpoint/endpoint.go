// Package endpoint talks to one OpenAI-compatible server through go-openai.
//
// What is claimed: every request is recorded as the exact bytes that were sent and can be repeated
// with one curl line; the API key is in none of what is recorded, returned or printed; a limit is a
// limit on silence (connecting, first byte, idle), never on the whole answer, and keep-alive comments end no
// answer; transport trouble before the first byte and overload are retried and counted, anything else is an error
// of its own kind; what a server does not say (cached tokens, finish reason, log-probabilities) is unknown, never
// zero. Each quirk of internal/wire has a class (ClassOf) or a note that the tests hold it to.
//
// What is not claimed: images and several choices per request are not covered; an answer is mended only where its
// own bytes prove the mending (split characters); a class says what the wire did and not whether the answer is right.
package endpoint

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// Limits bound silence and size, never the duration of an answer that keeps coming. Zero fields take
// the default.
type Limits struct {
	Connect   time.Duration // TCP and TLS handshake; default 10 s
	FirstByte time.Duration // from the request to the first body byte, prefill included; default 15 min
	Prefill   time.Duration // added to FirstByte for each KiB of request body; default 1 s
	Idle      time.Duration // between two body bytes, keep-alive comments included; default 2 min
	Linger    time.Duration // for usage and [DONE] once a finish reason has come; default 5 s
	MaxBody   int64         // bytes of one answer, keep-alive comments left out; default 64 MiB
	MaxTries  int           // attempts for one request, the first included; default 4; 1 waits for nothing
	MaxWait   time.Duration // longest Retry-After that is honoured; default 5 min
	Patience  time.Duration // one request's waiting while the server loads or says when to come again; default 10 min
}

func (l Limits) orDefault() Limits {
	return Limits{
		Connect:   positive(l.Connect, 10*time.Second),
		FirstByte: positive(l.FirstByte, 15*time.Minute),
		Prefill:   positive(l.Prefill, time.Second),
		Idle:      positive(l.Idle, 2*time.Minute),
		Linger:    positive(l.Linger, 5*time.Second),
		MaxBody:   positive(l.MaxBody, 64<<20),
		MaxTries:  positive(l.MaxTries, 4),
		MaxWait:   positive(l.MaxWait, 5*time.Minute),
		Patience:  positive(l.Patience, 10*time.Minute),
	}
}

func positive[T cmp.Ordered](v, otherwise T) T {
	var zero T
	if v > zero {
		return v
	}
	return otherwise
}

// Options configure New.
type Options struct {
	BaseURL     string // with or without a trailing /v1
	APIKey      string // sent as a bearer token and nowhere else; empty for none
	Model       string // default model of requests that name none
	Limits      Limits
	MaxInFlight int               // requests at once; 0 means no cap
	Transport   http.RoundTripper // for tests; nil means net/http with Limits.Connect
	OnWait      func(Waiting)     // called before each wait within Limits.Patience; see ShowWaits
}

// Client is one server. It is safe for concurrent use.
type Client struct {
	root  string // base without /v1
	model string
	api   *openai.Client
	wire  *transport
	step  func() // nil: nobody watches
	fresh bool   // a connection of its own for each answer
}

// New returns a client. It sends nothing. It fails when the base URL is not an absolute http(s) URL,
// or carries credentials or a query.
func New(o Options) (*Client, error) {
	root, err := rootURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	limits := o.Limits.orDefault()
	base, fresh := o.Transport, o.Transport
	if base == nil {
		pooled := &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: limits.Connect}).DialContext,
			TLSHandshakeTimeout:   limits.Connect,
			MaxIdleConnsPerHost:   256, // above any ladder of this suite: a new connection a request costs more than the request
			IdleConnTimeout:       time.Minute,
			ForceAttemptHTTP2:     true,
			ExpectContinueTimeout: time.Second,
		}
		single := pooled.Clone()
		single.DisableKeepAlives = true
		base, fresh = pooled, single
	}
	w := &transport{
		base: base, fresh: fresh, limits: limits, redact: newRedactor(o.APIKey), key: o.APIKey, onWait: o.OnWait,
	}
	if o.MaxInFlight > 0 {
		w.slots = make(chan struct{}, o.MaxInFlight)
	}
	// go-openai gets no key: the transport sets the header itself, so that no error or debug value
	// of the library can hold it.
	cfg := openai.DefaultConfig("")
	cfg.BaseURL = root + "/v1"
	cfg.HTTPClient = w
	return &Client{root: root, model: o.Model, api: openai.NewClientWithConfig(cfg), wire: w}, nil
}

// WithModel returns a client of the same server and the same in-flight cap with another default model.
func (c *Client) WithModel(model string) *Client {
	d := *c
	d.model = model
	return &d
}

// Fresh returns a client of the same server that asks every question on a connection of its own: routers keep a
// connection on one replica. A Transport of Options does as it does.
func (c *Client) Fresh() *Client {
	d := *c
	d.fresh = true
	return &d
}

// SurveySteps is how often a Survey calls the function of Watched: before each thing that it finds out.
const SurveySteps = 16

// Watched returns a client of the same server that tells of each step of a pre-flight, before its first request.
func (c *Client) Watched(step func()) *Client {
	d := *c
	d.step = step
	return &d
}

func (c *Client) begins() {
	if c.step != nil {
		c.step()
	}
}

// Root is the base URL without /v1 and without a trailing slash.
func (c *Client) Root() string { return c.root }

// Host is the host and port of the server, for plans and reports.
func (c *Client) Host() string {
	u, err := url.Parse(c.root)
	if err != nil {
		return c.root
	}
	return u.Host
}

// Model is the default model; empty when none was given.
func (c *Client) Model() string { return c.model }

// Retries counts the attempts beyond the first over all requests so far.
func (c *Client) Retries() int { return int(c.wire.retries.Load()) }

// Sheds counts the attempts that the server refused for overload or loading: they are no failures of probes.
func (c *Client) Sheds() int { return int(c.wire.sheds.Load()) }

// Requests counts the requests sent so far, repeated attempts not included.
func (c *Client) Requests() int { return int(c.wire.requests.Load()) }

// Redact removes the API key from a text that is about to be stored or printed.
func (c *Client) Redact(s string) string { return c.wire.redact.text(s) }

// rootURL normalises a base URL: no trailing slash, no trailing /v1.
func rootURL(base string) (string, error) {
	s := strings.TrimSpace(base)
	if s == "" {
		return "", fmt.Errorf("endpoint: the base URL is empty: give something like %q", "http://127.0.0.1:30000")
	}
	if !strings.Contains(s, "://") {
		return "", fmt.Errorf("endpoint: the base URL %q has no scheme: write %q", s, "http://"+s)
	}
	u, err := url.Parse(s)
	if err != nil {
		// The parse error quotes the URL, which may hold a password.
		return "", fmt.Errorf("endpoint: the base URL cannot be parsed: give something like %q", "http://127.0.0.1:30000")
	}
	switch {
	case u.User != nil:
		return "", fmt.Errorf("endpoint: the base URL for host %q carries credentials: put them into OPENAI_API_KEY instead",
			u.Host)
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("endpoint: the base URL has scheme %q: it must be http or https", u.Scheme)
	case u.Host == "":
		return "", fmt.Errorf("endpoint: the base URL %q names no host", s)
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("endpoint: the base URL for host %q has a query or fragment: give scheme, host and path only",
			u.Host)
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	path = strings.TrimRight(strings.TrimSuffix(path, "/v1"), "/")
	return u.Scheme + "://" + u.Host + path, nil
}
