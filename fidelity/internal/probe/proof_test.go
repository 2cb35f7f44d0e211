package probe

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/endpoint"
)

// A warm answer MUST count only with proof of a hit: by cached tokens, or by a third of the time to the first token on
// a prompt of 4,096 tokens or more.
func TestProven(t *testing.T) {
	right := Verdict{Class: "exact", Right: true, Measured: true}
	for name, c := range map[string]struct {
		prompt, cold, warm int
		coldS, warmS       float64
		coldOK, warmOK     bool
	}{
		"a hit":             {1000, 0, 960, 1, 1, true, true},
		"no hit":            {1000, 0, 0, 1, 0.1, true, false},
		"the template only": {1000, 16, 16, 1, 0.1, true, false},
		// What counts a prompt as cached that nobody sent before proves nothing of the next one.
		"cold was warm":          {1000, 900, 960, 1, 1, false, false},
		"all but one, always":    {1000, 999, 999, 1, 1, false, false},
		"unknown, fast":          {5000, -1, -1, 3, 0.9, true, true},
		"unknown, not so fast":   {5000, -1, -1, 3, 1.1, true, false},
		"unknown, short prompt":  {2000, -1, -1, 3, 0.1, true, false},
		"unknown, times missing": {5000, -1, -1, 0, 0, true, false},
	} {
		rs := []Record{
			{Arm: "cold", Prompt: c.prompt, Cached: c.cold, First: c.coldS, Verdict: right},
			{Arm: "warm1", Prompt: c.prompt, Cached: c.warm, First: c.warmS, Verdict: right},
			{Arm: "first-changed", Prompt: c.prompt, Cached: max(c.cold, 0), First: c.coldS, Verdict: right},
		}
		proven(rs)
		assert.Equal(t, []bool{c.coldOK, c.warmOK, true}, []bool{rs[0].Measured, rs[1].Measured, rs[2].Measured}, name)
	}
}

// The decoded tokens MUST be found at the end of the echoed ones by their text, and texts cut otherwise not be
// compared.
func TestCompared(t *testing.T) {
	list := func(lp float64, words ...string) []endpoint.Token {
		var out []endpoint.Token
		for _, w := range words {
			out = append(out, endpoint.Token{Text: w, Logprob: lp})
		}
		return out
	}
	decoded := list(-1, "a", "b", "c", "d")
	echoed := append(list(-3, "x", "y"), list(-1.5, "a", "b", "c", "d")...)
	assert.Equal(t, map[string]float64{"difference": 0.5}, compared(decoded, echoed)) // halves are exact
	assert.Equal(t, map[string]float64{"difference": 0.5}, compared(decoded, append(echoed, list(-9, "new")...)))
	assert.Nil(t, compared(decoded, list(-1, "x", "ab", "c", "d")))
	assert.Nil(t, compared(decoded[:2], echoed))

	var g generated
	require.NoError(t, json.Unmarshal([]byte(`{"text":" t","meta_info":{"input_token_logprobs":[[null,5,null],[-1.5,6,`+
		`"b"],[-2,7]],"output_token_logprobs":[[-0.5,8,"c"]]}}`), &g))
	assert.Equal(t, []endpoint.Token{{Text: "8", Logprob: -0.5}}, g.output())
	assert.Equal(t, "6", g.input()[1].Text)
	assert.Equal(t, endpoint.Token{Text: "7", Logprob: -2}, g.input()[2])
	assert.Error(t, json.Unmarshal([]byte(`{"meta_info":{"input_token_logprobs":[[1]]}}`), &g))
}

// Warm answers without any proven hit MUST be unmeasured with the reason, and a server that counts every prompt as
// cached MUST be told from one that caches nothing.
func TestUnproven(t *testing.T) {
	unit := func(coldCached, warmCached int) []Record {
		rs := []Record{
			{Arm: "cold", Prompt: 1000, Cached: coldCached, Verdict: Verdict{Measured: true, Right: true}},
			{Arm: "warm1", Prompt: 1000, Cached: warmCached, Verdict: Verdict{Measured: true, Right: true}},
		}
		proven(rs)
		return rs
	}
	assert.Empty(t, unproven([][]Record{unit(0, 960)}))
	assert.Contains(t, unproven([][]Record{unit(999, 999), unit(999, 999)}), "counts 2 of 2 prompts as cached")
	assert.Contains(t, unproven([][]Record{unit(0, 0)}), "computed anew")
}
