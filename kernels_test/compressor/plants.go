package compressor

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

var (
	both     = []string{opCompress, opExtend}
	onePiece = []string{opCompress}
	carried  = []string{opExtend}
)

// plants lists the faults: of what a block looks at, of the bias, of the softmax, of the state, and of memory.
func plants() []bench.Plant {
	return slices.Concat(lookPlants(), biasPlants(), softmaxPlants(), statePlants(), memoryPlants())
}

// faulty is the correct kernel with a step replaced.
func faulty(on []string, name, class, effect, origin string, change func(k *kernel)) bench.Plant {
	return bench.Plant{
		Name: name, Class: class, Effect: effect, Origin: origin, On: on,
		Build: func(string) (bench.Candidate, error) {
			k := correct()
			change(&k)
			return k.candidate(name), nil
		},
	}
}

// looks lists what a block looks at for a channel, as places of the tokens.
func (t tokens) looks(p oracle.Pooling, b, d int) []place { return line{base: t.base}.looks(p, b, d) }

// pick gathers places.
func (t tokens) pick(at []place) (g, v []float32) {
	for _, w := range at {
		g, v = append(g, t.gate[w.row][w.channel]), append(v, t.kv[w.row][w.channel])
	}
	return g, v
}

func lookPlants() []bench.Plant {
	looking := func(on []string, name, class, effect, origin string,
		f func(t tokens, p oracle.Pooling, b, d int) (g, v []float32),
	) bench.Plant {
		return faulty(on, name, class, effect, origin, func(k *kernel) {
			k.terms = func(t tokens, p oracle.Pooling, b, d int, _, _ []float32) ([]float32, []float32) {
				return f(t, p, b, d)
			}
		})
	}
	return []bench.Plant{
		looking(both, "overlap-dropped", "chunk-state", "a block pools its own tokens only and never the previous "+
			"block", "ml-explore/mlx-lm#1189", func(t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
			return t.pick(own(t.looks(p, b, d), p))
		}),
		looking(both, "halves-swapped", "layout", "the previous block is pooled through the second half of the channels "+
			"and the own one through the first", "order of a fused projection",
			func(t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				at := t.looks(p, b, d)
				if p.Overlap {
					for i := range at {
						at[i].channel = (at[i].channel + p.Width) % (2 * p.Width)
					}
				}
				return t.pick(at)
			}),
		looking(both, "one-half-for-both", "layout", "the own block is pooled through the first half of the channels, too",
			"projection of a compressor without overlap",
			func(t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				at := t.looks(p, b, d)
				for i := range at {
					at[i].channel %= p.Width
				}
				return t.pick(at)
			}),
		looking(both, "first-block-sees-zeros", "empty-row", "the first block pools a previous one of zeros, "+
			"which takes weight", "a state cleared with zeros where -Inf is meant",
			func(t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				g, v := t.pick(t.looks(p, b, d))
				if p.Overlap && b == 0 {
					g, v = append(g, make([]float32, p.Ratio)...), append(v, make([]float32, p.Ratio)...)
				}
				return g, v
			}),
		looking(both, "last-token-dropped", "mask-edge", "the last token of a block is left out", "exclusive end",
			func(t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				at := t.looks(p, b, d)
				return t.pick(at[:max(len(at)-1, 1)])
			}),
		looking(both, "values-one-late", "layout", "each gate weighs the value of the token after it",
			"two buffers with another ring position", func(t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				g, v := t.pick(t.looks(p, b, d))
				return g, append(v[1:], v[0])
			}),
		looking(both, "gates-of-channel-0", "gate", "one softmax for all channels, from the gates of the first",
			"a scalar gate for each token", func(t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				_, v := t.pick(t.looks(p, b, d))
				g, _ := t.pick(t.looks(p, b, 0))
				return g, v
			}),
		looking(both, "softmax-over-channels", "gate", "softmax runs over the channels of a token in place of the tokens "+
			"of a channel", "the other axis", overChannels),
		looking(onePiece, "left-over-masked", "unread-memory", "the token after a block is added to its sum, times 0",
			"partial block read whole and masked by a product",
			func(t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				g, v := t.pick(t.looks(p, b, d))
				if after := (b+1)*p.Ratio - t.base; after < len(t.kv) {
					v[0] += 0 * t.kv[after][d]
				}
				return g, v
			}),
		looking(onePiece, "other-half-masked", "unread-memory", "both halves of the own block's channels are read and one "+
			"is masked by a product", "a fused row read whole",
			func(t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				g, v := t.pick(t.looks(p, b, d))
				v[len(v)-1] += 0 * t.kv[(b+1)*p.Ratio-1-t.base][d]
				return g, v
			}),
		faulty(both, "full-block-late", "mask-edge", "a block that the last token completes is not emitted",
			"strict comparison with the end", func(k *kernel) {
				k.emits = func(t tokens, ratio int) (int, int) { return t.start / ratio, max(t.end-1, 0) / ratio }
			}),
		faulty(carried, "blocks-of-the-chunk", "chunk-state", "as many blocks are emitted as the new tokens fill, whatever "+
			"the state holds of an unfinished block", "ml-explore/mlx-lm#1189", func(k *kernel) {
			k.emits = func(t tokens, ratio int) (int, int) { return t.start / ratio, t.start/ratio + (t.end-t.start)/ratio }
		}),
		looking(carried, "overlap-lost-between-chunks", "chunk-state",
			"the first block that a chunk completes never pools the previous block",
			"overlap state not carried: ml-explore/mlx-lm#1189",
			func(t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				at := t.looks(p, b, d)
				if t.start > 0 && b == t.start/p.Ratio {
					at = own(at, p)
				}
				return t.pick(at)
			}),
	}
}

// own are the places of the own block.
func own(at []place, p oracle.Pooling) []place { return at[len(at)-p.Ratio:] }

// overChannels hides softmax over channels in gates of 0: values are multiplied by the weight and by the number of
// tokens.
func overChannels(t tokens, p oracle.Pooling, b, d int) (g, v []float32) {
	at := t.looks(p, b, d)
	for _, w := range at {
		half := w.channel / p.Width * p.Width
		e := weights(t.gate[w.row][half:half+p.Width], exp32)
		share := e[w.channel-half] / bench.Sequential(e)
		g, v = append(g, 0), append(v, t.kv[w.row][w.channel]*share*float32(len(at)))
	}
	return g, v
}
