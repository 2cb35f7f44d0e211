package numerics_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// Which accumulator made this output? Here an emulated Hopper fp8 GEMM stands for a recorded one.
func ExampleExplain() {
	const m, n, k = 16, 32, 4096
	rng := rand.New(rand.NewPCG(1, 2))
	in := numerics.GemmInputs{M: m, N: n, K: k, Out: format.BF16}
	for range m * k {
		in.X = append(in.X, format.E4M3FN.RoundTo(rng.NormFloat64(), format.RN, format.Saturate))
	}
	for range n * k {
		in.W = append(in.W, format.E4M3FN.RoundTo(rng.NormFloat64(), format.RN, format.Saturate))
	}
	got, err := numerics.FP8Hopper("accurate", 128).Gemm(in.X, in.W, m, n, k)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := numerics.Explain(got, in)
	fmt.Println(e, err)
	// Output: 512/512 bit-equal: b=32 f=13 r=13 RZ, promotion every 128 <nil>
}

// What is this GEMM? The candidate is asked by calls only.
func ExampleFingerprint() {
	kernel := numerics.Contract{
		Inputs: map[string]numerics.Operand{"x": {Format: format.TF32}, "w": {Format: format.TF32}},
		Acc:    numerics.HopperTF32(), Out: format.FP32,
	}
	kernel.Acc.Splits = []numerics.Split{{Size: 32}}
	p, err := numerics.Fingerprint(context.Background(),
		func(_ context.Context, x, w []float64, m, n, k int) ([]float64, error) {
			return kernel.Gemm(x, w, m, n, k)
		}, numerics.Probe{In: format.TF32, Out: format.FP32, K: []int{128}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.ReplaceAll(p.String(), "; ", "\n"))
	// Output:
	// K=128: pieces of 32, each a chain of blocks of 8
	// b=8 f=25 r=23 rz, products exact, join 23 rn
	// output not visible
	// subnormals in kept, out kept
	// sum of -0 is +0
	// NaN gives NaN, Inf gives +Inf, Inf·0 gives NaN, Inf-Inf gives NaN
}
