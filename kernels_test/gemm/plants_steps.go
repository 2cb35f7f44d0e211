package gemm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// operandPlants read other operands than the call's.
func operandPlants() []bench.Plant {
	plant := func(name, effect, class string, on []string, change change) bench.Plant {
		return own(name, effect, class, on, multiplying(change))
	}
	blocks := []string{opBlock, opGrouped, opMasked} // of 128 x 128
	return []bench.Plant{
		plant("high-nibble-first", "the even k is read from the high nibble", "layout",
			[]string{opMXFP4, opNVFP4, opGroupedN}, func(k *kernel) {
				k.nibbles = func(b int) (even, odd int) { return b >> 4, b & 15 }
			}),
		plant("scales-read-linear", "scales in tiles are read row by row", "scale-layout",
			[]string{opBatched, opNVFP4, opGroupedN}, func(k *kernel) {
				k.tile = func(v []float32, row, col, cols int) float32 { return v[(row*cols+col)%len(v)] }
			}),
		plant("short-block-scale", "the last block of rows of w, which is short, takes the scale before it", "scale-layout",
			blocks, func(k *kernel) {
				k.block = func(first, row, col, rows, groups int) int {
					b := row / 128
					if b > 0 && b == rows/128 {
						b--
					}
					return (first+b)*groups + col
				}
			}),
		plant("scales-transposed", "block scales of w are read as [K/128, N/128]", "scale-layout", blocks,
			func(k *kernel) {
				k.block = func(first, row, col, rows, groups int) int { return first*groups + col*up(rows, 128) + row/128 }
			}),
		plant("scales-of-first", "every batch and expert takes the scales of the first", "scale-layout",
			[]string{opBatched, opGrouped, opGroupedN, opMasked}, func(k *kernel) {
				k.begin = func(int, int) int { return 0 }
				k.wTiles = func(all bench.Tensor, _, _ int) (bench.Tensor, int) { return bench.Tensor{Data: all.Row(0)}, 0 }
			}),
		plant("empty-experts-skipped", "experts without rows are left out of the numbering", "layout",
			[]string{opGrouped, opGroupedN}, func(k *kernel) { k.weights = skippingEmpty }),
		plant("last-block-lost", "a last block of K that is not full is dropped", "tile", blocks, func(k *kernel) {
			k.take = func(p product) product {
				p.x, p.w = p.x.wholeBlocks(), p.w.wholeBlocks()
				return p
			}
		}),
		plant("scales-shared", "one scale serves two neighbouring blocks along K", "scale-layout", scaledOps,
			func(k *kernel) {
				k.take = func(p product) product {
					p.x, p.w = p.x.sharing(), p.w.sharing()
					return p
				}
			}),
		plant("global-scale-lost", "the global factor is left out", "scale", []string{opNVFP4, opGroupedN},
			func(k *kernel) {
				k.global = func(_, weight float32) float32 { return weight }
				k.alpha = func(all []float64, _ int) float64 { return all[0] }
			}),
	}
}

// skippingEmpty numbers the experts that have rows.
func skippingEmpty(rows [][]int) []int {
	out := make([]int, len(rows))
	next := 0
	for e := range rows {
		if out[e] = next; len(rows[e]) > 0 {
			next++
		}
	}
	return out
}

// wholeBlocks has zeros in a last block of 128 that is not full.
func (m matrix) wholeBlocks() matrix {
	if m.k < 128 {
		return m
	}
	m.code = append([]float32(nil), m.code...)
	for i := range m.code {
		if i%m.k >= m.k/128*128 {
			m.code[i] = 0
		}
	}
	return m
}

// sharing lets the scale of each even group serve the odd one after it.
func (m matrix) sharing() matrix {
	for i := range m.scale {
		if i%m.groups()%2 == 1 {
			m.scale[i] = m.scale[i-1]
		}
	}
	return m
}

// sumPlants compute in another arithmetic than declared.
func sumPlants() []bench.Plant {
	plant := func(name, effect string, on []string, change change) bench.Plant {
		return own(name, effect, "accumulation", on, multiplying(change))
	}
	dense := []string{opDense}
	halves := own("global-of-first-half", "the first half's global scale serves both", "scale", []string{opNVFP4},
		multiplying(func(k *kernel) { k.halfOf = func(int, int) int { return 0 } }))
	sequential := bench.DotSequential[float32]
	return []bench.Plant{
		halves,
		plant("bf16-sums", "the running sum is kept in bf16", productOps, func(k *kernel) {
			k.part, k.run, k.carry = summed(sequential), 32, bench.AsBF16
		}).Under("fp32", "bf16", "fp8", "fp8-hopper", "bf16-hopper"),
		plant("sums-towards-zero", "sums in fp32 are truncated, not rounded", dense, func(k *kernel) {
			k.part = summed(towardsZero)
		}).Under("fp32"),
		plant("output-cut", "the result is truncated to bf16, not rounded", productOps, func(k *kernel) {
			k.store = func(v float32) float64 { return float64(cutTo(7)(v)) }
		}).Under("fp32", "bf16", "fp8"),
		plant("operands-cut", "operands are truncated to TF32, not rounded", dense, func(k *kernel) {
			k.read = cutTo(10)
		}).Under("tf32-rn"),
		plant("operands-bf16", "operands are rounded to bf16", dense, func(k *kernel) {
			k.read = bench.AsBF16
		}).Under("tf32-rn", "tf32-rz", "tf32x3", "fp32"),
		plant("operands-nine-bits", "operands keep 9 of TF32's 10 fraction bits", dense, func(k *kernel) {
			k.read = cutTo(9)
		}).Under("tf32-rz"),
		plant("halves-cut", "operands are split into two TF32 numbers by truncation", dense, func(k *kernel) {
			k.part = threeTF32(cutTo(10), sequential)
		}).Under("tf32x3"),
		plant("one-tf32", "of three TF32 products one is computed", dense, func(k *kernel) {
			k.read, k.part = tf32, summed(sequential)
		}).Under("tf32x3"),
	}
}

// quantiserPlants are faults of quantisers.
func quantiserPlants() []bench.Plant {
	plant := func(name, effect, class string, on []string, change func(q *quantiser)) bench.Plant {
		return own(name, effect, class, on, quantising(change))
	}
	both, fp8, nv := []string{opQuantFP8, opQuantNV}, []string{opQuantFP8}, []string{opQuantNV}
	return []bench.Plant{
		plant("quantise-reciprocal", "elements are multiplied by the rounded reciprocal of their scale", "encoding", both,
			func(q *quantiser) { q.quotient = func(v, by float32) float32 { return v * (1 / by) } }),
		plant("quantise-scale-in-bf16", "the scale is computed in bf16", "encoding", fp8, func(q *quantiser) {
			q.divided = func(amax float32) float32 { return bench.AsBF16(amax / 448) }
		}).Under("two-roundings"),
		plant("quantise-nearest-power", "the power of two is the nearest one, not the next above", "encoding", fp8,
			func(q *quantiser) {
				q.exponent = func(s float32) int { return int(math.Round(math.Log2(float64(s)))) }
			}).Under("two-roundings", "ue8m0-log2"),
		plant("quantise-ties-away", "e4m3 ties go away from zero", "encoding", fp8, func(q *quantiser) {
			q.element = func(v float32) byte { return roundE4M3(v, math.Round) }
		}),
		plant("quantise-ties-to-zero", "e2m1 ties go to the smaller magnitude", "encoding", nv, func(q *quantiser) {
			q.narrow = func(v float32) byte { return tableE2M1(v, func(a, mid float32, _ bool) bool { return a > mid }) }
		}),
		plant("quantise-truncates", "elements are truncated, not rounded", "encoding", fp8, func(q *quantiser) {
			q.element = func(v float32) byte { return roundE4M3(v, math.Trunc) }
		}),
		plant("quantise-sign-of-zero", "a negative value that becomes zero loses its sign", "encoding", both,
			func(q *quantiser) {
				q.element, q.narrow = unsignedZero(q.element, 0x80), unsignedZero(q.narrow, 8)
			}),
		plant("quantise-no-floor", "the floor of the maximum is missing", "scale", fp8,
			func(q *quantiser) { q.floored = func(amax, _ float32) float32 { return amax } }),
		plant("quantise-scale-down", "the scale is rounded down to a power of two", "encoding", fp8,
			func(q *quantiser) { q.exponent = func(s float32) int { return ceilBits(s) - 1 } }),
		plant("quantise-bf16-first", "values are rounded to bf16 before they are quantised", "encoding", both,
			func(q *quantiser) { q.read = bench.AsBF16 }),
		plant("quantise-row-scale", "one maximum serves all groups of a row", "scale-layout", fp8,
			func(q *quantiser) { q.amax = func(row []float32, _, _ int) float32 { return largest(row) } }),
		plant("quantise-short-group", "a last group that is short is not written", "unwritten", fp8,
			func(q *quantiser) { q.written = func(k, group int) int { return k / group } }),
		plant("quantise-no-global", "block scales are made without the global one", "scale", nv,
			func(q *quantiser) { q.relative = func(amax, _ float32) float32 { return amax / 6 } }),
		plant("quantise-linear-scales", "scales are written row by row, not in tiles", "scale-layout", nv,
			func(q *quantiser) { q.place = func(row, col, cols int) int { return row*cols + col } }),
		plant("quantise-padding-left", "what fills up the tiles is not cleared", "unwritten", nv,
			func(q *quantiser) { q.padding = func([]float64) {} }),
		plant("quantise-high-first", "the even element goes to the high nibble", "layout", nv,
			func(q *quantiser) { q.pack = func(even, odd byte) byte { return odd | even<<4 } }),
	}
}

// unsignedZero writes zero for the code of -0.
func unsignedZero(code func(float32) byte, minus byte) func(float32) byte {
	return func(v float32) byte {
		if c := code(v); c != minus {
			return c
		}
		return 0
	}
}
