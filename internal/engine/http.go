package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// mostBody bounds a request body.
const mostBody = 64 << 20

// ServeHTTP implements http.Handler.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.mux.ServeHTTP(w, r) }

func (e *Engine) routes() {
	e.mux.HandleFunc("GET /v1/models", e.models)
	e.mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	e.mux.HandleFunc("POST /v1/chat/completions", e.guard(e.chat))
	e.mux.HandleFunc("POST /v1/completions", e.guard(e.complete))
	for _, path := range []string{"GET /flush_cache", "POST /flush_cache", "POST /reset_prefix_cache"} {
		e.mux.HandleFunc(path, e.flush)
	}
	info := map[string]map[string]any{
		"vllm": {"/version": map[string]any{"version": "0.14.1"}},
		"sglang": {
			"/get_server_info": map[string]any{
				"version": "0.5.8", "chunked_prefill_size": e.p.Chunk, "page_size": e.p.Page, "dp_size": e.p.Ranks,
				"context_length": e.p.Context, "model_path": e.p.Model,
			},
			"/get_model_info": map[string]any{"model_path": e.p.Model, "is_generation": true},
		},
		"llama.cpp": {"/props": map[string]any{
			"build_info": "b7951-1f2e3d4", "total_slots": e.p.Slots,
			"default_generation_settings": map[string]any{"n_ctx": e.p.Context},
		}},
		"tgi": {"/info": map[string]any{"model_id": e.p.Model, "version": "3.3.6", "max_input_tokens": e.p.Context - 1}},
	}[e.p.Server]
	for path, v := range info {
		e.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { send(w, http.StatusOK, v) })
	}
	if e.p.Tokenize {
		e.mux.HandleFunc("POST /tokenize", e.tokenize)
		if e.p.Server == "sglang" {
			e.mux.HandleFunc("POST /v1/tokenize", e.tokenize)
		}
		if e.p.Server == "llama.cpp" {
			e.mux.HandleFunc("POST /apply-template", e.applyTemplate)
		}
	}
}

// guard is what stands before the model: loading, rate limits.
func (e *Engine) guard(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n := int(e.asked.Add(1))
		switch {
		case n <= e.p.Loading:
			e.refuse(w, apiError{
				status: http.StatusServiceUnavailable, message: "Loading model", kind: "unavailable_error",
				retry: 1,
			})
			return
		case e.p.Limit429 > 0 && n%e.p.Limit429 == 0:
			e.refuse(w, apiError{
				status: http.StatusTooManyRequests, message: "Rate limit reached, try again in 1 s.", kind: "rate_limit_error",
				retry: 1,
			})
			return
		}
		next(w, r)
	}
}

func (e *Engine) models(w http.ResponseWriter, _ *http.Request) {
	row := map[string]any{"id": e.p.Model, "object": "model", "created": 1767225600, "owned_by": e.p.Server}
	switch e.p.Server {
	case "vllm", "sglang":
		row["max_model_len"] = e.p.Context
	case "llama.cpp":
		row["meta"] = map[string]any{"n_ctx_train": e.p.Context, "n_vocab": e.m.lex.size}
	}
	send(w, http.StatusOK, map[string]any{"object": "list", "data": []any{row}})
}

func (e *Engine) flush(w http.ResponseWriter, _ *http.Request) {
	for _, rk := range e.ranks {
		rk.mu.Lock()
		rk.cache.flush()
		rk.mu.Unlock()
	}
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, "Cache flushed.\n")
}

// fields reads a JSON body.
func (e *Engine) fields(w http.ResponseWriter, r *http.Request) (map[string]json.RawMessage, bool) {
	body, err := io.ReadAll(io.LimitReader(r.Body, mostBody))
	var f map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(body, &f)
	}
	if err != nil {
		e.refuse(w, apiError{status: http.StatusBadRequest, message: fmt.Sprintf("The body is no JSON object: %v", err)})
		return nil, false
	}
	return f, true
}

// get decodes one field; absent and null leave v as it is.
func get[T any](f map[string]json.RawMessage, name string, v *T) bool {
	raw, ok := f[name]
	if !ok || string(raw) == "null" {
		return false
	}
	return json.Unmarshal(raw, v) == nil
}

// tokenize counts a text or a chat, in the spellings of vLLM, SGLang, llama.cpp and TGI.
func (e *Engine) tokenize(w http.ResponseWriter, r *http.Request) {
	f, ok := e.fields(w, r)
	if !ok {
		return
	}
	var ids []int32
	var text string
	_, isChat := f["messages"]
	field := map[string]string{"llama.cpp": "content", "tgi": "inputs"}[e.p.Server]
	switch {
	case field != "" && get(f, field, &text):
		ids = e.encodeText(text)
	case field == "" && isChat:
		c, a := e.readChat(f)
		if a != nil {
			e.refuse(w, *a)
			return
		}
		ids = e.m.render(c)
	case field == "" && get(f, "prompt", &text):
		ids = e.encodeText(text)
	case field == "content":
		send(w, http.StatusOK, map[string]any{"tokens": []int{}})
		return
	default:
		e.refuse(w, apiError{status: http.StatusUnprocessableEntity, message: "prompt is missing"})
		return
	}
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = int(id)
	}
	switch e.p.Server {
	case "llama.cpp":
		send(w, http.StatusOK, map[string]any{"tokens": list})
	case "tgi":
		rows := make([]map[string]any, len(ids))
		for i, id := range ids {
			rows[i] = map[string]any{"id": id, "text": valid(e.m.lex.print(id))}
		}
		send(w, http.StatusOK, rows)
	default:
		send(w, http.StatusOK, map[string]any{"count": len(ids), "max_model_len": e.p.Context, "tokens": list})
	}
}

// encodeText is a text completion's prompt; special tokens that the text names become tokens.
func (e *Engine) encodeText(text string) []int32 {
	var ids []int32
	if e.m.tmpl.fam.bos {
		ids = append(ids, e.m.lex.id(spBOS))
		text = strings.TrimPrefix(text, e.m.lex.names[spBOS])
	}
	for {
		at, which := -1, spHole
		for _, s := range specialOrder {
			if name := e.m.lex.names[s]; name != "" {
				if i := strings.Index(text, name); i >= 0 && (at < 0 || i < at) {
					at, which = i, s
				}
			}
		}
		if at < 0 {
			return append(ids, e.m.tok.encode(text)...)
		}
		ids = append(append(ids, e.m.tok.encode(text[:at])...), e.m.lex.id(which))
		text = text[at+len(e.m.lex.names[which]):]
	}
}

// applyTemplate is llama.cpp's way to see a rendered chat.
func (e *Engine) applyTemplate(w http.ResponseWriter, r *http.Request) {
	f, ok := e.fields(w, r)
	if !ok {
		return
	}
	c, a := e.readChat(f)
	if a != nil {
		e.refuse(w, *a)
		return
	}
	var b strings.Builder
	for _, id := range e.m.render(c) {
		b.WriteString(e.m.lex.print(id))
	}
	send(w, http.StatusOK, map[string]any{"prompt": b.String()})
}

func (e *Engine) stamp() (id string, created int64) {
	return fmt.Sprintf("cmpl-%d", e.asked.Load()), time.Now().Unix()
}
