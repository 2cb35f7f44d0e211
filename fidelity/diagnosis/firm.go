package diagnosis

import (
	"fmt"
	"slices"

	"github.com/assay-suite/assay/internal/stat"
)

// counted are channels of token counts and of proofs by content: what else is wrong is no doubt in them.
var counted = []string{"template", "content", "stream", "fork"}

// wholly are channels whose classes speak of every answer, or whose models explain the lone ones.
var wholly = []string{"sessions", "always", "share", "age", "far"}

// strays is the share of lone short questions, as its exact 95 % lower bound, from which on a class that spares them
// does not explain the run.
const strays = 0.02

// doubtful takes firmness away where a class leaves answers unexplained: where another class is found beside it, or
// where lone short questions fail that it spares. Some mechanism that no class names may be behind both.
func doubtful(r *reading, findings []Finding) {
	faults := 0
	for _, f := range findings {
		if !f.Note {
			faults++
		}
	}
	lone := r.lone()
	low, err := stat.LowerBound(lone.wrong(), max(1, lone.runs), 0.95)
	for i := range findings {
		f := &findings[i]
		if f.Confidence.Grade != Firm || slices.Contains(counted, f.Channel) {
			continue
		}
		switch {
		case faults > 1:
			f.Confidence.Grade = Likely
			f.Evidence = append(f.Evidence, "another class stands beside it: one mechanism that has no class may be behind both")
		case !slices.Contains(wholly, f.Channel) && err == nil && low > strays:
			f.Confidence.Grade = Likely
			f.Evidence = append(f.Evidence, fmt.Sprintf("it does not explain that of %d short facts asked alone %d are wrong",
				lone.runs, lone.wrong()))
		}
	}
}
