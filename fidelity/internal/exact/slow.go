package exact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/stat"
)

const (
	slowSeconds = 1.0 // a first answer below this is nobody's trouble
	slowTimes   = 5   // over the median of the cold answers to prompts of like length
	slowAgain   = 3   // how many are asked again
)

// slow tells warm-up from slowness: engines compile kernels at the first prompt of a shape. Cold answers that took much
// longer than those of like length are asked for a second time, cold again, when all else is done.
func (a *Asker) slow(ctx context.Context, r Reference, all []Prompt, seen []Seen) (string, error) {
	var late []Seen
	for _, s := range seen {
		if s.Phase != Cold || s.Err != nil || s.Seconds < slowSeconds {
			continue
		}
		var like []float64
		for _, o := range seen {
			if o.Phase == Cold && o.Err == nil && alike(r.Cells[s.Cell].Length, r.Cells[o.Cell].Length) {
				like = append(like, o.Seconds)
			}
		}
		if s.Seconds > slowTimes*stat.Median(like) {
			late = append(late, s)
		}
	}
	if len(late) == 0 {
		return "", nil
	}
	slices.SortStableFunc(late, func(x, y Seen) int { return int(1e3 * (y.Seconds - x.Seconds)) })
	var lines []string
	for _, s := range late[:min(len(late), slowAgain)] {
		again := a.send(ctx, a.Client, all[s.Cell], s.Cell, again)
		if fatal(ctx, again.Err) {
			return "", again.Err
		}
		why := "warm-up for a new shape, not slowness"
		switch {
		case again.Err != nil:
			why = "unknown: the second failed"
		case again.Seconds > s.Seconds/2:
			why = "slow at this length"
		}
		lines = append(lines, fmt.Sprintf("%d tokens took %.2g s at first and %.2g s again: %s", r.Cells[s.Cell].Length,
			s.Seconds, again.Seconds, why))
	}
	return fmt.Sprintf("%d first answers took over %d times the usual of their length; %s", len(late), slowTimes,
		strings.Join(lines, "; ")), nil
}

// alike reports whether two lengths are within half of each other.
func alike(n, m int) bool { return 2*n <= 3*m && 2*m <= 3*n }
