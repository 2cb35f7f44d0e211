package wire

import (
	"encoding/json"
	"net/http"
	"strings"
)

// FlushRoute is the path that would flush a flavour's cache, empty where there is none. The fake has it and counts
// its calls (Calls); no client may call it to find out whether it is there.
func FlushRoute(f Flavour) string {
	switch f {
	case VLLM:
		return "/reset_prefix_cache"
	case SGLang:
		return "/flush_cache"
	case LlamaCPP:
		return "/slots/0"
	}
	return ""
}

// Secret stands in the identity routes of the SGLang flavour as its API key, as it does in the real one.
const Secret = "sk-server-own-secret"

// identity returns the routes of the flavour beside /v1.
func (s *Server) identity() map[string]http.HandlerFunc {
	fixed := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, v) }
	}
	routes := map[string]http.HandlerFunc{}
	switch s.o.Flavour {
	case VLLM:
		routes["/version"] = fixed(map[string]any{"version": "0.11.2"})
		routes["/server_info"] = func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery != "config_format=json" {
				writeError(w, http.StatusBadRequest, "config_format")
				return
			}
			writeJSON(w, http.StatusOK, map[string]any{"vllm_config": map[string]any{
				"model_config": map[string]any{"model": "/models/" + s.o.Model, "max_model_len": s.o.Window, "dtype": "bfloat16"},
				"cache_config": map[string]any{"block_size": 64, "enable_prefix_caching": true, "cache_dtype": "fp8_ds_mla"},
			}})
		}
	case SGLang:
		info := map[string]any{
			"version": "0.5.6", "model_path": "/models/" + s.o.Model, "api_key": Secret, "admin_api_key": nil, "page_size": 64,
			"chunked_prefill_size": 8192, "disable_radix_cache": false, "attention_backend": "nsa", "kv_cache_dtype": "fp8_e4m3",
			"random_seed": 812, "port": 30000, "max_total_num_tokens": 123456, "enable_return_indexer_topk": true,
			"internal_states": []any{map[string]any{"last_gen_throughput": 55.5, "avg_spec_accept_length": 1.9}},
		}
		routes["/get_server_info"] = fixed(info)
		routes["/get_model_info"] = fixed(map[string]any{
			"model_path": "/models/" + s.o.Model, "is_generation": true, "weight_version": "default",
		})
		routes["/generate"] = s.native
	case LlamaCPP:
		routes["/props"] = fixed(map[string]any{
			"build_info": "b7100-1a2b3c4d", "model_path": "/models/" + s.o.Model + ".gguf", "total_slots": 2,
			"chat_template":               strings.Repeat("{{ x }}", 100),
			"default_generation_settings": map[string]any{"n_ctx": s.o.Window, "params": map[string]any{"temperature": 0.8}},
			"bos_token":                   "<s>",
		})
		routes["/apply-template"] = func(w http.ResponseWriter, r *http.Request) {
			text, _ := render(bodyOf(r))
			writeJSON(w, http.StatusOK, map[string]any{"prompt": text})
		}
		routes["/slots"] = fixed([]any{
			map[string]any{"id": 0, "n_ctx": s.o.Window, "is_processing": false},
			map[string]any{"id": 1, "n_ctx": s.o.Window, "is_processing": false},
		})
	default:
		return routes
	}
	routes["/tokenize"] = s.tokenize
	flush := FlushRoute(s.o.Flavour)
	routes[flush] = func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		clear(s.cache)
		s.mu.Unlock()
		w.WriteHeader(http.StatusOK)
	}
	if s.o.Flavour != LlamaCPP { // which has no FastAPI
		paths := map[string]any{}
		for p := range routes {
			paths[p] = map[string]any{"post": map[string]any{}}
		}
		routes["/openapi.json"] = fixed(map[string]any{"openapi": "3.1.0", "paths": paths})
	}
	return routes
}

func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Prompt  *string `json:"prompt"`
		Content *string `json:"content"`
	}
	if err := json.Unmarshal(bodyOf(r), &body); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	text, extra := "", 0
	switch {
	case s.o.Flavour == LlamaCPP:
		if body.Content != nil {
			text = *body.Content
		}
	case body.Prompt != nil:
		text = *body.Prompt
	default:
		text, extra = render(bodyOf(r))
	}
	ids := make([]int, len(strings.Fields(text))+extra)
	for i := range ids {
		ids[i] = 100 + i
	}
	if s.o.Flavour == LlamaCPP {
		writeJSON(w, http.StatusOK, map[string]any{"tokens": ids})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"tokens": ids, "count": len(ids), "max_model_len": s.o.Window})
}

// native is SGLang's /generate as far as the pre-flight asks it.
func (s *Server) native(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Text     string `json:"text"`
		Logprobs bool   `json:"return_logprob"`
		Indexer  bool   `json:"return_indexer_topk"`
	}
	if err := json.Unmarshal(bodyOf(r), &body); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	meta := map[string]any{"prompt_tokens": len(strings.Fields(body.Text)), "completion_tokens": 1, "cached_tokens": 0}
	if body.Logprobs {
		meta["input_token_logprobs"] = []any{[]any{nil, 5, nil}, []any{-1.5, 6, nil}}
	}
	if body.Indexer {
		meta["indexer_topk"] = "AAAAAP////8="
	}
	writeJSON(w, http.StatusOK, map[string]any{"text": "a", "meta_info": meta})
}

// render returns a chat as text, and how many tokens stand for its marks.
func render(body []byte) (text string, marks int) {
	var v struct {
		Messages []message `json:"messages"`
	}
	if json.Unmarshal(body, &v) != nil {
		return "", 0
	}
	for _, m := range v.Messages {
		var t string
		_ = json.Unmarshal(m.Content, &t) // null and absent are empty
		text += m.Role + ": " + t + "\n"
		marks += 3
	}
	return text, marks + 4
}
