package recall

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/assay-suite/assay/internal/stat"
)

const (
	keptLeast   = 0.10 // far recall below which nothing has declined: it is gone
	declineFits = 0.01 // p of the fit from which a decline explains the losses, as in the totals
	declineRuns = 100  // bootstrap samples
	// A model that declines has its short prompts: this share of those up to so many tokens is found.
	declineFound, declineShort = 0.85, 2048
)

// smoothDecline reports whether questions asked alone are lost as those of a sound model that declines with length and
// distance (stat.Decline), and says so.
func smoothDecline(obs []Observation) (text string, ok bool, err error) {
	type place struct{ length, distance float64 }
	at := map[place]*stat.Spot{}
	for _, o := range obs {
		c := o.Cell
		if !o.Measured || c.Copies > 1 || c.Burst > 0 || c.Arm == "warm" {
			continue
		}
		p := place{float64(c.Tokens), min(1, max(0, 1-c.Depth))}
		if at[p] == nil {
			at[p] = &stat.Spot{Length: p.length, Distance: p.distance}
		}
		at[p].N++
		if !o.Hit {
			at[p].Wrong++
		}
	}
	hits, of := Count(obs, func(o Observation) bool { return o.Cell.Tokens <= declineShort && o.Cell.Copies == 1 })
	if float64(hits) < declineFound*float64(of) {
		return "", false, nil
	}
	places := slices.SortedFunc(maps.Keys(at), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.length, b.length), cmp.Compare(a.distance, b.distance))
	})
	var spots []stat.Spot
	for _, p := range places {
		spots = append(spots, *at[p])
	}
	if len(spots) == 0 {
		return "", false, nil
	}
	fit, p, err := stat.FitDecline(spots, declineRuns, 1)
	if err != nil || p < declineFits {
		return "", false, err
	}
	return fmt.Sprintf("recall declines with length; bless a golden of a sound build: a smooth decline to %.0f %% at "+
		"8192 tokens explains it (p = %.2g)", 100*(1-fit.Wrong(8192, 0.5)), p), true, nil
}
