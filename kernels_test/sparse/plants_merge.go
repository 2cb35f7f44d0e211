package sparse

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// mergePlants are faults of merge_state and merge_states.
func mergePlants() []bench.Plant {
	merge := func(name, class, effect string, declared []string, change func(m *merger[float32]), on ...string,
	) bench.Plant {
		if len(on) == 0 {
			on = []string{opMergeState, opMergeStates}
		}
		return own(name, class, effect, "a merge of states", declared, mergingWith(change), on...)
	}
	return []bench.Plant{
		merge("empty-output-read", "unread-memory", "the output of an empty state is multiplied by 0", nil,
			func(m *merger[float32]) { m.reads = func(float32) bool { return true } }),
		merge("plus-inf-is-real", "empty-row", "a state of +inf takes all the weight", []string{plusInf},
			func(m *merger[float32]) { m.weighs = func(lse float64) float64 { return lse } }),
		merge("maximum-not-taken-out", "offset", "the maximum is not subtracted: e^lse overflows", nil,
			func(m *merger[float32]) { m.top = func(float32) float32 { return 0 } }),
		merge("num-states-ignored", "unread-memory", "states that do not count are merged", nil,
			func(m *merger[float32]) { m.count = func(_ bench.Args, _, states int) int { return states } }, opMergeStates),
		merge("sink-per-state", "scale", "the sink is added once for each state", nil, func(m *merger[float32]) {
			m.sinks = func(denominator, joins float32, states int) float32 {
				for range states {
					denominator += joins
				}
				return denominator
			}
		}, opMergeStates),
		merge("merge-sink-in-lse", "scale", "the merged log-sum-exp includes the sink", nil, func(m *merger[float32]) {
			m.lse = func(top, _, logAll float32) float32 { return top + logAll }
		}, opMergeStates),
		merge("merge-sink-missing", "scale", "the sink is left out", nil, func(m *merger[float32]) {
			m.sinks = func(denominator, _ float32, _ int) float32 { return denominator }
		}, opMergeStates),
		merge("weights-swapped", "split", "each of two outputs has the other's weight", nil, func(m *merger[float32]) {
			m.weights = func(w []float32) {
				if len(w) > 1 {
					w[0], w[1] = w[1], w[0]
				}
			}
		}),
		merge("merged-lse-base", "log-base", "the merged log-sum-exp stays in the states' base", []string{combine},
			func(m *merger[float32]) { m.outTwo = func(a bench.Args) bool { return a.Word(baseWord) == wordTwo } }),
		merge("states-averaged", "split", "outputs are averaged without weights", nil, func(m *merger[float32]) {
			m.share = func(_, _ float32, states int) float32 { return 1 / float32(states) }
		}),
		merge("merged-empty-sign", "empty-row", "the log-sum-exp of all-empty rows has the other sign", nil,
			func(m *merger[float32]) {
				plus := m.plus
				m.plus = func(a bench.Args) bool { return !plus(a) }
			}),
		merge("merged-lse-is-largest", "split", "the merged log-sum-exp is the largest one", nil,
			func(m *merger[float32]) { m.lse = func(top, _, _ float32) float32 { return top } }),
		merge("merge-in-bf16", "accumulation", "outputs are summed in bf16", []string{natural, base2, plusInf, combine},
			func(m *merger[float32]) {
				add := m.add
				m.add = func(acc, share, v float32) float32 { return bench.AsBF16(add(acc, share, v)) }
			}),
		own("lse-strides-ignored", "strides", "log-sum-exps are taken to lie without gaps", "a view treated as contiguous",
			nil, seeing(func(c *bench.Call) {
				bench.StrideIgnored("prefix_lse")(c)
				bench.StrideIgnored("lse")(c)
			}), opMergeState, opMergeStates),
		own("merge-writes-lse", "input-overwritten", "log-sum-exps are converted in place", "in-place conversion", nil,
			after(func(c bench.Call, _ *bench.Reply) {
				v := c.Views["suffix_lse"]
				v.Each(func(_, at int) { c.Storage[v.Storage].Data[at] *= math.Ln2 })
			}), opMergeState),
	}
}

// listerPlants are faults of extend_rows.
func listerPlants() []bench.Plant {
	plant := func(name, class, effect string, change func(k *lister)) bench.Plant {
		k := newLister()
		change(&k)
		return own(name, class, effect, "sgl-project/sglang sparse_prefill_kernels.py", nil,
			func(string) (bench.Candidate, error) { return k.candidate("faulty"), nil }, opExtendRows)
	}
	window := func(off int) func(k *lister) {
		return func(k *lister) { k.window = func(p, size int) int { return min(p+1, size+off) } }
	}
	visible := func(off int) func(k *lister) {
		return func(k *lister) {
			of := k.visible
			k.visible = func(p, ratio, topK int) int { return of(p+off, ratio, topK) }
		}
	}
	return []bench.Plant{
		plant("window-one-short", "mask-edge", "the window lacks its oldest row", window(-1)),
		plant("window-one-long", "mask-edge", "the window has one row more", window(1)),
		plant("block-not-closed", "mask-edge", "a compressed row is not yet visible to the token that closes it",
			visible(-1)),
		plant("block-from-future", "mask-edge", "a compressed row is visible one token early", visible(1)),
		plant("gather-off-by-one", "offset", "window rows begin one position earlier than they do", func(k *lister) {
			first := k.first
			k.first = func(seq, extend, window int) int { return first(seq, extend, window) - 1 }
		}),
		plant("minus-one-moved", "selection", "-1 among the selected rows is moved by compressed_base", func(k *lister) {
			k.rebase = func(selected, base float64) float64 { return selected + base }
		}),
		plant("padding-of-zeros", "unread-memory", "lists are padded with row 0", func(k *lister) { k.padding = 0 }),
		plant("length-is-width", "unread-memory", "topk_length counts the padding", func(k *lister) {
			k.length = func(_, _, width int) int { return width }
		}),
		plant("compressed-base-missing", "offset", "selected rows are not moved to the request's base", func(k *lister) {
			k.rebase = func(selected, _ float64) float64 { return selected }
		}),
		plant("all-selected-taken", "unread-memory", "stale entries of the selection are used", func(k *lister) {
			k.visible = func(_, _, topK int) int { return topK }
		}),
		plant("position-in-chunk", "chunk-state", "positions count from the chunk's first token", func(k *lister) {
			k.position = func(_, _, i int) int { return i }
		}),
		plant("length-without-minus-one", "selection", "topk_length does not count -1 among the selected rows",
			func(k *lister) { k.length = func(_, valid, _ int) int { return valid } }),
	}
}
