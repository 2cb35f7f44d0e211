package numerics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// Sums whose result under each accumulator can be done on paper.
func TestAccumulatorsClosedForms(t *testing.T) {
	ones := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = 1
		}
		return v
	}
	// 448·448 and 255 products 7.5·1: the smallest input that shows Hopper's 13 bits (public reports of its fp8 path).
	big := append([]float64{448}, ones(255)...)
	small := []float64{448}
	for range 255 {
		small = append(small, 7.5)
	}
	tf32, bf16 := numerics.HopperTF32(), numerics.HopperBF16()
	exact := numerics.Accumulator{Result: 23, Order: numerics.Pairwise}
	blocked := numerics.Accumulator{Result: 23, Order: numerics.Blocked, Chunk: 2}
	splitInThree := numerics.Accumulator{Result: 23, Splits: []numerics.Split{{K: 4, Size: 3}}}
	promoted := numerics.HopperFP8(32)
	rne := bf16
	rne.Rounding = format.RN
	tiny := math.Exp2(-24)
	for _, row := range []struct {
		name string
		acc  numerics.Accumulator
		x, w []float64
		want float64
	}{
		{"fp8 fast loses every 7.5 below 448²", numerics.HopperFP8(0), small, big, 200704},
		{"fp8 promoted every 32 keeps those after the first", promoted, small, big, 200704 + 224*7.5},
		{"25 fraction bits keep them all", bf16, small, big, 200704 + 255*7.5},
		{"fp32 keeps them all", numerics.FP32Any(), small, big, 200704 + 255*7.5},
		{"bf16 chain stops counting at 256", numerics.BF16Chain(), ones(512), ones(512), 256},
		{"fp32 sequential loses half an ulp twice", numerics.FP32Any(), []float64{1, tiny, tiny}, ones(3), 1},
		{"the other order keeps it", numerics.FP32Any(), []float64{tiny, tiny, 1}, ones(3), 1 + 2*tiny},
		{"pairwise keeps it on the right", exact, []float64{1, 0, tiny, tiny}, ones(4), 1 + 2*tiny},
		{"blocks of two do as well", blocked, []float64{1, 0, tiny, tiny}, ones(4), 1 + 2*tiny},
		{"split 3+1 does not", splitInThree, []float64{1, tiny, tiny, 0}, ones(4), 1},
		{"aligned bits end at 2^-25", tf32, []float64{1, math.Exp2(-25), -1}, ones(3), math.Exp2(-25)},
		{"2^-26 is cut", tf32, []float64{1, math.Exp2(-26), -1}, ones(3), 0},
		{"negative terms are cut towards zero", tf32, []float64{1, -math.Exp2(-26), -1}, ones(3), 0},
		{
			"1.5·1.5 counts as exponent 0, not 1", tf32,
			[]float64{1.5, math.Exp2(-25), -1.5},
			[]float64{1.5, 1, 1.5},
			math.Exp2(-25),
		},
		{
			"the result is cut to 23 bits", tf32,
			[]float64{1, math.Exp2(-24), math.Exp2(-24) + math.Exp2(-25)},
			ones(3),
			1 + math.Exp2(-23),
		},
		{"to nearest it rounds", rne, []float64{1, math.Exp2(-24), math.Exp2(-25)}, ones(3), 1 + math.Exp2(-23)},
		{"beyond fp32 is infinite", tf32, []float64{math.Exp2(127), math.Exp2(127)}, ones(2), math.Inf(1)},
		{"nothing to add", tf32, nil, nil, 0},
		{"zeros", tf32, []float64{0, 0}, ones(2), 0},
	} {
		if got := row.acc.Dot(row.x, row.w); got != row.want {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
	if got := tf32.Dot([]float64{1, math.NaN()}, ones(2)); !math.IsNaN(got) {
		t.Errorf("a NaN operand gives %v, want NaN", got)
	}
	if got := tf32.Dot([]float64{math.Inf(1), 1}, []float64{-1, 1}); !math.IsInf(got, -1) {
		t.Errorf("Inf times -1 gives %v, want -Inf", got)
	}
}

// Every accumulator MUST stay inside its own bound on random and on coherent data; a coarser one MUST leave it
// somewhere. The worst ratio is printed: it says how much of the bound is used.
func TestAccumulatorBounds(t *testing.T) {
	const m, n = 6, 6
	rng := rand.New(rand.NewPCG(21, 22))
	for _, row := range []struct {
		name     string
		contract numerics.Contract
		coarser  numerics.Accumulator
		k        int
	}{
		{"fp32 unknown order", numerics.MHCFP32(), numerics.HopperFP8(0), 768},
		{
			"fp32 pairwise", numerics.Contract{
				Name: "pairwise",
				Acc:  numerics.Accumulator{Result: 23, Order: numerics.Pairwise},
			}, numerics.BF16Chain(), 768,
		},
		{
			"fp32 blocked", numerics.Contract{
				Name: "blocked",
				Acc:  numerics.Accumulator{Result: 23, Order: numerics.Blocked, Chunk: 32},
			}, numerics.BF16Chain(), 768,
		},
		{"tf32 split", numerics.MHCTF32(), numerics.HopperFP8(0), 768},
		{
			"tf32 to nearest", numerics.Contract{
				Name:   "tf32-rne",
				Inputs: numerics.MHCTF32().Inputs,
				Acc:    numerics.Accumulator{Block: 8, Align: 25, Result: 23},
			}, numerics.HopperFP8(0), 768,
		},
		{"fp8 fast", numerics.FP8Hopper("fast", 0), numerics.BF16Chain(), 768},
		{"fp8 promoted", numerics.FP8Hopper("accurate", 128), numerics.BF16Chain(), 768},
		// 2^-8 a step: a certain bound ends before 256 products
		{
			"bf16 chain", numerics.Contract{
				Name:   "chain",
				Inputs: numerics.MHCBF16().Inputs,
				Acc:    numerics.BF16Chain(),
				Out:    format.BF16,
			}, numerics.Accumulator{Result: 2}, 64,
		},
	} {
		var worst, worstMart, planted float64
		k := row.k
		for _, coherent := range []bool{false, true} {
			x, w := gaussian(rng, m*k, coherent), gaussian(rng, n*k, coherent)
			x, w = row.contract.Operand("x").Read(x), row.contract.Operand("w").Read(w)
			b, err := row.contract.GemmBounds(x, w, m, n, k, 1e-6)
			if err != nil {
				t.Fatal(err)
			}
			got, err := row.contract.Gemm(x, w, m, n, k)
			if err != nil {
				t.Fatal(err)
			}
			bad := row.contract
			bad.Acc = row.coarser
			faulty, err := bad.Gemm(x, w, m, n, k)
			if err != nil {
				t.Fatal(err)
			}
			worst = math.Max(worst, numerics.QuantilesOf(numerics.Rho(got, b.Want, b.Det)).Max)
			planted = math.Max(planted, numerics.QuantilesOf(numerics.Rho(faulty, b.Want, b.Det)).Max)
			if b.Martingale != nil {
				worstMart = math.Max(worstMart, numerics.QuantilesOf(numerics.Rho(got, b.Want, b.Martingale)).Max)
			}
		}
		t.Logf("%-18s worst rho %.2g, martingale %.2g; coarser accumulator %.3g", row.name, worst, worstMart, planted)
		if !(worst <= 1) || !(worstMart <= 1) {
			t.Errorf("%s leaves its own bound: rho %v, martingale %v", row.name, worst, worstMart)
		}
		if planted <= 1 {
			t.Errorf("%s: a coarser accumulator stays within the bound, rho %v", row.name, planted)
		}
	}
}

func gaussian(rng *rand.Rand, n int, coherent bool) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(float32(rng.NormFloat64()))
		if coherent {
			v[i] = math.Abs(v[i])
		}
	}
	return v
}

// Operands of the wrong size are an error with the numbers in it, not a panic.
func TestGemmRefusesWrongSizes(t *testing.T) {
	c := numerics.MHCFP32()
	if _, err := c.Gemm(make([]float64, 6), make([]float64, 6), 2, 2, 4); err == nil {
		t.Error("x of 6 values for [2,4] is accepted")
	}
	for _, a := range []numerics.Accumulator{
		{},
		{Block: 8, Align: 60, Result: 23},
		{Result: 23, Promote: 4},
		{Block: -1, Result: 23},
	} {
		if _, err := (numerics.Contract{Acc: a}).Gemm(make([]float64, 8), make([]float64, 8), 2, 2, 4); err == nil {
			t.Errorf("accumulator %+v is accepted", a)
		}
	}
	if _, err := c.GemmBounds(make([]float64, 8), make([]float64, 8), 2, 2, 4, 0); err == nil {
		t.Error("a risk of 0 is accepted")
	}
}

func BenchmarkGemmTF32Flash(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, w := gaussian(rng, 8*16384, false), gaussian(rng, 24*16384, false)
	c := numerics.MHCTF32()
	for b.Loop() {
		if _, err := c.Gemm(x, w, 8, 24, 16384); err != nil {
			b.Fatal(err)
		}
	}
}
