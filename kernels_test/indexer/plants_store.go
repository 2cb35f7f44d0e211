package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// storePlants are faults in quantising an index key and storing it in the paged cache.
func storePlants() []bench.Plant {
	plant := func(name, effect, origin, class string, change func(s *keyStore)) bench.Plant {
		return bench.Plant{
			Name: name, Effect: effect, Origin: origin, Class: class, On: []string{storeOp},
			Build: func(contract string) (bench.Candidate, error) {
				return bench.FromKernel(name, storeOp, correctStore(contract, change).run), nil
			},
		}
	}
	return []bench.Plant{
		plant("key-eps-missing", "the norm has no eps", "eps dropped in a fused norm", "eps", func(s *keyStore) {
			s.eps = func(float32) float32 { return 0 }
		}),
		plant("key-mean-kept", "LayerNorm does not centre", "RMSNorm in place of LayerNorm", "eps", func(s *keyStore) {
			s.mean = func(float32, int) float32 { return 0 }
		}),
		plant("key-bias-dropped", "LayerNorm has no bias", "a bias not loaded", "loading", func(s *keyStore) {
			s.bias = func(v, _ float32) float32 { return v }
		}),
		plant("key-unbiased-variance", "the variance is divided by D-1", "torch.var's default", "eps", func(s *keyStore) {
			s.count = func(n int) float32 { return float32(n) - 1 }
		}),
		plant("key-rope-other-end", "the other end of the channels is rotated", "V3.2 rotates the first, V4 the last",
			"pairing", func(s *keyStore) {
				s.pair = func(leading, interleaved bool, dim, pairs, i int) (m, n int) {
					return pair(!leading, interleaved, dim, pairs, i)
				}
			}),
		plant("key-rope-other-pairs", "pairs are those of the other convention",
			"interleaved and half rotation confused in V3.2's first demo", "pairing", func(s *keyStore) {
				s.pair = func(leading, interleaved bool, dim, pairs, i int) (m, n int) {
					return pair(leading, !interleaved, dim, pairs, i)
				}
			}),
		plant("key-rope-missing", "keys are not rotated", "rotation left to the query side", "pairing", func(s *keyStore) {
			s.freqs = func([]float32) []float32 { return nil }
		}),
		plant("key-position-off", "positions are one too high", "the block's last token, or an offset", "pairing",
			func(s *keyStore) {
				s.turn = func(position int, freq float32) (sin, cos float32) { return turn(position+1, freq) }
			}),
		plant("key-yarn-amplitude", "cos and sin carry YaRN's factor", "mscale in V4, which has none", "scale",
			func(s *keyStore) {
				s.turn = func(position int, freq float32) (sin, cos float32) {
					sin, cos = turn(position, freq)
					return sin * 1.2772589, cos * 1.2772589
				}
			}),
		plant("key-hadamard-missing", "keys are not transformed", "absent on one side alone", "variant", func(s *keyStore) {
			s.hadamard = func(_ keyStore, y []float32) []float32 { return y }
		}),
		plant("key-hadamard-unnormalised", "the transform has no factor", "D^-1/2 left out", "variant", func(s *keyStore) {
			s.hadamard = func(s keyStore, y []float32) []float32 { return s.walsh(s.sum, y) }
		}),
		plant("key-hadamard-gray", "rows of the transform are in another order", "Walsh order", "variant",
			func(s *keyStore) {
				s.walsh = func(sum bench.Summing, y []float32) []float32 {
					out := make([]float32, len(y))
					for i, v := range butterflies(sum, y) {
						out[i^i>>1] = v
					}
					return out
				}
			}),
		plant("key-truncated", "codes are truncated, not rounded", "a cast by shifting", "encoding", func(s *keyStore) {
			s.rounding = format.RZ
		}),
		plant("key-ties-away", "ties are rounded away from zero", "another rounding mode", "encoding", func(s *keyStore) {
			s.rounding = format.RNA
		}),
		plant("key-scale-floored", "the power of two is rounded down", "floor(log2)", "scale", func(s *keyStore) {
			s.power = func(v float32) float32 {
				_, e := math.Frexp(float64(v))
				return float32(math.Ldexp(1, e-1))
			}
		}),
		plant("key-scale-halved", "the scale is half of what it must be", "a wrong largest code", "scale",
			func(s *keyStore) { s.scale = func(v float32) float32 { return v / 2 } }),
		plant("key-amax-of-half", "amax is taken of the first 16 channels", "half of the lanes enter the maximum", "scale",
			func(s *keyStore) { s.amax = func(block []float32) float32 { return largest(block[:16]) } }),
		plant("key-scale-token-major", "scales lie where another layout has them", "interleaved pages", "scale-layout",
			func(s *keyStore) { s.fp8, s.fp4 = afterValues, byGroup }),
		plant("key-scale-groups-swapped", "the scales of a token are in reverse order", "byte order of the packed int32",
			"scale-layout", func(s *keyStore) {
				s.fp4 = func(i, group, page, dim int) int { return page*dim/2 + 4*i + dim/32 - 1 - group }
			}),
		plant("key-nibbles-swapped", "the even channel is the high nibble", "another packing", "encoding",
			func(s *keyStore) { s.pack = func(even, odd uint32) uint32 { return odd | even<<4 } }),
		plant("key-scale-unwritten", "scales are not stored", "a store left out", "unwritten", func(s *keyStore) {
			s.put = func([]float64, int, float64) {}
		}),
		plant("key-tail-unwritten", "channels from 16 on are not stored", "a grid of half a row", "unwritten",
			func(s *keyStore) { s.kept = func(channel int) bool { return channel < 16 } }),
		plant("key-padding-stored", "tokens that are not to be stored go to slot 0", "-1 taken as unsigned and clamped",
			"paging", func(s *keyStore) { s.slot = func(slot, _ int) int { return max(slot, 0) } }),
		plant("key-slot-transposed", "page and row of a slot are swapped in a page", "slot div and mod confused", "paging",
			func(s *keyStore) {
				s.slot = func(slot, page int) int {
					if slot < 0 {
						return slot
					}
					return slot/page*page + (page - 1 - slot%page)
				}
			}),
		plant("key-spills", "a byte of the next token is cleared", "a vector store past the row", "address",
			func(s *keyStore) {
				s.beside = func(page []float64, tokens, i int) {
					if i+1 < tokens {
						page[(i+1)*len(page)/tokens] = 0
					}
				}
			}),
		plant("key-bf16-declared-fp32", "keys are rounded to bf16 before they are quantised, and declared fp32",
			"the quantiser's source is a bf16 tensor", "accumulation", func(s *keyStore) { s.source = roundAll }).Under("fp32"),
	}
}
