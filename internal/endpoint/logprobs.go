package endpoint

import (
	"bytes"
	"fmt"
	"math"
	"sort"
	"strconv"
)

// number is a JSON number, or not there: null and other types leave ok false. A *float64 would be 0 for a text,
// because encoding/json sets the pointer before it finds the type wrong.
type number struct {
	v  float64
	ok bool
}

// UnmarshalJSON never fails.
func (n *number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(string(b), 64)
	*n = number{v, err == nil}
	return nil
}

// orNaN is the value, NaN where there is none.
func (n number) orNaN() float64 {
	if !n.ok {
		return math.NaN()
	}
	return n.v
}

type contentToken struct {
	Token   string `json:"token"`
	Spelled []int  `json:"bytes"`
	Logprob number `json:"logprob"`
	Top     []struct {
		Token   string `json:"token"`
		Logprob number `json:"logprob"`
	} `json:"top_logprobs"`
}

type legacyTokens struct {
	Tokens   []string            `json:"tokens"`
	Logprobs []number            `json:"token_logprobs"`
	Top      []map[string]number `json:"top_logprobs"`
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
		t := Token{Text: c.Token, Logprob: c.Logprob.orNaN()}
		for _, b := range c.Spelled {
			t.Bytes = append(t.Bytes, byte(b))
		}
		if len(c.Top) > 0 {
			t.Top = make([]Alternative, 0, len(c.Top))
		}
		for _, alt := range c.Top {
			t.Top = append(t.Top, Alternative{alt.Token, alt.Logprob.orNaN()})
		}
		r.token(t)
	}
	for i, tok := range v.Tokens {
		r.shape = ShapeLegacy
		t := Token{Text: tok, Logprob: math.NaN()}
		if i < len(v.Logprobs) {
			t.Logprob = v.Logprobs[i].orNaN()
		}
		if i < len(v.Top) {
			for s, p := range v.Top[i] {
				t.Top = append(t.Top, Alternative{s, p.orNaN()})
			}
		}
		r.token(t)
	}
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
		r.note(NoteClipped, fmt.Sprintf("token %d has log-probability %v, a placeholder for minus infinity", len(r.tokens),
			lowest))
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
