package diagnosis

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// hypothesis is a class with the log-likelihood of the answers under it, its parameters integrated out, and the words
// for the best of them.
type hypothesis struct {
	class string
	log   float64
	best  float64
	says  string
	sound bool
}

// grid collects what the values of a model's parameters give.
type grid struct {
	terms []float64
	best  float64
	says  string
}

func (g *grid) add(ll float64, says func() string) {
	if len(g.terms) == 0 || ll > g.best {
		g.best, g.says = ll, says()
	}
	g.terms = append(g.terms, ll)
}

func (g *grid) of(class string) hypothesis {
	if len(g.terms) == 0 {
		return hypothesis{class: class, log: math.Inf(-1), best: math.Inf(-1)}
	}
	return hypothesis{class: class, log: logMean(g.terms), best: g.best, says: g.says}
}

// steps are lengths a factor apart.
func steps(from, to, factor float64) []float64 {
	var out []float64
	for x := from; x <= to*1.001; x *= factor {
		out = append(out, math.Round(x))
	}
	return out
}

// hypotheses are the models of where and when answers to lone cold questions are lost, likeliest first.
func hypotheses(all []spot, cues cued) []hypothesis {
	if len(all) == 0 {
		return nil
	}
	var placed []spot
	longest := 0.0
	for _, x := range all {
		if x.placed {
			placed = append(placed, x)
			longest = math.Max(longest, x.tokens)
		}
	}
	var out []hypothesis
	out = append(out, even(placed), declining(placed))
	out = append(out, places(placed, longest)...)
	out = append(out, bands(placed, longest), residues(placed))
	out = append(out, chunks(placed, longest)...)
	out = append(out, fading(placed, longest)...)
	out = append(out, chosen(placed, longest, cues), drifting(all), periodic(all))
	out = slices.DeleteFunc(out, func(h hypothesis) bool { // two models of one class: the better one stands for it
		return slices.ContainsFunc(out, func(o hypothesis) bool { return o.class == h.class && o.log > h.log })
	})
	for i, h := range out {
		if h.class == "chunk-seam" { // rarer than edges, which single chunks look like
			out[i].log -= 4
		}
		if h.class != "sparse-selection" {
			out[i].log, out[i].best = out[i].log+cues.free(), h.best+cues.free()
		}
	}
	slices.SortStableFunc(out, func(a, b hypothesis) int {
		switch {
		case a.log > b.log:
			return -1
		case a.log < b.log:
			return 1
		}
		return 0
	})
	return out
}

// anyhow is an unknown mechanism: every arm has a share of wrong answers of its own.
func anyhow(all []spot, placed bool) float64 {
	by := map[string]*sum{}
	var every sum
	for _, x := range all {
		if placed && !x.placed {
			continue
		}
		if by[x.arm] == nil {
			by[x.arm] = &sum{}
		}
		by[x.arm].add(x)
		every.add(x)
	}
	ll := anyMix.log(every.sorts)
	for _, arm := range slices.Sorted(maps.Keys(by)) {
		ll += anyShare.log(by[arm].wrong, by[arm].right)
	}
	return ll
}

// even is a server that misses the same share of everything.
func even(all []spot) hypothesis {
	var g grid
	ll := split(all, func(spot) bool { return false }, hit, anyMix)
	g.add(ll, func() string { return "the same share everywhere" })
	h := g.of("even")
	h.sound = true
	return h
}

// declining is a smooth decline with length, at every place, in the middle, or toward the front.
func declining(all []spot) hypothesis {
	var g grid
	for _, shape := range []string{"length", "middle", "early"} {
		for _, lost := range []float64{0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8} {
			for _, base := range []float64{0.003, 0.02} {
				ll := 0.0
				var in sum
				for _, x := range all {
					far := x.tokens / 8192
					d := math.Min(1, x.fromEnd/math.Max(1, x.tokens))
					switch shape {
					case "middle":
						far *= 4 * d * (1 - d)
					case "early":
						far *= d
					}
					p := math.Min(0.97, 1-(1-base)*math.Pow(1-lost, far))
					if x.wrong {
						ll += math.Log(p)
					} else {
						ll += math.Log1p(-p)
					}
					in.add(x)
				}
				g.add(ll+anyMix.log(in.sorts), func() string {
					return fmt.Sprintf("a smooth decline to %.0f %% at 8192 tokens", 100*(1-lost))
				})
			}
		}
	}
	h := g.of("declining")
	h.sound = true
	return h
}

// places are models with an edge: in the length, in the distance from the start, from the end, or both.
func places(all []spot, longest float64) []hypothesis {
	var window, inverted, head, middle, cliff grid
	ends := steps(32, longest, math.Pow(2, 0.25))
	for _, e := range ends {
		for _, sinks := range []float64{0, 12, 128, 256} { // the very front may be kept
			for _, m := range []mix{lostMix, blankMix} {
				ll := splitEdge(all, func(x spot) int { return both(beyond(x.before, sinks), beyond(x.fromEnd, e)) }, hit, m)
				window.add(ll, func() string { return fmt.Sprintf("lost from %.0f tokens before the end on", e) })
			}
		}
	}
	for _, l := range steps(256, longest, math.Sqrt2) {
		in := func(x spot) bool { return x.tokens > l }
		ll := logMean([]float64{split(all, in, hit, anyMix), split(all, in, hit, blankMix)})
		cliff.add(ll, func() string { return fmt.Sprintf("everything is lost in prompts of more than %.0f tokens", l) })
		for _, e := range steps(32, l/1.3, math.Sqrt2) {
			for _, m := range []mix{lostMix, blankMix} {
				ll := splitEdge(all, func(x spot) int {
					if x.tokens <= l {
						return outside
					}
					return beyond(x.fromEnd, e)
				}, hit, m)
				says := func() string {
					return fmt.Sprintf("in prompts of more than %.0f tokens lost from %.0f before the end on", l, e)
				}
				window.add(ll, says)
				// A selection that never takes what is asked for leaves its local window.
				inverted.add(ll-6, func() string { return says() + ", whatever it resembles" })
			}
		}
	}
	for _, s := range steps(152, longest, math.Sqrt2) { // not the sizes that chunks have
		for _, e := range []float64{0, 24, 64} {
			ll := splitEdge(all, func(x spot) int { return both(beyond(x.before, s), beyond(x.fromEnd, e)) }, hit, lostMix)
			head.add(ll, func() string { return fmt.Sprintf("lost from %.0f tokens behind the start on", s) })
		}
	}
	for _, s := range steps(362, longest, math.Sqrt2) {
		for _, e := range steps(181, longest, math.Sqrt2) {
			ll := splitEdge(all, func(x spot) int { return both(beyond(x.before, s), beyond(x.fromEnd, e)) }, hit, lostMix)
			middle.add(ll, func() string {
				return fmt.Sprintf("lost between %.0f tokens behind the start and %.0f before the end", s, e)
			})
		}
	}
	return []hypothesis{
		window.of("tail-only"), inverted.of("sparse-selection"), head.of("tail-cut"), middle.of("middle-cut"),
		cliff.of("cliff"),
	}
}

// bands lose one of some equal parts of prompts beyond a length, or what stands between a place and the last chunk.
func bands(all []spot, longest float64) hypothesis {
	var g grid
	for _, l := range steps(512, longest, 2) {
		for n := 2.0; n <= 8; n++ {
			for k := range int(n) {
				ll := split(all, func(x spot) bool {
					return x.tokens > l && int(n*x.before/x.tokens) == k
				}, hit, lostMix)
				g.add(ll, func() string {
					return fmt.Sprintf("part %d of %.0f of prompts of more than %.0f tokens is lost", k+1, n, l)
				})
			}
		}
	}
	return g.of("middle-cut")
}

// fading loses more the farther from the end, from some distance on; where most of it are near misses, the values are
// coarse.
func fading(all []spot, longest float64) []hypothesis {
	var far, rough grid
	for _, n := range steps(256, 4*longest, math.Sqrt2) {
		for _, width := range []float64{0.12, 0.2, 0.35, 0.6, 1} {
			for _, base := range []float64{0.003, 0.02} {
				ll := 0.0
				var in sum
				for _, x := range all {
					p := base + (0.97-base)/(1+math.Exp(-math.Log(math.Max(1, x.fromEnd)/n)/width))
					if x.wrong {
						ll += math.Log(p)
					} else {
						ll += math.Log1p(-p)
					}
					in.add(x)
				}
				says := func() string {
					return fmt.Sprintf("half are lost at %.0f tokens before the end, a slope and no edge", n)
				}
				if width < 1 {
					far.add(ll+fadeMix.log(in.sorts), says)
				}
				rough.add(ll+nearMix.log(in.sorts), func() string { return "near misses: " + says() })
			}
		}
	}
	ll := split(all, func(spot) bool { return true }, partly, nearMix)
	rough.add(ll, func() string { return "near misses, the same share everywhere" })
	return []hypothesis{far.of("position-encoding"), rough.of("coarse-kv")}
}

// chosen is far text of which a selection is read: in the question's own words it is found, in others it is not, and
// copies win.
func chosen(all []spot, longest float64, cues cued) hypothesis {
	var g grid
	for _, l := range steps(256, longest, math.Sqrt2) {
		for _, e := range []float64{64, 128, 256, 512} {
			in := func(x spot) bool { return x.tokens > l && x.fromEnd > e && !x.verbatim }
			ll := split(all, in, missed, lostMix)
			g.add(ll+cues.selection(), func() string {
				return fmt.Sprintf("in prompts of more than %.0f tokens a selection is read", l)
			})
		}
	}
	return g.of("sparse-selection")
}
