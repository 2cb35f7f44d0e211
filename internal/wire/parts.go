package wire

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// inline puts reasoning into the content where the quirk says so.
func (s *Server) inline(a *script) {
	if len(a.reasoning) == 0 {
		return
	}
	switch s.quirks["inline-reasoning"] {
	case "tags":
		a.text = append(append(append([]string{"<think>"}, a.reasoning...), "</think>", "\n\n"), a.text...)
	case "no-start":
		a.text = append(append(append([]string{}, a.reasoning...), "</think>", "\n\n"), a.text...)
	case "no-end":
		a.text = append([]string{"<think>"}, a.reasoning...)
	default:
		return
	}
	a.reasoning = nil
}

// reasoningFields writes reasoning under the names of the flavour or the quirk.
func (s *Server) reasoningFields(to map[string]any, text string) {
	if text == "" {
		return
	}
	v := s.quirks["reasoning-field"]
	if v == "reasoning" || v == "both" || v == "" && s.o.Flavour == VLLM {
		to["reasoning"] = text
	}
	if v != "reasoning" && (v != "" || s.o.Flavour != VLLM) {
		to["reasoning_content"] = text
	}
}

// usage is nil where the quirk leaves it out.
func (s *Server) usage(r *request, a *script) map[string]any {
	if s.quirks.is("usage-placement", "never") {
		return nil
	}
	u := map[string]any{
		"prompt_tokens": r.tokens, "completion_tokens": a.generated, "total_tokens": r.tokens + a.generated,
	}
	details := map[string]any{"cached_tokens": a.cached}
	switch v := s.quirks["cached-tokens"]; {
	case v == "null":
		details["cached_tokens"] = nil
	case v == "absent", v == "absent-at-zero" && a.cached == 0, v == "absent-in-streams" && r.Stream:
		delete(details, "cached_tokens")
	case v == "no-details":
		return u
	}
	u["prompt_tokens_details"] = details
	return u
}

// noLogprobs stands for a field that is left out.
var noLogprobs = struct{}{}

// logprobs writes the log-probabilities of tokens, of which the first is the answer's at-th.
func (s *Server) logprobs(r *request, at int, tokens []string) any {
	v := s.quirks["logprobs"]
	switch {
	case v == "ignored":
		return noLogprobs
	case r.top < 0 || v == "null":
		return nil
	}
	var chat []any
	var flat struct {
		Tokens []string         `json:"tokens"`
		Values []any            `json:"token_logprobs"`
		Top    []map[string]any `json:"top_logprobs"`
		Offset []int            `json:"text_offset"`
	}
	for i, t := range tokens {
		value := -0.125 * float64(1+(at+i)%3)
		var top []any
		names := map[string]any{}
		for k := range r.top {
			alt, lp := t, value
			if k > 0 {
				alt, lp = strings.Repeat("x", k), value-float64(k)
			}
			if v == "clipped" && k > 2 {
				lp = -100
			}
			out := any(lp)
			if v == "infinity" && k == r.top-1 {
				out = infinity
			}
			top = append(top, map[string]any{"token": shown(alt), "logprob": out, "bytes": spelled(alt)})
			names[shown(alt)] = out
		}
		chat = append(chat, map[string]any{"token": shown(t), "logprob": value, "bytes": spelled(t), "top_logprobs": top})
		flat.Tokens, flat.Values, flat.Top, flat.Offset = append(flat.Tokens, shown(t)), append(flat.Values, value),
			append(flat.Top, names), append(flat.Offset, 0)
	}
	if r.chat && v != "old-shape" {
		return map[string]any{"content": chat}
	}
	return flat
}

// infinity is replaced in the written bytes by a word that JSON does not have.
const infinity = "\uE000-Infinity"

func bare(b []byte) []byte {
	return []byte(strings.ReplaceAll(string(b), `"`+infinity+`"`, "-Infinity"))
}

// shown is a token as text: bytes that are no character are U+FFFD.
func shown(t string) string { return strings.ToValidUTF8(t, string(utf8.RuneError)) }

func spelled(t string) []int {
	out := make([]int, len(t))
	for i := range len(t) {
		out[i] = int(t[i])
	}
	return out
}

// split cuts characters of several bytes in two, as a tokenizer with byte fallback does.
func (s *Server) split(tokens []string) []string {
	var out []string
	for _, t := range tokens {
		for i, c := range t {
			if c >= utf8.RuneSelf && (c > 0xFFFF || !s.quirks.is("split-characters", "surrogates")) {
				out = append(out, t[:i+1])
				t = t[i+1:]
				break
			}
		}
		out = append(out, t)
	}
	return out
}

// content writes a piece of text as JSON, with split characters as the quirk has them.
func (s *Server) content(piece string) json.RawMessage {
	switch {
	case utf8.ValidString(piece):
	case s.quirks.is("split-characters", "raw-bytes"):
		return json.RawMessage(`"` + piece + `"`) // the scripted pieces need no escapes
	case s.quirks.is("split-characters", "surrogates"):
		// The only character beyond the basic plane is U+1F642, split after its first byte.
		piece = strings.Replace(piece, "\xf0", "\uE001", 1)
		piece = strings.Replace(piece, "\x9f\x99\x82", "\uE002", 1)
		return json.RawMessage(`"` + strings.NewReplacer("\uE001", `\ud83d`, "\uE002", `\ude42`).Replace(piece) + `"`)
	}
	b, err := json.Marshal(shown(piece))
	if err != nil {
		return json.RawMessage(`""`)
	}
	return b
}
