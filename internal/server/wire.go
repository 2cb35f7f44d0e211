package server

import "math"

// Response objects, in the field order of the API reference. Pointers are fields that must be null on
// the wire when there is nothing to say.

type usage struct {
	PromptTokens     int           `json:"prompt_tokens"`
	CompletionTokens int           `json:"completion_tokens"`
	TotalTokens      int           `json:"total_tokens"`
	PromptDetails    promptDetails `json:"prompt_tokens_details"`
}

type promptDetails struct {
	CachedTokens int `json:"cached_tokens"`
}

func (u *usage) add(out outcome) {
	u.PromptTokens += out.prompt
	u.CompletionTokens += out.generated
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	u.PromptDetails.CachedTokens += out.cached
}

type chatLogprob struct {
	Token   string    `json:"token"`
	Logprob float64   `json:"logprob"`
	Bytes   byteList  `json:"bytes"`
	Top     []chatTop `json:"top_logprobs"`
}

type chatTop struct {
	Token   string   `json:"token"`
	Logprob float64  `json:"logprob"`
	Bytes   byteList `json:"bytes"`
}

type chatLogprobs struct {
	Content []chatLogprob `json:"content"`
}

// byteList is written as numbers; encoding/json would write a []byte as base64.
type byteList []int

func bytesOf(s string) byteList {
	out := make(byteList, len(s))
	for i := range len(s) {
		out[i] = int(s[i])
	}
	return out
}

type textLogprobs struct {
	Tokens  []string             `json:"tokens"`
	Token   []*float64           `json:"token_logprobs"`
	Top     []map[string]float64 `json:"top_logprobs"`
	Offsets []int                `json:"text_offset"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type chatDelta struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
}

type chatChoice struct {
	Index    int           `json:"index"`
	Message  *chatMessage  `json:"message,omitempty"`
	Delta    *chatDelta    `json:"delta,omitempty"`
	Logprobs *chatLogprobs `json:"logprobs"`
	Finish   *string       `json:"finish_reason"`
}

type textChoice struct {
	Index    int           `json:"index"`
	Text     string        `json:"text"`
	Logprobs *textLogprobs `json:"logprobs"`
	Finish   *string       `json:"finish_reason"`
}

// response is a whole answer or one event of a stream; C is chatChoice or textChoice.
type response[C any] struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
	Choices []C    `json:"choices"`
	Usage   *usage `json:"usage,omitempty"`
}

// finite is a log-probability that JSON can carry: vLLM, too, writes -9999 for minus infinity.
func finite(logprob float64) float64 {
	return math.Max(logprob, -9999)
}

func (s *Server) chatLogprob(t scored) chatLogprob {
	text := s.engine.TokenText(t.id)
	out := chatLogprob{Token: text, Logprob: finite(t.logprob), Bytes: bytesOf(text), Top: make([]chatTop, len(t.top))}
	for i, r := range t.top {
		text := s.engine.TokenText(r.id)
		out.Top[i] = chatTop{Token: text, Logprob: finite(r.logprob), Bytes: bytesOf(text)}
	}
	return out
}

// textScribe collects the legacy log-probability lists of one choice. Offsets count bytes of the text
// (echo included) up to the token.
type textScribe struct {
	s      *Server
	offset int
	first  bool // the next token has no context and so no log-probability
}

func (w *textScribe) list(tokens ...scored) *textLogprobs {
	out := &textLogprobs{}
	for _, t := range tokens {
		out.Tokens = append(out.Tokens, w.s.engine.TokenText(t.id))
		out.Offsets = append(out.Offsets, w.offset)
		w.offset += len(t.shown)
		if w.first {
			w.first = false
			out.Token, out.Top = append(out.Token, nil), append(out.Top, nil)
			continue
		}
		logprob := finite(t.logprob)
		// The chosen token is always in the map, as in the API, even when it is not among the best.
		top := map[string]float64{w.s.engine.TokenText(t.id): logprob}
		for _, r := range t.top {
			if text := w.s.engine.TokenText(r.id); r.id != t.id {
				if old, ok := top[text]; !ok || old < r.logprob {
					top[text] = finite(r.logprob)
				}
			}
		}
		out.Token, out.Top = append(out.Token, &logprob), append(out.Top, top)
	}
	return out
}

func (l *textLogprobs) append(more *textLogprobs) {
	l.Tokens = append(l.Tokens, more.Tokens...)
	l.Token = append(l.Token, more.Token...)
	l.Top = append(l.Top, more.Top...)
	l.Offsets = append(l.Offsets, more.Offsets...)
}
