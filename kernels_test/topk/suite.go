package topk

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{Name: "topk", Families: []bench.Family{
		{Op: opTopK, Slug: "topk", Doc: topkDoc()},
		{Op: opPages, Slug: "topk-pages", Doc: pagesDoc()},
	}, Built: built}
}

func built(contract string) (bench.Candidate, error) {
	return nil, fmt.Errorf("no contract of the topk suite is called %q", contract)
}
