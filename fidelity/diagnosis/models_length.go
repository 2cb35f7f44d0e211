package diagnosis

import (
	"fmt"
	"math"
)

// needleTokens and questionTokens are about how long a fact's sentence and the question are; both must be seen.
const needleTokens, questionTokens = 20, 24

// chunks lose what stands beside the boundaries of prefill chunks, or see one chunk only. The frame is the tokens of
// the chat template before the text. Where long prompts have their fact is known too roughly to say on which side of a
// boundary it stands: a share of them is lost.
func chunks(all []spot, longest float64) []hypothesis {
	var seam, one grid
	for _, c := range []float64{512, 1024, 2048, 4096, 8192, 16384} {
		if c > longest {
			break
		}
		for _, frame := range []float64{0, 8, 24} {
			for _, w := range []float64{16, 32, 64, 128, 256} {
				if 2*w > c {
					break
				}
				for _, side := range []string{"before", "behind", "around"} {
					from, to := -w, w
					switch side {
					case "before":
						to = 0
					case "behind":
						from = 0
					}
					// touches tells whether tokens overlap what is lost around some boundary.
					touches := func(at, n, tokens float64) bool {
						k := math.Ceil((at - to + 1) / c)
						edge := math.Max(1, k) * c
						return edge < tokens && edge+from < at+n && edge+to > at
					}
					var in, out, unsure sum
					for _, x := range all {
						switch {
						case x.tokens <= c:
							out.add(x)
						case touches(x.tokens-questionTokens-8, questionTokens, x.tokens):
							unsure.add(x)
						case !x.exact:
							unsure.add(x)
						case touches(x.before+frame, needleTokens, x.tokens):
							in.add(x)
						default:
							out.add(x)
						}
					}
					ll := parted(in, out, hit, lostMix) + partly.log(unsure.wrong, unsure.right) + lostMix.log(unsure.sorts)
					seam.add(ll, func() string {
						return fmt.Sprintf("lost up to %.0f tokens %s boundaries of chunks of %.0f", w, side, c)
					})
				}
			}
			for _, odd := range []float64{0, 1} {
				every := func(x spot) bool {
					return x.tokens > c && math.Mod(math.Floor((x.before+frame)/c), 2) == odd
				}
				one.add(split(all, every, hit, lostMix), func() string {
					return fmt.Sprintf("every second chunk of %.0f tokens is lost", c)
				})
			}
			last := func(x spot) bool {
				return x.tokens > c && x.before+frame < math.Floor((x.tokens-1)/c)*c-16
			}
			ll := split(all, last, hit, lostMix)
			one.add(ll, func() string { return fmt.Sprintf("nothing before the last chunk of %.0f tokens is seen", c) })
			for _, e := range []float64{0, 24} {
				ll = splitEdge(all, func(x spot) int { return both(beyond(x.before+frame, c), beyond(x.fromEnd, e)) }, hit, lostMix)
				one.add(ll, func() string { return fmt.Sprintf("nothing behind the first chunk of %.0f tokens is seen", c) })
			}
		}
	}
	return []hypothesis{seam.of("chunk-seam"), one.of("chunk-seam")}
}

// residues lose prompts whose length has one residue; of some only those beyond a length, or what stands far back.
func residues(all []spot) hypothesis {
	var g grid
	for _, only := range []struct{ tokens, fromEnd float64 }{{0, 0}, {512, 0}, {2048, 0}, {0, 256}} {
		for _, m := range []int{2, 4, 8, 16, 32, 64, 128, 256} {
			by := make([]sum, m)
			var rest sum
			for _, x := range all {
				if x.tokens > only.tokens && x.fromEnd > only.fromEnd {
					by[int(x.tokens)%m].add(x)
				} else {
					rest.add(x)
				}
			}
			for _, w := range []int{1, 2, 3, 5} {
				if 2*w > m {
					break
				}
				for r := range m {
					in, outside := sum{}, rest
					for k, s := range by {
						if (k-r+m)%m < w {
							in.plus(s)
						} else {
							outside.plus(s)
						}
					}
					ll := parted(in, outside, hit, anyMix)
					g.add(ll, func() string {
						return fmt.Sprintf("prompts of %d to %d tokens more than a multiple of %d fail", r, r+w-1, m)
					})
				}
			}
		}
	}
	return g.of("phase")
}
