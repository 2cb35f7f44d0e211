package route

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// choice is how a token's experts are chosen: c = s + bias with its error, and the groups' scores with theirs.
type choice struct {
	c, eps       []float64
	group, slack []float64 // nil without groups
	kept         []int     // groups that the exact scores keep
	k, keep      int
	exact        bool // ties are judged by the lower index, and nothing else is near enough to be mistaken for one
}

func newChoice(s []numerics.Tracked, bias []float64, cfg oracle.GateConfig, tie string) choice {
	a := numerics.FP32()
	h := choice{k: cfg.K, keep: cfg.KeepGroups}
	for e, v := range s {
		if bias != nil {
			v = a.Add(v, numerics.Exact(bias[e]))
		}
		h.c, h.eps = append(h.c, v.X), append(h.eps, v.E)
	}
	h.exact = tie == "lowest-index" && !near(h.c, h.eps)
	if cfg.Groups <= 1 {
		return h
	}
	size := len(s) / cfg.Groups
	for g := range cfg.Groups {
		low, mid, high := best(h.c, h.eps, -1, g, size, bias != nil), best(h.c, h.eps, 0, g, size, bias != nil),
			best(h.c, h.eps, 1, g, size, bias != nil)
		e := max(high-mid, mid-low)
		h.group, h.slack = append(h.group, mid), append(h.slack, e+a.U*(math.Abs(mid)+e))
	}
	h.exact = h.exact && !near(h.group, h.slack)
	order := make([]int, cfg.Groups)
	for g := range order {
		order[g] = g
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case h.group[i] > h.group[j]:
			return -1
		case h.group[i] < h.group[j]:
			return 1
		}
		return 0
	})
	h.kept = order[:h.keep]
	return h
}

// best is a group's score with every c moved by side times its error: the sum of the two largest with a bias, else the
// largest. It grows with every c, so that its error is what it moves by at both ends.
func best(c, eps []float64, side float64, g, size int, two bool) float64 {
	first, second := math.Inf(-1), math.Inf(-1)
	for e := g * size; e < (g+1)*size; e++ {
		v := c[e] + side*eps[e]
		if v > first {
			first, second = v, first
		} else {
			second = max(second, v)
		}
	}
	if two && size > 1 {
		return first + second
	}
	return first
}

// near tells whether two different values are closer than their errors.
func near(v, eps []float64) bool {
	at := make([]int, len(v))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(i, j int) int {
		switch {
		case v[i] < v[j]:
			return -1
		case v[i] > v[j]:
			return 1
		}
		return i - j
	})
	for n := 1; n < len(at); n++ {
		i, j := at[n-1], at[n]
		if v[i] != v[j] && v[j]-v[i] <= eps[i]+eps[j] {
			return true
		}
	}
	return false
}

// selection is the evidence on a chosen set. With groups it is that of the groups that explain it best: those that the
// exact scores keep, or else any that some rounding of the scores keeps.
func (h choice) selection(chosen []int) numerics.Selection {
	s := h.within(h.kept, chosen)
	if h.group == nil || h.exact {
		return s
	}
	if reason, _ := s.Check(""); reason == "" {
		return s
	}
	pick := make([]int, 0, h.keep)
	var found *numerics.Selection
	var try func(from int)
	try = func(from int) {
		if found != nil {
			return
		}
		if len(pick) == h.keep {
			groups := numerics.Selection{Scores: h.group, Eps: h.slack, K: h.keep, Chosen: pick}
			if reason, _ := groups.Check(""); reason != "" {
				return
			}
			other := h.within(pick, chosen)
			if reason, _ := other.Check(""); reason == "" {
				found = &other
			}
			return
		}
		for g := from; g < len(h.group); g++ {
			pick = append(pick, g)
			try(g + 1)
			pick = pick[:len(pick)-1]
		}
	}
	try(0)
	if found != nil {
		return *found
	}
	return s
}

// within is the selection among the experts of some groups.
func (h choice) within(groups, chosen []int) numerics.Selection {
	s := numerics.Selection{Scores: h.c, Eps: h.eps, K: h.k, Chosen: chosen}
	if h.exact {
		s.Eps = nil
	}
	if h.group != nil {
		s.Valid = make([]bool, len(h.c))
		size := len(h.c) / len(h.group)
		for _, g := range groups {
			for e := g * size; e < (g+1)*size; e++ {
				s.Valid[e] = true
			}
		}
	}
	return s
}
