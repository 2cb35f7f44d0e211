package topk

import "github.com/assay-suite/assay/numerics"

// The contracts' names, and the rules of ties that they declare.
const (
	lowest  = "lowest-index"
	highest = "highest-index"
	anyTie  = "ties-any"
)

// contracts differ in ties alone; the selection itself is exact in all of them.
func contracts() []numerics.Contract {
	return []numerics.Contract{
		{Name: lowest, Special: numerics.Rules{TieBreak: lowest}},
		{Name: highest, Special: numerics.Rules{TieBreak: highest}},
		{Name: anyTie, Special: numerics.Rules{TieBreak: "any"}},
	}
}

var (
	stable = []string{lowest, anyTie}
	open   = []string{anyTie} // long rows: which of 16,000 ties are taken is not asked
)
