package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Config tunes a Server. The zero value is ready to use.
type Config struct {
	// Model is the id under which the engine is served; default Engine.Name.
	Model string
	// Version is what GET /version reports; default "dev".
	Version string
	// Chunk is the prefill grid in tokens and the finest prefix that can be kept; default 64.
	Chunk int
	// CacheStep is the distance of kept prefixes inside a long prompt, a multiple of Chunk; default 256.
	CacheStep int
	// CacheTokens bounds the sum of lengths of kept prefixes; default 512 Ki, negative turns the cache off.
	CacheTokens int
	// MaxBody bounds a request body in bytes; default 4 MiB.
	MaxBody int64
	// MaxRequests bounds the completion requests in flight; further ones get 503. Default 256.
	MaxRequests int
	// Parallel bounds the engine steps that run at once; default GOMAXPROCS.
	Parallel int
	// Drain is how long Serve lets requests finish after its context ended; default 10 s.
	Drain time.Duration
	// Logf gets one line per engine failure and per connection fault; default drops them.
	Logf func(format string, args ...any)
}

// Server serves one engine. It is an http.Handler and safe for concurrent use.
type Server struct {
	engine  Engine
	cfg     Config
	cache   *prefixCache
	compute chan struct{} // one slot per engine step at once
	slots   chan struct{} // one slot per completion request in flight
	mux     *http.ServeMux
	started time.Time
	nextID  atomic.Uint64
}

// New prepares a server over engine; it fails on a Config that contradicts itself.
func New(engine Engine, cfg Config) (*Server, error) {
	defaults := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	if cfg.Model == "" {
		cfg.Model = engine.Name()
	}
	if cfg.Version == "" {
		cfg.Version = "dev"
	}
	defaults(&cfg.Chunk, 64)
	defaults(&cfg.CacheStep, 4*cfg.Chunk)
	defaults(&cfg.CacheTokens, 512<<10)
	defaults(&cfg.MaxRequests, 256)
	defaults(&cfg.Parallel, runtime.GOMAXPROCS(0))
	if cfg.MaxBody == 0 {
		cfg.MaxBody = 4 << 20
	}
	if cfg.Drain == 0 {
		cfg.Drain = 10 * time.Second
	}
	if cfg.Logf == nil {
		cfg.Logf = func(string, ...any) {}
	}
	switch {
	case cfg.Chunk < 1 || cfg.CacheStep < 1 || cfg.CacheStep%cfg.Chunk != 0:
		return nil, fmt.Errorf("server: CacheStep %d must be a positive multiple of Chunk %d", cfg.CacheStep, cfg.Chunk)
	case cfg.MaxRequests < 1 || cfg.Parallel < 1 || cfg.MaxBody < 1 || cfg.Drain < 0:
		return nil, fmt.Errorf("server: MaxRequests %d, Parallel %d and MaxBody %d must be positive and Drain %v not "+
			"negative", cfg.MaxRequests, cfg.Parallel, cfg.MaxBody, cfg.Drain)
	}
	s := &Server{
		engine: engine, cfg: cfg, cache: newPrefixCache(cfg.CacheTokens),
		compute: make(chan struct{}, cfg.Parallel), slots: make(chan struct{}, cfg.MaxRequests),
		mux: http.NewServeMux(), started: time.Now(),
	}
	get, post := http.MethodGet, http.MethodPost
	s.route("/v1/models", methods{get: s.models})
	s.route("/v1/models/{id...}", methods{get: s.model})
	s.route("/v1/chat/completions", methods{post: s.limited(s.chat)})
	s.route("/v1/completions", methods{post: s.limited(s.completions)})
	for _, prefix := range []string{"", "/v1"} { // vLLM has these at the root, SGLang in both places
		s.route(prefix+"/tokenize", methods{post: s.tokenize})
		s.route(prefix+"/detokenize", methods{post: s.detokenize})
	}
	s.route("/health", methods{get: s.health})
	s.route("/version", methods{get: s.version})
	s.route("/flush_cache", methods{get: s.flush, post: s.flush}) // SGLang
	s.route("/reset_prefix_cache", methods{post: s.flush})        // vLLM
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, &apiError{
			status: http.StatusNotFound, kind: "invalid_request_error", code: "unknown_url",
			message: fmt.Sprintf("There is no route %s %s on this server.", r.Method, snippet([]byte(r.URL.Path))),
		})
	})
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

type methods map[string]http.HandlerFunc

// route registers a path whose other methods get an OpenAI-shaped 405.
func (s *Server) route(path string, by methods) {
	var allowed []string
	for m := range by {
		allowed = append(allowed, m)
	}
	sort.Strings(allowed)
	s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet // net/http drops the body
		}
		if h, ok := by[method]; ok {
			h(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		writeError(w, &apiError{
			status: http.StatusMethodNotAllowed, kind: "invalid_request_error", code: "method_not_allowed",
			message: fmt.Sprintf("%s does not take %s, use %s.", path, r.Method, strings.Join(allowed, " or ")),
		})
	})
}

// limited refuses a completion request beyond MaxRequests.
func (s *Server) limited(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
			h(w, r)
		default:
			writeError(w, &apiError{
				status: http.StatusServiceUnavailable, kind: "server_error", code: "overloaded",
				message: fmt.Sprintf("The server already works on %d requests, its limit. Try again in a moment.",
					s.cfg.MaxRequests),
			})
		}
	}
}

// bodyWithin is how long a client may take to send a body.
const bodyWithin = 60 * time.Second

func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, *apiError) {
	rc := http.NewResponseController(w)
	// Errors only say that this ResponseWriter has no deadlines, as a test recorder.
	_ = rc.SetReadDeadline(time.Now().Add(bodyWithin))
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody))
	// Cleared, or it would later count as the client going away in the middle of a long answer.
	_ = rc.SetReadDeadline(time.Time{})
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &apiError{
			status: http.StatusRequestEntityTooLarge, kind: "invalid_request_error", code: "request_too_large",
			message: fmt.Sprintf("The request body is larger than this server's limit of %d bytes.", big.Limit),
		}
	}
	if err != nil {
		return nil, badRequest("", "The request body could not be read: %v.", err)
	}
	return data, nil
}

// checkModel accepts the served model, or none named, as vLLM does.
func (s *Server) checkModel(name string) *apiError {
	if name == "" || name == s.cfg.Model {
		return nil
	}
	return &apiError{
		status: http.StatusNotFound, kind: "invalid_request_error", param: "model", code: "model_not_found",
		message: fmt.Sprintf("The model %q is not served here, %q is.", snippet([]byte(name)), s.cfg.Model),
	}
}

// id is unique within the process and tells two server starts apart.
func (s *Server) id(prefix string) string {
	return prefix + strconv.FormatInt(s.started.UnixNano(), 36) + "-" + strconv.FormatUint(s.nextID.Add(1), 10)
}
