package compressor

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// statePlants are faults of what is carried between pieces.
func statePlants() []bench.Plant {
	// kept edits an element of the state as it is written
	kept := func(name, class, effect, origin string,
		f func(t tokens, p oracle.Pooling, row, channel int) (kv, gate float32),
	) bench.Plant {
		return faulty(carried, name, class, effect, origin, func(k *kernel) { k.keep = f })
	}
	// read edits what was read from the state kv, gate of a sequence
	read := func(name, class, effect, origin string,
		f func(t *tokens, p oracle.Pooling, kv, gate []float64),
	) bench.Plant {
		return faulty(carried, name, class, effect, origin, func(k *kernel) { k.read = edited(f) })
	}
	slotted := func(name, class, effect, origin string, f func(slots []int, i int) int) bench.Plant {
		return faulty(carried, name, class, effect, origin, func(k *kernel) { k.slot = f })
	}
	before := func(p oracle.Pooling, row int) bool { return p.Overlap && row < p.Ratio }
	return []bench.Plant{
		faulty(carried, "state-of-last-request", "unread-memory",
			"the first block of a sequence pools what the slot's last owner left as the previous block",
			"a slot that is reused without being cleared", lastRequest),
		kept("left-over-lost", "chunk-state", "the tokens of the unfinished block are not kept",
			"hidden in prompts that the ratio divides",
			func(t tokens, p oracle.Pooling, row, channel int) (float32, float32) {
				if before(p, row) {
					return t.kept(p, row, channel)
				}
				return 0, 0
			}),
		kept("block-before-not-kept", "chunk-state", "the last complete block is not kept for the next one",
			"overlap state not carried: ml-explore/mlx-lm#1189",
			func(t tokens, p oracle.Pooling, row, channel int) (float32, float32) {
				if before(p, row) {
					return 0, float32(math.Inf(-1))
				}
				return t.kept(p, row, channel)
			}),
		kept("block-before-is-the-first", "chunk-state", "of several blocks that a chunk completes the first is kept for "+
			"the next one", "state written once per call",
			func(t tokens, p oracle.Pooling, row, channel int) (float32, float32) {
				first, last := t.start/p.Ratio, t.end/p.Ratio
				if !before(p, row) || last <= first {
					return t.kept(p, row, channel)
				}
				at := first*p.Ratio + row - t.base
				return t.kv[at][channel], t.gate[at][channel]
			}),
		kept("block-before-one-late", "chunk-state", "after a block is complete the state still holds the one before it",
			"rows moved before and not after emission",
			func(t tokens, p oracle.Pooling, row, channel int) (float32, float32) {
				at := t.end/p.Ratio*p.Ratio - 2*p.Ratio + row - t.base
				if !before(p, row) || at < 0 || t.end/p.Ratio == t.start/p.Ratio {
					return t.kept(p, row, channel)
				}
				return t.kv[at][channel], t.gate[at][channel]
			}),
		kept("other-half-kept", "layout", "of the last complete block the second half of the channels is kept",
			"halves of a fused row", func(t tokens, p oracle.Pooling, row, channel int) (float32, float32) {
				if !before(p, row) {
					return t.kept(p, row, channel)
				}
				at := t.end/p.Ratio*p.Ratio - p.Ratio + row - t.base
				return t.kv[at][channel+p.Width], t.gate[at][channel+p.Width]
			}),
		kept("state-swapped", "layout", "values and gates are stored in each other's place", "order of a fused row",
			func(t tokens, p oracle.Pooling, row, channel int) (float32, float32) {
				kv, gate := t.kept(p, row, channel)
				return gate, kv
			}),
		kept("state-in-bf16", "accumulation", "the state is kept in bf16", "a state pool of the model's dtype",
			func(t tokens, p oracle.Pooling, row, channel int) (float32, float32) {
				kv, gate := t.kept(p, row, channel)
				return bench.AsBF16(kv), bench.AsBF16(gate)
			}),
		kept("old-rows-not-replaced", "chunk-state", "chunks that complete no block leave the state unchanged",
			"early return", func(t tokens, p oracle.Pooling, row, channel int) (float32, float32) {
				if e, _ := tokenAt(p, row, t.end); t.end/p.Ratio == t.start/p.Ratio && e >= t.start {
					return 0, 0
				}
				return t.kept(p, row, channel)
			}),
		read("state-not-read", "chunk-state", "the tokens of the unfinished block are read as zeros",
			"prefill kernel taken for a later chunk", func(t *tokens, _ oracle.Pooling, _, _ []float64) {
				for i := range t.kv {
					t.kv[i], t.gate[i] = make([]float32, len(t.kv[i])), make([]float32, len(t.gate[i]))
				}
			}),
		read("state-row-late", "chunk-state", "the rows of the unfinished block are read one off",
			"ring position counted from 1", func(t *tokens, p oracle.Pooling, _, _ []float64) {
				if n := t.start % p.Ratio; n > 1 {
					from := len(t.kv) - n
					t.kv = append(append(t.kv[:from:from], t.kv[from+1:]...), t.kv[from])
					t.gate = append(append(t.gate[:from:from], t.gate[from+1:]...), t.gate[from])
				}
			}),
		slotted("slot-is-sequence", "paging", "sequence i has the state of slot i", "pool taken for a batch",
			func(_ []int, i int) int { return i }),
		slotted("slot-of-first", "batch", "all sequences have the first one's state",
			"scalar slot in a batched launch", func(s []int, _ int) int { return s[0] }),
		slotted("slot-of-neighbour", "batch", "each sequence but the first has the state of the one before it",
			"off by one in the metadata", func(s []int, i int) int { return s[max(i-1, 0)] }),
		biasedAgain(),
	}
}

// edited is the step read with what was read edited.
func edited(f func(t *tokens, p oracle.Pooling, kv, gate []float64)) func(oracle.Pooling, int, []float64,
	[]float64) tokens {
	return func(p oracle.Pooling, start int, kv, gate []float64) tokens {
		t := readState(p, start, kv, gate)
		f(&t, p, kv, gate)
		return t
	}
}

// lastRequest reads the rows of the block before where there is none and lets the first block look at them.
func lastRequest(k *kernel) {
	k.read = edited(func(t *tokens, p oracle.Pooling, kv, gate []float64) {
		if !p.Overlap || t.start >= p.Ratio {
			return
		}
		c := p.Channels()
		var before, gates [][]float32
		for row := range p.Ratio {
			before = append(before, single(kv[row*c:(row+1)*c]))
			gates = append(gates, single(gate[row*c:(row+1)*c]))
		}
		t.kv, t.gate, t.base = append(before, t.kv...), append(gates, t.gate...), -p.Ratio
	})
	k.terms = func(t tokens, p oracle.Pooling, b, d int, _, _ []float32) ([]float32, []float32) {
		at := t.looks(p, b, d)
		if b == 0 && t.base < 0 {
			for row := range p.Ratio {
				at = append(at, place{row, d})
			}
		}
		return t.pick(at)
	}
}

// biasedAgain adds the bias of every row of the state once more.
func biasedAgain() bench.Plant {
	p := bench.Plant{
		Name:   "state-biased-again",
		Class:  "offset",
		Effect: "the gates of the state get their position bias a second time",
		Origin: "a state kept biased and taken for raw",
		On:     carried,
	}
	p.Build = bench.Builder(built).Before(func(c *bench.Call) {
		a := c.Views["ape"]
		s, ape := c.Views["state_gate"], c.Storage[a.Storage].Data
		data := c.Storage[s.Storage].Data
		r, width := a.Shape[0], a.Shape[1]
		s.Each(func(i, at int) {
			row, d := i/width%s.Shape[1], i%width
			data[at] = float64(float32(data[at]) + float32(ape[a.Offset+row%r*a.Strides[0]+d*a.Strides[1]]))
		})
	})
	return p
}
