package layers_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/layers"
)

// The toy's exact step keeps a fixed state and scales what deviates from it by a gain, so that every measure has a
// closed form. A candidate adds an error of size toyError to each row in every layer.
const (
	toyRows, toyWidth, toyDepth = 6, 512, 40
	toyError                    = 1e-4
)

func toyStart() []float64 {
	rng := rand.New(rand.NewPCG(3, 0))
	x := make([]float64, toyRows*toyWidth)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func toyStep(start []float64, gain float64) layers.Layer {
	return func(_ int, x []float64) ([]float64, error) {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = start[i] + gain*(v-start[i])
		}
		return out, nil
	}
}

// noisy adds a fresh direction in each layer.
func noisy(step layers.Layer, seed uint64) layers.Layer {
	return func(l int, x []float64) ([]float64, error) {
		out, err := step(l, x)
		return layers.Perturb(out, toyRows, toyError, seed<<16+uint64(l)), err
	}
}

// biased adds the same relative error, as truncation towards zero does.
func biased(step layers.Layer) layers.Layer {
	return func(l int, x []float64) ([]float64, error) {
		out, err := step(l, x)
		for i := range out {
			out[i] *= 1 - toyError
		}
		return out, err
	}
}

func measureToy(t testing.TB, gain float64, candidates ...func(layers.Layer) layers.Layer) []layers.Result {
	t.Helper()
	start := toyStart()
	step := toyStep(start, gain)
	var c []layers.Layer
	for _, f := range candidates {
		c = append(c, f(step))
	}
	r, err := layers.Plan{Depth: toyDepth, Rows: toyRows, Start: start, Seed: 5}.Measure(step, c...)
	require.NoError(t, err)
	return r
}

func seeded(seed uint64) func(layers.Layer) layers.Layer {
	return func(step layers.Layer) layers.Layer { return noisy(step, seed) }
}

// Independent errors under gain 1 are a random walk, a bias adds up in proportion to depth, and a stack that halves
// what deviates settles at error·sqrt(1/(1-¼)).
func TestClosedForms(t *testing.T) {
	still := measureToy(t, 1, seeded(1), biased)
	halving := measureToy(t, 0.5, seeded(1))
	// Directions are drawn in 512 dimensions: two of them have a cosine of 1/sqrt(512), so a row's sum of l squares is off
	// by sqrt(2)/sqrt(512) = 6 % in variance, 3 % in size, whatever l; a mean over 6 rows by 1.3 %, three times that is 4
	// %.
	const sampling = 0.04
	// (1-e)^l against 1-l·e over 40 layers of e = 1e-4: 40·e/2 = 0.2 %.
	const curvature = 0.002
	for name, row := range map[string]struct{ got, want, within float64 }{
		"random walk: slope":       {slope(t, still[0]), 0.5, sampling},
		"random walk: error at 40": {still[0].Free.RMS()[39] / toyError, math.Sqrt(40), sampling * math.Sqrt(40)},
		"random walk: coherence":   {still[0].Coherence(), 1, sampling},
		"bias: slope":              {slope(t, still[1]), 1, curvature},
		"bias: error at 40":        {still[1].Free.RMS()[39] / toyError, 40, 40 * curvature},
		"bias: coherence":          {still[1].Coherence(), math.Sqrt(40), math.Sqrt(40) * curvature},
		"still: gain":              {still[0].MeanGain(), 1, 1e-9},
		// the probe is 2^-20 of the state, which rounds at 2^-53
		"halving: gain":              {halving[0].MeanGain(), 0.5, 1e-9},
		"halving: error settles":     {halving[0].Free.RMS()[39] / toyError, math.Sqrt(4.0 / 3), 2 * sampling},
		"halving: coherence":         {halving[0].Coherence(), 1, sampling},
		"local error of random walk": {still[0].Local.RMS()[20] / toyError, 1, 1e-9},
	} {
		if !(math.Abs(row.got-row.want) <= row.within) {
			t.Errorf("%s is %v, want %v within %v", name, row.got, row.want, row.within)
		}
	}
}

// The three shapes in closed form. The state is a sum of independent sublayer outputs, so that its size grows as
// depth^½. Rounding the state errs independently in proportion to it: sqrt(Σ_j j)/sqrt(l) = depth^½. Truncating it
// errs along it: Σ_j x_j has the size sqrt(Σ_i (l-i+1)²), against sqrt(l) a slope of 1. An inaccurate accumulator
// errs in each output: sqrt(l)/sqrt(l), flat.
func TestThreeShapes(t *testing.T) {
	start := toyStart()
	output := func(l int) []float64 { // as long as a row of the start, in a fresh direction
		out := layers.Perturb(start, toyRows, 1, 1<<40+uint64(l))
		for i, v := range start {
			out[i] -= v
		}
		return out
	}
	add := func(x, f []float64) []float64 {
		out := append([]float64(nil), x...)
		for i, v := range f {
			out[i] += v
		}
		return out
	}
	exact := func(l int, x []float64) ([]float64, error) { return add(x, output(l)), nil }
	accumulator := func(l int, x []float64) ([]float64, error) {
		return add(x, layers.Perturb(output(l), toyRows, toyError, 1<<41+uint64(l))), nil
	}
	tiny := append([]float64(nil), start...)
	for i := range tiny {
		tiny[i] *= 1e-3 // the state is its outputs
	}
	reports, err := layers.Plan{Depth: toyDepth, Rows: toyRows, Start: tiny}.Measure(exact, noisy(exact, 9), biased(exact),
		accumulator)
	require.NoError(t, err)
	// Slopes of the closed forms themselves over depths 1 to 40, where sums are not yet integrals.
	var depth, rounding, truncation []float64
	squares := 0.0
	for l := 1; l <= toyDepth; l++ {
		squares += float64(l * l)
		depth = append(depth, float64(l))
		rounding = append(rounding, math.Sqrt(float64(l+1)/2))
		truncation = append(truncation, math.Sqrt(squares/float64(l)))
	}
	for i, want := range []float64{fitted(t, depth, rounding), fitted(t, depth, truncation), 0} {
		// Sizes are off by sampling as in TestClosedForms, twice: that of the error and that of the state.
		if got := slope(t, reports[i]); math.Abs(got-want) > 0.08 {
			t.Errorf("%s grows with slope %.3f, closed form %.3f", []string{"rounding", "truncation", "accumulator"}[i], got,
				want)
		}
	}
}

func fitted(t testing.TB, depth, value []float64) float64 {
	t.Helper()
	law, err := layers.Fit(depth, value, 0.95)
	require.NoError(t, err)
	return law.Slope
}

func slope(t testing.TB, r layers.Result) float64 {
	t.Helper()
	law, err := r.Free.Law(0.95)
	require.NoError(t, err)
	return law.Slope
}

// A reference of 16 reorderings MUST accept further ones, and MUST reject a bias of the same local size, which only its
// growth gives away.
func TestGateSeesCompoundingAlone(t *testing.T) {
	var members []func(layers.Layer) layers.Layer
	for seed := range layers.MinMembers {
		members = append(members, seeded(uint64(seed)))
	}
	for seed := range 40 {
		members = append(members, seeded(uint64(1000+seed)))
	}
	reports := measureToy(t, 1, append(members, biased)...)
	ref, err := layers.Calibrate(reports[:layers.MinMembers])
	require.NoError(t, err)
	for i, r := range reports[layers.MinMembers : len(reports)-1] {
		findings, err := ref.Check(r, gateRisk)
		require.NoError(t, err)
		if len(findings) > 0 {
			t.Errorf("sound candidate %d is rejected: %v", i, findings)
		}
	}
	findings, err := ref.Check(reports[len(reports)-1], gateRisk)
	require.NoError(t, err)
	what := map[string]int{}
	for _, f := range findings {
		what[f.What]++
	}
	if what["local"] > 0 || what["free"] == 0 || what["slope"] != 1 {
		t.Errorf("a bias of the same local size gives findings %v; want none that is local, some free-running, and the slope",
			what)
	}
	t.Logf("%v; last: %v", what, findings[len(findings)-1])
}

func TestMeasureRefusesBadInput(t *testing.T) {
	step := toyStep(toyStart(), 1)
	good := layers.Plan{Depth: 2, Rows: toyRows, Start: toyStart()}
	short := good
	short.Rows = 7
	_, err := short.Measure(step, step)
	assert.ErrorContains(t, err, "in 7 rows")
	_, err = good.Measure(step)
	assert.ErrorContains(t, err, "at least one candidate")
	_, err = good.Measure(step, func(_ int, x []float64) ([]float64, error) { return x[:5], nil })
	assert.ErrorContains(t, err, "5 and")
	_, err = good.Measure(func(_ int, x []float64) ([]float64, error) { return make([]float64, len(x)), nil }, step)
	assert.ErrorContains(t, err, "a gain needs one that lives")
	_, err = layers.Calibrate(nil)
	assert.ErrorContains(t, err, "at least 16")
	_, err = layers.Reference{}.Check(layers.Result{}, 0.1)
	assert.ErrorContains(t, err, "compare equal stacks")
	_, err = layers.CurveOf([][]float64{{1, 2}}, [][]float64{{1}}, 1)
	assert.ErrorContains(t, err, "depth 1")

	nan := func(_ int, x []float64) ([]float64, error) {
		out := append([]float64(nil), x...)
		out[0] = math.NaN()
		return out, nil
	}
	reports, err := good.Measure(step, nan)
	require.NoError(t, err)
	_, err = reports[0].Free.Law(0.95)
	assert.ErrorContains(t, err, "NaN")
	ref := layers.Reference{Members: 16, Local: make([]layers.Band, 2), Free: make([]layers.Band, 2)}
	findings, err := ref.Check(reports[0], 0.1)
	require.NoError(t, err)
	assert.Len(t, findings, 4, "a NaN is a finding everywhere: %v", findings)
}
