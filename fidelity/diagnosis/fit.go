package diagnosis

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/internal/stat"
)

const (
	// decisive is by how much, in nats, the best model of a fault must explain the answers better than a sound server
	// does, smooth decline included: odds of 20,000 to 1.
	decisive = 10
	// apart is by how much it must beat the next class to stand without it: odds of 1,000 to 1.
	apart = 7
)

// fits is a clause that asks a model.
func fits(model, words string) clause {
	return clause{words, func(r *reading) answer { return r.fits(model) }}
}

// hypothesis finds a model's likelihood.
func (r *reading) hypothesis(model string) (hypothesis, bool) {
	i := slices.IndexFunc(r.models, func(h hypothesis) bool { return h.class == model })
	if i < 0 {
		return hypothesis{}, false
	}
	return r.models[i], true
}

// fault is the best model of a fault, and sound the best of a sound server.
func (r *reading) fault(other ...string) (hypothesis, bool) {
	i := slices.IndexFunc(r.models, func(h hypothesis) bool { return !h.sound && !slices.Contains(other, h.class) })
	if i < 0 {
		return hypothesis{}, false
	}
	return r.models[i], true
}

func (r *reading) sound() hypothesis {
	return r.models[slices.IndexFunc(r.models, func(h hypothesis) bool { return h.sound })]
}

// misplaced asks whether a fault explains better which lone answers are wrong than a sound server does.
func (r *reading) misplaced(only ...string) answer {
	best, ok := r.fault()
	if !ok {
		return answer{line: "too few lone answers for a model", p: 1}
	}
	sound := r.sound()
	odds := best.log - sound.log
	explained := odds >= decisive || best.class == "coarse-kv" && r.nearly()
	a := is(explained && (len(only) == 0 && !timely(best.class) || slices.Contains(only, best.class)),
		"of %d lone answers %d are wrong: %s (%s, as against %s)", r.spots, r.wrongSpots, best.says, ratio(odds), sound.says)
	a.runs, a.p = r.spots, math.Exp(-math.Max(odds, 0))
	return a
}

// nearly asks whether more lone answers are wrong than any sound server's, and most of those by a character or two.
func (r *reading) nearly() bool {
	low, err := stat.LowerBound(r.wrongSpots, r.spots, 0.95)
	return err == nil && low > 0.035 && r.wrongSpots >= 15 && 2*r.nearSpots > r.wrongSpots
}

// timely tells whether a model looks at the order of the requests and not at the prompts.
func timely(model string) bool { return model == "drift" || model == "request-share" }

// fits asks whether a model explains the lone answers best; it is unknown where it is not far behind the best.
func (r *reading) fits(model string) answer {
	h, ok := r.hypothesis(model)
	best, ok2 := r.fault()
	if !ok || !ok2 {
		return answer{line: "too few lone answers for a model", p: 1}
	}
	a := answer{line: h.says, runs: r.spots, p: 1}
	if h.class != best.class {
		a.line = fmt.Sprintf("%s: %s less likely than that %s", h.says, ratio(best.log-h.log), best.says)
		if best.log-h.log > apart {
			a.state = no
		}
		return a
	}
	if next, ok := r.fault(model); !ok || h.log-next.log >= apart {
		a.state = yes
	}
	unknown := r.unknown
	if timely(model) {
		unknown = r.unknownAll
	}
	if h.log-unknown < apart {
		a.doubt = fmt.Sprintf("%s less likely than a share of its own for each arm: a mechanism that has no model may be "+
			"behind it", ratio(unknown-h.log))
	}
	a.p = math.Exp(-math.Max(0, h.log-r.sound().log))
	return a
}

// likelihood is how well a rule's model explains the lone answers, relative to the best.
func (r *reading) likelihood(u rule) float64 {
	name := u.class
	if u.model != "" {
		name = u.model
	}
	h, ok := r.hypothesis(name)
	if !ok {
		return math.Inf(-1)
	}
	return h.log
}

// ratio words odds that are given in nats.
func ratio(nats float64) string {
	if digits := nats / math.Ln10; digits >= 2 {
		return fmt.Sprintf("10^%.0f times", digits)
	}
	return fmt.Sprintf("%.2g times", math.Exp(nats))
}
