package engine

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
)

// complete answers /v1/completions: a text, or token ids.
func (e *Engine) complete(w http.ResponseWriter, r *http.Request) {
	f, ok := e.fields(w, r)
	if !ok {
		return
	}
	s, a := e.readSampling(f, false)
	if a != nil {
		e.refuse(w, *a)
		return
	}
	ids, a := e.readPrompt(f["prompt"])
	if a != nil {
		e.refuse(w, *a)
		return
	}
	if s.echo && s.logprobs < 0 && f["logprobs"] != nil {
		s.echo = false
	}
	req, sent, a := e.request(ids, s)
	if a != nil {
		e.refuse(w, *a)
		return
	}
	e.run(w, r, req, s, sent)
}

func (e *Engine) readPrompt(raw json.RawMessage) ([]int32, *apiError) {
	var text string
	var list []string
	var ids []int32
	switch {
	case len(raw) == 0:
		return nil, bad("prompt is missing")
	case json.Unmarshal(raw, &text) == nil:
	case json.Unmarshal(raw, &list) == nil && len(list) == 1:
		text = list[0]
	case json.Unmarshal(raw, &ids) == nil && len(ids) > 0:
		for _, id := range ids {
			if id < 0 || int(id) >= e.m.lex.size {
				return nil, bad("token id %d is outside of the vocabulary of %d", id, e.m.lex.size)
			}
		}
		return ids, nil
	default:
		return nil, bad("prompt must be one text or a list of token ids")
	}
	if text == "" {
		return nil, bad("prompt is empty")
	}
	return e.encodeText(text), nil
}

type textLogprobs struct {
	Tokens  []string             `json:"tokens"`
	Token   []*float64           `json:"token_logprobs"`
	Top     []map[string]float64 `json:"top_logprobs"`
	Offsets []int                `json:"text_offset"`
}

func (m *machine) textChoice(d delta, req *request, s sampling) choiceJSON {
	finish := req.finish
	text := d.content
	all := d.tokens
	if s.echo {
		var b strings.Builder
		for _, t := range req.prompt {
			if m.lex.class(t) == spHole {
				b.WriteString(m.lex.print(t))
			}
		}
		text = b.String() + text
		all = append(append([]emitted{}, req.promptLP...), all...)
	}
	c := choiceJSON{Text: &text, Finish: &finish}
	if s.logprobs < 0 {
		return c
	}
	lp := textLogprobs{}
	at := 0
	for _, t := range all {
		shown := m.lex.print(t.tok)
		lp.Tokens = append(lp.Tokens, valid(shown))
		lp.Offsets = append(lp.Offsets, at)
		at += len(shown)
		if math.IsNaN(t.lp) {
			lp.Token, lp.Top = append(lp.Token, nil), append(lp.Top, nil)
			continue
		}
		v := number(t.lp)
		top := map[string]float64{valid(shown): v}
		for _, a := range t.top {
			if name := valid(m.lex.print(a.tok)); a.tok != t.tok {
				if old, ok := top[name]; !ok || old < a.lp {
					top[name] = number(a.lp)
				}
			}
		}
		lp.Token, lp.Top = append(lp.Token, &v), append(lp.Top, top)
	}
	c.Logprobs = lp
	return c
}
