package diagnosis

import (
	"github.com/assay-suite/assay/fidelity/evidence"
)

// seams pools the needles on the suspected seams.
func (r *reading) seams() group {
	g := group{what: "on the seam of a chunk"}
	seam, ok := r.Number(evidence.Shift, "seam")
	if !ok {
		return g
	}
	for _, a := range r.Of(evidence.Shift) {
		if d := a.At - seam; d > -64 && d < 64 && prefixed("seam-")(a) {
			g.add(a)
		}
	}
	return g
}

// chunkWarm asks whether a hit cures: the reused part was computed in other chunks, or not at all.
func chunkWarm(r *reading) answer {
	cold := r.arms("cold", evidence.Warm, "cold", "first-changed")
	warm := r.arms("warm", evidence.Warm, "warm1", "warm2", "warm3")
	a := worse(warm, cold)
	if cold.runs >= 4 && cold.rate() >= 0.9 {
		a.state = unknown // short of the edge: nothing to cure
	}
	return a
}

// heldMixed asks whether needles at a fixed distance from the end are found at some lengths and lost at others, and not
// for good from one length on.
func heldMixed(r *reading) answer {
	n, lost, back := 0, 0, 0
	for _, a := range r.Of(evidence.Distance) {
		if !prefixed("length-")(a) || a.Runs < 3 {
			continue
		}
		n++
		switch v, _ := a.Rate(); {
		case v <= 0.25:
			lost++
		case v >= 0.75 && lost > 0:
			back++
		}
	}
	if n < 3 {
		return answer{line: "lengths at a held distance were not measured", p: 1}
	}
	return is(lost > 0 && back > 0, "at a held distance from the end %d of %d lengths lose the needle, %d longer ones "+
		"find it", lost, n, back)
}
