package numerics_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// alpha is the risk of one recording under one contract: 1e-6 per run over at most 100 such pairs.
const alpha = 1e-8

// mhcRecordings are the mHC mixing GEMMs that the H200 ran, at nano and at V4-Flash size.
var mhcRecordings = []string{"mhc.nano.gauss", "mhc.nano.coherent", "mhc.flash.gauss"}

// recordedCase is what goldens/numerics/mhc-recorded.json keeps of one recording under one contract.
type recordedCase struct {
	Elements      int          `json:"elements"`
	BitEqual      int          `json:"bit-equal"`
	RelL2         golden.Float `json:"rel-l2-emulated"`
	RelL2Exact    golden.Float `json:"rel-l2-exact"`
	Accepted      bool         `json:"accepted"`
	Rho           rhoTable     `json:"rho"`
	RhoStrict     rhoTable     `json:"rho-strict"`
	RhoMartingale *rhoTable    `json:"rho-martingale,omitempty"`
}

type rhoTable struct {
	Median golden.Float `json:"median"`
	P99    golden.Float `json:"p99"`
	Max    golden.Float `json:"max"`
}

func tableOf(q numerics.Quantiles) rhoTable {
	return rhoTable{twoDigits(q.Median), twoDigits(q.P99), twoDigits(q.Max)}
}

var recordedRules = golden.Rules{Default: golden.Exact("names and verdicts")}.
	With("elements", golden.Count("fixture shape")).
	With("bit-equal", golden.Count("the emulation is deterministic integer arithmetic")).
	With("rel-l2-*", golden.Factor(1.5, "two digits of a norm of differences")).
	With("rho*/*", golden.Factor(1.5, "rho tables keep two digits and compare within x1.5"))

// The contract's emulation MUST reproduce what the device did, the recording MUST lie inside its contract's bound, and
// inside no rival's that the test knows to be wrong.
func TestRecordedMHC(t *testing.T) {
	t.Parallel()
	cases := map[string]any{}
	for _, name := range mhcRecordings {
		r := recorded(t, name)
		for _, row := range []struct {
			out      string
			contract numerics.Contract
			relL2    float64 // of emulated against recorded; 0: not asked
			bits     float64 // share that must be bit-equal
		}{
			{"out_fp32", numerics.MHCFP32(), 0, 0}, // order unknown: bounded, not emulated
			{"out_tf32", numerics.MHCTF32(), 1e-6, 1},
			{"out_bf16", numerics.MHCBF16(), 0, 0.999},
		} {
			id := name + "/" + row.contract.Name
			t.Run(id, func(t *testing.T) {
				got := r.out[row.out]
				v, emulated, b := judgeGemm(t, r, got, row.contract)
				want := b.Want
				equal := numerics.BitEqual(emulated, got)
				rel := numerics.RelL2(emulated, got)
				t.Logf("%s: %d of %d bit-equal, ||emulated-recorded||/||recorded|| %.2g, error against exact %.2g", id, equal,
					len(got), rel, numerics.RelL2(got, want))
				t.Logf("%v; strict rho max %.2g", v, numerics.QuantilesOf(numerics.Rho(got, b.Center, b.Strict)).Max)
				if !(numerics.QuantilesOf(numerics.Rho(got, b.Center, b.Strict)).Max <= 1) {
					t.Errorf("the recording leaves the bound around what its own contract reads")
				}
				if row.relL2 > 0 && !(rel <= row.relL2) {
					t.Errorf("the emulation is %.3g from the recording, want at most %g", rel, row.relL2)
				}
				if share := float64(equal) / float64(len(got)); share < row.bits {
					t.Errorf("%.4f of the outputs are bit-equal, want at least %g", share, row.bits)
				}
				if !v.Accepted {
					t.Errorf("the recording is not accepted under its own contract: %v", v)
				}
				c := recordedCase{
					Elements: len(got), BitEqual: equal, RelL2: golden.Float(two(rel)),
					RelL2Exact: golden.Float(two(numerics.RelL2(got, want))),
					Accepted:   v.Accepted, Rho: tableOf(v.Rho),
					RhoStrict: tableOf(numerics.QuantilesOf(numerics.Rho(got, b.Center, b.Strict))),
				}
				if v.RhoMartingale.Max > 0 {
					m := tableOf(v.RhoMartingale)
					c.RhoMartingale = &m
				}
				cases[id] = c
			})
		}
	}
	golden.Assert(t, "numerics/mhc-recorded", golden.Doc{
		Provenance: golden.Provenance{
			Generator: "numerics_test.TestRecordedMHC", Seed: "none: recorded inputs",
			Source: "fixtures/oracles/gemm_h200.safetensors, torch 2.11 and cuBLAS", Device: "NVIDIA H200",
		},
		Cases: cases,
	}, recordedRules)
}

// Contracts that the device did not follow MUST be told from the one it did: by the bound around what the contract
// reads, or, where a difference is smaller than any accumulation order may make, by the emulation's bits.
func TestRecordedMHCRivalsAreRejected(t *testing.T) {
	t.Parallel()
	tf32 := numerics.MHCTF32()
	rz, rna := tf32.WithInputRounding(format.RZ), tf32.WithInputRounding(format.RNA)
	oneChain := tf32
	oneChain.Name, oneChain.Acc.Splits = "tf32-rn, one chain", nil
	for _, name := range mhcRecordings {
		r := recorded(t, name)
		flash := r.k > 512
		for _, row := range []struct {
			by       string
			got      []float64
			contract numerics.Contract
			byBound  bool
		}{
			{"weights truncated to TF32", r.out["out_tf32"], rz, true},
			// On flash a tie among 16384 weights moves an output by less than its accumulation bound.
			{"ties away from zero", r.out["out_tf32"], rna, !flash},
			{"TF32 sold as fp32", r.out["out_tf32"], numerics.MHCFP32(), true},
			{"bf16 sold as TF32", r.out["out_bf16"], tf32, true},
			{"bf16 sold as fp32", r.out["out_bf16"], numerics.MHCFP32(), true},
			{"split count wrong", r.out["out_tf32"], oneChain, false},
			{"a kernel that truncates, under tf32-rn", work(t, r, rz).out, tf32, true},
			{"a kernel with ties away, under tf32-rn", work(t, r, rna).out, tf32, !flash},
		} {
			t.Run(name+"/"+row.by, func(t *testing.T) {
				e := work(t, r, row.contract)
				b, emulated := e.bounds, e.out
				v := numerics.Judge(numerics.Trial{
					Shape: []int{r.m, r.n}, Axes: []string{"row", "col"}, Got: row.got,
					Want: b.Center, Bound: b.Strict, Martingale: b.Martingale, Alpha: alpha,
				}, row.contract)
				equal := numerics.BitEqual(emulated, row.got)
				t.Logf("%d of %d bit-equal, relative L2 %.2g; %v", equal, len(row.got), numerics.RelL2(emulated, row.got), v)
				if row.byBound && (v.Accepted || v.Gate != numerics.Bound) {
					t.Errorf("%s: the judge accepts it or names another gate than bound: %v", row.by, v)
				}
				if equal == len(row.got) {
					t.Errorf("%s: the emulation reproduces it, so it is not told from the truth", row.by)
				}
			})
		}
	}
}

// worked keeps the emulation and bounds of a recording under a contract: several tests need the same ones, and the
// large ones cost a third of a second.
var worked sync.Map

type emulation struct {
	out    []float64
	bounds numerics.GemmBounds
}

func work(t testing.TB, r recording, c numerics.Contract) emulation {
	t.Helper()
	key := r.name + "/" + c.Name
	kept, _ := worked.Load(key)
	if e, ok := kept.(emulation); ok {
		return e
	}
	out, err := c.Gemm(r.x, r.w, r.m, r.n, r.k)
	require.NoError(t, err)
	b, err := c.GemmBounds(r.x, r.w, r.m, r.n, r.k, alpha)
	require.NoError(t, err)
	worked.Store(key, emulation{out, b})
	return emulation{out, b}
}

// Hopper's fp8 accumulator, 13 bits and 32 products, MUST reproduce all 512 recorded outputs in both modes, and its
// neighbours must not.
func TestRecordedFP8(t *testing.T) {
	for _, name := range []string{"fp8.k4096.gauss", "fp8.k4096.coherent"} {
		r := recorded(t, name)
		fast, accurate := numerics.FP8Hopper("fp8-fast", 0), numerics.FP8Hopper("fp8-accurate", 128)
		for _, row := range []struct {
			out      string
			contract numerics.Contract
		}{{"out_fast_accum", fast}, {"out_accurate", accurate}} {
			v, emulated, _ := judgeGemm(t, r, r.out[row.out], row.contract)
			equal := numerics.BitEqual(emulated, r.out[row.out])
			t.Logf("%s %s: %d of %d bit-equal; %v", name, row.contract.Name, equal, len(emulated), v)
			if equal != len(emulated) || !v.Accepted {
				t.Errorf("%s %s: %d of %d outputs are bit-equal and the verdict is %v: want all, accepted", name, row.contract.Name,
					equal, len(emulated), v)
			}
		}
		for _, near := range []struct{ block, bits int }{{16, 13}, {64, 13}, {32, 12}, {32, 14}} {
			c := fast
			c.Acc.Block, c.Acc.Align, c.Acc.Result = near.block, near.bits, near.bits
			emulated, err := c.Gemm(r.x, r.w, r.m, r.n, r.k)
			require.NoError(t, err)
			equal := numerics.BitEqual(emulated, r.out["out_fast_accum"])
			t.Logf("%s b=%d f=%d: %d of %d bit-equal", name, near.block, near.bits, equal, len(emulated))
			if equal == len(emulated) {
				t.Errorf("%s: b=%d f=%d reproduces the recording too: the model is not determined", name, near.block, near.bits)
			}
		}
		// Fast accumulation sold as fp32 accumulation with bf16 out.
		sold := numerics.Contract{Name: "fp8-in fp32-acc", Inputs: fast.Inputs, Acc: numerics.FP32Any(), Out: format.BF16}
		v, _, _ := judgeGemm(t, r, r.out["out_fast_accum"], sold)
		if v.Accepted {
			t.Errorf("%s: fast accumulation passes as fp32 accumulation: %v", name, v)
		}
		t.Logf("%s fast under an fp32-accumulate contract: %v", name, v)
	}
}

// judgeGemm judges got under c against the exact result on the stored operands.
func judgeGemm(t testing.TB, r recording, got []float64, c numerics.Contract) (numerics.Verdict, []float64,
	numerics.GemmBounds,
) {
	t.Helper()
	e := work(t, r, c)
	emulated, b := e.out, e.bounds
	v := numerics.Judge(numerics.Trial{
		Shape: []int{r.m, r.n}, Axes: []string{"row", "col"}, Got: got, Want: b.Want, Bound: b.Det, Martingale: b.Martingale,
		Alpha:      alpha,
		Emulations: []numerics.Emulation{{Name: c.Name, Out: emulated}},
	}, c)
	return v, emulated, b
}

// two keeps two significant digits: what a golden may state of a measured ratio.
func two(x float64) float64 {
	var y float64
	_, _ = fmt.Sscanf(fmt.Sprintf("%.1e", x), "%g", &y)
	return y
}

func twoDigits(x float64) golden.Float { return golden.Float(two(x)) }
