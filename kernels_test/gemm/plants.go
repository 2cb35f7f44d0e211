package gemm

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle/faults"
)

// plants lists the faults: those of the catalogue, and this package's own in operands, in sums, in memory and in
// quantisers.
func plants() []bench.Plant {
	return slices.Concat(catalogued(), operandPlants(), sumPlants(), memoryPlants(), quantiserPlants())
}

// own is a plant of no row of the catalogue.
func own(name, effect, class string, on []string, build bench.Builder) bench.Plant {
	return bench.Plant{
		Name: name, Effect: effect, Origin: "a fault of this suite", Class: class, On: on, Build: build,
	}
}

// multiplying builds products of the contract's own kernel with other steps.
func multiplying(c change) bench.Builder {
	return func(contract string) (bench.Candidate, error) {
		letter, err := following(contract)
		if err != nil {
			return nil, err
		}
		return bench.FromKernels("faulty", correct(letter, c).kernels(productOps...)), nil
	}
}

// quantising builds quantisers with other steps.
func quantising(changes ...func(q *quantiser)) bench.Builder {
	return bench.Always("faulty", correctQuantiser(changes...).kernels())
}

// catalogued are the rows of the catalogue.
func catalogued() []bench.Plant {
	narrow := onTensorCore(numerics.HopperFP8(0)) // 13 fraction bits, never promoted
	return []bench.Plant{
		bench.RowPlant(faults.Q1, []string{opNVFP4}, bench.Builder(built).After(
			paddingReaches(func(c bench.Call) bool { return c.Views["x"].Shape[0] <= 32 }))),
		bench.RowPlant(faults.Q2, []string{opNVFP4}, bench.Builder(built).After(
			paddingReaches(func(c bench.Call) bool { return c.Phase == "decode" }))),
		bench.RowPlant(faults.Q3, []string{opGrouped, opGroupedN, opMasked}, multiplying(func(k *kernel) {
			k.begin = func(expert, n int) int { return expert * n / 128 }
			k.wTiles = func(all bench.Tensor, e, rows int) (bench.Tensor, int) { return all, e * rows }
		})),
		bench.RowPlant(faults.Q5, []string{opBatched}, multiplying(func(k *kernel) {
			k.xTiles = func(all bench.Tensor, b, rows int) (bench.Tensor, int) { return all, b * rows }
		})),
		bench.RowPlant(faults.Q10, []string{opNVFP4}, multiplying(func(k *kernel) {
			k.global = func(input, weight float32) float32 { return 1 / input * weight }
		})),
		bench.RowPlant(faults.Q12, []string{opBlock}, multiplying(func(k *kernel) { k.words = asExponents })),
		bench.RowPlant(faults.Q13, []string{opQuantFP8}, quantising(func(q *quantiser) { q.exponent = ceilLog2 })),
		bench.RowPlant(faults.Q21, []string{opQuantFP8}, bench.Builder(built).Before(maximumOfStorage)),
		bench.RowPlant(faults.A1, []string{opFP8}, multiplying(func(k *kernel) { k.part, k.run = narrow, 0 })),
		bench.RowPlant(faults.A2, []string{opBlock}, multiplying(func(k *kernel) {
			k.part, k.run, k.carry = narrow, 32, cutTo(13)
		})),
		bench.RowPlant(faults.A4, []string{opDense}, multiplying(func(k *kernel) {
			k.part = split(tf32, smallPartsCut)
		})).Under("tf32x3"),
		bench.RowPlant(faults.R6, []string{opMasked}, multiplying(func(k *kernel) {
			// one tile of 64 rows for each expert is stored whole: it reaches into the next expert's buffer
			k.held = func(count, most, expert, experts int) int {
				if most >= 64 {
					return count
				}
				return min(64, (experts-expert)*most)
			}
		})),
	}
}

// asExponents reads the bits of fp32 scales [rows, groups] as four exponents a word, as another generation of hardware
// stores them.
func asExponents(v []float32, groups int) []float32 {
	out := make([]float32, len(v))
	for i := range out {
		r, g := i/groups, i%groups
		e := math.Float32bits(v[r*groups+g/4]) >> (8 * (g % 4)) & 0xff
		if out[i] = float32(math.Ldexp(1, int(e)-127)); e == 0xff {
			out[i] = float32(math.NaN())
		}
	}
	return out
}

// paddingReaches multiplies what fills up the tiles of x's scales with zeros and adds it to every row.
func paddingReaches(when func(c bench.Call) bool) func(c bench.Call, r *bench.Reply) {
	return func(c bench.Call, r *bench.Reply) {
		if !when(c) {
			return
		}
		m, cols := c.Views["x"].Shape[0], c.Views["x"].Shape[1]/8
		used := map[int]bool{}
		for row := range m {
			for col := range cols {
				used[format.SwizzledOffset(row, col, cols)] = true
			}
		}
		addUnused(c, r, "x_scale", func(i int) bool { return !used[i] })
	}
}

// addUnused adds elements of an operand that are nobody's to every output, times 0.
func addUnused(c bench.Call, r *bench.Reply, operand string, unused func(i int) bool) {
	v := c.Views[operand]
	var sum float64
	v.Each(func(i, at int) {
		if unused(i) {
			sum += 0 * c.Storage[v.Storage].Data[at]
		}
	})
	for i := range r.Outputs["y"].Data {
		r.Outputs["y"].Data[i] += sum
	}
}

// maximumOfStorage takes the maximum for one scale over all memory behind x.
func maximumOfStorage(c *bench.Call) {
	if c.Attrs.Int("group_size") != 0 {
		return
	}
	top := c.Attrs.Num("amax_floor")
	for _, v := range c.Storage[c.Views["x"].Storage].Data {
		top = bench.FMax(math.Abs(v), top)
	}
	c.Attrs["amax_floor"] = top
}

// memoryPlants read what is not theirs, ignore a layout, leave rows unwritten, or write into inputs.
func memoryPlants() []bench.Plant {
	out := []bench.Plant{
		own("last-tile-unwritten", "rows of a last tile of 64 that is not full are not written", "unwritten",
			[]string{opDense, opBF16, opBlock, opMXFP4, opNVFP4}, bench.Builder(built).After(bench.LastTileUnwritten(64))),
		own("rows-beyond-masked", "the row after the last is read and multiplied by 0", "unread-memory",
			[]string{opDense, opFP8, opBlock, opMXFP4}, bench.Builder(built).Before(bench.RowsBeyondMasked("x"))),
		own("input-scaled-in-place", "x is scaled in place", "input-overwritten", []string{opBlock, opMXFP4},
			bench.Builder(built).After(func(c bench.Call, _ *bench.Reply) {
				v := c.Views["x"]
				v.Each(func(_, at int) { c.Storage[v.Storage].Data[at] /= 2 })
			})),
		own("padding-rows-multiplied", "rows of padding are read and multiplied by 0", "unread-memory", []string{opGrouped},
			bench.Builder(built).After(func(c bench.Call, r *bench.Reply) {
				x, ids := c.Views["x"], c.Views["expert"]
				expert := make([]float64, ids.Len())
				ids.Each(func(i, at int) { expert[i] = c.Storage[ids.Storage].Data[at] })
				addUnused(c, r, "x", func(i int) bool { return expert[i/x.Shape[1]] < 0 })
			})),
	}
	for _, operand := range []string{"x", "w", "x_scale", "w_scale"} {
		on := productOps
		if operand == "x" {
			on = slices.Concat(productOps, []string{opQuantFP8, opQuantNV})
		}
		out = append(out, own("stride-ignored-"+hyphens(operand), "rows of "+operand+" are taken to lie without gaps",
			"strides", on, bench.Builder(built).Before(bench.StrideIgnored(operand))))
	}
	return out
}
