package sparse

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{Name: "sparse", Families: families(), Built: built}
}

func families() []bench.Family {
	return []bench.Family{
		{Op: opAttention, Slug: "sparse-attention", Doc: attentionDoc()},
		{Op: opMergeState, Slug: "merge-state", Doc: mergeStateDoc()},
		{Op: opMergeStates, Slug: "merge-states", Doc: mergeStatesDoc()},
		{Op: opExtendRows, Slug: "extend-rows", Doc: extendRowsDoc()},
	}
}

func built(contract string) (bench.Candidate, error) {
	return nil, fmt.Errorf("no contract of the sparse suite is called %q", contract)
}
