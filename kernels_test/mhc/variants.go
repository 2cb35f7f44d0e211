package mhc

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

var (
	sequential = bench.DotSequential[float64]
	reversed   = bench.DotReversed[float64]
	fused      = bench.DotFused[float64]
	pairwise   = bench.DotPairwise[float64]
	exact      = bench.DotWide[float64]
)

func lanes(n int) Dot { return bench.DotLanes[float64](n, bench.Tree) }

func blocked(n int, inside Dot) Dot { return bench.DotBlocks(n, inside) }

func split(n int, inside Dot) Dot { return bench.DotSplits(n, inside) }

// plain is the fp32 recipe that the others differ from in one thing.
func plain() Recipe {
	return Recipe{
		Name: "fp32-sequential", Contract: "fp32", Gemm: GemmOf(sequential), Squares: sequential, Small: sequential,
		Exp:     exp32,
		Divisor: func(r Recipe, group []float64, eps float32) float32 { return r.sum(group) + eps },
	}
}

// Built returns the built-in candidate that follows a declared contract to the letter.
func Built(contract string) (Recipe, error) {
	for _, c := range declared() {
		if c.Name != contract {
			continue
		}
		r := plain()
		if contract != "fp32" {
			r.Name, r.Contract, r.Gemm = contract+"-native", contract, GemmUnder(c)
		}
		return r, nil
	}
	return Recipe{}, fmt.Errorf("no contract is called %q; fp32, tf32-rn, tf32-rz and bf16 are", contract)
}

// Variants lists correct implementations: other orders, splits, tiles, functions, and arithmetic more exact than
// declared. Every one must be accepted under its own declaration.
func Variants() []Recipe {
	var out []Recipe
	with := func(name string, change func(*Recipe)) {
		r := plain()
		change(&r)
		r.Name = name
		out = append(out, r)
	}
	orders := []struct {
		name string
		dot  Dot
	}{
		{"sequential", sequential},
		{"reversed", reversed},
		{"fused", fused},
		{"pairwise", pairwise},
		{"exact", exact},
		{"blocked-8", blocked(8, sequential)},
		{"blocked-32", blocked(32, sequential)},
		{"blocked-128-pairwise", blocked(128, pairwise)},
		{"blocked-100-fused", blocked(100, fused)},
		{"split-2", split(2, sequential)},
		{"split-3-reversed", split(3, reversed)},
		{"split-4", split(4, sequential)},
		{"split-7", split(7, sequential)},
		{"split-16-fused", split(16, fused)},
		{"lanes-8", lanes(8)},
		{"lanes-32", lanes(32)},
		{"lanes-128", lanes(128)},
		{"split-4-lanes-32", split(4, lanes(32))},
	}
	for _, o := range orders {
		with("fp32-"+o.name, func(r *Recipe) { r.Gemm, r.Squares = GemmOf(o.dot), o.dot })
	}
	for _, o := range orders[1:5] {
		with("fp32-small-sums-"+o.name, func(r *Recipe) { r.Small = o.dot })
	}
	with("fp32-squares-apart", func(r *Recipe) { r.Gemm, r.Squares = GemmOf(lanes(64)), pairwise })
	with("fp32-eps-first", func(r *Recipe) {
		r.Divisor = func(_ Recipe, group []float64, eps float32) float32 {
			for _, v := range group {
				eps += float32(v)
			}
			return eps
		}
	})
	with("fp32-exp2-softmax", func(r *Recipe) { r.Exp = exp2Form })
	acc := numerics.FP32Any()
	acc.Order, acc.Chunk = numerics.Blocked, 48
	with("fp32-accumulator-blocked-48", func(r *Recipe) { r.Gemm = GemmOf(bench.DotUnder[float64](acc)) })
	for _, c := range declared()[1:] {
		out = append(out, underContract(c)...)
	}
	return out
}

// underContract lists ways to follow a tensor-core contract: its own accumulator in other splits, fp32 sums of operands
// read as it reads them, and no rounding of the operands at all.
func underContract(c numerics.Contract) []Recipe {
	var out []Recipe
	add := func(name string, gemm func(x, w oracle.Mat) oracle.Mat) {
		r := plain()
		r.Name, r.Contract, r.Gemm, r.Squares = c.Name+"-"+name, c.Name, gemm, lanes(32)
		out = append(out, r)
	}
	add("native", GemmUnder(c))
	for _, size := range []int{64, 128, 256} {
		cut := c
		cut.Acc.Splits = []numerics.Split{{K: 256, Size: size}, {K: 512, Size: size}, {K: 16384, Size: 8 * size}}
		add(fmt.Sprintf("split-%d", size), GemmUnder(cut))
	}
	for _, o := range []struct {
		name string
		dot  Dot
	}{{"sequential", sequential}, {"pairwise", pairwise}, {"lanes-32", lanes(32)}, {"split-4", split(4, fused)}} {
		add("read-fp32-"+o.name, readAs(c, o.dot))
	}
	add("unrounded-fp32", GemmOf(pairwise))
	add("unrounded-exact", GemmOf(exact))
	return out
}

// readAs rounds the operands as the contract reads them, adds in fp32 and rounds to the contract's output.
func readAs(c numerics.Contract, d Dot) func(x, w oracle.Mat) oracle.Mat {
	return func(x, w oracle.Mat) oracle.Mat {
		x.Data, w.Data = c.Operand("x").Read(x.Data), c.Operand("w").Read(w.Data)
		out := GemmOf(d)(x, w)
		for i, v := range out.Data {
			out.Data[i] = c.Output().RoundTo(v, format.RN, c.Saturation)
		}
		return out
	}
}
