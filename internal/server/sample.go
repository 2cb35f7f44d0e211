package server

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// greedyBelow is the temperature under which sampling is greedy, as in vLLM: clients that cannot send
// a plain 0 send a tiny number instead.
const greedyBelow = 1e-5

// ranked is one candidate token of a position.
type ranked struct {
	id      int
	logprob float64 // natural log
}

// sampler picks tokens of one answer. rng is nil when greedy.
type sampler struct {
	temperature, topP float64
	rng               *rand.Rand
}

// newSampler seeds by the request's seed and the prompt's index in the request, so that equal requests
// draw equal tokens; without a seed every request draws anew.
func newSampler(p *params, index int) sampler {
	s := sampler{temperature: p.temperature, topP: p.topP}
	if p.temperature < greedyBelow {
		return s
	}
	seed := rand.Uint64()
	if p.seed != nil {
		seed = uint64(*p.seed)
	}
	s.rng = rand.New(rand.NewPCG(seed, uint64(index)))
	return s
}

// pick chooses a token; banned (negative for none) is never chosen.
func (s sampler) pick(logits []float64, banned int) int {
	if s.rng == nil {
		return argmax(logits, banned)
	}
	scaled := make([]float64, len(logits))
	for i, l := range logits {
		scaled[i] = l / s.temperature
	}
	norm := logSumExp(scaled)
	kept := make([]ranked, 0, len(logits)) // logprob holds the probability here
	for i, l := range scaled {
		if i != banned {
			kept = append(kept, ranked{i, math.Exp(l - norm)})
		}
	}
	slices.SortFunc(kept, descending)
	// Nucleus: the fewest most likely tokens whose mass reaches top_p of what is allowed.
	var total float64
	for _, k := range kept {
		total += k.logprob
	}
	var mass float64
	for i, k := range kept {
		mass += k.logprob
		if mass >= s.topP*total {
			kept = kept[:i+1]
			break
		}
	}
	u := s.rng.Float64() * mass
	for _, k := range kept {
		if u -= k.logprob; u < 0 {
			return k.id
		}
	}
	return kept[0].id // rounding left a crumb
}

// argmax is the lowest id among the largest logits.
func argmax(logits []float64, banned int) int {
	best := -1
	for i, l := range logits {
		if i != banned && (best < 0 || l > logits[best]) {
			best = i
		}
	}
	return best
}

// descending orders by value, equal values by id.
func descending(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.logprob, a.logprob), cmp.Compare(a.id, b.id))
}

// topN gives the n most likely tokens of a row with their log-probabilities, best first.
func topN(logits []float64, norm float64, n int) []ranked {
	if n == 0 {
		return nil
	}
	all := make([]ranked, len(logits))
	for i, l := range logits {
		all[i] = ranked{i, l - norm}
	}
	slices.SortFunc(all, descending)
	return all[:min(n, len(all))]
}

// logSumExp is log(sum(exp(x))) without overflow.
func logSumExp(x []float64) float64 {
	top := slices.Max(x)
	var sum float64
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// checkRow refuses logits that cannot be ranked: an engine that computes NaN must not look like one
// that answers.
func checkRow(logits []float64, vocab, position int) error {
	if len(logits) != vocab {
		return fmt.Errorf("it returned %d logits at position %d, the vocabulary has %d tokens", len(logits), position, vocab)
	}
	for id, l := range logits {
		if math.IsNaN(l) || math.IsInf(l, 1) {
			return fmt.Errorf("its logit of token %d at position %d is %v", id, position, l)
		}
	}
	if math.IsInf(slices.Max(logits), -1) {
		return fmt.Errorf("all its logits at position %d are -Inf", position)
	}
	return nil
}
