package numerics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// order adds float32 values in an order of its own, drawn once per kernel: reversed or permuted, in one chain, in
// splits, or pairwise.
type order struct {
	seed   uint64
	splits int
	tree   bool
}

func drawOrder(rng *rand.Rand) order {
	return order{seed: rng.Uint64(), splits: 1 + rng.IntN(8), tree: rng.IntN(4) == 0}
}

func (o order) sum(v []float32) float32 {
	s := make([]float32, len(v))
	for i, j := range rand.New(rand.NewPCG(o.seed, uint64(len(v)))).Perm(len(v)) {
		s[i] = v[j]
	}
	if o.tree {
		return tree32(s)
	}
	size := (len(s) + o.splits - 1) / o.splits
	var total float32
	for lo := 0; lo < len(s); lo += size {
		var part float32
		for _, x := range s[lo:min(lo+size, len(s))] {
			part += x
		}
		total += part
	}
	return total
}

func tree32(v []float32) float32 {
	switch len(v) {
	case 0:
		return 0
	case 1:
		return v[0]
	}
	return tree32(v[:len(v)/2]) + tree32(v[len(v)/2:])
}

func (o order) dot(x, w []float32) float32 {
	p := make([]float32, len(x))
	for i, v := range x {
		p[i] = float32(v * w[i])
	}
	return o.sum(p)
}

// inputs draws one of the distributions of a risk run.
func inputs(rng *rand.Rand, rows, cols int, f format.Format) []float64 {
	v := make([]float64, rows*cols)
	kind := rng.IntN(5)
	channel, row := rng.IntN(cols), rng.IntN(rows)
	scale := math.Exp2(float64(rng.IntN(9) - 4))
	for i := range v {
		x := rng.NormFloat64() * scale
		switch {
		case kind == 1:
			x = math.Abs(x)
		case kind == 2 && i%cols == channel: // outlier channel
			x *= 1000
		case kind == 3 && i/cols == row: // needle row
			x *= 64
		case kind == 4: // mixed exponents
			x *= math.Exp2(float64(rng.IntN(13) - 6))
		}
		v[i] = f.RoundTo(x, format.RN, format.Saturate)
	}
	return v
}

// operator is one kind of correct run: a trial whose candidate and ensemble are draws of the same contract.
type operator struct {
	name string
	run  func(t testing.TB, rng *rand.Rand) (numerics.Trial, numerics.Contract)
}

func operators() []operator {
	ops := []operator{
		{"rmsnorm", rmsNormRun}, {"softmax", softmaxRun}, {"attention", attentionRun}, {"indexer", indexerRun},
	}
	for _, c := range gemmContracts() {
		ops = append(ops, operator{"gemm " + c.Name, func(t testing.TB, rng *rand.Rand) (numerics.Trial, numerics.Contract) {
			t.Helper()
			m, n, k := 1<<rng.IntN(4), 8<<rng.IntN(3), 64<<rng.IntN(3)
			if c.Acc.Result < 10 {
				k = min(k, 128) // γ_n of 2^-8 is infinite from 256 on: no certain bound
			}
			x, w := inputs(rng, m, k, stored(c)), inputs(rng, n, k, stored(c))
			return gemmTrial(t, rng, &c, x, w, m, n, k), c
		}})
	}
	return ops
}

// gemmContracts are what the risk and power runs judge GEMMs under.
func gemmContracts() []numerics.Contract {
	bf16 := numerics.MHCBF16()
	fp32acc := kernel(format.BF16, format.RN, format.BF16, numerics.FP32Any())
	fp32acc.Name = "bf16 in, fp32 accumulate, bf16 out"
	chain := kernel(format.BF16, format.RN, format.BF16, numerics.BF16Chain())
	chain.Name = "bf16 accumulator"
	return []numerics.Contract{
		numerics.MHCFP32(), numerics.MHCTF32(), bf16, fp32acc, numerics.FP8Hopper("fp8-fast", 0),
		numerics.FP8Hopper("fp8-accurate", 128), chain,
	}
}

// stored is the format that operands are stored in under a contract: fp32 where they are rounded on reading.
func stored(c numerics.Contract) format.Format {
	if f := c.Operand("x").Format; f.Width() <= 16 {
		return f
	}
	return format.FP32
}

// gemmTrial is a correct GEMM: in the contract's own order, or in a drawn one under the same contract without a
// promised order.
func gemmTrial(t testing.TB, rng *rand.Rand, c *numerics.Contract, x, w []float64, m, n, k int) numerics.Trial {
	t.Helper()
	own := c.Acc.Order != numerics.Unknown && rng.IntN(2) == 0
	if !own {
		c.Acc.Order = numerics.Unknown
	}
	all, err := c.Ensemble(x, w, m, n, k, numerics.MinEnsemble+1, rng.Uint64())
	require.NoError(t, err)
	got := all[numerics.MinEnsemble]
	if c.Acc.Block == 0 && len(c.Acc.Splits) == 0 && rng.IntN(2) == 0 {
		cut := *c
		cut.Acc.Splits = []numerics.Split{{Size: k / (2 << rng.IntN(3))}}
		one, err := cut.Ensemble(x, w, m, n, k, 1, rng.Uint64())
		require.NoError(t, err)
		got = one[0]
	}
	if own {
		got, err = c.Gemm(x, w, m, n, k)
		require.NoError(t, err)
	}
	b, err := c.GemmBounds(x, w, m, n, k, 1e-9)
	require.NoError(t, err)
	return numerics.Trial{
		Shape: []int{m, n}, Axes: []string{"row", "col"}, Got: got, Want: b.Want, Bound: b.Det, Martingale: b.Martingale,
		Alpha:    1e-9,
		Ensemble: all[:numerics.MinEnsemble],
	}
}

// draws runs a float32 kernel in 17 drawn orders and makes the trial.
func draws(rng *rand.Rand, shape []int, want []numerics.Tracked, out format.Format,
	f func(order) []float32,
) numerics.Trial {
	tr := numerics.Trial{Shape: shape}
	for _, w := range want {
		tr.Want = append(tr.Want, w.X)
		tr.Bound = append(tr.Bound, w.E+numerics.HalfULP(out, w.X, w.E))
	}
	for i := range numerics.MinEnsemble + 1 {
		o := drawOrder(rng)
		if i < numerics.MinEnsemble {
			o.splits, o.tree = 1, false // one chain, the order with the largest errors: any candidate is foreseen
		}
		y := f(o)
		v := make([]float64, len(y))
		for j, e := range y {
			v[j] = out.RoundTo(float64(e), format.RN, format.Overflow)
		}
		if i == numerics.MinEnsemble {
			tr.Got = v
		} else {
			tr.Ensemble = append(tr.Ensemble, v)
		}
	}
	return tr
}

func outFormat(rng *rand.Rand) format.Format {
	return []format.Format{format.FP32, format.BF16, format.FP16}[rng.IntN(3)]
}

func single(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// rmsNormRun is one row: its errors share the error of one root, which no closed form for independent errors foresees.
func rmsNormRun(_ testing.TB, rng *rand.Rand) (numerics.Trial, numerics.Contract) {
	d := 64 << rng.IntN(5)
	x, w := inputs(rng, 1, d, format.FP32), inputs(rng, 1, d, format.FP32)
	xs, ws := single(x), single(w)
	out := outFormat(rng)
	want := numerics.FP32().RMSNorm(numerics.ExactSlice(x), numerics.ExactSlice(w), 1e-6)
	return draws(rng, []int{d}, want, out, func(o order) []float32 {
		ms := o.dot(xs, xs) / float32(d)
		r := 1 / float32(math.Sqrt(float64(ms+1e-6)))
		y := make([]float32, d)
		for i, v := range xs {
			y[i] = float32(v*r) * ws[i]
		}
		return y
	}), numerics.Contract{Name: "rmsnorm", Acc: numerics.FP32Any(), Out: out}
}

func softmaxRun(_ testing.TB, rng *rand.Rand) (numerics.Trial, numerics.Contract) {
	n := 16 << rng.IntN(6)
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(float32(rng.NormFloat64() * 3))
	}
	out := outFormat(rng)
	return draws(rng, []int{n}, numerics.FP32().Softmax(numerics.ExactSlice(x)), out, func(o order) []float32 {
		return softmax32(o, single(x))
	}), numerics.Contract{Name: "softmax", Acc: numerics.FP32Any(), Out: out}
}

func softmax32(o order, s []float32) []float32 {
	hi := s[0]
	for _, v := range s {
		hi = max(hi, v)
	}
	e := make([]float32, len(s))
	for i, v := range s {
		e[i] = float32(math.Exp(float64(v - hi)))
	}
	sum := o.sum(e)
	for i := range e {
		e[i] /= sum
	}
	return e
}

// attentionRun is a few query rows over one set of keys, weights in fp32.
func attentionRun(_ testing.TB, rng *rand.Rand) (numerics.Trial, numerics.Contract) {
	rows, keys, d := 1<<rng.IntN(3), 16<<rng.IntN(4), 16
	q, k, v := inputs(rng, rows, d, format.BF16), inputs(rng, keys, d, format.BF16), inputs(rng, keys, d, format.BF16)
	for i := range q {
		// scores stay in the range where a softmax has more than one key
		q[i] = math.Copysign(math.Min(math.Abs(q[i]), 2), q[i])
	}
	for i := range k {
		k[i] = math.Copysign(math.Min(math.Abs(k[i]), 2), k[i])
	}
	ar := numerics.FP32()
	values := make([][]numerics.Tracked, keys)
	for j := range values {
		values[j] = numerics.ExactSlice(v[j*d : (j+1)*d])
	}
	var want []numerics.Tracked
	for r := range rows {
		scores := make([]numerics.Tracked, keys)
		for j := range scores {
			s := ar.Dot(numerics.ExactSlice(q[r*d:(r+1)*d]), numerics.ExactSlice(k[j*d:(j+1)*d]))
			scores[j] = ar.Mul(s, numerics.Exact(0.25))
		}
		want = append(want, ar.Attention(numerics.AttentionTerms{Scores: scores, V: values, Splits: 8})...)
	}
	qs, ks, vs := single(q), single(k), single(v)
	return draws(rng, []int{rows, d}, want, format.BF16, func(o order) []float32 {
		var out []float32
		for r := range rows {
			s := make([]float32, keys)
			for j := range s {
				s[j] = o.dot(qs[r*d:(r+1)*d], ks[j*d:(j+1)*d]) * 0.25
			}
			p := softmax32(o, s)
			for c := range d {
				col := make([]float32, keys)
				for j := range col {
					col[j] = vs[j*d+c]
				}
				out = append(out, o.dot(p, col))
			}
		}
		return out
	}), numerics.Contract{Name: "attention", Acc: numerics.FP32Any(), Out: format.BF16}
}

// indexerRun is Σ_h w_h·relu(q_h·k_j): sparse sums of non-negative terms.
func indexerRun(_ testing.TB, rng *rand.Rand) (numerics.Trial, numerics.Contract) {
	const heads, d = 8, 32
	keys := 16 << rng.IntN(4)
	q, k := inputs(rng, heads, d, format.BF16), inputs(rng, keys, d, format.BF16)
	w := inputs(rng, 1, heads, format.FP32)
	ar := numerics.FP32()
	out := outFormat(rng)
	if out == format.FP16 {
		out = format.FP32 // outlier channels leave its range
	}
	want := make([]numerics.Tracked, keys)
	for j := range want {
		terms := make([]numerics.Tracked, heads)
		for h := range terms {
			s := ar.Dot(numerics.ExactSlice(q[h*d:(h+1)*d]), numerics.ExactSlice(k[j*d:(j+1)*d]))
			terms[h] = ar.Mul(ar.Max(s, numerics.Exact(0)), numerics.Exact(w[h]))
		}
		want[j] = ar.Sum(terms)
	}
	qs, ks, ws := single(q), single(k), single(w)
	return draws(rng, []int{keys}, want, out, func(o order) []float32 {
		y := make([]float32, keys)
		for j := range y {
			s := make([]float32, heads)
			for h := range s {
				s[h] = max(o.dot(qs[h*d:(h+1)*d], ks[j*d:(j+1)*d]), 0)
			}
			y[j] = o.dot(s, ws)
		}
		return y
	}), numerics.Contract{Name: "indexer", Acc: numerics.FP32Any(), Out: out}
}
