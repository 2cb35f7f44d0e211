package fidelity_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sync"

	"github.com/assay-suite/assay/internal/needle"
)

// engine is a scripted server: it counts words and answers by script. It is the fake that judging is tested on.
type engine struct {
	mu         sync.Mutex
	before     func() // called for every chat, outside of the lock
	answer     func(e request) (status int, content, reasoning, finish string)
	noTokenize bool
	noLogprobs bool
	noCached   bool
	noSalt     bool // salts are ignored
	version    string
	anonymous  bool // no identity route answers
	seen       map[string]bool
	chats      []request
	tokenized  []string
}

type request struct {
	Messages []struct{ Content string } `json:"messages"`
	Text     string                     `json:"prompt"`
	Max      int                        `json:"max_tokens"`
	Salt     string                     `json:"cache_salt"`
	Top      int                        `json:"top_logprobs"`
}

func (r request) prompt() string {
	if len(r.Messages) == 0 {
		return r.Text
	}
	return r.Messages[len(r.Messages)-1].Content
}

var codeIn = regexp.MustCompile(`archive is (\d{5})\.`)

// truth is the code that the prompt plants.
func (r request) truth() string {
	if m := codeIn.FindStringSubmatch(r.prompt()); m != nil {
		return m[1]
	}
	return "12345"
}

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	before := e.before
	e.mu.Unlock()
	if before != nil && r.URL.Path == "/v1/chat/completions" {
		before() // may wait, so not under the lock
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var q request
	raw, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(raw, &q)
	switch r.URL.Path {
	case "/v1/models":
		_, _ = io.WriteString(w, `{"data":[{"id":"scripted","max_model_len":8192}]}`)
		return
	case "/tokenize", "/v1/tokenize":
		if e.noTokenize {
			http.NotFound(w, r)
			return
		}
		e.tokenized = append(e.tokenized, q.prompt())
		_, _ = fmt.Fprintf(w, `{"count":%d}`, needle.Units(q.prompt())+3)
		return
	case "/version":
		if e.anonymous {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprintf(w, `{"version":%q}`, e.version)
		return
	case "/v1/chat/completions":
	default:
		http.NotFound(w, r)
		return
	}
	e.chats = append(e.chats, q)
	status, content, reasoning, finish := 200, q.truth(), "", "stop"
	if e.answer != nil {
		status, content, reasoning, finish = e.answer(q)
	}
	if status != 200 {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":{"message":"scripted"}}`)
		return
	}
	usage := map[string]any{"prompt_tokens": needle.Units(q.prompt()) + 3, "completion_tokens": 6}
	if !e.noCached {
		key := q.Salt + q.prompt()
		if e.noSalt {
			key = q.prompt()
		}
		cached := 0
		if e.seen[key] {
			cached = 64
		}
		if e.seen == nil {
			e.seen = map[string]bool{}
		}
		e.seen[key] = true
		usage["prompt_tokens_details"] = map[string]any{"cached_tokens": cached}
	}
	choice := map[string]any{
		"message":       map[string]any{"role": "assistant", "content": content, "reasoning_content": reasoning},
		"finish_reason": finish,
	}
	if q.Top > 0 && !e.noLogprobs {
		var tokens []any
		for i, d := range content { // one margin, but not one value: that no model has
			p := -0.01 - 0.001*float64(i%4)
			tokens = append(tokens, map[string]any{"token": string(d), "logprob": p, "top_logprobs": []any{
				map[string]any{"token": string(d), "logprob": p}, map[string]any{"token": "x", "logprob": p - 5},
			}})
		}
		choice["logprobs"] = map[string]any{"content": tokens}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"model": "scripted", "choices": []any{choice}, "usage": usage})
}
