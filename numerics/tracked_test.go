package numerics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-suite/assay/numerics"
)

// pair is one expression evaluated twice: by Tracked, and in float32 by the machine.
type pair struct {
	t numerics.Tracked
	f float32
}

func (p pair) ratio() float64 {
	if p.t.E == 0 {
		if float64(p.f) == p.t.X {
			return 0
		}
		return math.Inf(1)
	}
	return math.Abs(float64(p.f)-p.t.X) / p.t.E
}

func f32(f func(float64) float64) func(float32) float32 {
	return func(v float32) float32 { return float32(f(float64(v))) }
}

// elementary is every operation of two operands or fewer, with its float32 form.
var elementary = []struct {
	name string
	ok   func(x, y pair) bool // operands for which the operation is defined with a finite bound
	t    func(a numerics.Arith, x, y numerics.Tracked) numerics.Tracked
	f    func(x, y float32) float32
}{
	{"add", nil, numerics.Arith.Add, func(x, y float32) float32 { return x + y }},
	{"sub", nil, numerics.Arith.Sub, func(x, y float32) float32 { return x - y }},
	{"mul", nil, numerics.Arith.Mul, func(x, y float32) float32 { return x * y }},
	{
		"div", func(_, y pair) bool { return math.Abs(y.t.X) > 2*y.t.E && math.Abs(y.t.X) > 1e-3 }, numerics.Arith.Div,
		func(x, y float32) float32 {
			return x / y
		},
	},
	{"max", nil, numerics.Arith.Max, func(x, y float32) float32 { return max(x, y) }},
	{"sqrt", func(x, _ pair) bool { return x.t.X > 2*x.t.E }, unary(numerics.Arith.Sqrt), unary32(f32(math.Sqrt))},
	{
		"rsqrt", func(x, _ pair) bool { return x.t.X > 2*x.t.E && x.t.X > 1e-3 }, unary(numerics.Arith.RSqrt),
		unary32(func(v float32) float32 {
			return 1 / float32(math.Sqrt(float64(v)))
		}),
	},
	{
		"exp", func(x, _ pair) bool { return math.Abs(x.t.X) < 8 && x.t.E < 1 }, unary(numerics.Arith.Exp),
		unary32(f32(math.Exp)),
	},
	{"log", func(x, _ pair) bool { return x.t.X > 2*x.t.E }, unary(numerics.Arith.Log), unary32(f32(math.Log))},
	{"log1p", func(x, _ pair) bool { return x.t.X > 2*x.t.E-0.5 }, unary(numerics.Arith.Log1p), unary32(f32(math.Log1p))},
	{
		"sigmoid", nil, unary(numerics.Arith.Sigmoid), unary32(func(v float32) float32 {
			return 1 / (1 + float32(math.Exp(float64(-v))))
		}),
	},
	{"softplus", nil, unary(numerics.Arith.Softplus), unary32(func(v float32) float32 {
		return max(v, 0) + float32(math.Log1p(float64(float32(math.Exp(-math.Abs(float64(v)))))))
	})},
	{
		"silu", nil, unary(numerics.Arith.SiLU), unary32(func(v float32) float32 {
			return v / (1 + float32(math.Exp(float64(-v))))
		}),
	},
	{"tanh", nil, unary(numerics.Arith.Tanh), unary32(f32(math.Tanh))},
	{"sin", nil, unary(numerics.Arith.Sin), unary32(f32(math.Sin))},
	{"cos", nil, unary(numerics.Arith.Cos), unary32(f32(math.Cos))},
}

func unary(f func(numerics.Arith, numerics.Tracked) numerics.Tracked) func(numerics.Arith, numerics.Tracked,
	numerics.Tracked) numerics.Tracked {
	return func(a numerics.Arith, x, _ numerics.Tracked) numerics.Tracked { return f(a, x) }
}

func unary32(f func(float32) float32) func(float32, float32) float32 {
	return func(x, _ float32) float32 { return f(x) }
}

// shuffledSum adds in a random order and tree: it merges two random partial sums until one is left.
func shuffledSum(rng *rand.Rand, v []float32) float32 {
	v = append([]float32(nil), v...)
	for len(v) > 1 {
		i := rng.IntN(len(v))
		v[i], v[len(v)-1] = v[len(v)-1], v[i]
		j := rng.IntN(len(v) - 1)
		v[j] += v[len(v)-1]
		v = v[:len(v)-1]
	}
	return v[0]
}

// Random expressions over exact float32 leaves MUST stay within E of their float64 value, whatever
// the order of their sums; and E must be of the size of real errors, or it would prove nothing.
func TestTrackedBoundsRandomExpressions(t *testing.T) {
	ar := numerics.FP32()
	rng := rand.New(rand.NewPCG(1, 2))
	worst := map[string]float64{}
	count := map[string]int{}
	for trial := range 400 {
		pool := make([]pair, 0, 40)
		for range 12 {
			v := float32(rng.NormFloat64() * math.Exp2(float64(rng.IntN(7)-3)))
			pool = append(pool, pair{numerics.Exact(float64(v)), v})
		}
		for range 24 {
			x, y := pool[rng.IntN(len(pool))], pool[rng.IntN(len(pool))]
			var name string
			var p pair
			switch pick := rng.IntN(len(elementary) + 3); {
			case pick < len(elementary):
				op := elementary[pick]
				if op.ok != nil && !op.ok(x, y) {
					continue
				}
				name, p = op.name, pair{op.t(ar, x.t, y.t), op.f(x.f, y.f)}
			default:
				name, p = reduce(ar, rng, pool, pick-len(elementary))
			}
			if math.Abs(p.t.X) > 1e6 || math.IsNaN(p.t.X) || p.t.E > 0.1*math.Abs(p.t.X)+0.1 {
				continue // grown beyond interest
			}
			r := p.ratio()
			if !(r <= 1) {
				t.Fatalf("trial %d: %s = %v in float32, exact %v, bound %v: ratio %v must not exceed 1", trial, name, p.f, p.t.X,
					p.t.E, r)
			}
			worst[name] = math.Max(worst[name], r)
			count[name]++
			pool = append(pool, p)
		}
	}
	for name, r := range worst {
		t.Logf("%-9s %5d results, worst |error|/bound %.3f", name, count[name], r)
		if r < 0.05 {
			t.Errorf("%s: worst ratio %.3g over %d results: the bound is vacuous (want above 0.05)", name, r, count[name])
		}
	}
	if want := len(elementary) + 3; len(worst) != want {
		t.Errorf("%d kinds of operation were exercised, want %d", len(worst), want)
	}
}

// reduce draws a sum, a dot product or a softmax over the pool.
func reduce(ar numerics.Arith, rng *rand.Rand, pool []pair, kind int) (string, pair) {
	n := 2 + rng.IntN(12)
	xs, ys := make([]numerics.Tracked, n), make([]numerics.Tracked, n)
	fx, fp := make([]float32, n), make([]float32, n)
	for i := range n {
		x, y := pool[rng.IntN(len(pool))], pool[rng.IntN(len(pool))]
		xs[i], ys[i] = x.t, y.t
		fx[i], fp[i] = x.f, float32(x.f*y.f)
	}
	switch kind {
	case 0:
		return "sum", pair{ar.Sum(xs), shuffledSum(rng, fx)}
	case 1:
		return "dot", pair{ar.Dot(xs, ys), shuffledSum(rng, fp)}
	default:
		hi := fx[0]
		for _, v := range fx {
			hi = max(hi, v)
		}
		e := make([]float32, n)
		for i, v := range fx {
			e[i] = float32(math.Exp(float64(v - hi)))
		}
		i := rng.IntN(n)
		return "softmax", pair{ar.Softmax(xs)[i], e[i] / shuffledSum(rng, e)}
	}
}

// The bound must see an arithmetic coarser than the one it was derived for: the same dot products with
// products rounded to bf16, and a sigmoid through a bf16 exp, are planted faults.
func TestTrackedRejectsCoarserArithmetic(t *testing.T) {
	ar := numerics.FP32()
	rng := rand.New(rand.NewPCG(3, 4))
	var dot, sig int
	const trials = 200
	for range trials {
		n := 64
		xs, ys := make([]numerics.Tracked, n), make([]numerics.Tracked, n)
		var s float32
		for i := range n {
			x, y := float32(rng.NormFloat64()), float32(rng.NormFloat64())
			xs[i], ys[i] = numerics.Exact(float64(x)), numerics.Exact(float64(y))
			s += bf16(float32(x * y))
		}
		if (pair{ar.Dot(xs, ys), s}).ratio() > 1 {
			dot++
		}
		v := float32(rng.NormFloat64())
		if (pair{ar.Sigmoid(numerics.Exact(float64(v))), 1 / (1 + bf16(float32(math.Exp(float64(-v)))))}).ratio() > 1 {
			sig++
		}
	}
	t.Logf("planted bf16: %d of %d dot products and %d of %d sigmoids lie beyond the fp32 bound", dot, trials, sig, trials)
	if dot < trials*9/10 || sig < trials*9/10 {
		t.Errorf("bf16 inside fp32 was seen in %d and %d of %d cases: want at least nine tenths", dot, sig, trials)
	}
}

// bf16 rounds to nearest even by the usual bit trick; the values here are finite and normal.
func bf16(v float32) float32 {
	b := math.Float32bits(v)
	return math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
}

// Special values keep their class instead of turning into a NaN bound.
func TestTrackedSpecialValues(t *testing.T) {
	ar := numerics.FP32()
	masked := numerics.Exact(math.Inf(-1))
	for _, row := range []struct {
		name string
		got  numerics.Tracked
		want numerics.Tracked
	}{
		{"masked score plus finite stays -Inf", ar.Add(masked, numerics.Exact(1)), masked},
		{
			"softmax weight of a masked score is exactly 0", ar.Softmax([]numerics.Tracked{masked, numerics.Exact(3)})[0],
			numerics.Exact(0),
		},
		{
			"division by an interval around 0 has no bound", ar.Div(numerics.Exact(1), numerics.Tracked{X: 1e-9, E: 1e-8}),
			numerics.Tracked{X: 1e9, E: math.Inf(1)},
		},
		{
			"log of an interval that reaches 0 has no bound", ar.Log(numerics.Tracked{X: 1, E: 2}),
			numerics.Tracked{X: 0, E: math.Inf(1)},
		},
	} {
		if math.Abs(row.got.X-row.want.X) > 1e-6*math.Abs(row.want.X) || row.got.E != row.want.E {
			t.Errorf("%s: got %v, want %v", row.name, row.got, row.want)
		}
	}
	if g := numerics.Gamma(1<<24, numerics.UFP32); !math.IsInf(g, 1) {
		t.Errorf("γ_n at n·u = 1 is %v: no statement is possible there, want +Inf", g)
	}
}
