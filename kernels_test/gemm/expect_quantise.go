package gemm

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// The contracts of quantisers. quantiseTwo is a scale or a quotient by a product with a rounded reciprocal, where the
// recipe divides; quantiseLog2 besides finds the power of two of ue8m0 through a logarithm in fp32.
var (
	quantiseExact = numerics.Contract{Name: "exact"}
	quantiseTwo   = numerics.Contract{Name: "two-roundings"}
	quantiseLog2  = numerics.Contract{Name: "ue8m0-log2"}
)

// recipe is the attributes as a recipe of package format.
func recipe(p bench.Problem) (format.Recipe, error) {
	name := map[string]string{
		"fp32": "tilekernels-fp8", "ue8m0": "tilekernels-fp8",
		"ocp": "ocp-mxfp8",
	}[p.Attrs.Word("scale_fmt")]
	r, err := format.RecipeByName(name)
	if err != nil {
		return r, fmt.Errorf("scale_fmt %q has no recipe: %w", p.Attrs.Word("scale_fmt"), err)
	}
	if p.Attrs.Word("scale_fmt") == "fp32" {
		r.Block, r.Rule = format.RowFP8, format.ScaleLinear
	}
	r.AmaxFloor = float32(p.Attrs.Num("amax_floor"))
	x := p.In("x")
	if r.Block.BlockRows, r.Block.BlockCols = 1, p.Attrs.Int("group_size"); r.Block.BlockCols == 0 {
		r.Block.BlockRows, r.Block.BlockCols = max(x.Dim(0), 1), max(x.Dim(1), 1)
	}
	return r, nil
}

func drawQuantFP8(g bench.Gen) (bench.Problem, error) {
	m, k, group := g.Shape.Dim("m"), g.Shape.Dim("k"), g.Shape.Dim("group")
	form := []string{"fp32", "ue8m0", "ocp"}[g.Shape.Dim("fmt")]
	groups := []int{m, up(k, max(group, 1))}
	if group == 0 {
		groups = []int{1}
	}
	scale := bench.Output{DType: bench.U8, Shape: groups, Prefill: "0x01"}
	if form == "fp32" {
		scale = bench.Out(bench.F32, groups...)
	}
	floor := 1e-4
	if form == "ocp" {
		floor = 0
	}
	return bench.Problem{
		Attrs:    bench.Attrs{"group_size": float64(group), "scale_fmt": form, "amax_floor": float64(float32(floor))},
		Operands: map[string]bench.Operand{"x": bench.Floats(dtypeOf(g), g.Normal(m*k, 1.7), m, k)},
		Outputs:  map[string]bench.Output{"codes": {DType: bench.U8, Shape: []int{m, k}, Prefill: "0x7f"}, "scale": scale},
	}, nil
}

func dtypeOf(g bench.Gen) string {
	if g.Shape.Dim("bf16") == 1 {
		return bench.BF16
	}
	return bench.F32
}

func expectQuantFP8(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	r, err := recipe(p)
	if err != nil {
		return nil, err
	}
	x := p.In("x")
	q, err := r.Quantise(bench.Float32s(x.Data), x.Dim(0), x.Dim(1))
	if err != nil {
		return nil, err
	}
	var scale []float64
	if r.Block.Scale.Name == format.FP32.Name {
		for i := 0; i < len(q.Scales); i += 4 {
			scale = append(scale, float64(math.Float32frombits(binary.LittleEndian.Uint32(q.Scales[i:]))))
		}
	} else {
		scale = bytesAsValues(q.Scales)
	}
	out := []bench.Expected{
		bench.Exactly("codes", bytesAsValues(q.Codes), []string{"row", "element"}, p.Outputs["codes"].Shape...),
		bench.Exactly("scale", scale, []string{"row", "block"}, p.Outputs["scale"].Shape...),
	}
	if c.Contract.Name != quantiseExact.Name {
		leaveRoundings(c.Contract.Name, p, out)
	}
	return out, nil
}

func bytesAsValues(b []byte) []float64 {
	out := make([]float64, len(b))
	for i, v := range b {
		out[i] = float64(v)
	}
	return out
}

func drawQuantNV(g bench.Gen) (bench.Problem, error) {
	m, k := g.Shape.Dim("m"), g.Shape.Dim("k")
	if err := whole(k, 16); err != nil {
		return bench.Problem{}, err
	}
	pr, pc := format.SwizzledShape(m, k/16)
	return bench.Problem{
		Attrs:    bench.Attrs{"global_amax": 9.5},
		Operands: map[string]bench.Operand{"x": bench.Floats(dtypeOf(g), g.Normal(m*k, 1.7), m, k)},
		Outputs: map[string]bench.Output{
			"codes": {DType: bench.U8, Shape: []int{m, k / 2}, Prefill: "0x88"},
			"scale": {DType: bench.U8, Shape: []int{pr * pc}, Prefill: "0x7f"},
		},
	}, nil
}

func expectQuantNV(_ bench.Case, p bench.Problem) ([]bench.Expected, error) {
	r, err := format.RecipeByName("modelopt-nvfp4")
	if err != nil {
		return nil, err
	}
	x := p.In("x")
	q, err := r.QuantiseShared(bench.Float32s(x.Data), x.Dim(0), x.Dim(1), float32(p.Attrs.Num("global_amax")))
	if err != nil {
		return nil, err
	}
	scale, err := format.Swizzle(q.Scales, x.Dim(0), x.Dim(1)/16, 0)
	if err != nil {
		return nil, err
	}
	return []bench.Expected{
		bench.Exactly("codes", bytesAsValues(q.Codes), []string{"row", "byte"}, p.Outputs["codes"].Shape...),
		bench.Exactly("scale", bytesAsValues(scale), []string{"byte"}, len(scale)),
	}, nil
}
