package route

import (
	"math"
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle/faults"
)

var (
	onGate    = []string{opGate}
	onCombine = []string{opCombine}
)

// own are the contracts' own candidates.
var own = bench.Builder(built)

// plants lists the faults: the catalogue's, and this package's own in each operator, its call and in memory.
func plants() []bench.Plant {
	r5 := bench.With(correctRouter(), biasInWeights, groupsUnbiased)
	return slices.Concat([]bench.Plant{
		bench.RowPlant(faults.R1, onGate, own.Before(factorTwice)),
		bench.RowPlant(faults.R2, onCombine, own.Before(shared(func(v, f float64) float64 { return v / f }))),
		bench.RowPlant(faults.R3, onGate, own.Before(func(c *bench.Call) {
			if !c.Attrs.Flag("renormalise") {
				c.Attrs["routed_scaling"] = 1.0
			}
		})),
		bench.RowPlant(faults.R5, onGate, bench.Always("faulty", map[string]bench.Kernel{opGate: r5.run})),
	}, gatePlants(), combinePlants(), callPlants(), replyPlants(), memoryPlants())
}

// callPlants are correct kernels that are called wrongly.
func callPlants() []bench.Plant {
	number := func(attr string, v float64) func(c *bench.Call) {
		return bench.Mistaken(attr, func(float64) float64 { return v })
	}
	says := func(attr string, v any) func(c *bench.Call) { return func(c *bench.Call) { c.Attrs[attr] = v } }
	inverted := bench.Mistaken("routed_scaling", func(f float64) float64 { return 1 / f })
	slots := func(f func(c *bench.Call, i, row int) int) func(c *bench.Call) {
		return func(c *bench.Call) {
			bench.Misread("src2dst", func(i int, row float64) float64 { return float64(f(c, i, int(row))) })(c)
		}
	}
	rowsOf := func(c *bench.Call) int { return c.Views["expert_out"].Shape[0] }
	out := []bench.Plant{
		own.Called(opGate, "gate-scaling-missing", "the routed scaling factor is not applied",
			"factor left to a kernel that does not know it", "scale", number("routed_scaling", 1)),
		own.Called(opGate, "gate-scaling-inverted", "the weights are divided by the factor", "a reciprocal factor", "scale",
			inverted),
		own.Called(opGate, "gate-renormalised-always", "weights are renormalised although the flag is off",
			"a reference that always does", "scale", says("renormalise", true)),
		own.Called(opGate, "gate-renormalised-never", "weights are not renormalised", "flag ignored", "scale",
			says("renormalise", false)),
		own.Called(opGate, "gate-bias-ignored", "scores alone choose", "correction bias not passed", "selection",
			bench.Lost("bias")),
		own.Called(opGate, "gate-groups-ignored", "every group stays", "an ungrouped kernel",
			"selection", number("n_group", 1)),
		own.Called(opGate, "gate-one-group-more", "one group too many stays", "an inclusive bound", "selection",
			func(c *bench.Call) {
				c.Attrs["topk_group"] = min(c.Attrs.Num("topk_group")+1, c.Attrs.Num("n_group"))
			}),
		own.Called(opGate, "gate-softmax", "scores are softmax whatever is declared", "a routing mode left at its default",
			"gate", says("scoring_func", "softmax")),
		own.Called(opGate, "gate-padding-routed", "padding tokens are routed", "num_token_non_padded ignored",
			"unread-memory", bench.Lost("num_token_non_padded")),

		own.Called(opHash, "hash-by-index", "the table is read by the token's place", "token ids lost in a scatter",
			"selection", bench.Misread("token_ids", func(t int, _ float64) float64 { return float64(t) })),
		own.Called(opHash, "hash-next-row", "the table is read one row further", "ids counted from 1", "selection",
			bench.Rearranged("tid2eid", func(i int, shape []int) int { return (i + shape[1]) % (shape[0] * shape[1]) })),
		own.Called(opHash, "hash-16-bit", "token ids are cut to 16 bits", "ids stored in 16 bits", "selection",
			bench.Misread("token_ids", func(_ int, id float64) float64 { return float64(uint16(int(id))) })),
		own.Called(opHash, "hash-transposed", "the table is read transposed", "a table stored [K, V]", "selection",
			bench.Rearranged("tid2eid", func(i int, shape []int) int { return i%shape[1]*shape[0] + i/shape[1] })),
		own.Called(opHash, "hash-repeated", "the last expert is the first again", "a row read one short", "selection",
			bench.Rearranged("tid2eid", func(i int, shape []int) int {
				if k := shape[1]; i%k == k-1 {
					return i - i%k
				}
				return i
			})),
		own.Called(opHash, "hash-scaling-missing", "the factor is not applied", "a fused kernel without factor", "scale",
			number("routed_scaling", 1)),
		own.Called(opHash, "hash-scaling-twice", "the factor is applied twice", "factor in kernel and layer", "scale",
			factorTwice),
		own.Called(opHash, "hash-renormalised-always", "weights are renormalised although the flag is off", "flag ignored",
			"scale", says("renormalise", true)),
		own.Called(opCombine, "combine-shared-scaled", "the factor multiplies the shared expert too",
			"factor on the whole output", "scale", shared(func(v, f float64) float64 { return v * f })),
		own.Called(opCombine, "combine-shared-missing", "the shared expert is not added", "shared expert lost in a fusion",
			"scale", bench.Lost("shared_out")),
		own.Called(opCombine, "combine-shared-twice", "the shared expert is added twice", "added by layer and kernel",
			"scale", shared(func(v, _ float64) float64 { return 2 * v })),
		own.Called(opCombine, "combine-factor-twice", "the factor is applied twice", "vllm-project/vllm#45037", "scale",
			factorTwice),
		own.Called(opCombine, "combine-factor-missing", "the factor is not applied", "factor left to the gate", "scale",
			number("routed_scaling", 1)),
		own.Called(opCombine, "combine-factor-inverted", "the routed sum is divided by the factor", "a reciprocal factor",
			"scale", inverted),
		own.Called(opCombine, "combine-weights-squared", "weights are applied twice",
			"weights before and after the last product", "scale",
			bench.Misread("topk_weights", func(_ int, w float64) float64 { return w * w })),
		own.Called(opCombine, "combine-weights-missing", "weights are not applied", "weights left to another kernel", "scale",
			bench.Misread("topk_weights", func(int, float64) float64 { return 1 })),
		own.Called(opCombine, "combine-missing-is-row-0", "a slot without row reads row 0", "-1 clamped to 0",
			"unread-memory", slots(func(_ *bench.Call, _, row int) int { return max(row, 0) })),
		own.Called(opCombine, "combine-missing-is-last", "a slot without row reads the last row",
			"-1 as an index from the end", "unread-memory", slots(func(c *bench.Call, _, row int) int {
				return (row + rowsOf(c)) % rowsOf(c)
			})),
		own.Called(opCombine, "combine-rows-in-order", "rows are taken in order of tokens and slots", "src2dst ignored",
			"layout", slots(func(_ *bench.Call, i, _ int) int { return i })),
		own.Called(opCombine, "combine-next-row", "every slot reads the row after its own", "offsets without the first",
			"layout", slots(func(c *bench.Call, _, row int) int {
				if row < 0 {
					return row
				}
				return (row + 1) % rowsOf(c)
			})),
		own.Called(opCombine, "combine-misaligned", "weights are one slot off", "weights of another order", "layout",
			bench.Rearranged("topk_weights", func(i int, shape []int) int { return i - i%shape[1] + (i+1)%shape[1] })),
		own.Called(opCombine, "combine-last-slot-lost", "the last slot is left out", "a loop over k-1", "tile",
			slots(func(c *bench.Call, i, row int) int {
				if k := c.Views["src2dst"].Shape[1]; k > 1 && i%k == k-1 {
					return -1
				}
				return row
			})),
	}
	for _, of := range [][2]string{{opGate, "gate"}, {opHash, "hash"}} {
		op, prefix := of[0], of[1]
		out = append(out,
			own.Called(op, prefix+"-floor-missing", "no floor under the sum", "sgl-project/sglang#34459", "eps",
				number("renormalise_floor", 0)),
			own.Called(op, prefix+"-sigmoid", "scores are sigmoid whatever is declared", "flashinfer-ai/flashinfer#5190", "gate",
				says("scoring_func", "sigmoid")),
		)
	}
	return out
}

// factorTwice applies the routed scaling factor twice.
var factorTwice = bench.Mistaken("routed_scaling", func(f float64) float64 { return f * f })

// shared gives a kernel a function of the shared expert and of the routed scaling factor.
func shared(of func(v, f float64) float64) func(c *bench.Call) {
	return func(c *bench.Call) {
		f := float64(float32(c.Attrs.Num("routed_scaling")))
		bench.Misread("shared_out", func(_ int, v float64) float64 { return of(v, f) })(c)
	}
}

// replyPlants spoil outputs of correct kernels.
func replyPlants() []bench.Plant {
	rows := func(f func(c bench.Call, t int, ids, weights []float64)) func(c bench.Call, r *bench.Reply) {
		return func(c bench.Call, r *bench.Reply) {
			ids, weights := r.Outputs["topk_ids"].Data, r.Outputs["topk_weights"].Data
			tokens := c.Views["logits"].Shape[0]
			for t := range tokens {
				k := len(ids) / tokens
				f(c, t, ids[t*k:(t+1)*k], weights[t*k:(t+1)*k])
			}
		}
	}
	nan := func(c bench.Call, from, until int) bool {
		v := c.Views["logits"]
		found := false
		v.Each(func(i, at int) {
			t := i / v.Shape[1]
			found = found || t >= from && t < until && math.IsNaN(c.Storage[v.Storage].Data[at])
		})
		return found
	}
	return []bench.Plant{
		own.Wrote(opGate, "gate-misaligned", "ids are sorted and their weights are not", "a sort of keys without values",
			"layout", rows(func(_ bench.Call, _ int, ids, _ []float64) { slices.Sort(ids) })),
		own.Wrote(opGate, "gate-wild-nan", "a token with a NaN gets ids of -1", "an argmax that finds nothing", "selection",
			rows(func(c bench.Call, t int, ids, _ []float64) {
				for i := range ids {
					if nan(c, t, t+1) {
						ids[i] = -1
					}
				}
			})),
		own.Wrote(opGate, "gate-nan-spreads", "tokens after one with a NaN get NaN", "a reduction over the block", "batch",
			rows(func(c bench.Call, t int, _, weights []float64) {
				for i := range weights {
					if nan(c, 0, t+1) {
						weights[i] = math.NaN()
					}
				}
			})),
		own.Wrote(opHash, "hash-uniform", "all experts weigh alike", "scores not computed in hash layers", "gate",
			rows(func(c bench.Call, _ int, _, weights []float64) {
				for i := range weights {
					weights[i] = bench.Round(bench.F32, c.Attrs.Num("routed_scaling")/float64(len(weights)))
				}
			})),
		own.Wrote(opHash, "hash-misaligned", "weights are one slot off", "weights of another order", "layout",
			rows(func(_ bench.Call, _ int, _, weights []float64) {
				first := weights[0]
				copy(weights, weights[1:])
				weights[len(weights)-1] = first
			})),
	}
}

// memoryPlants are faults of what is read or written.
func memoryPlants() []bench.Plant {
	var out []bench.Plant
	for _, s := range []struct {
		short, op       string
		strided, beyond []string
		over, captured  string
	}{
		{"gate", opGate, []string{"logits"}, []string{"logits", "bias"}, "logits", "num_token_non_padded"},
		{"hash", opHash, []string{"logits", "tid2eid"}, []string{"logits"}, "logits", "token_ids"},
		{"combine", opCombine, []string{"expert_out", "shared_out"}, []string{"shared_out"}, "shared_out", "src2dst"},
	} {
		for _, operand := range s.strided {
			out = append(out, own.Called(s.op, s.short+"-"+shortly[operand]+"-stride-ignored",
				"the rows of "+operand+" are taken to lie without gaps", "a view treated as contiguous", "strides",
				bench.StrideIgnored(operand)))
		}
		for _, operand := range s.beyond {
			out = append(out, own.Called(s.op, s.short+"-reads-past-"+shortly[operand],
				"a row past "+operand+" enters, times 0", "a last tile masked by a product", "unread-memory",
				bench.RowsBeyondMasked(operand)))
		}
		out = append(out,
			own.Wrote(s.op, s.short+"-last-tile", "tokens of a last tile that is not full, tile 64, are never written",
				"grid rounded down", "unwritten", bench.LastTileUnwritten(64)),
			own.Wrote(s.op, s.short+"-in-place", "the call writes into "+s.over, "scratch in an operand", "input-overwritten",
				func(c bench.Call, _ *bench.Reply) {
					bench.Misread(s.over, func(int, float64) float64 { return 0.125 })(&c)
				}),
			own.Called(s.op, s.short+"-captured-"+shortly[s.captured],
				"a replayed graph keeps the "+s.captured+" that it was captured with", "host values baked into a graph",
				"graph", bench.StaleCapture(s.captured)),
		)
	}
	slices.SortFunc(out, func(a, b bench.Plant) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// shortly are operands in the names of plants.
var shortly = map[string]string{
	"num_token_non_padded": "count", "token_ids": "ids", "src2dst": "rows", "logits": "logits", "bias": "bias",
	"tid2eid": "table", "expert_out": "experts", "shared_out": "shared",
}
