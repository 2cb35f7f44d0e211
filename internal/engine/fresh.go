package engine

import (
	"math/rand/v2"
	"slices"
)

// The third set was written after a judge had been tuned on one half and run on the other, by an author who had read
// neither the judge nor what it knows, with nothing of it but the names of its classes. It is frozen like the halves:
// what a judge says of it changes nothing here.

// Statement is what is true of a bug, as it was written before a judge saw it.
type Statement struct {
	// Accept holds the classes that are right: the best, and at most one more. "unexplained" means that no class fits and
	// that only the loss itself can be told.
	Accept []string
	// Visible says for which servers and requests the bug can be seen at all.
	Visible string
	// Measured is what it spoils of the work in fresh_work_test.go.
	Measured Measure
}

// Measure is the damage of a bug: on one seed, and on eight. Whoever runs a judge takes other seeds than 41 to 48:
// these were looked at.
type Measure struct {
	// Percent of 38 ordinary answers are wrong on the first seed; Least and Most are the bounds over all.
	Percent, Least, Most int
	// Spoils names the requests outside of the ordinary ones that are wrong on the first seed.
	Spoils []string
	// Hidden is the number of seeds on which nothing is wrong: no request reaches the rank that has the bug, or what it
	// damages is not what is asked for.
	Hidden int
}

// traits are settings that came with the third set; Params, whose ranges are frozen, has no room for them.
type traits struct {
	skip float64 // share of the answers for which a model that reasons does not
}

var fresh = measured(freshPages(), freshPrefix(), freshTier(), freshPrefill(), freshAttention(), freshSparse(),
	freshBatch(), freshTransfer(), freshRanks(), freshSpec(), freshSampler(), freshDecode(), freshLimits(),
	freshTemplate(), freshText(), freshParsers())

// measured joins lists of bugs and puts to each what was measured of it.
func measured(lists ...[]Bug) []Bug {
	all := slices.Concat(lists...)
	for i := range all {
		all[i].Stated.Measured = freshMeasured[all[i].Slug]
	}
	return all
}

// onRadix gives a server a radix cache, and onBlocks one of block hashes.
func onRadix(sizes ...int) func(p *Params, r *rand.Rand)  { return cacheOf("radix", sizes...) }
func onBlocks(sizes ...int) func(p *Params, r *rand.Rand) { return cacheOf("blocks", sizes...) }
