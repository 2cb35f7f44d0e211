package job

import (
	"fmt"
	"math"
	"strconv"
)

// FacetResult is what a golden of an engine keeps of a facet.
type FacetResult struct {
	State       string `json:"state"`
	Contract    string `json:"contract"`
	Cases       int    `json:"cases"`
	Failed      int    `json:"failed"`
	Unsupported int    `json:"unsupported"`
	Rho         string `json:"rho"` // two digits
}

// FacetResults are the facets of a run by their names.
func (o Outcome) FacetResults() map[string]FacetResult {
	out := map[string]FacetResult{}
	for _, l := range Lines(o.Judged) {
		out[l.Facet] = FacetResult{
			State: string(l.State), Contract: l.Contract, Cases: l.Cases - l.Skipped, Failed: l.Failed, Unsupported: l.Skipped,
			Rho: strconv.FormatFloat(l.Rho, 'g', 2, 64),
		}
	}
	return out
}

// rhoFactor is by how much a worst rho may move before it counts as a change: atomic sums and other launch shapes move
// it without anything being wrong.
const rhoFactor = 1.5

// Changed says what of a run differs from an earlier one, facet by facet. Facets that were not judged now are named.
func Changed(was, now map[string]FacetResult) []string {
	var out []string
	for _, name := range sortedKeys(now) {
		n := now[name]
		w, known := was[name]
		switch {
		case !known:
			out = append(out, fmt.Sprintf("%s: new, %s under %s, rho %s", name, n.State, n.Contract, n.Rho))
		case w.State != n.State || w.Contract != n.Contract || w.Failed != n.Failed:
			out = append(out, fmt.Sprintf("%s: %s, was %s; rho %s -> %s", name, n.words(), w.words(), w.Rho, n.Rho))
		case moved(w.Rho, n.Rho):
			out = append(out, fmt.Sprintf("%s: rho %s -> %s", name, w.Rho, n.Rho))
		case w.Cases != n.Cases || w.Unsupported != n.Unsupported:
			out = append(out, fmt.Sprintf("%s: %d cases judged and %d unsupported, were %d and %d", name, n.Cases, n.Unsupported,
				w.Cases, w.Unsupported))
		}
	}
	for _, name := range sortedKeys(was) {
		if _, judged := now[name]; !judged {
			out = append(out, fmt.Sprintf("%s: not judged in this run, was %s", name, was[name].words()))
		}
	}
	return out
}

func (f FacetResult) words() string {
	if f.Failed > 0 {
		return fmt.Sprintf("%s (%d of %d cases fail)", f.State, f.Failed, f.Cases)
	}
	return f.State + " under " + f.Contract
}

func moved(was, now string) bool {
	w, err1 := strconv.ParseFloat(was, 64)
	n, err2 := strconv.ParseFloat(now, 64)
	if err1 != nil || err2 != nil || math.IsInf(w, 0) || math.IsInf(n, 0) {
		return was != now
	}
	const floor = 0.01 // of a bound: below it a change is one of nothing
	return max(w, n) > floor && (n > w*rhoFactor || w > n*rhoFactor)
}
