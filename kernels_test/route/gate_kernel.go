package route

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func exp32(v float32) float32 { return float32(math.Exp(float64(v))) }

// router is the learned gate in fp32 as steps, in the order in which they run.
type router struct {
	convention string                      // where the bias goes; empty: as bias_in says
	logits     func(z []float64) []float64 // a token's, as they are read
	score      func(x float32, scoring string) float32
	exp        func(v float32) float32 // of softmax
	sum        bench.Summing           // of softmax and of the chosen scores
	rank       func(s, z, bias float32) float32
	group      func(c, s []float32, biased bool) float32 // a group's rank, by ranks and scores of its experts
	masked     float32                                   // rank of the experts of dropped groups
	tie        func(i, j, n int) int                     // order of equal ranks among n, negative for i first
	pick       func(order []int, n int) []int
	arrange    func(chosen []int, c []float32)
	weighed    func(s, c []float32) []float32
	total      func(k router, chosen, all []float32) float32 // what renormalise divides by, without the floor
	divide     func(v, total float32) float32
	weigh      func(v, f float32, over func(float32) float32) float32 // over renormalises, or does not
}

// correctRouter is the operator as it should be.
func correctRouter() router {
	return router{
		logits:  func(z []float64) []float64 { return z },
		score:   activation,
		exp:     exp32,
		sum:     bench.Sequential,
		rank:    func(s, _, bias float32) float32 { return s + bias },
		group:   groupRank,
		masked:  float32(math.Inf(-1)),
		tie:     func(i, j, _ int) int { return i - j },
		pick:    func(order []int, n int) []int { return order[:n] },
		arrange: func([]int, []float32) {},
		weighed: func(s, _ []float32) []float32 { return s },
		total:   func(k router, chosen, _ []float32) float32 { return k.sum(chosen) },
		divide:  func(v, total float32) float32 { return v / total },
		weigh:   func(v, f float32, over func(float32) float32) float32 { return over(v) * f },
	}
}

func activation(x float32, scoring string) float32 {
	if scoring == "sigmoid" {
		return 1 / (1 + exp32(-x))
	}
	return float32(math.Sqrt(float64(softplus(x))))
}

// softplus is ln(1 + e^x) without overflow and underflow.
func softplus(x float32) float32 {
	return max(x, 0) + float32(math.Log1p(float64(exp32(-float32(math.Abs(float64(x)))))))
}

// groupRank is the sum of the two largest with a bias, else the largest.
func groupRank(c, _ []float32, biased bool) float32 {
	first, second := largest(c)
	if biased && len(c) > 1 {
		return first + second
	}
	return first
}

func largest(c []float32) (first, second float32) {
	first, second = float32(math.Inf(-1)), float32(math.Inf(-1))
	for _, v := range c {
		if v > first {
			first, second = v, first
		} else {
			second = max(second, v)
		}
	}
	return first, second
}

// top are the n largest; NaN is last.
func (k router) top(v []float32, n int) []int {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch a, b := v[i], v[j]; {
		case a != a && b != b:
		case b != b || a > b:
			return -1
		case a != a || a < b:
			return 1
		}
		return k.tie(i, j, len(v))
	})
	return k.pick(order, n)
}

func (k router) scores(z []float64, scoring string) []float32 {
	out := make([]float32, len(z))
	if scoring != "softmax" {
		for e, v := range z {
			out[e] = k.score(float32(v), scoring)
		}
		return out
	}
	top := float32(math.Inf(-1))
	for _, v := range z {
		top = max(top, float32(v))
	}
	for e, v := range z {
		out[e] = k.exp(float32(v) - top)
	}
	total := k.sum(out)
	for e := range out {
		out[e] /= total
	}
	return out
}

// mask gives experts of groups that are dropped a rank at which none is chosen.
func (k router) mask(c, s []float32, groups, keep int, biased bool) {
	size := len(c) / groups
	rank := make([]float32, groups)
	for g := range rank {
		rank[g] = k.group(c[g*size:(g+1)*size], s[g*size:(g+1)*size], biased)
	}
	kept := k.top(rank, keep)
	for e, v := range c {
		if !slices.Contains(kept, e/size) {
			c[e] = k.masked
		} else if v != v {
			c[e] = -math.MaxFloat32 // a candidate still, after all numbers
		}
	}
}

// route chooses and weighs the experts of one token.
func (k router) route(z, bias []float64, a bench.Attrs) ([]int, []float32) {
	if z = slices.Clone(z); cmp.Or(k.convention, a.Word("bias_in")) == "logit" {
		for e, b := range bias {
			z[e] = float64(float32(z[e]) + float32(b))
		}
		bias = nil
	}
	s := k.scores(z, a.Word("scoring_func"))
	c := slices.Clone(s)
	for e, b := range bias {
		c[e] = k.rank(s[e], float32(z[e]), float32(b))
	}
	if n := a.Int("n_group"); n > 1 {
		k.mask(c, s, n, a.Int("topk_group"), bias != nil)
	}
	chosen := slices.Clone(k.top(c, a.Int("top_k")))
	k.arrange(chosen, c)
	return chosen, k.weights(k.weighed(s, c), chosen, a)
}

// weights of the chosen experts.
func (k router) weights(s []float32, chosen []int, a bench.Attrs) []float32 {
	out := make([]float32, len(chosen))
	for i, e := range chosen {
		out[i] = s[e]
	}
	over := func(v float32) float32 { return v }
	if a.Flag("renormalise") {
		total := k.total(k, out, s) + float32(a.Num("renormalise_floor"))
		over = func(v float32) float32 { return k.divide(v, total) }
	}
	for i, v := range out {
		out[i] = k.weigh(v, float32(a.Num("routed_scaling")), over)
	}
	return out
}

func (k router) run(a bench.Args) (bench.Results, error) {
	logits, bias, n := a.In("logits"), a.In("bias").Data, a.Int("top_k")
	whole := logits.Dim(0)
	if a.Has("num_token_non_padded") {
		whole = a.In("num_token_non_padded").Ints()[0]
	}
	ids, weights := a.Fresh("topk_ids"), a.Fresh("topk_weights")
	for t := range logits.Dim(0) {
		if t >= whole {
			for i := range n {
				ids[t*n+i], weights[t*n+i] = -1, 0
			}
			continue
		}
		chosen, w := k.route(k.logits(logits.Row(t)), bias, a.Attrs)
		for i, e := range chosen {
			ids[t*n+i], weights[t*n+i] = float64(e), float64(w[i])
		}
	}
	return bench.Results{"topk_ids": ids, "topk_weights": weights}, nil
}

// Options that a contract allows.

func routerSum(s bench.Summing) func(*router) { return func(k *router) { k.sum = s } }

func ascending(k *router) { k.arrange = func(chosen []int, _ []float32) { slices.Sort(chosen) } }

func descending(k *router) { k.arrange = func(chosen []int, _ []float32) { slices.Reverse(chosen) } }

func reciprocal(k *router) { k.divide = func(v, total float32) float32 { return v * (1 / total) } }

func factorFirst(k *router) {
	k.weigh = func(v, f float32, over func(float32) float32) float32 { return over(v * f) }
}

func higherTies(k *router) { k.tie = func(i, j, _ int) int { return j - i } }

// laneTies go to the lower of 32 lanes, each of which has every 32nd expert.
func laneTies(k *router) {
	k.tie = func(i, j, n int) int { return (i%32*n + i) - (j%32*n + j) }
}
