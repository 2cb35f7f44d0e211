package diagnosis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// chunkSeam asks for the ways in which the boundaries of prefill chunks show.
func chunkSeam(r *reading) answer {
	if s, ok := r.Number(evidence.Shift, "seam"); ok {
		return is(true, "seam sweep: needles on the seam at %.0f are lost, beside it found", s)
	}
	for _, ask := range []func(*reading) answer{seamSteps, headOnly, heldMixed, chunkWarm} {
		if a := ask(r); a.state == yes {
			return a
		}
	}
	if r.far.babbles() >= 0.5 {
		return answer{line: "junk has no place: seams were not told from a length", p: 1}
	}
	if seamSteps(r).state == no {
		return is(false, "no seam shows")
	}
	return answer{line: "seams were not swept", p: 1}
}

// seamSteps asks whether needles before a seam are lost and those behind it found, at two seams or more. A fixed tail
// gives such a step at one at most: its place is a distance from the end, and the prompts of the seams differ in
// length.
func seamSteps(r *reading) answer {
	type sides struct{ beforeLost, beforeAll, behindFound, behindAll int }
	at := map[int]*sides{}
	for _, a := range r.Of(evidence.Shift) {
		name, ok := strings.CutPrefix(a.Name, "seam-")
		chunk, offset, ok2 := strings.Cut(name, "-")
		c, err := strconv.Atoi(chunk)
		o, err2 := strconv.Atoi(offset)
		if !ok || !ok2 || err != nil || err2 != nil || a.Runs == 0 {
			continue
		}
		if at[c] == nil {
			at[c] = &sides{}
		}
		if s := at[c]; o < 0 {
			s.beforeAll++
			if a.Right == 0 {
				s.beforeLost++
			}
		} else {
			s.behindAll++
			if a.Right == a.Runs {
				s.behindFound++
			}
		}
	}
	var steps []int
	for c, s := range at {
		if s.beforeAll >= 2 && s.behindAll >= 2 && s.beforeLost == s.beforeAll && s.behindFound == s.behindAll {
			steps = append(steps, c)
		}
	}
	slices.Sort(steps)
	if len(at) == 0 {
		return answer{line: "seams were not swept", p: 1}
	}
	return is(len(steps) >= 2, "needles before the seams at %v tokens are lost, behind them found", steps)
}

// headOnly asks whether needles are found at the head of long prompts and lost everywhere behind it, up to shortly
// before the question.
func headOnly(r *reading) answer {
	length, ok := r.Number(evidence.Depth, "length")
	if !ok {
		return answer{line: "depths were not measured", p: 1}
	}
	type spot struct {
		from float64 // tokens from the front
		arm  evidence.Arm
	}
	var spots []spot
	for _, a := range r.Of(evidence.Depth) {
		if a.Name != "tail-32" && a.Runs > 0 {
			spots = append(spots, spot{length * a.At / 100, a})
		}
	}
	for _, a := range r.Of(evidence.Distance) {
		if held, ok := r.Number(evidence.Distance, "held-length"); ok && prefixed("distance-")(a) && a.Runs > 0 {
			spots = append(spots, spot{held - a.At, a})
		}
	}
	slices.SortStableFunc(spots, func(a, b spot) int {
		switch {
		case a.from < b.from:
			return -1
		case a.from > b.from:
			return 1
		}
		return 0
	})
	head, rest := group{}, group{}
	last := 0.0
	for _, s := range spots {
		if rest.runs == 0 && 4*s.arm.Right >= 3*s.arm.Runs {
			head.add(s.arm)
			last = s.from
		} else {
			rest.add(s.arm)
		}
	}
	head.what, rest.what = fmt.Sprintf("in the first %.0f tokens", last), "behind them, short of the question"
	a := worse(head, rest)
	if a.state == yes && rest.rate() > 0.25 {
		a.state = no
	}
	return a
}
