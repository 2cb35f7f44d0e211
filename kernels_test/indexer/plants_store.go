package indexer

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// storePlants are faults on a key's way into its page.
func storePlants() []bench.Plant {
	plant := func(name, effect, origin, class string, change func(*storeStyle)) bench.Plant {
		return bench.Plant{
			Name:   name,
			Effect: effect,
			Origin: origin,
			Class:  class,
			On:     []string{storeOp},
			Build: func(contract string) (bench.Candidate, error) {
				st := plainStore(contract)
				change(&st)
				return bench.FromKernel(name, storeOp, storeKernel(st)), nil
			},
		}
	}
	out := []bench.Plant{
		plant("key-eps-missing", "the norm has no eps", "eps dropped in a fused norm", "eps", func(s *storeStyle) {
			s.noEps = true
		}),
		plant("key-mean-kept", "LayerNorm does not centre", "RMSNorm in place of LayerNorm", "eps", func(s *storeStyle) {
			s.noMean = true
		}),
		plant("key-bias-dropped", "LayerNorm has no bias", "a bias not loaded", "loading", func(s *storeStyle) {
			s.noBias = true
		}),
		plant("key-unbiased-variance", "the variance is divided by D-1", "torch.var's default", "eps", func(s *storeStyle) {
			s.unbiased = true
		}),
		plant("key-rope-other-end", "the other end of the channels is rotated", "V3.2 rotates the first, V4 the last",
			"pairing", func(s *storeStyle) {
				s.otherEnd = true
			}),
		plant("key-rope-other-pairs", "pairs are those of the other convention",
			"interleaved and half rotation confused in V3.2's first demo", "pairing", func(s *storeStyle) {
				s.otherPairs = true
			}),
		plant("key-rope-missing", "keys are not rotated", "rotation left to the query side", "pairing", func(s *storeStyle) {
			s.noTurn = true
		}),
		plant("key-position-off", "positions are one too high", "the block's last token, or an offset", "pairing",
			func(s *storeStyle) {
				s.shift = 1
			}),
		plant("key-yarn-amplitude", "cos and sin carry YaRN's factor", "mscale in V4, which has none", "scale",
			func(s *storeStyle) {
				s.amplitude = 1.2772589
			}),
		plant("key-hadamard-missing", "keys are not transformed", "absent on one side alone", "variant", func(s *storeStyle) {
			s.noHadamard = true
		}),
		plant("key-hadamard-unnormalised", "the transform has no factor", "D^-1/2 left out", "variant", func(s *storeStyle) {
			s.unnormalised = true
		}),
		plant("key-hadamard-gray", "rows of the transform are in another order", "Walsh order", "variant",
			func(s *storeStyle) {
				s.gray = true
			}),
		plant("key-truncated", "codes are cut, not rounded", "a cast by shifting", "encoding", func(s *storeStyle) {
			s.round = format.RZ
		}),
		plant("key-ties-away", "ties are rounded away from zero", "another rounding mode", "encoding", func(s *storeStyle) {
			s.round = format.RNA
		}),
		plant("key-scale-floored", "the power of two is rounded down", "floor(log2)", "scale", func(s *storeStyle) {
			s.floorScale = true
		}),
		plant("key-scale-halved", "the scale is half of what it must be", "a wrong largest code", "scale",
			func(s *storeStyle) {
				s.halfAmax = true
			}),
		plant("key-amax-of-half", "amax is taken of the first 16 channels", "half of the lanes enter the maximum", "scale",
			func(s *storeStyle) {
				s.amaxOf = 16
			}),
		plant("key-scale-token-major", "scales lie where another layout has them", "interleaved pages", "scale-layout",
			func(s *storeStyle) {
				s.tokenMajor = true
			}),
		plant("key-scale-groups-swapped", "the scales of a token are in reverse order", "byte order of the packed int32",
			"scale-layout", func(s *storeStyle) {
				s.swapped = true
			}),
		plant("key-nibbles-swapped", "the even channel is the high nibble", "another packing", "encoding",
			func(s *storeStyle) {
				s.highFirst = true
			}),
		plant("key-scale-unwritten", "scales are not stored", "a store left out", "unwritten", func(s *storeStyle) {
			s.noScale = true
		}),
		plant("key-tail-unwritten", "channels from 16 on are not stored", "a grid of half a row", "unwritten",
			func(s *storeStyle) {
				s.unwritten = 16
			}),
		plant("key-padding-stored", "tokens that are not to be stored go to slot 0", "-1 taken as unsigned and clamped",
			"paging", func(s *storeStyle) {
				s.slot = func(slot, _ int) int { return max(slot, 0) }
			}),
		plant("key-slot-transposed", "page and row of a slot are swapped in a page", "slot div and mod confused", "paging",
			func(s *storeStyle) {
				s.slot = func(slot, page int) int {
					if slot < 0 {
						return slot
					}
					return slot/page*page + (page - 1 - slot%page)
				}
			}),
		plant("key-spills", "a byte of the next token is cleared", "a vector store past the row", "address",
			func(s *storeStyle) {
				s.spill = true
			}),
	}
	narrowed := plant("key-bf16-declared-fp32", "keys are rounded to bf16 before they are quantised, and declared fp32",
		"the quantiser's source is a bf16 tensor", "accumulation", func(s *storeStyle) {
			s.narrowed = true
		})
	narrowed.Declared = []string{"fp32"}
	return append(out, narrowed)
}
