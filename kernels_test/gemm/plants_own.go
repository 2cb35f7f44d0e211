package gemm

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// ownFaults are faults of memory, layout and arithmetic that no row of the catalogue names.
func ownFaults() []fault {
	products := slices.Concat(denseOps, scaledOps)
	own := func(name, effect, class string, on []string) fault {
		return fault{name: name, effect: effect, origin: "a fault of this suite", class: class, on: on}
	}
	quirk := func(name, effect, class string, on []string, q quirks) fault {
		f := own(name, effect, class, on)
		f.quirks = q
		return f
	}
	arithmetic := func(name, effect string, on, declared []string, change func(s *style)) fault {
		f := own(name, effect, "accumulation", on)
		f.declared, f.style = declared, change
		return f
	}
	out := []fault{
		quirk("high-nibble-first", "the even k is read from the high nibble", "layout", []string{
			opMXFP4, opNVFP4, opGroupedN,
		}, quirks{highFirst: true}),
		quirk("scales-read-linear", "scales in tiles are read row by row", "scale-layout", []string{
			opBatched, opNVFP4, opGroupedN,
		}, quirks{linearScales: true}),
		quirk("short-block-scale", "the last block of rows of w, which is short, takes the scale before it", "scale-layout",
			[]string{
				opBlock, opGrouped, opMasked,
			}, quirks{shortScale: true}),
		quirk("scales-transposed", "block scales of w are read as [K/128, N/128]", "scale-layout", []string{
			opBlock, opGrouped, opMasked,
		}, quirks{transposed: true}),
		quirk("scales-of-first", "every batch and expert takes the scales of the first", "scale-layout", []string{
			opBatched, opGrouped, opGroupedN, opMasked,
		}, quirks{firstScale: true}),
		quirk("empty-experts-skipped", "experts without rows are left out of the numbering", "layout",
			[]string{opGrouped, opGroupedN}, quirks{skipsEmpty: true}),
		quirk("last-block-lost", "a last block of K that is not full is dropped", "tile", []string{
			opBlock, opGrouped, opMasked,
		}, quirks{lostBlock: true}),
		quirk("scales-shared", "one scale serves two neighbouring blocks along K", "scale-layout", scaledOps,
			quirks{coarse: true}),
		quirk("global-scale-lost", "the global factor is left out", "scale", []string{opNVFP4, opGroupedN},
			quirks{noAlpha: true}),
		arithmetic("bf16-sums", "the running sum is kept in bf16", products, []string{
			"fp32", "bf16", "fp8", "fp8-hopper", "bf16-hopper",
		}, func(s *style) {
			s.tensor, s.sum, s.run, s.carry = nil, sequential, 32, bf16
		}),
		arithmetic("sums-towards-zero", "sums in fp32 are cut, not rounded", []string{opDense}, []string{"fp32"},
			func(s *style) {
				s.sum = towardsZero
			}),
		arithmetic("output-cut", "the result is cut to bf16, not rounded", products, []string{"fp32", "bf16", "fp8"},
			func(s *style) {
				s.store = func(v float32) float64 { return float64(math.Float32frombits(math.Float32bits(v) &^ 0xffff)) }
			}),
		arithmetic("operands-cut", "operands are cut to TF32, not rounded", []string{opDense}, []string{"tf32-rn"},
			func(s *style) {
				s.read = tf32Cut
			}),
		arithmetic("operands-bf16", "operands are rounded to bf16", []string{opDense}, []string{"tf32-rn", "tf32x3", "fp32"},
			func(s *style) {
				s.read = bf16
			}),
		arithmetic("halves-cut", "operands are split into two TF32 numbers by cutting", []string{opDense}, []string{"tf32x3"},
			func(s *style) {
				s.three = halves(tf32Cut)
			}),
		arithmetic("one-tf32", "of three TF32 products one is computed", []string{opDense}, []string{"tf32x3"},
			func(s *style) {
				s.three, s.read = nil, tf32
			}),
	}
	last := own("last-tile-unwritten", "rows of a last tile of 64 that is not full are not written", "unwritten", []string{
		opDense, opBF16, opBlock, opMXFP4, opNVFP4,
	})
	last.after = bench.LastTileUnwritten(64)
	beyond := own("rows-beyond-masked", "the row after the last is read and multiplied with 0", "unread-memory", []string{
		opDense, opFP8, opBlock, opMXFP4,
	})
	beyond.before = bench.RowsBeyondMasked("x")
	touched := own("input-scaled-in-place", "x is scaled in place", "input-overwritten", []string{opBlock, opMXFP4})
	touched.after = func(c bench.Call, _ *bench.Reply) {
		v := c.Views["x"]
		v.Each(func(_, at int) { c.Storage[v.Storage].Data[at] /= 2 })
	}
	out = append(out, last, beyond, touched, paddingExpert(own))
	return append(out, strideFaults(own)...)
}

// paddingExpert reads rows of padding and multiplies them with 0.
func paddingExpert(own func(name, effect, class string, on []string) fault) fault {
	f := own("padding-rows-multiplied", "rows of padding are read and multiplied with 0", "unread-memory",
		[]string{opGrouped})
	f.after = func(c bench.Call, r *bench.Reply) {
		x, ids := c.Views["x"], c.Views["expert"]
		expert := make([]float64, ids.Len())
		ids.Each(func(i, at int) { expert[i] = c.Storage[ids.Storage].Data[at] })
		var sum float64
		x.Each(func(i, at int) {
			if expert[i/x.Shape[1]] < 0 {
				sum += 0 * c.Storage[x.Storage].Data[at]
			}
		})
		for i := range r.Outputs["y"].Data {
			r.Outputs["y"].Data[i] += sum
		}
	}
	return f
}

// strideFaults take one operand at a time to lie without gaps.
func strideFaults(own func(name, effect, class string, on []string) fault) []fault {
	var out []fault
	for _, operand := range []string{"x", "w", "x_scale", "w_scale"} {
		on := slices.Concat(denseOps, scaledOps, []string{opQuantFP8, opQuantNV})
		if operand != "x" {
			on = slices.Concat(denseOps, scaledOps)
		}
		f := own("stride-ignored-"+hyphens(operand), "rows of "+operand+" are taken to lie without gaps", "strides", on)
		f.before = bench.StrideIgnored(operand)
		out = append(out, f)
	}
	return out
}
