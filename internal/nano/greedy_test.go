package nano_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

// greedyBound is how far a log-probability may be from the fp32 one of Hugging Face: a hundred times the
// noise of fp32 against float64 (docs/sources.md), to which the recording's rounding to 1e-5 adds.
const greedyBound = 2e-3

// greedyCase is one prompt of hf_greedy.json and what Hugging Face answered.
type greedyCase struct {
	Length  int       `json:"length"`
	Depth   float64   `json:"depth"`
	Repeat  int       `json:"repeat"`
	Prompt  []int     `json:"prompt"`
	Code    []int     `json:"code"`
	Greedy  []int     `json:"greedy"`
	Logprob []float64 `json:"logprob"`
	Margin  []float64 `json:"margin"`
}

// perLength keeps n prompts of each length, spread over the depths.
func perLength(all []greedyCase, n int) []greedyCase {
	byLength := map[int][]greedyCase{}
	var lengths []int
	for _, c := range all {
		if byLength[c.Length] == nil {
			lengths = append(lengths, c.Length)
		}
		byLength[c.Length] = append(byLength[c.Length], c)
	}
	var some []greedyCase
	for _, l := range lengths {
		for i := range n {
			some = append(some, byLength[l][i*(len(byLength[l])-1)/max(n-1, 1)])
		}
	}
	return some
}

func TestGreedyAnswersLikeHuggingFace(t *testing.T) {
	for _, r := range records {
		m, cases := load(t, r.model, oracle.Reference()), r.sample(r.all(t))
		t.Run(r.model+"/fast", func(t *testing.T) { checkGreedy(t, m.Fast(), cases) })
		few := slices.DeleteFunc(perLength(cases, 1), func(c greedyCase) bool { return c.Length > 1024 })
		t.Run(r.model+"/oracle", func(t *testing.T) { checkGreedy(t, m, few) }) // longer ones: tag weights
	}
}

// The comparison must see a fault that loses needles.
func TestGreedyRejectsAFault(t *testing.T) {
	f, err := faults.Lookup("compressor-overlap-dropped")
	require.NoError(t, err)
	for _, r := range records {
		m := load(t, r.model, f.Apply(oracle.Reference()))
		if problem, _ := greedyProblem(m, r.all(t)[0]); problem == "" {
			t.Errorf("greedy decoding of %s passes under %s", r.model, f.Name)
		}
	}
}

func checkGreedy(t *testing.T, m *nano.Model, cases []greedyCase) {
	t.Helper()
	worst := 0.0
	for i, c := range cases {
		problem, off := greedyProblem(m, c)
		if problem != "" {
			t.Errorf("prompt %d (%d tokens, depth %v, repeated %d): %s", i, c.Length, c.Depth, c.Repeat, problem)
		}
		worst = math.Max(worst, off)
	}
	t.Logf("%d prompts; log-probabilities within %.1e (bound %.0e)", len(cases), worst, greedyBound)
}

// greedyProblem decodes one prompt and tells the first difference to the recording, and how far
// log-probabilities are.
func greedyProblem(m *nano.Model, c greedyCase) (problem string, worst float64) {
	s := m.NewState()
	next := c.Prompt
	for i, want := range c.Greedy {
		logits, err := m.Extend(context.Background(), s, next, 1)
		if err != nil {
			return err.Error(), worst
		}
		best, logprob := argmax(logits[0])
		if best != want {
			return fmt.Sprintf("token %d is %d, Hugging Face gave %d", i, best, want), worst
		}
		off := math.Abs(logprob - c.Logprob[i])
		worst = math.Max(worst, off)
		if !(off <= greedyBound) {
			return fmt.Sprintf("token %d has log-probability %v, Hugging Face gave %v", i, logprob, c.Logprob[i]), worst
		}
		next = []int{best}
	}
	return "", worst
}

// argmax is the best id and its log-probability.
func argmax(logits []float64) (int, float64) {
	best := 0
	for id, v := range logits {
		if v > logits[best] {
			best = id
		}
	}
	sum := 0.0
	for _, v := range logits {
		sum += math.Exp(v - logits[best])
	}
	return best, -math.Log(sum)
}
