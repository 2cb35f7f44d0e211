package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Flavour is the engine whose identity, tokenize and native routes the server has.
type Flavour string

// The flavours. Plain has /v1 and nothing else.
const (
	Plain    Flavour = ""
	VLLM     Flavour = "vllm"
	SGLang   Flavour = "sglang"
	LlamaCPP Flavour = "llama.cpp"
)

// Options configure New. Zero fields take the default.
type Options struct {
	Flavour Flavour
	Model   string        // default "wire"
	Window  int           // tokens, a token being a word of the prompt; default 4096
	Quirks  []string      // "slug" or "slug=variant"
	Pause   time.Duration // unit of every wait; default 10 ms
	Thinks  bool          // the model thinks unless chat_template_kwargs turns it off
}

// Seen is one request as it arrived.
type Seen struct {
	Method, Path string
	Body         []byte
}

// Server is the fake. It is safe for concurrent use; its answers depend on the order of arrival where a quirk says so.
type Server struct {
	o       Options
	quirks  switches
	routes  map[string]http.HandlerFunc
	mu      sync.Mutex
	seen    []Seen
	calls   map[string]int  // by path
	asked   int             // requests for an answer
	refused int             // of these, by overload or rate limit
	began   time.Time       // of loading
	cache   map[string]bool // salt and prompt
}

// New fails for a quirk or a variant that does not exist and for an unknown flavour.
func New(o Options) (*Server, error) {
	set, err := parseSwitches(o.Quirks)
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]Flavour{Plain, VLLM, SGLang, LlamaCPP}, o.Flavour) {
		return nil, fmt.Errorf("wire: there is no flavour %q: use %q, %q, %q or none", o.Flavour, VLLM, SGLang, LlamaCPP)
	}
	if o.Model == "" {
		o.Model = "wire"
	}
	if o.Window <= 0 {
		o.Window = 4096
	}
	if o.Pause <= 0 {
		o.Pause = 10 * time.Millisecond
	}
	s := &Server{o: o, quirks: set, cache: map[string]bool{}, calls: map[string]int{}}
	s.routes = s.identity()
	s.routes["/v1/models"] = s.models
	s.routes["/v1/chat/completions"] = func(w http.ResponseWriter, r *http.Request) { s.generate(w, r, true) }
	s.routes["/v1/completions"] = func(w http.ResponseWriter, r *http.Request) { s.generate(w, r, false) }
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		writeError(w, http.StatusBadRequest, "the body cannot be read: "+err.Error())
		return
	}
	s.mu.Lock()
	if len(s.seen) >= mostSeen {
		s.seen = slices.Delete(s.seen, 0, mostSeen/2)
	}
	s.seen = append(s.seen, Seen{r.Method, r.URL.Path, body})
	s.calls[r.URL.Path]++
	s.mu.Unlock()
	if s.loading(w) {
		return
	}
	h, ok := s.routes[r.URL.Path]
	if !ok {
		writeJSON(w, http.StatusNotFound, map[string]any{"detail": "Not Found"})
		return
	}
	h(w, r.WithContext(context.WithValue(r.Context(), bodyKey{}, body)))
}

type bodyKey struct{}

func bodyOf(r *http.Request) []byte {
	b, _ := r.Context().Value(bodyKey{}).([]byte)
	return b
}

// mostSeen bounds what is kept of a long run.
const mostSeen = 2048

// Requests returns what arrived, in order: of a long run the last thousand or more.
func (s *Server) Requests() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Calls counts the requests to a path since New.
func (s *Server) Calls(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[path]
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	m := map[string]any{"id": s.listed(), "object": "model", "owned_by": "wire"}
	switch s.o.Flavour {
	case VLLM, SGLang:
		m["max_model_len"] = s.o.Window
	case LlamaCPP:
		m["meta"] = map[string]any{"n_ctx_train": 4 * s.o.Window}
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{m}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b, status = []byte(`{"error":{"message":"the fake cannot write its answer"}}`), http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

func writeError(w http.ResponseWriter, status int, msg string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": msg, "type": "error", "code": status}})
}

// wait waits for d or for the client to leave; it reports whether the client is still there.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
