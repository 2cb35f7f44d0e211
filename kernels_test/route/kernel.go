package route

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func exp32(v float32) float32 { return float32(math.Exp(float64(v))) }

// gateOptions are what a kernel does otherwise: the first block is allowed by a contract, the rest are faults.
type gateOptions struct {
	higherTies, laneTies, ascending, descending, reciprocal, factorFirst bool

	scoring                                                                string
	naiveSoftplus, noRoot, bf16Scores                                      bool
	noBias, biasInWeights, groupsUnbiased, biasOnLogits                    bool
	noGroups, groupsByBest, groupsBySum, oneGroupMore, zeroMask            bool
	twice, noScaling, scalingRenormalised, inverted                        bool
	alwaysRenormalise, neverRenormalise, overAll, noFloor                  bool
	misaligned, repeated, wildNaN, neighboursNaN, paddedExperts, noPadding bool
	oneLess, worst                                                         bool
}

// scores of a token.
func (o gateOptions) scores(z []float64, scoring string, sum bench.Summing) []float32 {
	out := make([]float32, len(z))
	if o.scoring != "" {
		scoring = o.scoring
	}
	if scoring == "softmax" {
		top := float32(math.Inf(-1))
		for _, v := range z {
			top = max(top, float32(v))
		}
		for e, v := range z {
			out[e] = exp32(float32(v) - top)
		}
		total := sum(out)
		for e := range out {
			out[e] /= total
		}
		return out
	}
	for e, v := range z {
		x := float32(v)
		switch {
		case scoring == "sigmoid":
			out[e] = 1 / (1 + exp32(-x))
		case o.naiveSoftplus:
			out[e] = float32(math.Sqrt(math.Log(float64(1 + exp32(x)))))
		default:
			soft := max(x, 0) + float32(math.Log1p(float64(exp32(-float32(math.Abs(float64(x)))))))
			if out[e] = float32(math.Sqrt(float64(soft))); o.noRoot {
				out[e] = soft
			}
		}
		if o.bf16Scores {
			out[e] = bench.AsBF16(out[e])
		}
	}
	return out
}

// keeps tells which experts stay candidates.
func (o gateOptions) keeps(c, s []float32, groups, keep int, biased bool) []bool {
	ok := make([]bool, len(c))
	size := len(c) / groups
	if o.groupsUnbiased {
		c, biased = s, false
	}
	score := make([]float32, groups)
	for g := range score {
		first, second := float32(math.Inf(-1)), float32(math.Inf(-1))
		for _, v := range c[g*size : (g+1)*size] {
			if v > first {
				first, second = v, first
			} else {
				second = max(second, v)
			}
		}
		if score[g] = first; (biased && !o.groupsByBest || o.groupsBySum) && size > 1 {
			score[g] += second
		}
	}
	if o.oneGroupMore {
		keep = min(keep+1, groups)
	}
	for _, g := range o.top(score, keep) {
		for e := g * size; e < (g+1)*size; e++ {
			ok[e] = true
		}
	}
	return ok
}

// top are the n largest, ties to the lower index; NaN is last.
func (o gateOptions) top(v []float32, n int) []int {
	at := make([]int, len(v))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		a, b := v[i], v[j]
		switch {
		case a != a && b != b:
		case b != b || a > b:
			return -1
		case a != a || a < b:
			return 1
		}
		switch {
		case o.higherTies:
			return j - i
		case o.laneTies: // 32 lanes, each with every 32nd expert
			return (i%32*len(v) + i) - (j%32*len(v) + j)
		}
		return i - j
	})
	if o.worst && n < len(at) {
		return append(append([]int{}, at[:n-1]...), at[n])
	}
	return at[:n]
}

// gateWith is the operator in fp32.
func gateWith(sum bench.Summing, o gateOptions) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		logits, bias, k := a.In("logits"), a.In("bias").Data, a.Int("top_k")
		whole := logits.Dim(0)
		if a.Has("num_token_non_padded") && !o.noPadding {
			whole = a.In("num_token_non_padded").Ints()[0]
		}
		ids, weights := a.Fresh("topk_ids"), a.Fresh("topk_weights")
		spoiled := false
		for t := range logits.Dim(0) {
			if t >= whole {
				for i := range k {
					ids[t*k+i], weights[t*k+i] = -1, 0
				}
				continue
			}
			z := logits.Row(t)
			if o.paddedExperts {
				z = append(append([]float64{}, z...), make([]float64, (8-len(z)%8)%8)...)
			}
			nan := slices.ContainsFunc(z, math.IsNaN)
			spoiled = spoiled || nan
			chosen, w := o.route(z, bias, a.Attrs, k, sum)
			for i, e := range chosen {
				if ids[t*k+i], weights[t*k+i] = float64(e), float64(w[i]); o.wildNaN && nan {
					ids[t*k+i] = -1
				}
				if o.neighboursNaN && spoiled {
					weights[t*k+i] = math.NaN()
				}
			}
			if o.misaligned {
				slices.Sort(ids[t*k : (t+1)*k])
			}
		}
		return bench.Results{"topk_ids": ids, "topk_weights": weights}, nil
	}
}

// route is one token.
func (o gateOptions) route(z, bias []float64, a bench.Attrs, k int, sum bench.Summing) ([]int, []float32) {
	s := o.scores(z, a.Word("scoring_func"), sum)
	c := slices.Clone(s)
	for e := range c {
		if e < len(bias) && !o.noBias {
			if c[e] += float32(bias[e]); o.biasOnLogits {
				c[e] = float32(z[e]) + float32(bias[e])
			}
		}
	}
	if n := a.Int("n_group"); n > 1 && !o.noGroups {
		masked := float32(math.Inf(-1))
		if o.zeroMask {
			masked = 0
		}
		for e, ok := range o.keeps(c, s, n, a.Int("topk_group"), bias != nil) {
			if !ok {
				c[e] = masked
			} else if c[e] != c[e] {
				c[e] = -math.MaxFloat32 // a candidate still, after all numbers
			}
		}
	}
	chosen := o.top(c, k)
	if o.repeated && k > 1 && c[chosen[0]] == c[chosen[1]] {
		chosen[1] = chosen[0]
	}
	switch chosen = slices.Clone(chosen); {
	case o.ascending:
		slices.Sort(chosen)
	case o.descending:
		slices.Reverse(chosen)
	}
	weighed := s
	if o.biasInWeights {
		weighed = c
	}
	return chosen, o.weigh(weighed, chosen, a, sum)
}

// weigh gives the chosen experts their weights.
func (o gateOptions) weigh(s []float32, chosen []int, a bench.Attrs, sum bench.Summing) []float32 {
	out := make([]float32, len(chosen))
	for i, e := range chosen {
		out[i] = s[e]
	}
	f := float32(a.Num("routed_scaling"))
	renormalise := (a.Flag("renormalise") || o.alwaysRenormalise) && !o.neverRenormalise
	total := sum(out)
	switch {
	case o.overAll:
		total = sum(s)
	case o.oneLess && len(out) > 1:
		total = sum(out[:len(out)-1])
	}
	if !o.noFloor {
		total += float32(a.Num("renormalise_floor"))
	}
	for i, v := range out {
		if o.factorFirst {
			v *= f
		}
		switch {
		case renormalise && o.reciprocal:
			v *= 1 / total
		case renormalise:
			v /= total
		}
		if !o.factorFirst {
			v *= o.factor(f, renormalise)
		}
		out[i] = v
	}
	return out
}

// factor is what is applied of the routed scaling factor.
func (o gateOptions) factor(f float32, renormalise bool) float32 {
	switch {
	case o.twice:
		return f * f
	case o.noScaling, o.scalingRenormalised && !renormalise:
		return 1
	case o.inverted:
		return 1 / f
	}
	return f
}
