package inside

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/needle"
)

// listed is how many alternatives of a token go into its margin: 20, as servers list them.
const listed = 20

// generate reads a prompt in chunks and answers greedily, ties to the lowest token.
func generate(ctx context.Context, m *nano.Model, text string, chunk int) (string, []needle.Step, error) {
	ids, err := nano.EncodeChat([]nano.Message{{Role: "user", Content: text}})
	if err != nil {
		return "", nil, err
	}
	s := m.NewState()
	var logits [][]float64
	for len(ids) > 0 {
		n := min(max(chunk, 1), len(ids))
		if logits, err = m.Extend(ctx, s, ids[:n], 1); err != nil {
			return "", nil, err
		}
		ids = ids[n:]
	}
	var out []int
	var steps []needle.Step
	for range answerTokens {
		step, id := top(logits[0])
		if id == nano.EOS {
			break
		}
		out, steps = append(out, id), append(steps, step)
		if logits, err = m.Extend(ctx, s, []int{id}, 1); err != nil {
			return "", nil, err
		}
	}
	return nano.Decode(out), steps, nil
}

// top is the chosen token with the most likely alternatives, as log-probabilities.
func top(logits []float64) (needle.Step, int) {
	order := make([]int, len(logits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(logits[b], logits[a]) })
	sum := 0.0
	for _, v := range logits {
		sum += math.Exp(v - logits[order[0]])
	}
	lse := logits[order[0]] + math.Log(sum)
	var step needle.Step
	for _, id := range order[:min(listed, len(order))] {
		step.Top = append(step.Top, needle.Alt{Text: nano.TokenText(id), Logprob: logits[id] - lse})
	}
	step.Alt = step.Top[0]
	return step, order[0]
}

// smallest is the least margin of the right path; ok is false where none is known.
func smallest(margins []needle.Margin) (low float64, ok bool) {
	low = math.Inf(1)
	for _, m := range margins {
		if !m.OffPath && m.Bound != needle.Absent {
			low, ok = min(low, m.Nats), true
		}
	}
	return low, ok
}
