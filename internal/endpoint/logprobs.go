package endpoint

import (
	"bytes"
	"fmt"
	"math"
	"sort"
)

// Numbers are pointers: null and other types leave them nil, which is NaN.
type contentToken struct {
	Token   string   `json:"token"`
	Spelled []int    `json:"bytes"`
	Logprob *float64 `json:"logprob"`
	Top     []struct {
		Token   string   `json:"token"`
		Logprob *float64 `json:"logprob"`
	} `json:"top_logprobs"`
}

type legacyTokens struct {
	Tokens   []string              `json:"tokens"`
	Logprobs []*float64            `json:"token_logprobs"`
	Top      []map[string]*float64 `json:"top_logprobs"`
}

// logprobs is both shapes in one.
type logprobs struct {
	Content []contentToken `json:"content"`
	legacyTokens
}

// named is how the field looks in an answer. In a text its quotes are escaped, so that it is found as a field only.
var named = []byte(`"logprobs"`)

// logprobs reads either shape, whatever the route. Nothing in them is an error: a server may leave them out, give
// null, or use the shape of the other route. data is the body or event, which tells null from absent.
func (r *reply) logprobs(v *logprobs, data []byte) {
	if v == nil {
		if r.shape == ShapeAbsent && bytes.Contains(data, named) {
			r.shape = ShapeNull
		}
		return
	}
	for _, c := range v.Content {
		r.shape = ShapeContent
		t := Token{Text: c.Token, Logprob: value(c.Logprob)}
		for _, b := range c.Spelled {
			t.Bytes = append(t.Bytes, byte(b))
		}
		if len(c.Top) > 0 {
			t.Top = make([]Alternative, 0, len(c.Top))
		}
		for _, alt := range c.Top {
			t.Top = append(t.Top, Alternative{alt.Token, value(alt.Logprob)})
		}
		r.token(t)
	}
	for i, tok := range v.Tokens {
		r.shape = ShapeLegacy
		t := Token{Text: tok, Logprob: math.NaN()}
		if i < len(v.Logprobs) {
			t.Logprob = value(v.Logprobs[i])
		}
		if i < len(v.Top) {
			for s, p := range v.Top[i] {
				t.Top = append(t.Top, Alternative{s, value(p)})
			}
		}
		r.token(t)
	}
}

func value(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func (r *reply) token(t Token) {
	sort.SliceStable(t.Top, func(i, j int) bool {
		if t.Top[i].Logprob != t.Top[j].Logprob {
			return t.Top[i].Logprob > t.Top[j].Logprob
		}
		return t.Top[i].Token < t.Top[j].Token
	})
	lowest := t.Logprob
	if n := len(t.Top); n > 0 && !(t.Top[n-1].Logprob > lowest) {
		lowest = t.Top[n-1].Logprob
	}
	if lowest == -100 || lowest == -9999 {
		r.note(NoteClipped, fmt.Sprintf("token %d has log-probability %v, a stand-in for minus infinity", len(r.tokens), lowest))
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
