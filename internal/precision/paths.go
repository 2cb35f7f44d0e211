package precision

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// Path is one way of computing x·wᵀ: how operands are stored, and the contract of the GEMM on what was stored.
type Path struct {
	Name     string            // slug
	X, W     string            // quantisation recipe of numerics/format for activations and weights; "" as they are
	Contract numerics.Contract // reads the dequantised operands
}

// Paths are the arithmetic that the tensors meet in practice, finest first. fp8 quantises activations per 1 x 128 and
// weights per 128 x 128 with power-of-two scales, and accumulates as Hopper with promotion every 128; since such scales
// commute with every rounding, the accumulator runs on dequantised values (subnormal codes apart, which it normalises).
// The fp4 paths dequantise weights into a bf16 GEMM.
func Paths() []Path {
	fp8 := numerics.FP8Hopper("fp8", 128)
	fp8.Inputs = nil // as stored: the recipes rounded already
	return []Path{
		{Name: "fp32", Contract: numerics.MHCFP32()},
		{Name: "tf32", Contract: numerics.MHCTF32()},
		{Name: "bf16", Contract: numerics.MHCBF16()},
		{Name: "fp8", X: "v4-fp8", W: "torch-blockfp8", Contract: fp8},
		{Name: "mxfp4", W: "torch-mxfp4", Contract: numerics.MHCBF16()},
		{Name: "nvfp4", W: "modelopt-nvfp4", Contract: numerics.MHCBF16()},
	}
}

// stored returns the operands as the path stores them.
func (p Path) stored(x, w oracle.Mat) (sx, sw oracle.Mat, err error) {
	if sx, err = requantised(p.X, x); err == nil {
		sw, err = requantised(p.W, w)
	}
	if err != nil {
		err = fmt.Errorf("path %s: %w", p.Name, err)
	}
	return sx, sw, err
}

// requantised stores a matrix by a recipe and reads it back.
func requantised(recipe string, m oracle.Mat) (oracle.Mat, error) {
	if recipe == "" {
		return m, nil
	}
	r, err := format.RecipeByName(recipe)
	if err != nil {
		return m, err
	}
	single := make([]float32, len(m.Data))
	for i, v := range m.Data {
		single[i] = float32(v)
	}
	q, err := r.Quantise(single, m.Rows, m.Cols)
	if err != nil {
		return m, err
	}
	out := oracle.Mat{Rows: m.Rows, Cols: m.Cols}
	out.Data, err = r.Block.Decode(q)
	return out, err
}

// quick is the path with exact sums: operands and result are rounded, what the accumulator loses is left out.
func (p Path) quick(x, w oracle.Mat) (oracle.Mat, error) {
	sx, sw, err := p.stored(x, w)
	if err != nil {
		return oracle.Mat{}, err
	}
	sx.Data = p.Contract.Operand("x").Read(sx.Data)
	sw.Data = p.Contract.Operand("w").Read(sw.Data)
	out := oracle.Linear(sx, sw)
	p.Contract.Output().RoundSlice(out.Data)
	return out, nil
}

// Candidate computes a path's product [T, N] of x [T, K] and w [N, K] in place of the emulation: a kernel under test,
// or a planted fault. tensor is the canonical name.
type Candidate func(tensor string, p Path, x, w oracle.Mat) (oracle.Mat, error)

// Emulate is the Candidate that does as the path declares.
func Emulate(_ string, p Path, x, w oracle.Mat) (oracle.Mat, error) {
	sx, sw, err := p.stored(x, w)
	if err != nil {
		return oracle.Mat{}, err
	}
	out, err := p.Contract.Gemm(sx.Data, sw.Data, x.Rows, w.Rows, x.Cols)
	return oracle.Mat{Rows: x.Rows, Cols: w.Rows, Data: out}, err
}

// risk of a martingale bound, over all elements of one product.
const risk = numerics.DefaultRisk

// product is what one path made of a product, against the exact one.
type product struct {
	got, want          oracle.Mat
	relL2, rho, beyond float64
	verdict            string
}

// product runs the candidate and judges it; fp32 holds the bounds of fp32 accumulation on the stored operands, with the
// exact values.
func (p Path) product(tensor string, do Candidate, x, w oracle.Mat, fp32 numerics.GemmBounds) (product, error) {
	got, err := do(tensor, p, x, w)
	if err != nil {
		return product{}, fmt.Errorf("%s: %w", tensor, err)
	}
	if got.Rows != x.Rows || got.Cols != w.Rows || len(got.Data) != x.Rows*w.Rows {
		return product{}, fmt.Errorf("%s: path %s returned [%d, %d], want [%d, %d]", tensor, p.Name, got.Rows, got.Cols,
			x.Rows, w.Rows)
	}
	sx, sw, err := p.stored(x, w)
	if err != nil {
		return product{}, err
	}
	own, err := p.Contract.GemmBounds(sx.Data, sw.Data, x.Rows, w.Rows, x.Cols, risk)
	if err != nil {
		return product{}, fmt.Errorf("%s: %w", tensor, err)
	}
	centre, limit := own.Center, own.Strict
	if own.Martingale != nil {
		centre, limit = own.Want, own.Martingale
	}
	r := product{
		got: got, want: oracle.Mat{Rows: got.Rows, Cols: got.Cols, Data: fp32.Want},
		relL2:  numerics.RelL2(got.Data, fp32.Want),
		rho:    largest(numerics.Rho(got.Data, centre, limit)),
		beyond: largest(numerics.Rho(got.Data, fp32.Want, fp32.Martingale)),
	}
	if !(r.rho <= 1) {
		v := numerics.Judge(numerics.Trial{
			Shape: []int{got.Rows, got.Cols}, Axes: []string{"token", "output"}, Got: got.Data,
			Want: own.Center, Bound: own.Strict, Martingale: own.Martingale, Alpha: risk,
		}, p.Contract)
		r.verdict = fmt.Sprintf("%.3g bounds of its own contract %q away: %v", r.rho, p.Contract.Name, v)
	}
	return r, nil
}

func largest(v []float64) float64 {
	var m float64
	for _, x := range v {
		m = math.Max(m, x) // keeps a NaN
	}
	return m
}
