package server

import (
	"net/http"
	"strings"
)

type tokenizeReply struct {
	Count       int      `json:"count"`
	MaxModelLen int      `json:"max_model_len"`
	Tokens      []int    `json:"tokens"`
	TokenStrs   []string `json:"token_strs,omitempty"`
}

// tokenize is POST /tokenize: {prompt | messages, add_special_tokens, return_token_strs} gives the ids
// that a completion of the same prompt or messages would start from.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	f, e := s.helper(w, r)
	if e != nil {
		writeError(w, e)
		return
	}
	strs, _ := take[bool](f, "return_token_strs", "true or false")
	special := true
	if add, ok := take[bool](f, "add_special_tokens", "true or false"); ok {
		special = add
	}
	var ids []int
	_, hasMessages := f.raw["messages"]
	text, hasPrompt := take[string](f, "prompt", "a string")
	switch {
	case hasMessages && hasPrompt:
		f.fail(badRequest("prompt", `Send "prompt" or "messages", not both.`))
	case hasMessages:
		f.refuse("add_generation_prompt", "true")
		if messages := takeMessages(f); f.err == nil {
			if ids, e = s.renderChat(messages); e != nil {
				f.fail(e)
			}
		}
	case hasPrompt:
		ids = encodeText(s.engine, text, special)
	default:
		f.fail(badRequest("prompt", `"prompt" is missing: send text as "prompt", or a chat as "messages".`))
	}
	if f.err != nil {
		writeError(w, f.err)
		return
	}
	reply := tokenizeReply{Count: len(ids), MaxModelLen: s.engine.MaxModelLen(), Tokens: ids}
	if reply.Tokens == nil {
		reply.Tokens = []int{}
	}
	if strs {
		for _, id := range ids {
			reply.TokenStrs = append(reply.TokenStrs, s.engine.TokenText(id))
		}
	}
	announceIgnored(w, f.ignored())
	writeJSON(w, http.StatusOK, reply)
}

// detokenize is POST /detokenize: {tokens} gives {prompt}, special tokens by name.
func (s *Server) detokenize(w http.ResponseWriter, r *http.Request) {
	f, e := s.helper(w, r)
	if e != nil {
		writeError(w, e)
		return
	}
	raw, ok := f.raw["tokens"]
	f.taken["tokens"] = true
	var ids []int
	if !ok {
		f.fail(badRequest("tokens", `"tokens" is missing: send a list of token ids.`))
	} else if err := unmarshalIDs(raw, &ids); err != nil {
		f.fail(badRequest("tokens", `"tokens" must be a list of token ids, got %s.`, snippet(raw)))
	} else if e := checkIDs("tokens", ids, s.engine.Vocab()); e != nil {
		f.fail(e)
	}
	if f.err != nil {
		writeError(w, f.err)
		return
	}
	var text strings.Builder
	for _, id := range ids {
		text.WriteString(s.engine.TokenText(id))
	}
	announceIgnored(w, f.ignored())
	writeJSON(w, http.StatusOK, map[string]string{"prompt": text.String()})
}

// helper reads the body of a tokenizer route and checks its model.
func (s *Server) helper(w http.ResponseWriter, r *http.Request) (*fields, *apiError) {
	body, e := s.body(w, r)
	if e != nil {
		return nil, e
	}
	f, e := parseFields(body)
	if e != nil {
		return nil, e
	}
	if name, ok := take[string](f, "model", "a string"); ok {
		if e := s.checkModel(name); e != nil {
			return nil, e
		}
	}
	return f, nil
}
