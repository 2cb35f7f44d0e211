package numerics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// specimen is one draw of data with a correct trial, a peer's low-precision reference, and faulty results on the same
// data.
type specimen struct {
	trial    numerics.Trial // Got is the correct result
	contract numerics.Contract
	low      []float64 // what FlashAttention's rule compares with: the reference in the kernel's own precision
	faults   []faulty
}

type faulty struct {
	name     string
	got      []float64
	poisoned []float64
}

// bench is a family of specimens.
type bench struct {
	name  string
	slice int // trials in the default run
	full  int // and in the full one
	draw  func(t testing.TB, rng *rand.Rand) specimen
}

func benches() []bench {
	b := []bench{
		{"gemm bf16 out, 64x64, K=512, Gaussian", 2, 100, outputFaults},
		{"gemm bf16 out, 4096x8, K=64, Gaussian", 2, 100, wrongRow},
	}
	for _, coherent := range []bool{false, true} {
		data := map[bool]string{false: "Gaussian", true: "coherent"}[coherent]
		b = append(b,
			bench{"fp8 promoted every 128, 64x64, K=2048, " + data, 1, 100, promoted(coherent)},
			bench{"fp32 accumulate of e4m3, bf16 out, 64x64, K=4096, " + data, 0, 100, accumulators(4096, 64, coherent)},
			bench{"fp32 accumulate of e4m3, bf16 out, 64x64, K=16384, " + data, 0, 20, accumulators(16384, 64, coherent)})
	}
	return append(b,
		bench{"fp32 accumulate of e4m3, bf16 out, 128x128, K=16384, coherent", 0, 100, truncatedTensorCore},
		bench{"attention, 64 queries, L=4096, d=64, Gaussian", 1, 100, attentionMutants(false)},
		bench{"attention, 64 queries, L=4096, d=64, needle", 0, 100, attentionMutants(true)})
}

// gemmSpecimen draws data and a correct GEMM under c.
func gemmSpecimen(t testing.TB, rng *rand.Rand, c numerics.Contract, m, n, k int, coherent bool) (s specimen, x,
	w []float64,
) {
	t.Helper()
	in := stored(c)
	x, w = gaussian(rng, m*k, coherent), gaussian(rng, n*k, coherent)
	for i := range x {
		x[i] = in.RoundTo(x[i], format.RN, format.Saturate)
	}
	for i := range w {
		w[i] = in.RoundTo(w[i], format.RN, format.Saturate)
	}
	all, err := c.Ensemble(x, w, m, n, k, numerics.MinEnsemble+2, rng.Uint64())
	require.NoError(t, err)
	b, err := c.GemmBounds(x, w, m, n, k, 1e-9)
	require.NoError(t, err)
	return specimen{contract: c, low: all[numerics.MinEnsemble+1], trial: numerics.Trial{
		Shape: []int{m, n}, Axes: []string{"row", "col"}, Got: all[numerics.MinEnsemble], Want: b.Want, Bound: b.Det,
		Martingale: b.Martingale, Alpha: 1e-9,
		Ensemble: all[:numerics.MinEnsemble],
	}}, x, w
}

// bf16Out is bf16 in, fp32 accumulation in any order, bf16 out.
func bf16Out(in format.Format) numerics.Contract {
	c := kernel(in, format.RN, format.BF16, numerics.FP32Any())
	c.Name = in.Name + " in, fp32 accumulate, bf16 out"
	return c
}

// outputFaults are small systematic faults of the output: they act on the fp32 sum before it is rounded to bf16.
func outputFaults(t testing.TB, rng *rand.Rand) specimen {
	t.Helper()
	const m, n, k = 64, 64, 512
	c := bf16Out(format.BF16)
	s, x, w := gemmSpecimen(t, rng, c, m, n, k, false)
	wide := c
	wide.Out = format.FP32
	sums, err := wide.Ensemble(x, w, m, n, k, 1, rng.Uint64())
	require.NoError(t, err)
	twist := func(name string, f func(v float64) float64, mode format.Rounding) {
		s.faults = append(s.faults, faulty{
			name: name,
			got:  mapped(sums[0], func(v float64) float64 { return format.BF16.RoundTo(f(v), mode, format.Overflow) }),
		})
	}
	same := func(v float64) float64 { return v }
	twist("scale of 1.001", func(v float64) float64 { return v * 1.001 }, format.RN)
	twist("scale of 0.999", func(v float64) float64 { return v * 0.999 }, format.RN)
	twist("bias of 0.1 ulp", func(v float64) float64 { return v + 0.1*format.BF16.Ulp(v) }, format.RN)
	twist("bias of 0.1 ulp towards zero", func(v float64) float64 { return v - math.Copysign(0.1*format.BF16.Ulp(v), v) },
		format.RN)
	twist("output truncated", same, format.RZ)
	return s
}

// wrongRow is one row of 4,096 that holds its neighbour's result.
func wrongRow(t testing.TB, rng *rand.Rand) specimen {
	t.Helper()
	const m, n, k = 4096, 8, 64
	s, _, _ := gemmSpecimen(t, rng, bf16Out(format.BF16), m, n, k, false)
	got := append([]float64{}, s.trial.Got...)
	row := 1 + rng.IntN(m-1)
	copy(got[row*n:(row+1)*n], s.trial.Got[(row-1)*n:row*n])
	s.faults = []faulty{{name: "1 wrong row in 4,096", got: got}}
	return s
}

func promoted(coherent bool) func(testing.TB, *rand.Rand) specimen {
	return func(t testing.TB, rng *rand.Rand) specimen {
		t.Helper()
		const m, n, k = 64, 64, 2048
		c := numerics.FP8Hopper("fp8-accurate", 128)
		c.Acc.Order = numerics.Unknown
		s, x, w := gemmSpecimen(t, rng, c, m, n, k, coherent)
		late := c
		late.Acc.Promote = 256
		s.faults = []faulty{{name: "promotion every 256", got: under(t, late, x, w, m, n, k)}}
		return s
	}
}

// accumulators is the table of docs/sources.md ("Evidence for the gates"): kernels that are not fp32 accumulation, sold
// as it.
func accumulators(k, n int, coherent bool) func(testing.TB, *rand.Rand) specimen {
	return func(t testing.TB, rng *rand.Rand) specimen {
		t.Helper()
		c := bf16Out(format.E4M3FN)
		s, x, w := gemmSpecimen(t, rng, c, n, n, k, coherent)
		for _, row := range []struct {
			name string
			acc  numerics.Accumulator
		}{
			{"25-bit truncation, b=16", numerics.HopperBF16()},
			{"13-bit truncation, b=32", numerics.HopperFP8(0)},
			{"13-bit with promotion every 128", numerics.HopperFP8(128)},
			{"bf16 accumulator", numerics.BF16Chain()},
		} {
			bad := c
			bad.Acc = row.acc
			s.faults = append(s.faults, faulty{name: row.name, got: under(t, bad, x, w, n, n, k)})
		}
		return s
	}
}

// truncatedTensorCore is the least of the accumulator faults: 25 bits cut in blocks of 16, as tensor cores have them,
// sold as fp32 rounding to nearest. Coherent sums of 16,384 products come out 2e-5 too small, 1/450 ulp of bf16: only
// the count of outputs that land on the other side of a tie can see it, and 4,096 outputs hold too few of them for a
// risk of 1e-6.
func truncatedTensorCore(t testing.TB, rng *rand.Rand) specimen {
	t.Helper()
	const m, n, k = 128, 128, 16384
	c := bf16Out(format.E4M3FN)
	e4m3 := func(v float64) float64 { return format.E4M3FN.RoundTo(v, format.RN, format.Saturate) }
	x, w := mapped(gaussian(rng, m*k, true), e4m3), mapped(gaussian(rng, n*k, true), e4m3)
	all, err := c.Ensemble(x, w, m, n, k, numerics.MinEnsemble+2, rng.Uint64())
	require.NoError(t, err)
	s := specimen{contract: c, low: all[numerics.MinEnsemble+1], trial: numerics.Trial{
		Shape: []int{m, n}, Axes: []string{"row", "col"}, Got: all[numerics.MinEnsemble],
		Ensemble: all[:numerics.MinEnsemble],
		Want:     make([]float64, m*n), Bound: make([]float64, m*n),
	}}
	for i := range s.trial.Want {
		xi, wj := x[i/n*k:(i/n+1)*k], w[i%n*k:(i%n+1)*k]
		var sum float64 // products of 8 bits, positive: exact to 2^-39 of itself
		for j, v := range xi {
			sum += v * wj[j]
		}
		s.trial.Want[i] = sum
		e := numerics.Gamma(k, numerics.UFP32) * sum
		s.trial.Bound[i] = e + numerics.HalfULP(format.BF16, sum, e)
	}
	bad := c
	bad.Acc = numerics.HopperBF16()
	s.faults = []faulty{{name: "25-bit truncation, b=16", got: under(t, bad, x, w, m, n, k)}}
	return s
}

func under(t testing.TB, c numerics.Contract, x, w []float64, m, n, k int) []float64 {
	t.Helper()
	out, err := c.Gemm(x, w, m, n, k)
	require.NoError(t, err)
	return out
}
