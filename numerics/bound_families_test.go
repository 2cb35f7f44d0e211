package numerics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-suite/assay/numerics"
)

// family collects |float32 − exact|/bound of one operator and of its planted fault.
type family struct {
	t                  *testing.T
	name               string
	worst              float64
	n, caught, planted int
}

func (f *family) check(got float32, want numerics.Tracked) {
	r := pair{want, got}.ratio()
	f.worst = math.Max(f.worst, r)
	f.n++
}

// fault counts a faulty output as caught if any of its elements lies beyond the bound.
func (f *family) fault(got []float32, want []numerics.Tracked) {
	f.planted++
	for i, w := range want {
		if (pair{w, got[i]}).ratio() > 1 {
			f.caught++
			return
		}
	}
}

// done reports: correct float32 inside the bound, bound not vacuous, share of planted faults beyond it.
func (f *family) done(fault string, minShare float64) {
	f.t.Helper()
	share := float64(f.caught) / float64(max(f.planted, 1))
	f.t.Logf("%s: %d values, worst |error|/bound %.3f; planted %q beyond the bound in %.0f %%", f.name, f.n, f.worst,
		fault, 100*share)
	if !(f.worst <= 1) {
		f.t.Errorf("%s: float32 leaves its bound, ratio %v", f.name, f.worst)
	}
	if f.worst < 0.05 {
		f.t.Errorf("%s: worst ratio %.3g: the bound is vacuous (want above 0.05)", f.name, f.worst)
	}
	if share < minShare {
		f.t.Errorf("%s: %q lies beyond the bound in %.2f of cases, want %.2f", f.name, fault, share, minShare)
	}
}

func sinkhorn32(b []float32, n, iters int, eps float32) []float32 {
	m := make([]float32, n*n)
	for r := range n {
		row := b[r*n : (r+1)*n]
		hi, sum := row[0], float32(0)
		for _, v := range row {
			hi = max(hi, v)
		}
		for k, v := range row {
			m[r*n+k] = float32(math.Exp(float64(v - hi)))
			sum += m[r*n+k]
		}
		for k := range row {
			m[r*n+k] = m[r*n+k]/sum + eps
		}
	}
	for t := range 2*iters - 1 {
		for i := range n {
			sum := eps
			at := func(l int) *float32 {
				if t%2 == 0 {
					return &m[l*n+i]
				}
				return &m[i*n+l]
			}
			for l := range n {
				sum += *at(l)
			}
			for l := range n {
				*at(l) /= sum
			}
		}
	}
	return m
}

func TestSinkhornBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	f, sums := family{t: t, name: "sinkhorn"}, family{t: t, name: "sinkhorn column sums"}
	ar := numerics.FP32()
	for range 300 {
		b, tr := make([]float32, 16), make([]numerics.Tracked, 16)
		spread := math.Exp2(float64(rng.IntN(4)) - 1)
		for i := range b {
			x := rng.NormFloat64() * spread
			b[i] = float32(x)
			tr[i] = numerics.Tracked{X: x, E: math.Abs(float64(b[i]) - x)} // logits with an error of their own
		}
		want := ar.Sinkhorn(tr, 4, 20, 1e-6)
		got := sinkhorn32(b, 4, 20, 1e-6)
		noEps := sinkhorn32(b, 4, 20, 0)
		for i := range want {
			f.check(got[i], want[i])
		}
		if spread == 4 { // gentler logits have converged long before the last iteration
			f.fault(sinkhorn32(b, 4, 19, 1e-6), want)
		}
		ok, bad := columnSums(got, noEps, want)
		sums.check(float32(ok.f), ok.t)
		sums.fault([]float32{bad.f}, []numerics.Tracked{bad.t})
	}
	f.done("one iteration short", 0.8)
	sums.done("eps missing", 1)
	// The value published in docs/sources.md, computed there from the definition.
	want := []float64{
		0.5855009, 0.1326137, 0.2277417, 0.0541448, 0.1152778, 0.5244266, 0.3313187, 0.0289781, 0.2396503, 0.2432637,
		0.4177646, 0.0993221, 0.0595700, 0.0996950, 0.0231740, 0.8175539,
	}
	got := ar.Sinkhorn(numerics.ExactSlice([]float64{2, 0, 0, 0, 0, 1, 0, -1, .5, 0, 0, 0, 0, 0, -2, 3}), 4, 20, 1e-6)
	for i := range want {
		if d := math.Abs(got[i].X - want[i]); d > 0.5000001e-7 { // half a unit of the printed digits
			t.Errorf("entry %d of the closed case: got %.9f, want %.7f", i, got[i].X, want[i])
		}
	}
}

// columnSums is the first column's sum of a correct and of a faulty result, less the exact one so that float32 holds
// it, against the bound.
func columnSums(good, bad []float32, want []numerics.Tracked) (pair, pair) {
	var g, b, w float64
	for i := 0; i < len(want); i += 4 {
		g += float64(good[i])
		b += float64(bad[i])
		w += want[i].X
	}
	bound := numerics.Tracked{E: numerics.FP32().SinkhornSumBound(4)}
	return pair{bound, float32(g - w)}, pair{bound, float32(b - w)}
}

func TestAttentionBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	f := family{t: t, name: "attention"}
	ar := numerics.FP32()
	for range 60 {
		n, d := 4+rng.IntN(60), 16
		q, scale := vec(rng, d), float32(0.25*math.Exp2(float64(rng.IntN(4))))
		keys := make([][]float32, n)
		terms := numerics.AttentionTerms{}
		s := make([]float32, n)
		for j := range keys {
			keys[j] = vec(rng, d)
			dot := ar.Dot(tracked(q), tracked(keys[j]))
			terms.Scores = append(terms.Scores, ar.Mul(dot, numerics.Exact(float64(scale))))
			terms.V = append(terms.V, tracked(keys[j]))
			p := make([]float32, d)
			for c := range p {
				p[c] = float32(q[c] * keys[j][c])
			}
			s[j] = shuffledSum(rng, p) * scale
		}
		sink := float32(rng.NormFloat64()) // beside the largest score, so that it has mass
		for _, x := range s {
			sink = max(sink, x-1)
		}
		terms.Sinks = numerics.ExactSlice([]float64{float64(sink)})
		want := ar.Attention(terms)
		got, noSink := attention32(rng, s, keys, sink), attention32(rng, s, keys, float32(math.Inf(-1)))
		for c := range want {
			f.check(got[c], want[c])
		}
		f.fault(noSink, want)
	}
	f.done("sink missing", 0.9)
}

func attention32(rng *rand.Rand, s []float32, v [][]float32, sink float32) []float32 {
	hi := sink
	for _, x := range s {
		hi = max(hi, x)
	}
	e := make([]float32, len(s)+1)
	for j, x := range s {
		e[j] = float32(math.Exp(float64(x - hi)))
	}
	e[len(s)] = float32(math.Exp(float64(sink - hi)))
	sum := shuffledSum(rng, e)
	out := make([]float32, len(v[0]))
	for c := range out {
		p := make([]float32, len(s))
		for j := range s {
			p[j] = float32(e[j] / sum * v[j][c])
		}
		out[c] = shuffledSum(rng, p)
	}
	return out
}

func TestRMSNormBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	f := family{t: t, name: "rmsnorm"}
	ar := numerics.FP32()
	for range 100 {
		d := 8 << rng.IntN(4)
		x, w := vec(rng, d), vec(rng, d)
		for i := range x {
			x[i] *= 0.02 // mean square 4e-4: an eps of 1e-6 moves the result by 1e-3
		}
		want := ar.RMSNorm(tracked(x), tracked(w), 1e-6)
		sq := make([]float32, d)
		for i, v := range x {
			sq[i] = float32(v * v)
		}
		ms := shuffledSum(rng, sq) / float32(d)
		r := 1 / float32(math.Sqrt(float64(ms+1e-6)))
		bad := 1 / float32(math.Sqrt(float64(ms)))
		fault := make([]float32, d)
		for i := range want {
			f.check(float32(x[i]*r)*w[i], want[i])
			fault[i] = float32(x[i]*bad) * w[i]
		}
		f.fault(fault, want)
	}
	f.done("eps missing", 0.99)
}

func TestRopeBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	f := family{t: t, name: "rope"}
	ar := numerics.FP32()
	for range 400 {
		p, i := rng.IntN(4096), rng.IntN(8)
		base := []float64{10000, 160000}[rng.IntN(2)]
		x := vec(rng, 2)
		inverse := rng.IntN(2) == 1
		w1, w2 := ar.Rotate(numerics.Exact(float64(x[0])), numerics.Exact(float64(x[1])), ar.RopeAngle(p, base, i, 16), 0,
			inverse)
		rotate := func(p int) (float32, float32) {
			inv := 1 / float32(math.Pow(base, float64(float32(2*i)/16)))
			theta := float64(float32(p) * inv)
			c, s := float32(math.Cos(theta)), float32(math.Sin(theta))
			if inverse {
				s = -s
			}
			return float32(x[0]*c) - float32(x[1]*s), float32(x[0]*s) + float32(x[1]*c)
		}
		y1, y2 := rotate(p)
		f.check(y1, w1)
		f.check(y2, w2)
		z1, z2 := rotate(p + 1)
		f.fault([]float32{z1, z2}, []numerics.Tracked{w1, w2})
	}
	f.done("position one late", 0.95)
}

func vec(rng *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func tracked(v []float32) []numerics.Tracked {
	out := make([]numerics.Tracked, len(v))
	for i, x := range v {
		out[i] = numerics.Exact(float64(x))
	}
	return out
}
