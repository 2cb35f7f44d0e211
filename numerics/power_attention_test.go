package numerics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// rows of attention: 64 queries over 4096 keys of 64 dimensions, all bf16, fp32 arithmetic, bf16 out: 4096 outputs.
const (
	attQueries, attKeys, attDim = 64, 4096, 64
	attPage                     = 16
)

// attKernel is a kernel in float32 with the habits that mutants change.
type attKernel struct {
	q, k, v []float32 // [queries, d], [keys+1, d]: the last key is not to be read
	splits  int
	seed    uint64

	keys    int  // keys that are read
	skip    int  // first key of a page that is skipped; -1 none
	stale   int  // first key of a page that is read from stale; -1 none
	mixBase bool // the splits' log-sum-exp is base 2, merged as base e
	bf16Acc bool // P·V accumulates in bf16
	lowP    bool // scores and weights are stored in bf16, as a framework's unfused attention does
}

func round16(x float32) float32 {
	return format.DecodeBF16(format.EncodeBF16(x))
}

// run returns the outputs in fp32 before they are stored.
func (a attKernel) run() []float32 {
	out := make([]float32, attQueries*attDim)
	keys := make([]int, 0, a.keys)
	for j := range a.keys {
		if a.skip >= 0 && j >= a.skip && j < a.skip+attPage {
			continue
		}
		keys = append(keys, j)
	}
	if a.seed > 0 {
		rand.New(rand.NewPCG(a.seed, 7)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	}
	s := make([]float32, a.keys)
	size := (len(keys) + a.splits - 1) / a.splits
	for r := range attQueries {
		q := a.q[r*attDim : (r+1)*attDim]
		for _, j := range keys {
			s[j] = dot32(q, a.key(a.k, j)) * 0.125
			if a.lowP {
				s[j] = round16(s[j])
			}
		}
		var total []float32
		var lse float32
		for lo := 0; lo < len(keys); lo += size {
			o, l := a.part(s, keys[lo:min(lo+size, len(keys))])
			if total == nil {
				total, lse = o, l
				continue
			}
			hi := max(lse, l)
			wa, wb := exp32(lse-hi), exp32(l-hi)
			for c := range total {
				total[c] = (float32(total[c]*wa) + float32(o[c]*wb)) / (wa + wb)
			}
			lse = hi + float32(math.Log(float64(wa+wb)))
		}
		copy(out[r*attDim:], total)
	}
	return out
}

// key is row j of keys or values; a stale page shows the page before it.
func (a attKernel) key(v []float32, j int) []float32 {
	if a.stale >= 0 && j >= a.stale && j < a.stale+attPage {
		j -= attPage
	}
	return v[j*attDim : (j+1)*attDim]
}

// part is softmax attention over some keys, and its log-sum-exp.
func (a attKernel) part(s []float32, keys []int) ([]float32, float32) {
	hi := s[keys[0]]
	for _, j := range keys {
		hi = max(hi, s[j])
	}
	o := make([]float32, attDim)
	var sum float32
	for _, j := range keys {
		p := exp32(s[j] - hi)
		sum += p
		if a.lowP {
			p = round16(p)
		}
		v := a.key(a.v, j)
		if a.bf16Acc {
			for c := range o {
				o[c] = round16(o[c] + round16(p*v[c]))
			}
			continue
		}
		for c := range o {
			o[c] += float32(p * v[c])
		}
	}
	for c := range o {
		o[c] /= sum
	}
	lse := hi + float32(math.Log(float64(sum)))
	if a.mixBase {
		lse *= math.Log2E
	}
	return o, lse
}

func exp32(x float32) float32 { return float32(math.Exp(float64(x))) }

func dot32(x, y []float32) float32 {
	var s float32
	for i, v := range x {
		s += float32(v * y[i])
	}
	return s
}

func stored16(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(round16(x))
	}
	return out
}

// attentionMutants are the 11 mutants of docs/sources.md ("Evidence for the gates"), on Gaussian data or with one key
// that the queries find.
func attentionMutants(needle bool) func(testing.TB, *rand.Rand) specimen {
	return func(_ testing.TB, rng *rand.Rand) specimen {
		draw := func(n int) []float32 {
			v := make([]float32, n)
			for i := range v {
				v[i] = round16(float32(rng.NormFloat64()))
			}
			return v
		}
		q, k, v := draw(attQueries*attDim), draw((attKeys+1)*attDim), draw((attKeys+1)*attDim)
		if needle {
			at := rng.IntN(attKeys)
			for c := range attDim {
				for r := range attQueries {
					q[r*attDim+c] = round16(0.5*q[r*attDim+c] + 1)
				}
				k[at*attDim+c] = 1
			}
		}
		good := attKernel{q: q, k: k, v: v, splits: 1, keys: attKeys, skip: -1, stale: -1}
		want, bound := attentionBound(q, k, v)
		s := specimen{
			contract: numerics.Contract{Name: "attention, fp32 softmax, bf16 out", Acc: numerics.FP32Any(), Out: format.BF16},
			trial:    numerics.Trial{Shape: []int{attQueries, attDim}, Axes: []string{"query", "col"}, Want: want, Bound: bound},
		}
		for i := range numerics.MinEnsemble + 1 {
			m := good
			m.seed = rng.Uint64() | 1
			if i == numerics.MinEnsemble {
				m.splits = 1 + rng.IntN(8)
			}
			y := stored16(m.run())
			if i == numerics.MinEnsemble {
				s.trial.Got = y
			} else {
				s.trial.Ensemble = append(s.trial.Ensemble, y)
			}
		}
		low := good
		low.lowP = true
		s.low = stored16(low.run())
		base := good.run()
		scaledBy := func(f float32) []float64 {
			y := make([]float32, len(base))
			for i, x := range base {
				y[i] = x * f
			}
			return stored16(y)
		}
		mutant := func(name string, f func(*attKernel)) {
			m := good
			f(&m)
			got := stored16(m.run())
			m.k, m.v = append([]float32{}, k...), append([]float32{}, v...)
			for c := range attDim { // what lies behind the last key is not to be read
				m.k[attKeys*attDim+c], m.v[attKeys*attDim+c] = float32(math.NaN()), float32(math.NaN())
			}
			poisoned := got
			if m.keys > attKeys {
				poisoned = stored16(m.run())
			}
			s.faults = append(s.faults, faulty{name, got, poisoned})
		}
		page := attPage * (1 + rng.IntN(attKeys/attPage-1))
		s.faults = append(s.faults, faulty{name: "output x1.03", got: scaledBy(1.03)}, faulty{
			name: "output x sqrt 2",
			got:  scaledBy(math.Sqrt2),
		}, faulty{name: "zeros", got: make([]float64, len(base))})
		mutant("last key dropped", func(a *attKernel) { a.keys-- })
		mutant("one key too many", func(a *attKernel) { a.keys++ })
		mutant("a 16-key page dropped", func(a *attKernel) { a.skip = page })
		mutant("a stale page", func(a *attKernel) { a.stale = page })
		mutant("base-2 LSE merged as base e", func(a *attKernel) { a.splits, a.mixBase = 3, true })
		row := append([]float64{}, s.trial.Got...)
		clear(row[5*attDim : 6*attDim])
		s.faults = append(s.faults, faulty{name: "one zero row", got: row})
		mutant("bf16 accumulator", func(a *attKernel) { a.bf16Acc = true })
		nan := append([]float64{}, s.trial.Got...)
		nan[77] = math.NaN()
		s.faults = append(s.faults, faulty{name: "one NaN", got: nan})
		return s
	}
}

// attentionBound is the exact result and its bound.
func attentionBound(q, k, v []float32) (want, bound []float64) {
	ar := numerics.FP32()
	values := make([][]numerics.Tracked, attKeys)
	keys := make([][]numerics.Tracked, attKeys)
	exact := func(v []float32) []numerics.Tracked {
		out := make([]numerics.Tracked, len(v))
		for i, x := range v {
			out[i].X = float64(x)
		}
		return out
	}
	for j := range attKeys {
		values[j], keys[j] = exact(v[j*attDim:(j+1)*attDim]), exact(k[j*attDim:(j+1)*attDim])
	}
	for r := range attQueries {
		scores := make([]numerics.Tracked, attKeys)
		qr := exact(q[r*attDim : (r+1)*attDim])
		for j := range scores {
			scores[j] = ar.Scale(ar.Dot(qr, keys[j]), 0.125)
		}
		for _, y := range ar.Attention(numerics.AttentionTerms{Scores: scores, V: values, Splits: 8}) {
			want = append(want, y.X)
			bound = append(bound, y.E+numerics.HalfULP(format.BF16, y.X, y.E))
		}
	}
	return want, bound
}
