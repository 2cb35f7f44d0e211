package compressor

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// statePlants are faults of what is carried between pieces.
func statePlants() []bench.Plant {
	stored := func(name, class, effect, origin string,
		f func(t tokens, p oracle.Pooling, row, channel int, kv, gate float32) (float32, float32),
	) bench.Plant {
		return faulty(carried, name, class, effect, origin, plain, quirks{store: f})
	}
	loaded := func(name, class, effect, origin string,
		f func(t *tokens, p oracle.Pooling, kv, gate []float64),
	) bench.Plant {
		return faulty(carried, name, class, effect, origin, plain, quirks{load: f})
	}
	before := func(p oracle.Pooling, row int) bool { return p.Overlap && row < p.Ratio }
	stale := faulty(carried, "state-of-last-request", "unread-memory",
		"the first block of a sequence looks at what the slot's last owner left as the block before",
		"a slot that is reused without being cleared", plain, quirks{
			load: func(t *tokens, p oracle.Pooling, kv, gate []float64) {
				if !p.Overlap || t.start >= p.Ratio {
					return
				}
				c := p.Channels()
				var k, g [][]float32
				for row := range p.Ratio {
					k, g = append(k, single(kv[row*c:(row+1)*c])), append(g, single(gate[row*c:(row+1)*c]))
				}
				t.kv, t.gate, t.base = append(k, t.kv...), append(g, t.gate...), -p.Ratio
			},
			looks: func(l line, t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				at := l.looks(p, b, d)
				if b == 0 && t.base < 0 {
					for row := range p.Ratio {
						at = append(at, place{row, d})
					}
				}
				return t.pick(at)
			},
		})
	return []bench.Plant{
		stale,
		stored("left-over-lost", "chunk-state", "the tokens of the unfinished block are not kept",
			"hidden in prompts that the ratio divides",
			func(_ tokens, p oracle.Pooling, row, _ int, kv, gate float32) (float32, float32) {
				if before(p, row) {
					return kv, gate
				}
				return 0, 0
			}),
		stored("block-before-not-kept", "chunk-state", "the last complete block is not kept for the next one",
			"overlap state not carried: ml-explore/mlx-lm#1189",
			func(_ tokens, p oracle.Pooling, row, _ int, kv, gate float32) (float32, float32) {
				if before(p, row) {
					return 0, float32(math.Inf(-1))
				}
				return kv, gate
			}),
		stored("block-before-is-the-first", "chunk-state", "of several blocks that a piece completes the first is kept for "+
			"the next one", "state written once per call",
			func(t tokens, p oracle.Pooling, row, channel int, kv, gate float32) (float32, float32) {
				first, last := t.start/p.Ratio, t.end/p.Ratio
				if !before(p, row) || last <= first {
					return kv, gate
				}
				at := first*p.Ratio + row - t.base
				return t.kv[at][channel], t.gate[at][channel]
			}),
		stored("block-before-one-late", "chunk-state", "after a block is complete the state still holds the one before it",
			"rows moved before and not after emission",
			func(t tokens, p oracle.Pooling, row, channel int, kv, gate float32) (float32, float32) {
				at := t.end/p.Ratio*p.Ratio - 2*p.Ratio + row - t.base
				if !before(p, row) || at < 0 || t.end/p.Ratio == t.start/p.Ratio {
					return kv, gate
				}
				return t.kv[at][channel], t.gate[at][channel]
			}),
		stored("other-half-kept", "layout", "of the last complete block the second half of the channels is kept",
			"halves of a fused row", func(t tokens, p oracle.Pooling, row, channel int, kv, gate float32) (float32, float32) {
				if !before(p, row) {
					return kv, gate
				}
				at := t.end/p.Ratio*p.Ratio - p.Ratio + row - t.base
				return t.kv[at][channel+p.Width], t.gate[at][channel+p.Width]
			}),
		stored("state-swapped", "layout", "values and gates are stored in each other's place", "order of a fused row",
			func(_ tokens, _ oracle.Pooling, _, _ int, kv, gate float32) (float32, float32) {
				return gate, kv
			}),
		stored("state-in-bf16", "accumulation", "the state is kept in bf16", "a state pool of the model's dtype",
			func(_ tokens, _ oracle.Pooling, _, _ int, kv, gate float32) (float32, float32) {
				return bf16(kv), bf16(gate)
			}),
		stored("old-rows-not-replaced", "chunk-state", "pieces that complete no block leave the state as it was",
			"early return", func(t tokens, p oracle.Pooling, row, _ int, kv, gate float32) (float32, float32) {
				if e, _ := tokenAt(p, row, t.end); t.end/p.Ratio == t.start/p.Ratio && e >= t.start {
					return 0, 0
				}
				return kv, gate
			}),
		loaded("state-not-read", "chunk-state", "the tokens of the unfinished block count as zeros",
			"prefill kernel taken for a later chunk", func(t *tokens, _ oracle.Pooling, _, _ []float64) {
				for i := range t.kv {
					t.kv[i], t.gate[i] = make([]float32, len(t.kv[i])), make([]float32, len(t.gate[i]))
				}
			}),
		loaded("state-row-late", "chunk-state", "the rows of the unfinished block are read one off",
			"ring position counted from 1", func(t *tokens, p oracle.Pooling, _, _ []float64) {
				if n := t.start % p.Ratio; n > 1 {
					from := len(t.kv) - n
					t.kv = append(append(t.kv[:from:from], t.kv[from+1:]...), t.kv[from])
					t.gate = append(append(t.gate[:from:from], t.gate[from+1:]...), t.gate[from])
				}
			}),
		faulty(carried, "slot-is-sequence", "paging", "sequence i has the state of slot i", "pool taken for a batch", plain,
			quirks{
				slot: func(_ []int, i int) int { return i },
			}),
		faulty(carried, "slot-of-first", "batch", "all sequences have the first one's state",
			"scalar slot in a batched launch", plain, quirks{
				slot: func(s []int, _ int) int { return s[0] },
			}),
		faulty(carried, "slot-of-neighbour", "batch", "each sequence but the first has the state of the one before it",
			"off by one in the metadata", plain, quirks{
				slot: func(s []int, i int) int { return s[max(i-1, 0)] },
			}),
		biasedAgain(),
	}
}

// biasedAgain adds the bias of every row of the state once more.
func biasedAgain() bench.Plant {
	p := bench.Plant{
		Name:   "state-biased-again",
		Class:  "offset",
		Effect: "gates of the state get their position bias once more",
		Origin: "a state kept biased and taken for raw",
		On:     carried,
	}
	p.Build = func(contract string) (bench.Candidate, error) {
		c, err := built(contract)
		return bench.Before(c, func(c *bench.Call) {
			a := c.Views["ape"]
			s, ape := c.Views["state_gate"], c.Storage[a.Storage].Data
			data := c.Storage[s.Storage].Data
			r, width := a.Shape[0], a.Shape[1]
			s.Each(func(i, at int) {
				row, d := i/width%s.Shape[1], i%width
				data[at] = float64(float32(data[at]) + float32(ape[a.Offset+row%r*a.Strides[0]+d*a.Strides[1]]))
			})
		}), err
	}
	return p
}

// memoryPlants read what is not theirs, ignore a layout, leave elements unwritten, or write into inputs.
func memoryPlants() []bench.Plant {
	wrapped := func(on []string, name, class, effect, origin string,
		wrap func(bench.Candidate) bench.Candidate,
	) bench.Plant {
		return bench.Plant{
			Name:   name,
			Class:  class,
			Effect: effect,
			Origin: origin,
			On:     on,
			Build: func(contract string) (bench.Candidate, error) {
				c, err := built(contract)
				if err != nil {
					return nil, err
				}
				return wrap(c), nil
			},
		}
	}
	seeing := func(f func(c *bench.Call)) func(bench.Candidate) bench.Candidate {
		return func(c bench.Candidate) bench.Candidate { return bench.Before(c, f) }
	}
	after := func(f func(c bench.Call, r *bench.Reply)) func(bench.Candidate) bench.Candidate {
		return func(c bench.Candidate) bench.Candidate { return bench.After(c, f) }
	}
	return []bench.Plant{
		wrapped(both, "kv-stride-ignored", "strides", "the rows of values are taken to lie without gaps",
			"a view treated as contiguous", seeing(bench.StrideIgnored("kv"))),
		wrapped(both, "gate-has-kv-strides", "strides", "gates are read with the strides and offset of the values",
			"local-inference-lab/vllm#17", seeing(func(c *bench.Call) {
				v, kv := c.Views["gate"], c.Views["kv"]
				v.Strides, v.Offset = kv.Strides, kv.Offset
				c.Views["gate"] = v
			})),
		wrapped(both, "ape-stride-ignored", "strides", "the rows of the bias are taken to lie without gaps",
			"a view treated as contiguous", seeing(bench.StrideIgnored("ape"))),
		wrapped(carried, "state-stride-ignored", "strides", "the pool of values is taken to lie without gaps",
			"a pool with room between slots", seeing(bench.StrideIgnored("state_kv"))),
		wrapped(carried, "slot-offset-ignored", "strides", "slots are read from the start of their storage",
			"a slice of a metadata buffer", seeing(func(c *bench.Call) {
				v := c.Views["slot"]
				v.Offset = 0
				c.Views["slot"] = v
			})),
		wrapped(both, "rows-beyond-masked", "unread-memory", "the first token takes in the row after the last one, times 0",
			"partial tile of tokens read whole", seeing(bench.RowsBeyondMasked("kv"))),
		wrapped(carried, "other-slots-masked", "unread-memory", "every slot's last row takes in the next slot's first one, "+
			"times 0", "states gathered by a one-hot product", seeing(func(c *bench.Call) {
			v := c.Views["state_gate"]
			data := c.Storage[v.Storage].Data
			for s := range v.Shape[0] - 1 {
				at := v.Offset + s*v.Strides[0]
				for row := range v.Shape[1] {
					data[at+row*v.Strides[1]] += 0 * data[at+v.Strides[0]]
				}
			}
		})),
		wrapped(both, "sequences-aligned", "batch", "sequences are taken to begin at multiples of the ratio",
			"tiles that are cut without the ends of sequences", seeing(func(c *bench.Call) {
				v := c.Views["cu_seqlens"]
				data, r := c.Storage[v.Storage].Data, c.Attrs.Int("ratio")
				v.Each(func(_, at int) { data[at] -= float64(int(data[at]) % r) })
			})),
		wrapped(carried, "captured-slots", "graph", "a replayed graph keeps the slots that it was captured with",
			"metadata baked into a launch: sgl-project/sglang#9675", seeing(func(c *bench.Call) {
				if c.CaptureWith != nil {
					s := c.Views["slot"].Storage
					c.Storage[s] = c.CaptureWith.Storage[s]
				}
			})),
		wrapped(both, "last-tile-unwritten", "unwritten", "rows of a last tile of 4 that is not full are never written",
			"grid rounded down", after(bench.LastTileUnwritten(4))),
		wrapped(carried, "state-in-place", "input-overwritten", "the new state is written into the pool that was passed in",
			"an in-place update declared pure", after(func(c bench.Call, _ *bench.Reply) {
				v := c.Views["state_kv"]
				if v.Len() > 0 {
					c.Storage[v.Storage].Data[v.Offset] = 0.5
				}
			})),
		wrapped(both, "bias-in-place", "input-overwritten", "the bias is added to the gates in place", "an in-place epilogue",
			after(func(c bench.Call, _ *bench.Reply) {
				v := c.Views["gate"]
				if v.Len() > 0 {
					c.Storage[v.Storage].Data[v.Offset]++
				}
			})),
		wrapped(carried, "states-by-slot", "paging", "new states are returned in the order of slots",
			"output indexed by slot", after(func(c bench.Call, r *bench.Reply) {
				s := r.Outputs["new_state_kv"]
				rows := c.Outputs["new_state_kv"].Shape[0]
				if rows < 2 {
					return
				}
				size := len(s.Data) / rows
				for i := range size {
					s.Data[i], s.Data[size+i] = s.Data[size+i], s.Data[i]
				}
			})),
	}
}
