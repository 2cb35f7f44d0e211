package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// maxBody is the largest body that is read: a prompt of a million tokens fits.
const maxBody = 16 << 20

// ServeHTTP implements http.Handler.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.mux.ServeHTTP(w, r) }

func (e *Engine) routes() {
	e.mux = http.NewServeMux()
	e.mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { e.complete(w, r, true) })
	e.mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) { e.complete(w, r, false) })
	e.mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{e.card()}})
	})
	e.mux.HandleFunc("GET /v1/models/{id}", func(w http.ResponseWriter, r *http.Request) {
		if err := e.checkModel(r.PathValue("id")); err != nil {
			err.write(w)
			return
		}
		writeJSON(w, http.StatusOK, e.card())
	})
	for _, path := range []string{"/tokenize", "/v1/tokenize"} {
		e.mux.HandleFunc("POST "+path, e.tokenize)
	}
	e.mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	e.mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"version": "1", "server": "scripted", "kv_pool_tokens": e.cache.size})
	})
	flush := func(w http.ResponseWriter, _ *http.Request) {
		e.Flush()
		writeJSON(w, http.StatusOK, map[string]bool{"success": true})
	}
	e.mux.HandleFunc("POST /flush_cache", flush)
	e.mux.HandleFunc("GET /flush_cache", flush)
	e.mux.HandleFunc("POST /reset_prefix_cache", flush)
	e.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		err := bad("", "There is no route %s %q on this server.", r.Method, r.URL.Path)
		err.status = http.StatusNotFound
		err.write(w)
	})
}

// Flush empties the prefix cache and what is poisoned in it.
func (e *Engine) Flush() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reset()
}

func (e *Engine) card() map[string]any {
	return map[string]any{
		"id": e.o.Model, "object": "model", "created": 1700000000, "owned_by": "assay", "max_model_len": e.o.Window,
	}
}

func (e *Engine) checkModel(name string) *apiError {
	if base, _ := splitModel(name); name == "" || base == e.o.Model {
		return nil
	}
	err := bad("model", "The model %q is not served here, %q is.", name, e.o.Model)
	err.status, err.code = http.StatusNotFound, "model_not_found"
	return err
}

func (e *Engine) read(w http.ResponseWriter, r *http.Request, chat bool) (*request, *apiError) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, bad("", "The body could not be read: %v.", err)
	}
	req, bad := parse(body, chat, e.strict)
	if bad == nil {
		bad = e.checkModel(req.Model)
	}
	if bad == nil && req.ids != nil {
		req.texts = []string{e.spell(req.ids)}
	}
	if bad == nil && e.strict {
		bad = req.strictHistory()
	}
	return req, bad
}

// strictHistory refuses assistant turns without content, with calls or not.
func (r *request) strictHistory() *apiError {
	for i, m := range r.Messages {
		if m.Role == "assistant" && m.null {
			return bad("messages", "messages[%d] is an assistant turn without content: send a string.", i)
		}
	}
	return nil
}

// complete serves both completion routes.
func (e *Engine) complete(w http.ResponseWriter, r *http.Request, chat bool) {
	req, bad := e.read(w, r, chat)
	if bad != nil {
		bad.write(w)
		return
	}
	c := &call{e: e, r: req, chat: chat, t: template{bos: 1}, conn: e.connection(r)}
	if chat {
		c.whole = c.t.chat(req)
	} else {
		c.whole = c.t.raw(req.texts[0])
		c.p = c.whole
	}
	c.key = hash64(append([]string{c.whole.s}, c.whole.images...)...)
	c.size = size{c.whole.n(), req.maxTokens(0)}
	e.enter(c)
	defer e.leave(c)
	s := &sender{e: e, c: c, w: w, id: fmt.Sprintf("cmpl-%x-%d", c.key, c.nth), ctx: r.Context()}
	choices, bad, err := e.serve(r.Context(), c, s.alive)
	switch {
	case err != nil:
		return // nobody is left to read
	case bad != nil:
		s.refuse(bad)
		return
	}
	if req.Stream {
		err = s.stream(choices)
	} else {
		err = s.full(choices)
	}
	if errors.Is(err, errGone) {
		e.cut(c)
	}
}

// connection numbers the peer: by its address, and anew for each request that closes its connection.
func (e *Engine) connection(r *http.Request) uint64 {
	addr := r.RemoteAddr
	if r.Close || r.Header.Get("Connection") == "close" {
		e.mu.Lock()
		e.conns++
		addr = strconv.FormatUint(e.conns, 10)
		e.mu.Unlock()
	}
	return hash64(addr) ^ mix(e.o.Seed)
}

// tokenize counts with the right template, whatever the faults do to the chat route.
func (e *Engine) tokenize(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model    string    `json:"model"`
		Prompt   *string   `json:"prompt"`
		Messages []message `json:"messages"`
		Tools    []tool    `json:"tools"`
		Special  *bool     `json:"add_special_tokens"`
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil || in.Prompt == nil && len(in.Messages) == 0 {
		bad("prompt", `Send a text as "prompt" or a chat as "messages".`).write(w)
		return
	}
	t := template{bos: 1}
	var p *prompt
	if in.Prompt != nil {
		if in.Special != nil && !*in.Special {
			t.bos = 0
		}
		p = t.rawWith(*in.Prompt)
	} else {
		for i := range in.Messages {
			in.Messages[i].late = i > 0 && in.Messages[i].Role == "system"
			if e := in.Messages[i].read(i); e != nil {
				e.write(w)
				return
			}
		}
		p = t.chat(&request{Messages: in.Messages, Tools: in.Tools})
	}
	// Written by hand: prompts are counted so often that reflection over their ids would be a tenth of all work.
	out := fmt.Appendf(nil, `{"count":%d,"max_model_len":%d,"tokens":[`, p.n(), e.o.Window)
	for i, id := range e.learn(p) {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(id), 10)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(out, "]}\n"...))
}

func (e *apiError) write(w http.ResponseWriter) {
	writeJSON(w, e.status, e.body())
}

func (e *apiError) body() map[string]any {
	null := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return map[string]any{
		"error": map[string]any{"message": e.message, "type": e.kind, "param": null(e.param), "code": null(e.code)},
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, toJSON(v)+"\n")
}

func now() int64 { return time.Now().Unix() }
