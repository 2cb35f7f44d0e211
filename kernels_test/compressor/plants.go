package compressor

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
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

// faulty is a plant of another pooling or of a quirk.
func faulty(on []string, name, class, effect, origin string, pool pooler, q quirks) bench.Plant {
	return bench.Plant{
		Name:   name,
		Class:  class,
		Effect: effect,
		Origin: origin,
		On:     on,
		Build: func(string) (bench.Candidate, error) {
			return bench.FromKernels(name, kernels(kernelOf(pool, q))), nil
		},
	}
}

var plain = normaliseLast(sequential, exp32)

type looker = func(l line, t tokens, p oracle.Pooling, b, d int) (g, v []float32)

func lookPlants() []bench.Plant {
	looking := func(on []string, name, class, effect, origin string, f looker) bench.Plant {
		return faulty(on, name, class, effect, origin, plain, quirks{looks: f})
	}
	return []bench.Plant{
		looking(both, "overlap-dropped", "chunk-state", "a block pools its own tokens alone and never looks at the block "+
			"before", "ml-explore/mlx-lm#1189", func(l line, t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
			return t.pick(own(l.looks(p, b, d), p))
		}),
		looking(both, "halves-swapped", "layout", "the block before is seen through the second half of the channels and "+
			"the own one through the first", "order of a fused projection",
			func(l line, t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				at := l.looks(p, b, d)
				if p.Overlap {
					for i := range at {
						at[i].channel = (at[i].channel + p.Width) % (2 * p.Width)
					}
				}
				return t.pick(at)
			}),
		looking(both, "one-half-for-both", "layout", "the own block is seen through the first half of the channels, too",
			"projection of a compressor without overlap",
			func(l line, t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				at := l.looks(p, b, d)
				for i := range at {
					at[i].channel %= p.Width
				}
				return t.pick(at)
			}),
		looking(both, "first-block-sees-zeros", "empty-row", "the block before the first one has values and gates of 0 and "+
			"takes weight", "a state cleared with zeros where -Inf is meant",
			func(l line, t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				g, v := t.pick(l.looks(p, b, d))
				if p.Overlap && b == 0 {
					g, v = append(g, make([]float32, p.Ratio)...), append(v, make([]float32, p.Ratio)...)
				}
				return g, v
			}),
		looking(both, "last-token-dropped", "mask-edge", "a block lacks its last token", "exclusive end",
			func(l line, t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				at := l.looks(p, b, d)
				return t.pick(at[:max(len(at)-1, 1)])
			}),
		looking(both, "values-one-late", "layout", "each gate weighs the value of the token after it",
			"two buffers with another ring position", func(l line, t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				g, v := t.pick(l.looks(p, b, d))
				return g, append(v[1:], v[0])
			}),
		looking(both, "gates-of-channel-0", "gate", "one softmax for all channels, from the gates of the first",
			"a scalar gate for each token", func(l line, t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				_, v := t.pick(l.looks(p, b, d))
				g, _ := t.pick(l.looks(p, b, 0))
				return g, v
			}),
		looking(both, "softmax-over-channels", "gate", "softmax runs over the channels of a token in place of the tokens "+
			"of a channel", "the other axis", overChannels),
		looking(onePiece, "left-over-masked", "unread-memory", "the token after a block joins its sum, times 0",
			"partial block read whole and masked by a product",
			func(l line, t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				g, v := t.pick(l.looks(p, b, d))
				if after := (b+1)*p.Ratio - t.base; after < len(t.kv) {
					v[0] += 0 * t.kv[after][d]
				}
				return g, v
			}),
		looking(onePiece, "other-half-masked", "unread-memory", "both halves of the own block's channels are read and one "+
			"is masked by a product", "a fused row read whole",
			func(l line, t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				g, v := t.pick(l.looks(p, b, d))
				v[len(v)-1] += 0 * t.kv[(b+1)*p.Ratio-1-t.base][d]
				return g, v
			}),
		faulty(both, "full-block-late", "mask-edge", "a block that the last token completes is not emitted",
			"strict comparison with the end", plain, quirks{
				blocks: func(first, _ int, t tokens, p oracle.Pooling) (int, int) {
					return first, max(t.end-1, 0) / p.Ratio
				},
			}),
		faulty(carried, "blocks-of-the-chunk", "chunk-state", "as many blocks are emitted as the new tokens fill, whatever "+
			"is left over from before", "ml-explore/mlx-lm#1189", plain, quirks{
			blocks: func(first, _ int, t tokens, p oracle.Pooling) (int, int) {
				return first, first + (t.end-t.start)/p.Ratio
			},
		}),
		looking(carried, "overlap-lost-between-chunks", "chunk-state",
			"the first block that a piece completes never looks at the block before",
			"overlap state not carried: ml-explore/mlx-lm#1189",
			func(l line, t tokens, p oracle.Pooling, b, d int) ([]float32, []float32) {
				at := l.looks(p, b, d)
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
func overChannels(l line, t tokens, p oracle.Pooling, b, d int) (g, v []float32) {
	at := l.looks(p, b, d)
	for _, w := range at {
		half := w.channel / p.Width * p.Width
		e := weights(t.gate[w.row][half:half+p.Width], exp32)
		share := e[w.channel-half] / sequential(len(e), func(i int) float32 { return e[i] })
		g, v = append(g, 0), append(v, t.kv[w.row][w.channel]*share*float32(len(at)))
	}
	return g, v
}

func biasPlants() []bench.Plant {
	at := func(on []string, name, class, effect, origin string, f func(position, start, ratio int) int) bench.Plant {
		return faulty(on, name, class, effect, origin, plain, quirks{biasAt: f})
	}
	with := func(name, effect, origin string, f func(gate, ape float32) float32) bench.Plant {
		return faulty(both, name, "offset", effect, origin, plain, quirks{bias: f})
	}
	return []bench.Plant{
		at(both, "bias-one-late", "layout", "each token has the bias of the position after it", "positions counted from 1",
			func(p, _, r int) int {
				return (p + 1) % r
			}),
		at(both, "bias-reversed", "layout", "the bias runs backwards in the block",
			"distance to the end of the block taken for position", func(p, _, r int) int {
				return r - 1 - p%r
			}),
		at(both, "bias-of-row-0", "layout", "every token has the bias of the first position", "row index dropped",
			func(_, _, _ int) int {
				return 0
			}),
		at(carried, "bias-from-chunk-start", "chunk-state", "positions of the bias count from the first new token",
			"chunk-local positions", func(p, start, r int) int {
				return (p - start) % r
			}),
		with("bias-missing", "gates have no position bias", "bias not loaded", func(g, _ float32) float32 { return g }),
		with("bias-twice", "the position bias is added twice", "added by the projection and by the kernel",
			func(g, b float32) float32 {
				return g + b + b
			}),
		with("bias-subtracted", "the position bias is subtracted", "sign", func(g, b float32) float32 { return g - b }),
		with("bias-in-bf16", "gate and bias are added in bf16", "parameters cast on loading", func(g, b float32) float32 {
			return bf16(g + b)
		}),
	}
}

func bf16(v float32) float32 {
	return float32(format.BF16.RoundTo(float64(v), format.RN, format.Overflow))
}

func softmaxPlants() []bench.Plant {
	pooled := func(name, class, effect, origin string, f pooler) bench.Plant {
		return faulty(both, name, class, effect, origin, f, quirks{})
	}
	each := func(f func(float32) float32, v []float32) []float32 {
		out := slices.Clone(v)
		for i := range out {
			out[i] = f(out[i])
		}
		return out
	}
	return []bench.Plant{
		pooled("maximum-not-taken-out", "gate", "exponentials of the gates themselves, which overflow",
			"softmax without shift", func(g, v []float32) float32 {
				var acc, all float32
				for j := range g {
					e := exp32(g[j])
					acc, all = acc+float32(e*v[j]), all+e
				}
				return acc / all
			}),
		pooled("maximum-from-0", "gate", "the running maximum begins at 0", "an accumulator cleared with zeros",
			func(g, v []float32) float32 {
				top := max(slices.Max(g), 0)
				var acc, all float32
				for j := range g {
					e := exp32(g[j] - top)
					acc, all = acc+float32(e*v[j]), all+e
				}
				return acc / all
			}),
		pooled("sum-not-rescaled", "split", "an online softmax rescales the values at a new maximum and not the sum of "+
			"weights", "one of two accumulators", func(g, v []float32) float32 {
			top := g[0]
			var acc, all float32
			for j := range g {
				if g[j] > top {
					acc *= exp32(top - g[j])
					top = g[j]
				}
				e := exp32(g[j] - top)
				acc, all = acc+float32(e*v[j]), all+e
			}
			return acc / all
		}),
		pooled("halves-averaged", "split", "two halves of the tokens are pooled by themselves and averaged",
			"merge without weights", func(g, v []float32) float32 {
				if len(g) < 2 {
					return plain(g, v)
				}
				h := len(g) / 2
				return (plain(g[:h], v[:h]) + plain(g[h:], v[h:])) / 2
			}),
		pooled("masked-part-merged", "empty-row", "a half of the tokens whose gates are all -Inf is merged as NaN",
			"-Inf - (-Inf) in a merge: vllm-project/vllm#48364", func(g, v []float32) float32 {
				h := len(g) / 2
				if h == 0 {
					return plain(g, v)
				}
				a, b := plain(g[:h], v[:h]), plain(g[h:], v[h:])
				top := slices.Max(g)
				sum := func(part []float32) float32 {
					own := slices.Max(part)
					s := sequential(len(part), func(i int) float32 { return exp32(part[i] - own) })
					return s * exp32(own-top)
				}
				x, y := sum(g[:h]), sum(g[h:])
				return (a*x + b*y) / (x + y)
			}),
		pooled("not-divided", "scale", "weights are not normalised", "division left to the norm after it",
			func(g, v []float32) float32 {
				e := weights(g, exp32)
				return sequential(len(g), func(j int) float32 { return float32(e[j] * v[j]) })
			}),
		pooled("base-2-gates", "log-base", "weights are powers of 2 of the gates without log2 e", "exp2 for exp",
			normaliseLast(sequential, func(x float32) float32 {
				return float32(math.Exp2(float64(x)))
			})),
		pooled("mean-in-place-of-softmax", "gate", "a block is the mean of its tokens", "average pooling",
			func(g, v []float32) float32 {
				return sequential(len(v), func(j int) float32 { return v[j] }) / float32(len(g))
			}),
		pooled("sigmoid-weights", "gate", "weights are normalised sigmoids of the gates", "gate taken for a logistic one",
			func(g, v []float32) float32 {
				w := each(func(x float32) float32 { return 1 / (1 + exp32(-x)) }, g)
				return sequential(len(g), func(j int) float32 { return w[j] * v[j] }) / sequential(len(g), func(j int) float32 {
					return w[j]
				})
			}),
		pooled("values-in-bf16", "accumulation", "values are rounded to bf16", "a bf16 projection declared fp32",
			func(g, v []float32) float32 {
				return plain(g, each(bf16, v))
			}),
		pooled("gates-in-bf16", "accumulation", "biased gates are rounded to bf16", "a bf16 state declared fp32",
			func(g, v []float32) float32 {
				return plain(each(bf16, g), v)
			}),
		pooled("weights-in-bf16", "accumulation", "weights are rounded to bf16 before the sum", "tensor-core pooling",
			func(g, v []float32) float32 {
				return normaliseLast(sequential, func(x float32) float32 { return bf16(exp32(x)) })(g, v)
			}),
		pooled("sums-in-bf16", "accumulation", "sums are rounded to bf16 after every term", "a bf16 accumulator",
			func(g, v []float32) float32 {
				e := weights(g, exp32)
				var acc, all float32
				for j := range e {
					acc, all = bf16(acc+e[j]*v[j]), bf16(all+e[j])
				}
				return acc / all
			}),
		pooled("coarse-exponential", "accumulation", "the exponential is good to 12 bits", "a table without interpolation",
			normaliseLast(sequential, func(x float32) float32 {
				return exp32(x) * (1 + 1.0/4096*float32(math.Sin(float64(x)*9)))
			})),
	}
}
