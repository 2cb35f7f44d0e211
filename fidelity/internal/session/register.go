package session

import (
	"slices"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/suite"
)

// Registered are all cells of servers with a short, a middling and a long context window; a window of less than a
// thousand tokens has some of its own.
func init() {
	seen := map[string]bool{}
	for _, window := range []int{8192, 8200, 1 << 20} {
		p, err := recall.NewPlan(recall.Full, window)
		if err != nil { // a test holds that it is nil
			continue
		}
		for _, c := range slices.Concat(p.Cells, p.Reserve) {
			if !seen[c.ID] {
				seen[c.ID] = true
				suite.Register(c.Case)
			}
		}
	}
	suite.Register(suite.Case{
		ID:    "fidelity/gate/compare",
		Claim: "what the first server answers the second MUST answer as well",
	})
	for _, g := range (recall.Judgement{Golden: &recall.Comparison{}}).Gates() {
		suite.Register(suite.Case{ID: g.ID, Claim: g.Claim})
	}
}
