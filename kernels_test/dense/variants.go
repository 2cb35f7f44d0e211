package dense

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/bench/softmax"
)

// option makes a correct kernel another correct one.
type option func(k *attention[float32])

func lanes(n int) option {
	return func(k *attention[float32]) { k.Dot = bench.DotLanes[float64](n, bench.Sequential) }
}

func tile(n int) option { return func(k *attention[float32]) { k.Tile = n } }

func splits(n int) option { return func(k *attention[float32]) { k.splits = n } }

func exp2(k *attention[float32]) { k.Exp = softmax.ExpBy2[float32] }

func lastKeyFirst(k *attention[float32]) { k.order = slices.Reverse[[]int] }

// scaledQueries puts the scales of the scores into q.
func scaledQueries(k *attention[float32]) {
	k.prepare = func(q []float64, scale float32) float32 {
		for c, x := range q {
			q[c] = float64(float32(x) * scale)
		}
		return 1
	}
}

func scaledValues(k *attention[float32]) {
	k.fold = func(vScale float32) (values, weights, result float32) { return vScale, 1, 1 }
}

func scaledWeights(k *attention[float32]) {
	k.fold = func(vScale float32) (values, weights, result float32) { return 1, vScale, 1 }
}

// byReciprocal multiplies by the rescaled reciprocal of the sum.
func byReciprocal(k *attention[float32]) {
	k.divide = func(acc, factor, total float32) float32 { return acc * (factor / total) }
}

// roundedWeights is correct under the contracts that say so.
func roundedWeights(k *attention[float32]) { k.Weight = softmax.RoundedWeights }

// variants are correct kernels: other orders, lanes, tiles and splits, base-2 exponentials, scales folded elsewhere,
// more exact arithmetic.
func variants() []bench.Variant {
	attentions := []struct {
		name    string
		options []option
	}{
		{"lanes-4", []option{lanes(4)}},
		{"lanes-16", []option{lanes(16)}},
		{"lanes-128", []option{lanes(128)}},
		{"online-tile-1", []option{tile(1), lanes(8)}},
		{"online-tile-5", []option{tile(5), lanes(8)}},
		{"online-tile-16", []option{tile(16), lanes(8)}},
		{"online-tile-64", []option{tile(64), lanes(8)}},
		{"splits-1", []option{splits(1), lanes(4)}},
		{"splits-2", []option{splits(2), lanes(4)}},
		{"splits-3", []option{splits(3), lanes(4)}},
		{"splits-5", []option{splits(5), lanes(4)}},
		{"splits-8", []option{splits(8), lanes(4)}},
		{"splits-17", []option{splits(17), lanes(4)}},
		{"exp2", []option{exp2}},
		{"exp2-tile-16-splits-2", []option{exp2, tile(16), splits(2), lanes(16)}},
		{"exp2-tile-3", []option{exp2, tile(3)}},
		{"last-key-first", []option{lastKeyFirst}},
		{"last-key-first-tile-8", []option{lastKeyFirst, tile(8), lanes(2)}},
		{"last-key-first-splits-4-exp2", []option{lastKeyFirst, splits(4), exp2}},
		{"scaled-queries", []option{scaledQueries}},
		{"scaled-queries-exp2", []option{scaledQueries, exp2, lanes(32)}},
		{"scaled-queries-tile-4", []option{scaledQueries, tile(4)}},
		{"scaled-values", []option{scaledValues}},
		{"scaled-values-tile-7", []option{scaledValues, tile(7), splits(2)}},
		{"scaled-weights", []option{scaledWeights}},
		{"scaled-weights-splits-2", []option{scaledWeights, splits(2), exp2}},
		{"multiplied-by-reciprocal", []option{byReciprocal}},
		{"two-pass", []option{splits(1), byReciprocal, lanes(64)}},
	}
	rounded := []struct {
		name    string
		options []option
	}{
		{"weights-bf16", []option{lanes(16)}},
		{"weights-bf16-lanes-128", []option{lanes(128), exp2}},
		{"weights-bf16-tile-16", []option{tile(16), exp2}},
		{"weights-bf16-tile-4-last-first", []option{tile(4), lastKeyFirst}},
		{"weights-bf16-splits-5", []option{splits(5), scaledQueries}},
		{"weights-bf16-scaled-values", []option{scaledValues}},
	}
	var out []bench.Variant
	add := func(name, contract string, kernels map[string]bench.Kernel) {
		out = append(out, bench.Variant{Name: name, Contract: contract, Candidate: bench.FromKernels(name, kernels)})
	}
	with := func(options ...option) map[string]bench.Kernel {
		k := streaming(softmax.FP32())
		for _, o := range options {
			o(&k)
		}
		return k.kernels()
	}
	for _, v := range attentions {
		add(v.name, "", with(v.options...))
	}
	for _, v := range rounded {
		for _, contract := range []string{"bf16-p-bf16", "fp8-kv"} {
			add(v.name+"-"+contract, contract, with(append(v.options, roundedWeights)...))
		}
	}
	add("float64", "", streaming(softmax.FP64()).kernels())
	return append(out, exactVariants()...)
}

// exactVariants are correct writers, builders and masks.
func exactVariants() []bench.Variant {
	last, reciprocal := newWriter(), newWriter()
	last.token, reciprocal.divide = fromTheEnd, func(x, scale float32) float32 { return x * (1 / scale) }
	lastRow, reciprocalRow := newRowWriter(), newRowWriter()
	lastRow.token, reciprocalRow.divide = fromTheEnd, func(x, scale float32) float32 { return x * (1 / scale) }
	reciprocalRow.scale = func(amax float32) float32 { return amax * float32(1.0/448) }
	walk := newTabler()
	walk.entry = func(row []float64, i, page int) float64 {
		id := 0
		for j := range i*page + 1 {
			id = int(row[j]) / page
		}
		return float64(id)
	}
	lastKey := newMasker()
	lastKey.key = fromTheEnd
	one := func(name, op string, k bench.Kernel) bench.Variant {
		return bench.Variant{Name: name, Candidate: bench.FromKernel(name, op, k)}
	}
	return []bench.Variant{
		one("write-last-first", "kv_write", last.write),
		one("write-by-reciprocal", "kv_write", reciprocal.write),
		one("rows-last-first", "mla_kv_write", lastRow.write),
		one("rows-by-reciprocal", "mla_kv_write", reciprocalRow.write),
		one("table-by-walk", "page_table", walk.build),
		one("mask-last-first", "window_mask", lastKey.build),
	}
}
