package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"sort"
)

// maybe is a number that may be null or of another type: NaN then.
type maybe float64

// UnmarshalJSON never fails: log-probabilities are optional.
func (m *maybe) UnmarshalJSON(b []byte) error {
	var v *float64
	if json.Unmarshal(b, &v) != nil || v == nil {
		*m = maybe(math.NaN())
		return nil
	}
	*m = maybe(*v)
	return nil
}

type contentToken struct {
	Token   string `json:"token"`
	Spelled []int  `json:"bytes"`
	Logprob *maybe `json:"logprob"`
	Top     []struct {
		Token   string `json:"token"`
		Logprob *maybe `json:"logprob"`
	} `json:"top_logprobs"`
}

type legacyTokens struct {
	Tokens   []string                     `json:"tokens"`
	Logprobs []*maybe                     `json:"token_logprobs"`
	Top      []map[string]json.RawMessage `json:"top_logprobs"`
}

// logprobs reads either shape, whatever the route. Nothing in them is an error: a server may leave them out, give
// null, or use the shape of the other route.
func (r *reply) logprobs(raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	if string(bytes.TrimSpace(raw)) == "null" {
		if r.shape == ShapeAbsent {
			r.shape = ShapeNull
		}
		return
	}
	var v struct {
		Content []contentToken `json:"content"`
		legacyTokens
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		r.note(NoteOddTypes, fmt.Sprintf("logprobs: %v", err))
	}
	for _, c := range v.Content {
		r.shape = ShapeContent
		t := Token{Text: c.Token, Logprob: c.Logprob.value()}
		for _, b := range c.Spelled {
			t.Bytes = append(t.Bytes, byte(b))
		}
		for _, alt := range c.Top {
			t.Top = append(t.Top, Alternative{alt.Token, alt.Logprob.value()})
		}
		r.token(t)
	}
	for i, tok := range v.Tokens {
		r.shape = ShapeLegacy
		t := Token{Text: tok, Logprob: math.NaN()}
		if i < len(v.Logprobs) {
			t.Logprob = v.Logprobs[i].value()
		}
		if i < len(v.Top) {
			for s, p := range v.Top[i] {
				var m maybe
				_ = m.UnmarshalJSON(p) // never fails
				t.Top = append(t.Top, Alternative{s, float64(m)})
			}
		}
		r.token(t)
	}
}

func (m *maybe) value() float64 {
	if m == nil {
		return math.NaN()
	}
	return float64(*m)
}

func (r *reply) token(t Token) {
	sort.SliceStable(t.Top, func(i, j int) bool {
		if t.Top[i].Logprob != t.Top[j].Logprob {
			return t.Top[i].Logprob > t.Top[j].Logprob
		}
		return t.Top[i].Token < t.Top[j].Token
	})
	for _, v := range append([]Alternative{{t.Text, t.Logprob}}, t.Top...) {
		if v.Logprob == -100 || v.Logprob == -9999 {
			r.note(NoteClipped, fmt.Sprintf("token %d has log-probability %v, a stand-in for minus infinity", len(r.tokens), v.Logprob))
			break
		}
	}
	r.tokens = append(r.tokens, t)
}

// finiteJSON replaces the words NaN, Infinity and -Infinity outside strings, which some encoders write, by null,
// 9999 and -9999.
func finiteJSON(data []byte) (plain []byte, changed bool) {
	words := []struct{ from, to string }{{"-Infinity", "-9999"}, {"Infinity", "9999"}, {"NaN", "null"}}
	inString := false
next:
	for i := 0; i < len(data); i++ {
		c := data[i]
		if inString {
			plain = append(plain, c)
			if c == '\\' && i+1 < len(data) {
				i++
				plain = append(plain, data[i])
			}
			inString = c != '"'
			continue
		}
		for _, w := range words {
			if bytes.HasPrefix(data[i:], []byte(w.from)) {
				plain, changed = append(plain, w.to...), true
				i += len(w.from) - 1
				continue next
			}
		}
		inString = c == '"'
		plain = append(plain, c)
	}
	return plain, changed
}
