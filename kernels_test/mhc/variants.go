package mhc

import (
	"fmt"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// plain is the fp32 recipe that the others differ from in one thing.
func plain() Recipe {
	return Recipe{
		Name: "fp32-sequential", Contract: "fp32", Gemm: GemmOf(Sequential), Squares: Sequential, Small: Sequential,
		Exp: exp32,
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
	return Recipe{}, fmt.Errorf("no contract is called %q; fp32, tf32-rn and bf16 are", contract)
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
		{"sequential", Sequential},
		{"reversed", Reversed},
		{"fused", Fused},
		{"pairwise", Pairwise},
		{"exact", Exact},
		{"blocked-8", Blocked(8, Sequential)},
		{"blocked-32", Blocked(32, Sequential)},
		{"blocked-128-pairwise", Blocked(128, Pairwise)},
		{"blocked-100-fused", Blocked(100, Fused)},
		{"split-2", SplitK(2, Sequential)},
		{"split-3-reversed", SplitK(3, Reversed)},
		{"split-4", SplitK(4, Sequential)},
		{"split-7", SplitK(7, Sequential)},
		{"split-16-fused", SplitK(16, Fused)},
		{"lanes-8", Lanes(8)},
		{"lanes-32", Lanes(32)},
		{"lanes-128", Lanes(128)},
		{"split-4-lanes-32", SplitK(4, Lanes(32))},
	}
	for _, o := range orders {
		with("fp32-"+o.name, func(r *Recipe) { r.Gemm, r.Squares = GemmOf(o.dot), o.dot })
	}
	for _, o := range orders[1:5] {
		with("fp32-small-sums-"+o.name, func(r *Recipe) { r.Small = o.dot })
	}
	with("fp32-squares-apart", func(r *Recipe) { r.Gemm, r.Squares = GemmOf(Lanes(64)), Pairwise })
	with("fp32-eps-first", func(r *Recipe) { r.EpsFirst = true })
	with("fp32-exp2-softmax", func(r *Recipe) { r.Exp = exp2Form })
	acc := numerics.FP32Any()
	acc.Order, acc.Chunk = numerics.Blocked, 48
	with("fp32-accumulator-blocked-48", func(r *Recipe) { r.Gemm = GemmOf(acc.Dot) })
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
		r.Name, r.Contract, r.Gemm, r.Squares = c.Name+"-"+name, c.Name, gemm, Lanes(32)
		out = append(out, r)
	}
	add("native", GemmUnder(c))
	for _, size := range []int{64, 128, 256} {
		split := c
		split.Acc.Splits = []numerics.Split{{K: 256, Size: size}, {K: 512, Size: size}, {K: 16384, Size: 8 * size}}
		add(fmt.Sprintf("split-%d", size), GemmUnder(split))
	}
	for _, o := range []struct {
		name string
		dot  Dot
	}{{"sequential", Sequential}, {"pairwise", Pairwise}, {"lanes-32", Lanes(32)}, {"split-4", SplitK(4, Fused)}} {
		add("read-fp32-"+o.name, readAs(c, o.dot))
	}
	add("unrounded-fp32", GemmOf(Pairwise))
	add("unrounded-exact", GemmOf(Exact))
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
