package numerics_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// planted is an emulated kernel with known parameters, and what Explain must say of it.
type planted struct {
	name, want string
	contract   numerics.Contract
	k          int
}

func kernel(in format.Format, r format.Rounding, out format.Format, a numerics.Accumulator) numerics.Contract {
	o := numerics.Operand{Format: in, Rounding: r}
	return numerics.Contract{Name: "planted", Inputs: map[string]numerics.Operand{"x": o, "w": o}, Acc: a, Out: out}
}

// Explain MUST return the parameters that were planted, each varied alone, where the output shows them: fp32 output,
// coherent data.
func TestExplainFindsWhatWasPlanted(t *testing.T) {
	t.Parallel()
	block := func(b, f, r int, m format.Rounding) numerics.Accumulator {
		return numerics.Accumulator{Block: b, Align: f, Result: r, Rounding: m, Order: numerics.Sequential}
	}
	with := func(a numerics.Accumulator, f func(*numerics.Accumulator)) numerics.Accumulator {
		f(&a)
		return a
	}
	tf32, rn, rz, fp32 := format.TF32, format.RN, format.RZ, format.FP32
	hopper := block(8, 25, 23, rz)
	fp8 := block(32, 13, 13, rz)
	for _, row := range []planted{
		{"hopper tf32", "tf32 rn, b=8 f=25 r=23 RZ, one chain", kernel(tf32, rn, fp32, hopper), 512},
		{"weights truncated", "tf32 rz, b=8 f=25 r=23 RZ, one chain", kernel(tf32, rz, fp32, hopper), 512},
		{"weights ties away", "tf32 rna, b=8 f=25 r=23 RZ, one chain", kernel(tf32, format.RNA, fp32, hopper), 4096},
		{"four products", "tf32 rn, b=4 f=25 r=23 RZ, one chain", kernel(tf32, rn, fp32, block(4, 25, 23, rz)), 512},
		{"24 fraction bits", "tf32 rn, b=8 f=24 r=23 RZ, one chain", kernel(tf32, rn, fp32, block(8, 24, 23, rz)), 512},
		{"22 result bits", "tf32 rn, b=8 f=22 r=22 RZ, one chain", kernel(tf32, rn, fp32, block(8, 22, 22, rz)), 512},
		{"to nearest", "tf32 rn, b=8 f=25 r=23 RN, one chain", kernel(tf32, rn, fp32, block(8, 25, 23, rn)), 512},
		{
			"three splits", "tf32 rn, b=8 f=25 r=23 RZ, 3 splits of 176",
			kernel(tf32, rn, fp32, with(hopper, func(a *numerics.Accumulator) {
				a.Splits = []numerics.Split{{Size: 176}}
			})), 512,
		},
		{"bf16 operands", "bf16 rn, b=16 f=25 r=23 RZ, one chain", kernel(format.BF16, rn, fp32, block(16, 25, 23, rz)), 512},
		{"fp8 fast", "b=32 f=13 r=13 RZ, one chain", kernel(format.E4M3FN, rn, format.BF16, fp8), 4096},
		{
			"fp8 promoted", "b=32 f=13 r=13 RZ, promotion every 128",
			kernel(format.E4M3FN, rn, format.BF16, with(fp8, func(a *numerics.Accumulator) {
				a.Promote = 128
			})), 4096,
		},
		{
			"fp8 promoted late", "b=32 f=13 r=13 RZ, promotion every 512",
			kernel(format.E4M3FN, rn, format.BF16, with(fp8, func(a *numerics.Accumulator) {
				a.Promote = 512
			})), 4096,
		},
		{
			"fp8 in blocks of 16", "b=16 f=13 r=13 RZ, one chain", kernel(format.E4M3FN, rn, format.BF16, block(16, 13, 13, rz)),
			4096,
		},
		{
			"fp32 sequential", "fp32 sequential, one chain", kernel(fp32, rn, fp32, numerics.Accumulator{
				Result: 23,
				Order:  numerics.Sequential,
			}), 512,
		},
		{
			"fp32 pairwise", "fp32 pairwise, one chain", kernel(fp32, rn, fp32, numerics.Accumulator{
				Result: 23,
				Order:  numerics.Pairwise,
			}), 512,
		},
		{
			"fp32 fused in splits", "fp32 sequential FMA, 16 splits of 32", kernel(fp32, rn, fp32, numerics.Accumulator{
				Result: 23,
				Order:  numerics.Sequential,
				Fused:  true,
				Splits: []numerics.Split{{Size: 32}},
			}), 512,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := explained(t, row, 31)
			if !e.Explained() || e.Equal != e.Of || !strings.Contains(e.String(), row.want) {
				t.Errorf("got %q, want every output and %q", e, row.want)
			}
		})
	}
}

// What nothing in the search reproduces MUST never be called explained: an order that is drawn, whether the bound
// admits it or not.
func TestExplainDoesNotOverclaim(t *testing.T) {
	drawn := numerics.Accumulator{Result: 23, Order: numerics.Stochastic, Seed: 3}
	e := explained(t, planted{contract: kernel(format.FP32, format.RN, format.FP32, drawn), k: 512}, 32)
	if e.Explained() || !e.Inside || !strings.HasPrefix(e.String(), "not excluded") {
		t.Errorf("a drawn order is %q, want not excluded", e)
	}
	// Beyond the bound of fp32 and in no model: results scaled after the fact.
	row := planted{contract: kernel(format.FP32, format.RN, format.FP32, drawn), k: 512}
	in, got := row.run(t, 33)
	for i := range got {
		got[i] *= 1.001
	}
	e, err := numerics.Explain(got, in)
	require.NoError(t, err)
	if e.Explained() || e.Inside || !strings.HasPrefix(e.String(), "excluded") {
		t.Errorf("a result scaled by 1.001 is %q, want excluded", e)
	}
	// A bf16 output over short sums shows little: rivals MUST be named.
	tie := explained(t, planted{contract: kernel(format.BF16, format.RN, format.BF16, numerics.HopperBF16()), k: 64}, 34)
	if !tie.Explained() || len(tie.Rivals) == 0 || !strings.Contains(tie.String(), "cannot tell") {
		t.Errorf("a bf16 result over 64 products is %q, want it explained with rivals", tie)
	}
	if _, err = numerics.Explain(got[1:], in); err == nil {
		t.Error("an output of the wrong size is accepted")
	}
}

func (p planted) run(t testing.TB, seed uint64) (numerics.GemmInputs, []float64) {
	t.Helper()
	const m, n = 8, 16
	rng := rand.New(rand.NewPCG(seed, uint64(p.k)))
	x, w := gaussian(rng, m*p.k, true), gaussian(rng, n*p.k, true)
	if in := p.contract.Operand("x"); in.Format.Width() <= 16 {
		x, w = in.Read(x), in.Read(w) // fp8 and bf16 operands are stored as such
	}
	got, err := p.contract.Gemm(x, w, m, n, p.k)
	require.NoError(t, err)
	return numerics.GemmInputs{X: x, W: w, M: m, N: n, K: p.k, Out: p.contract.Out}, got
}

func explained(t testing.TB, p planted, seed uint64) numerics.Explanation {
	t.Helper()
	in, got := p.run(t, seed)
	e, err := numerics.Explain(got, in)
	require.NoError(t, err)
	return e
}
