package sparse

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle/faults"
)

// planted builds a plant of a catalogue row, whose words it takes over.
func planted(id, op string, declared []string, build func(contract string) (bench.Candidate, error)) bench.Plant {
	r, err := faults.ByRow(id)
	if err != nil {
		return bench.Plant{Name: id, Effect: err.Error()} // stopped by no case: the proof reports it
	}
	return bench.Plant{
		Name:     r.Slug,
		Effect:   r.Effect,
		Origin:   r.Origin,
		Row:      r.ID,
		Class:    r.Class,
		On:       []string{op},
		Declared: declared,
		Build:    build,
	}
}

// attending is the contract's own kernel with a change.
func attending(change func(o *attentionOptions)) func(string) (bench.Candidate, error) {
	return func(contract string) (bench.Candidate, error) {
		o, err := ownAttention(contract)
		if err != nil {
			return nil, err
		}
		change(&o)
		return bench.FromKernel("faulty", opAttention, o.kernel), nil
	}
}

// merging is the built-in merge with a change, of both operators.
func merging(change func(o *mergeOptions)) func(string) (bench.Candidate, error) {
	return func(string) (bench.Candidate, error) {
		var o mergeOptions
		change(&o)
		return bench.FromKernels("faulty", map[string]bench.Kernel{opMergeState: o.state, opMergeStates: o.states}), nil
	}
}

// disturbed wraps the contract's own candidate.
func disturbed(before func(c *bench.Call), after func(c bench.Call, r *bench.Reply)) func(string) (bench.Candidate,
	error) {
	return func(contract string) (bench.Candidate, error) {
		under, err := built(contract)
		if err != nil {
			return nil, err
		}
		if before != nil {
			under = bench.Before(under, before)
		}
		if after != nil {
			under = bench.After(under, after)
		}
		return under, nil
	}
}

// sampled are the contracts of sparse_attention but the production-size one.
func sampled() []string {
	return []string{fp32, v4First, v4Later, flashMLA, flashInfer, v4Pages, v32Pages}
}

func plants() []bench.Plant {
	return slices.Concat(cataloguePlants(), attentionPlants(), roundingPlants(), otherPlants())
}

func cataloguePlants() []bench.Plant {
	two, nat := []string{base2, bf16Base2, combine}, []string{natural, bf16Natural, plusInf}
	return []bench.Plant{
		planted("S1", opMergeState, two, merging(func(o *mergeOptions) { o.twoAsNatural = true })),
		planted("S2", opMergeStates, two, merging(func(o *mergeOptions) { o.twoAsNatural, o.othersOnly = true, true })),
		planted("S3", opMergeState, nat, merging(func(o *mergeOptions) { o.naturalAsTwo, o.inBase2 = true, true })),
		planted("S5", opMergeState, nil, merging(func(o *mergeOptions) { o.emptyNaN = true })),
		planted("S7", opAttention, sampled(), attending(func(o *attentionOptions) { o.staleLSE = true })),
		planted("S10", opAttention, sampled(), attending(func(o *attentionOptions) { o.unsplitLSE = true })),
		planted("S11", opMergeState, nil, disturbed(suffixStrides, nil)),
		planted("T9", opAttention, sampled(), attending(func(o *attentionOptions) { o.leadingTile = true })),
		planted("T10", opAttention, sampled(), attending(func(o *attentionOptions) { o.allLanes = true })),
	}
}

// suffixStrides walks the suffix by the strides of the prefix.
func suffixStrides(c *bench.Call) {
	v := c.Views["suffix_o"]
	v.Strides = c.Views["prefix_o"].Strides
	c.Views["suffix_o"] = v
}

// restless is a kernel whose first output depends on how often it ran.
func restless(contract string) (bench.Candidate, error) {
	o, err := ownAttention(contract)
	var runs atomic.Int64
	return bench.FromKernel("faulty", opAttention, func(a bench.Args) (bench.Results, error) {
		out, err := o.kernel(a)
		if err == nil && runs.Add(1)%2 == 0 {
			v := float32(out["o"][0])
			out["o"][0] = float64(math.Nextafter32(v, 2*v))
		}
		return out, err
	}), err
}

func own(name, class, effect, origin string, declared []string, build func(string) (bench.Candidate, error),
	on ...string,
) bench.Plant {
	if len(on) == 0 {
		on = []string{opAttention}
	}
	return bench.Plant{Name: name, Class: class, Effect: effect, Origin: origin, On: on, Declared: declared, Build: build}
}

func attentionPlants() []bench.Plant {
	option := func(name, class, effect, origin string, declared []string, change func(o *attentionOptions)) bench.Plant {
		return own(name, class, effect, origin, declared, attending(change))
	}
	all, bytes := sampled(), []string{v4Pages, v32Pages}
	const release, mla = "DeepSeek-V4 inference/kernel.py", "deepseek-ai/FlashMLA"
	return []bench.Plant{
		option("list-one-short", "mask-edge", "the last entry of every list is left out", "a bound taken as inclusive", all,
			func(o *attentionOptions) {
				o.lengthOff = -1
			}),
		option("list-one-long", "mask-edge", "one entry behind every list is taken in", "a bound taken as exclusive", all,
			func(o *attentionOptions) {
				o.lengthOff = 1
			}),
		option("extra-list-main-length", "unread-memory", "the extra list is taken to have the main list's length", mla,
			[]string{fp32, flashMLA}, func(o *attentionOptions) {
				o.mainLength = true
			}),
		option("extra-pages-main-size", "paging", "the extra cache is walked with the main cache's page size", mla, []string{
			fp32, flashMLA, flashInfer, v4Later,
		}, func(o *attentionOptions) { o.mainPageSize = true }),
		option("table-not-read", "paging", "positions are taken for rows", "a test with an identity table passes",
			append(sampled(), production), func(o *attentionOptions) {
				o.identityTable = true
			}),
		option("query-for-request", "paging", "the table row is that of the query's number, not of its request",
			"wrong from the first verify step on", all, func(o *attentionOptions) {
				o.queryIsRequest = true
			}),
		option("minus-one-is-row-0", "empty-row", "a lane without row is read as row 0 and counts", mla, all,
			func(o *attentionOptions) {
				o.minusOneIsRow = true
			}),
		option("partial-tile-dropped", "tile", "entries of a last tile of 16 that is not full are left out",
			"grid rounded down", all, func(o *attentionOptions) {
				o.tileTail = true
			}),
		option("masked-by-product", "unread-memory", "row 0 is read for lanes without row and multiplied by a weight of 0",
			mla, all, func(o *attentionOptions) {
				o.maskByProduct = true
			}),
		option("rows-not-rounded", "variant", "rows do not go through fp8, as in the first release",
			"DeepSeek-V4, first and later inference/kernel.py", []string{v4Later}, func(o *attentionOptions) {
				o.noRounding = true
			}),
		option("scale-of-next-group", "scale-layout", "each group has its neighbour's scale", mla, bytes,
			func(o *attentionOptions) {
				o.scaleOfNext = true
			}),
		option("scales-in-row", "scale-layout", "scales are taken to stand behind each row, not behind all rows of the page",
			mla, []string{v4Pages}, func(o *attentionOptions) {
				o.scalesInRow = true
			}),
		option("scales-not-applied", "scale", "codes are used without their scales", mla, bytes, func(o *attentionOptions) {
			o.noScale = true
		}),
		option("fnuz-codes", "encoding", "e4m3 codes are read as e4m3fnuz", "AMD's fp8 has another bias", bytes,
			func(o *attentionOptions) {
				o.fnuz = true
			}),
		option("extra-cache-left-out", "selection", "only the main list is attended to", "local-only attention", all,
			func(o *attentionOptions) {
				o.noExtra = true
			}),
		option("rows-counted-once", "selection", "a row listed twice counts once", "a set in place of a list",
			[]string{fp32, flashMLA}, func(o *attentionOptions) {
				o.once = true
			}),
		option("softmax-scale-missing", "scale", "scores are not scaled", release, all, func(o *attentionOptions) {
			o.noScaleFactor = true
		}),
		option("exp2-of-natural-scores", "log-base", "weights are 2^z: log2 e is not folded into the scale",
			"FlashMLA's exp2 form without its factor", all, func(o *attentionOptions) {
				o.exp2, o.noLog2 = true, true
			}),
		option("sink-missing", "scale", "the sink does not join the denominator", release, all, func(o *attentionOptions) {
			o.noSink = true
		}),
		option("sink-scaled", "scale", "the sink is multiplied by the softmax scale", release, all,
			func(o *attentionOptions) {
				o.sinkScaled = true
			}),
		option("sink-per-split", "split", "every part adds the sink", mla, all, func(o *attentionOptions) {
			o.sinkPerSplit = true
		}),
		option("sink-in-lse", "scale", "the log-sum-exp has the sink in it", mla, all, func(o *attentionOptions) {
			o.sinkInLSE = true
		}),
		option("empty-row-nan", "empty-row", "a query without rows is 0 / 0", release, all, func(o *attentionOptions) {
			o.emptyNaN = true
		}),
		option("empty-lse-other-sign", "empty-row", "the log-sum-exp of a query without rows has the other sign", mla, all,
			func(o *attentionOptions) {
				o.emptySign = true
			}),
		option("empty-split-nan", "empty-row", "a part without rows has a NaN log-sum-exp", mla, all,
			func(o *attentionOptions) {
				o.emptySplit = true
			}),
		option("split-tail-dropped", "split", "entries behind the last full part are left out",
			"parts of n / num_splits rows", all, func(o *attentionOptions) {
				o.splitTail = true
			}),
		option("lse-to-other-base", "log-base", "the log-sum-exp is to the other base", "flashinfer-ai/flashinfer#4485", all,
			func(o *attentionOptions) {
				o.otherBase = true
			}),
		option("max-in-base-2", "log-base", "the largest score comes in units of log2 e", mla, all,
			func(o *attentionOptions) {
				o.topBase2 = true
			}),
		option("split-lse-base", "log-base", "partial log-sum-exps to the base 2 are joined as natural ones",
			"deepseek-ai/FlashMLA combine kernel", all, func(o *attentionOptions) {
				o.joinNatural = true
			}),
		option("value-is-tail", "layout", "the last d_v channels of a row are its value", "rope in front in place of behind",
			[]string{
				fp32, flashMLA, v32Pages,
			}, func(o *attentionOptions) { o.lastValues = true }),
		option("scores-in-bf16", "accumulation", "scores are rounded to bf16", "an unfused attention", all,
			func(o *attentionOptions) {
				o.bf16Scores = true
			}),
		option("output-sum-in-bf16", "accumulation", "the output accumulates in bf16", "an unfused attention", all,
			func(o *attentionOptions) {
				o.bf16Acc = true
			}),
		own("differs-between-runs", "race", "one output element differs from run to run in its last bit", "atomic additions",
			[]string{production}, restless),
		own("q-strides-ignored", "strides", "queries are taken to lie without gaps", "a view treated as contiguous", all,
			disturbed(bench.StrideIgnored("q"), nil)),
		own("kv-strides-ignored", "strides", "rows are taken to lie without gaps", "a view treated as contiguous", all,
			disturbed(bench.StrideIgnored("kv"), nil)),
		own("indices-strides-ignored", "strides", "lists are taken to lie without gaps", "a view treated as contiguous",
			[]string{fp32, flashMLA}, disturbed(bench.StrideIgnored("indices"), nil)),
		own("table-strides-ignored", "strides", "tables are taken to lie without gaps", "a view treated as contiguous",
			[]string{fp32, flashMLA}, disturbed(bench.StrideIgnored("block_table"), nil)),
		own("reads-past-q", "unread-memory", "a partial tile of queries is read whole and masked by a product",
			"out-of-bounds load", all, disturbed(bench.RowsBeyondMasked("q"), nil)),
		own("last-queries-unwritten", "unwritten", "queries of a last tile of 4 that is not full are never written",
			"grid rounded down", all, disturbed(nil, bench.LastTileUnwritten(4))),
		own("writes-into-q", "input-overwritten", "queries are scaled in place", "in-place scaling", all,
			disturbed(nil, func(c bench.Call, _ *bench.Reply) {
				v := c.Views["q"]
				v.Each(func(_, at int) { c.Storage[v.Storage].Data[at] /= 2 })
			})),
	}
}

func otherPlants() []bench.Plant {
	merge := func(name, class, effect string, declared []string, change func(o *mergeOptions), on ...string) bench.Plant {
		if len(on) == 0 {
			on = []string{opMergeState, opMergeStates}
		}
		return own(name, class, effect, "a merge of states", declared, merging(change), on...)
	}
	extend := func(name, class, effect string, f extendFaults) bench.Plant {
		return own(name, class, effect, "sgl-project/sglang sparse_prefill_kernels.py", nil,
			func(string) (bench.Candidate, error) {
				return bench.FromKernel("faulty", opExtendRows, extendKernel(f, false)), nil
			}, opExtendRows)
	}
	return []bench.Plant{
		merge("empty-output-read", "unread-memory", "the output of an empty state is multiplied by 0", nil,
			func(o *mergeOptions) {
				o.readsEmpty = true
			}),
		merge("plus-inf-is-real", "empty-row", "a state of +inf takes all the weight", []string{plusInf},
			func(o *mergeOptions) {
				o.plusIsReal = true
			}),
		merge("maximum-not-taken-out", "offset", "e^lse overflows", nil, func(o *mergeOptions) { o.noTop = true }),
		merge("num-states-ignored", "unread-memory", "states that do not count are merged", nil, func(o *mergeOptions) {
			o.allStates = true
		}, opMergeStates),
		merge("sink-per-state", "scale", "the sink joins once for each state", nil, func(o *mergeOptions) {
			o.sinkEach = true
		}, opMergeStates),
		merge("merge-sink-in-lse", "scale", "the merged log-sum-exp has the sink in it", nil, func(o *mergeOptions) {
			o.sinkInLSE = true
		}, opMergeStates),
		merge("merge-sink-missing", "scale", "the sink is left out", nil, func(o *mergeOptions) { o.noSink = true },
			opMergeStates),
		merge("weights-swapped", "split", "each of two outputs has the other's weight", nil, func(o *mergeOptions) {
			o.swapped = true
		}),
		merge("merged-lse-base", "log-base", "the merged log-sum-exp stays in the states' base", []string{combine},
			func(o *mergeOptions) {
				o.outAsIn = true
			}),
		merge("states-averaged", "split", "outputs are averaged without weights", nil, func(o *mergeOptions) {
			o.mean = true
		}),
		merge("merged-empty-sign", "empty-row", "the log-sum-exp of all-empty rows has the other sign", nil,
			func(o *mergeOptions) {
				o.emptySign = true
			}),
		merge("merged-lse-is-largest", "split", "the merged log-sum-exp is the largest one", nil, func(o *mergeOptions) {
			o.lastOnly = true
		}),
		merge("merge-in-bf16", "accumulation", "outputs are summed in bf16", []string{natural, base2, plusInf, combine},
			func(o *mergeOptions) {
				o.bf16 = true
			}),
		own("lse-strides-ignored", "strides", "log-sum-exps are taken to lie without gaps", "a view treated as contiguous",
			nil, disturbed(func(c *bench.Call) {
				bench.StrideIgnored("prefix_lse")(c)
				bench.StrideIgnored("lse")(c)
			}, nil), opMergeState, opMergeStates),
		own("merge-writes-lse", "input-overwritten", "log-sum-exps are converted in place", "in-place conversion", nil,
			disturbed(nil, func(c bench.Call, _ *bench.Reply) {
				v := c.Views["suffix_lse"]
				v.Each(func(_, at int) { c.Storage[v.Storage].Data[at] *= math.Ln2 })
			}), opMergeState),
		extend("window-one-short", "mask-edge", "the window lacks its oldest row", extendFaults{windowOff: -1}),
		extend("window-one-long", "mask-edge", "the window has one row more", extendFaults{windowOff: 1}),
		extend("block-not-closed", "mask-edge", "a compressed row is not yet visible to the token that closes it",
			extendFaults{visibleOff: -1}),
		extend("block-from-future", "mask-edge", "a compressed row is visible one token early", extendFaults{visibleOff: 1}),
		extend("gather-off-by-one", "offset", "window rows begin one position earlier than they do",
			extendFaults{gatherOff: 1}),
		extend("minus-one-moved", "selection", "-1 among the selected rows is moved by compressed_base",
			extendFaults{rebasedMinus: true}),
		extend("padding-of-zeros", "unread-memory", "lists are padded with row 0", extendFaults{zeroPadding: true}),
		extend("length-is-width", "unread-memory", "topk_length counts the padding", extendFaults{paddedLength: true}),
		extend("compressed-base-missing", "offset", "selected rows are not moved to the request's base",
			extendFaults{noBase: true}),
		extend("all-selected-taken", "unread-memory", "stale entries of the selection are taken in",
			extendFaults{allSelected: true}),
		extend("position-in-chunk", "chunk-state", "positions count from the chunk's first token",
			extendFaults{chunkPosition: true}),
		extend("length-without-minus-one", "selection", "topk_length does not count -1 among the selected rows",
			extendFaults{lengthBySlot: true}),
	}
}
