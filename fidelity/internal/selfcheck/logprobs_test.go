package selfcheck_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/fidelity/internal/selfcheck"
	"github.com/assay-suite/assay/internal/endpoint"
	_ "github.com/assay-suite/assay/internal/golden" // registers -update
)

// answer is n greedy tokens with the top k of a softmax over 50 logits, changed by value; margins of one digit in three
// are small.
func answer(n, k int, value func(p float64) float64) []endpoint.Token {
	r := rand.New(rand.NewPCG(1, uint64(n*k)))
	var out []endpoint.Token
	for i := range n {
		logits := make([]float64, 50)
		sum := 0.0
		for j := range logits {
			logits[j] = 2 * r.NormFloat64()
		}
		logits[0] = 3 + float64(i%3)*4
		for j := range logits {
			logits[j] = min(logits[j], logits[0]-0.01)
		}
		logits[0] += 0.01
		for _, l := range logits {
			sum += math.Exp(l)
		}
		t := endpoint.Token{Text: string(rune('A' + i%40)), Logprob: value(math.Exp(logits[0]) / sum)}
		for j := range k {
			name := t.Text
			if j > 0 {
				name = string(rune('a' + j))
			}
			t.Top = append(t.Top, endpoint.Alternative{Token: name, Logprob: value(math.Exp(logits[j]) / sum)})
		}
		out = append(out, t)
	}
	return out
}

func shifted(tokens []endpoint.Token) []endpoint.Token {
	for i := len(tokens) - 1; i > 0; i-- {
		tokens[i].Top, tokens[i].Logprob = tokens[i-1].Top, tokens[i-1].Logprob
	}
	return tokens
}

// Log-probabilities that cannot be those of the tokens MUST be found and told apart; sound ones, rounded, clipped or
// missing, MUST pass.
func TestLogprobs(t *testing.T) {
	for name, c := range map[string]struct {
		tokens []endpoint.Token
		says   string
	}{
		"sound":         {answer(40, 20, math.Log), ""},
		"top 5":         {answer(40, 5, math.Log), ""},
		"rounded":       {answer(40, 20, func(p float64) float64 { return math.Round(math.Log(p)*1e3) / 1e3 }), ""},
		"clipped":       {answer(40, 20, func(p float64) float64 { return max(-9999, math.Log(p)) }), ""},
		"none":          {nil, ""},
		"missing":       {answer(20, 0, func(float64) float64 { return math.NaN() }), ""},
		"zero":          {answer(40, 20, func(float64) float64 { return 0 }), "all equal (0 at each of 40 tokens)"},
		"probabilities": {answer(40, 20, func(p float64) float64 { return p }), "probabilities, not logs"},
		"negated":       {answer(40, 20, func(p float64) float64 { return -math.Log(p) }), "positive at"},
		"base 10":       {answer(40, 20, math.Log10), "logarithms to base 10"},
		"too large":     {answer(40, 20, func(p float64) float64 { return math.Log(p) / 4 }), "too large"},
		"shifted":       {shifted(answer(40, 20, math.Log)), "not those of the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			half := len(c.tokens) / 2
			found := selfcheck.Of(c.tokens[:half]).Plus(selfcheck.Of(c.tokens[half:])).Finding()
			assert.Contains(t, found, c.says)
			assert.Equal(t, c.says == "", found == "", found)
		})
	}
}
