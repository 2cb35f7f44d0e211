package topk

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

var topk = bench.Family{
	Op: opTopK, Slug: "topk", Doc: topkDoc(),
	Claim:     "every row MUST name exactly the best keys that its query sees, each once, ties as declared, then -1",
	Contracts: contracts(), Draw: drawRows, Expect: expectRows, Twins: twins,
	Scenarios: slices.Concat(scoreScenarios(false), lengthScenarios(false), relateScenarios(false), longScenarios()),
}
