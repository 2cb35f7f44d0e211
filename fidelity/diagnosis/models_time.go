package diagnosis

import (
	"fmt"
	"math"
)

// drifting loses more with every request served.
func drifting(all []spot) hypothesis {
	var g grid
	last := 1.0
	for _, x := range all {
		last = math.Max(last, float64(x.order))
	}
	for _, top := range []float64{0.1, 0.2, 0.35, 0.5, 0.7, 0.95} {
		for _, power := range []float64{0.5, 1, 2} {
			for _, from := range []float64{0, 0.05, 0.2} {
				for _, full := range []float64{0.05, 0.15, 0.3, 0.6, 1} { // of the run
					ll := 0.0
					var in sum
					for _, x := range all {
						t := math.Min(1, math.Max(0, float64(x.order)/last-from)/(full*(1-from)))
						p := 0.003 + (top-0.003)*math.Pow(t, power)
						if x.wrong {
							ll += math.Log(p)
						} else {
							ll += math.Log1p(-p)
						}
						in.add(x)
					}
					g.add(ll+logMean([]float64{anyMix.log(in.sorts), nearMix.log(in.sorts)}), func() string {
						return fmt.Sprintf("the share of wrong answers grows with what was served, to %.0f %%", 100*top)
					})
				}
			}
		}
	}
	return g.of("drift")
}

// periodic loses every n-th request.
func periodic(all []spot) hypothesis {
	var g grid
	for n := 2; n <= 32; n++ {
		by := make([]sum, n)
		for _, x := range all {
			by[x.order%n].add(x)
		}
		for r := range n {
			var outside sum
			for k, s := range by {
				if k != r {
					outside.plus(s)
				}
			}
			g.add(parted(by[r], outside, hit, anyMix), func() string { return fmt.Sprintf("every %d. request", n) })
		}
	}
	return g.of("request-share")
}
