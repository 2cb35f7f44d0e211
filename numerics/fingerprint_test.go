package numerics_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// candidate makes a contract callable; twist changes operands or outputs, as a kernel with a habit of its own would.
func candidate(c numerics.Contract, twist func(x, w, out []float64) []float64) numerics.GEMM {
	calls := uint64(0)
	return func(_ context.Context, x, w []float64, m, n, k int) ([]float64, error) {
		if c.Acc.Order == numerics.Stochastic {
			calls++
			c.Acc.Seed = calls
		}
		out, err := c.Gemm(x, w, m, n, k)
		if twist != nil && err == nil {
			out = twist(x, w, out)
		}
		return out, err
	}
}

// suspect is a candidate with known parameters, and what its fingerprint must say.
type suspect struct {
	name     string
	contract numerics.Contract
	twist    func(x, w, out []float64) []float64
	k        []int
	want     numerics.Print // zero fields are not compared
	words    []string       // of the trees
}

func suspects() []suspect {
	rn, rz := format.RN, format.RZ
	block := func(b, f, r int, m format.Rounding, piece int) numerics.Accumulator {
		a := numerics.Accumulator{Block: b, Align: f, Result: r, Rounding: m, Order: numerics.Sequential}
		if piece > 0 {
			a.Splits = []numerics.Split{{Size: piece}}
		}
		return a
	}
	scalar := func(r int, o numerics.Order, chunk, piece int) numerics.Accumulator {
		a := numerics.Accumulator{Result: r, Order: o, Chunk: chunk}
		if piece > 0 {
			a.Splits = []numerics.Split{{Size: piece}}
		}
		return a
	}
	fused := scalar(23, numerics.Sequential, 0, 0)
	fused.Fused = true
	truncated := scalar(23, numerics.Sequential, 0, 0)
	truncated.Rounding = rz
	promoted := block(32, 13, 13, rz, 0)
	promoted.Promote = 128
	bf16, tf32, fp32, e4m3 := format.BF16, format.TF32, format.FP32, format.E4M3FN
	p := func(b, f, r int, m string) numerics.Print {
		return numerics.Print{Block: b, Align: f, Result: r, Rounding: m}
	}
	joined := func(q numerics.Print, join int) numerics.Print {
		q.Join, q.JoinRounding = join, "rn"
		return q
	}
	products := func(q numerics.Print, s string) numerics.Print {
		q.Products = s
		return q
	}
	flush := func(f format.Format) func(float64) float64 {
		return func(v float64) float64 {
			if math.Abs(v) < f.MinNormal() {
				return 0
			}
			return v
		}
	}
	return []suspect{
		{
			"hopper-tf32", kernel(tf32, rn, fp32, block(8, 25, 23, rz, 0)), nil, []int{128, 512}, p(8, 25, 23, "rz"), []string{
				"a chain of blocks of 8", "a chain of blocks of 8",
			},
		},
		{
			"hopper-tf32-split", kernel(tf32, rn, fp32, block(8, 25, 23, rz, 32)), nil,
			[]int{128, 200, 512},
			joined(p(8, 25, 23, "rz"), 23),
			[]string{
				"pieces of 32, each a chain of blocks of 8", "pieces of 32, each a chain of blocks of 8",
			},
		},
		{
			"hopper-bf16", kernel(bf16, rn, bf16, block(16, 25, 23, rz, 0)), nil,
			[]int{128, 256, 512},
			p(16, 25, 23, "rz"),
			[]string{
				"a chain of blocks of 16",
			},
		},
		{
			"ada-bf16", kernel(bf16, rn, bf16, block(8, 24, 23, rz, 0)), nil, []int{128}, p(8, 24, 23, "rz"), []string{
				"a chain of blocks of 8",
			},
		},
		{
			"four-products", kernel(tf32, rn, fp32, block(4, 25, 23, rz, 0)), nil, []int{64}, p(4, 25, 23, "rz"), []string{
				"a chain of blocks of 4",
			},
		},
		{"21-result-bits", kernel(tf32, rn, fp32, block(8, 25, 21, rz, 0)), nil, []int{64}, p(8, 25, 21, "rz"), nil},
		{"to-nearest", kernel(tf32, rn, fp32, block(8, 25, 23, rn, 0)), nil, []int{64}, p(8, 25, 23, "rn"), nil},
		{"ties-away", kernel(tf32, rn, fp32, block(8, 25, 23, format.RNA, 0)), nil, []int{64}, p(8, 25, 23, "rna"), nil},
		{
			"hopper-fp8-fast", kernel(e4m3, rn, bf16, block(32, 13, 13, rz, 0)), nil,
			[]int{128, 512},
			p(32, 13, 13, "rz"),
			[]string{
				"a chain of blocks of 32",
			},
		},
		{
			"hopper-fp8-accurate", kernel(e4m3, rn, bf16, promoted), nil, []int{256, 512}, p(32, 13, 13, "rz"), []string{
				"pieces of 128, each a chain of blocks of 32", "pieces of 128, each a chain of blocks of 32",
			},
		},
		{"fp8-12-bits", kernel(e4m3, rn, bf16, block(32, 12, 12, rz, 0)), nil, []int{128}, p(32, 12, 12, "rz"), nil},
		{"fp8-16-products", kernel(e4m3, rn, fp32, block(16, 13, 13, rz, 0)), nil, []int{512}, p(16, 13, 13, "rz"), nil},
		{
			"fp32-sequential", kernel(fp32, rn, fp32, scalar(23, numerics.Sequential, 0, 0)), nil,
			[]int{64, 2048},
			products(p(0, 0, 23, "rn"), "rounded"),
			[]string{
				"sequential", "sequential",
			},
		},
		{
			"fp32-fused", kernel(fp32, rn, fp32, fused), nil,
			[]int{64},
			products(p(0, 0, 23, "rn"), "fused"),
			[]string{"sequential"},
		},
		{"fp32-truncated", kernel(fp32, rn, fp32, truncated), nil, []int{64}, p(0, 0, 23, "rz"), []string{"sequential"}},
		{
			"fp32-pairwise", kernel(fp32, rn, fp32, scalar(23, numerics.Pairwise, 0, 0)), nil,
			[]int{64, 100},
			p(0, 0, 23, "rn"),
			[]string{"pairwise", "pairwise"},
		},
		{
			"fp32-blocked", kernel(fp32, rn, fp32, scalar(23, numerics.Blocked, 16, 0)), nil,
			[]int{64},
			joined(p(0, 0, 23, "rn"), 23),
			[]string{
				"pieces of 16, each sequential",
			},
		},
		{
			"fp32-split-pairwise", kernel(fp32, rn, fp32, scalar(23, numerics.Pairwise, 0, 32)), nil,
			[]int{128},
			joined(p(0, 0, 23, "rn"), 23),
			[]string{
				"pieces of 32, each pairwise",
			},
		},
		{
			"bf16-chain", kernel(bf16, rn, bf16, scalar(7, numerics.Sequential, 0, 0)), nil,
			[]int{128},
			products(p(0, 0, 7, "rn"), "rounded"),
			[]string{"sequential"},
		},
		{
			"fp16-operands", kernel(format.FP16, rn, format.FP16, block(16, 25, 23, rz, 0)), nil,
			[]int{64},
			p(16, 25, 23, "rz"),
			nil,
		},
		{
			"subnormal-inputs-flushed", kernel(bf16, rn, bf16, block(16, 25, 23, rz, 0)), nil,
			[]int{64},
			numerics.Print{SubnormalIn: "flushed"},
			nil,
		},
		{
			"subnormal-outputs-flushed", kernel(bf16, rn, bf16, block(16, 25, 23, rz, 0)), func(_, _, out []float64) []float64 {
				return mapped(out, flush(bf16))
			}, []int{64}, numerics.Print{SubnormalIn: "kept", SubnormalOut: "flushed"}, nil,
		},
		{"output-truncated", kernel(bf16, rn, fp32, block(16, 25, 23, rz, 0)), func(_, _, out []float64) []float64 {
			return mapped(out, func(v float64) float64 { return bf16.RoundTo(v, rz, format.Overflow) })
		}, []int{64}, numerics.Print{Ties: "rz"}, nil},
		{"output-ties-away", kernel(bf16, rn, fp32, block(16, 25, 23, rz, 0)), func(_, _, out []float64) []float64 {
			return mapped(out, func(v float64) float64 { return bf16.RoundTo(v, format.RNA, format.Overflow) })
		}, []int{64}, numerics.Print{Ties: "rna"}, nil},
		{
			"negative-zero-kept", kernel(fp32, rn, fp32, scalar(23, numerics.Sequential, 0, 0)),
			func(x, w, out []float64) []float64 {
				for i, v := range x {
					if !math.Signbit(v * w[i]) {
						return out
					}
				}
				return mapped(out, func(v float64) float64 { return math.Copysign(v, -1) })
			},
			[]int{64},
			numerics.Print{NegZero: "sum of -0 is -0"},
			nil,
		},
		{
			"drawn-order", kernel(fp32, rn, fp32, numerics.Accumulator{Result: 23, Order: numerics.Stochastic}), nil,
			[]int{64},
			numerics.Print{},
			nil,
		},
		{
			"drawn-order-of-splits", kernel(tf32, rn, fp32, numerics.Accumulator{
				Block:    8,
				Align:    25,
				Result:   23,
				Rounding: rz,
				Order:    numerics.Stochastic,
				Splits:   []numerics.Split{{Size: 32}},
			}), nil, []int{256}, numerics.Print{}, nil,
		},
	}
}

func mapped(v []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = f(x)
	}
	return out
}

func (s suspect) callable() numerics.GEMM {
	do := candidate(s.contract, s.twist)
	if s.name != "subnormal-inputs-flushed" {
		return do
	}
	return func(ctx context.Context, x, w []float64, m, n, k int) ([]float64, error) {
		f := func(v float64) float64 {
			if math.Abs(v) < format.BF16.MinNormal() {
				return 0
			}
			return v
		}
		return do(ctx, mapped(x, f), mapped(w, f), m, n, k)
	}
}

// A fingerprint MUST say exactly what was planted, each parameter varied, and that a drawn order is not deterministic.
func TestFingerprintSaysWhatWasPlanted(t *testing.T) {
	t.Parallel()
	cases := map[string]any{}
	for _, s := range suspects() {
		t.Run(s.name, func(t *testing.T) {
			out := s.contract.Out
			if strings.HasPrefix(s.name, "output-") {
				out = format.BF16 // the twist rounds
			}
			got, err := numerics.Fingerprint(context.Background(), s.callable(), numerics.Probe{
				In:  s.contract.Operand("x").Format,
				Out: out,
				K:   s.k,
			})
			require.NoError(t, err)
			cases[s.name] = got
			drawn := s.contract.Acc.Order == numerics.Stochastic
			if got.Deterministic == drawn || drawn && len(got.Trees) > 0 {
				t.Fatalf("got %v, want deterministic %v", got, !drawn)
			}
			checkPrint(t, got, s.want)
			for i, w := range s.words {
				if i >= len(got.Trees) || got.Trees[i].Words != w {
					t.Errorf("trees %+v, want %q", got.Trees, s.words)
				}
			}
		})
	}
	golden.Assert(t, "numerics/fingerprints", golden.Doc{
		Provenance: golden.Provenance{
			Generator: "numerics_test.TestFingerprintSaysWhatWasPlanted",
			Seed:      "none: masks",
			Source:    "emulated accumulators with known parameters; method FPRev, Xie et al. 2025",
		},
		Cases: cases,
	}, golden.All(golden.Exact("a fingerprint is words and counts")))
}

func checkPrint(t *testing.T, got, want numerics.Print) {
	t.Helper()
	for _, row := range []struct {
		name       string
		got, want  any
		unasked    bool
		difference string
	}{
		{"products per block", got.Block, want.Block, want.Result == 0, ""},
		{"aligned bits", got.Align, want.Align, want.Result == 0, ""},
		{"result bits", got.Result, want.Result, want.Result == 0, ""},
		{"rounding", got.Rounding, want.Rounding, want.Rounding == "", ""},
		{"products", got.Products, want.Products, want.Products == "", ""},
		{"join bits", got.Join, want.Join, want.Join == 0, ""},
		{"join rounding", got.JoinRounding, want.JoinRounding, want.JoinRounding == "", ""},
		{"output rounding", got.Ties, want.Ties, want.Ties == "", ""},
		{"subnormal inputs", got.SubnormalIn, want.SubnormalIn, want.SubnormalIn == "", ""},
		{"subnormal outputs", got.SubnormalOut, want.SubnormalOut, want.SubnormalOut == "", ""},
		{"negative zero", got.NegZero, want.NegZero, want.NegZero == "", ""},
	} {
		if !row.unasked && row.got != row.want {
			t.Errorf("%s: got %v, want %v", row.name, row.got, row.want)
		}
	}
}

// A Print's text MUST say what a reader asks first; probes that cannot be answered MUST be refused in words.
func TestFingerprintRefusals(t *testing.T) {
	do := candidate(kernel(format.BF16, format.RN, format.BF16, numerics.HopperBF16()), nil)
	ctx := context.Background()
	p, err := numerics.Fingerprint(ctx, do, numerics.Probe{In: format.BF16, Out: format.BF16, K: []int{64}, M: 2, N: 3})
	require.NoError(t, err)
	if s := p.String(); !strings.Contains(s, "K=64: a chain of blocks of 16") ||
		!strings.Contains(s, "b=16 f=25 r=23 rz") {
		t.Errorf("a print reads %q", s)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for name, call := range map[string]func() (numerics.Print, error){
		"no K":   func() (numerics.Print, error) { return numerics.Fingerprint(ctx, do, numerics.Probe{}) },
		"K of 2": func() (numerics.Print, error) { return numerics.Fingerprint(ctx, do, numerics.Probe{K: []int{2}}) },
		"a cancelled call": func() (numerics.Print, error) {
			return numerics.Fingerprint(cancelled, do, numerics.Probe{K: []int{8}})
		},
		"a constant": func() (numerics.Print, error) {
			return numerics.Fingerprint(ctx, func(context.Context, []float64, []float64, int, int, int) ([]float64, error) {
				return []float64{0.5}, nil
			}, numerics.Probe{K: []int{8}})
		},
		"no output": func() (numerics.Print, error) {
			return numerics.Fingerprint(ctx, func(context.Context, []float64, []float64, int, int, int) ([]float64, error) {
				return nil, nil
			}, numerics.Probe{K: []int{8}})
		},
	} {
		if _, err := call(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// The base of a log-sum-exp is told by one uniform row.
func TestLSEBase(t *testing.T) {
	natural := func(s []float64) (float64, error) { return math.Log(float64(len(s))), nil }
	binary := func(s []float64) (float64, error) { return math.Log2(float64(len(s))), nil }
	for want, f := range map[string]func([]float64) (float64, error){"e": natural, "2": binary} {
		if got, err := numerics.LSEBase(f, 100); err != nil || got != want {
			t.Errorf("got base %q and %v, want %q", got, err, want)
		}
	}
	if _, err := numerics.LSEBase(func([]float64) (float64, error) { return 1, nil }, 100); err == nil {
		t.Error("an LSE of 1 for 100 zeros has a base")
	}
	if _, err := numerics.LSEBase(natural, 1); err == nil {
		t.Error("a row of one zero tells a base")
	}
}
