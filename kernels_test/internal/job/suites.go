package job

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/compressor"
	"github.com/assay-suite/assay/kernels_test/dense"
	"github.com/assay-suite/assay/kernels_test/gemm"
	"github.com/assay-suite/assay/kernels_test/indexer"
	"github.com/assay-suite/assay/kernels_test/mhc"
	"github.com/assay-suite/assay/kernels_test/norm"
	"github.com/assay-suite/assay/kernels_test/route"
	"github.com/assay-suite/assay/kernels_test/sparse"
	"github.com/assay-suite/assay/kernels_test/topk"
)

// Suites lists the suites, in the order of the table of operators. Their families do not change, so that what they
// have to offer is drawn once in a process.
func Suites() []bench.Suite {
	all := slices.Clone(suites())
	for i := range all {
		all[i].Families = slices.Clone(all[i].Families)
	}
	return all
}

var suites = sync.OnceValue(func() []bench.Suite {
	all := []bench.Suite{
		indexer.Suite(), topk.Suite(), sparse.Suite(), compressor.Suite(), dense.Suite(), mhc.Suite(), route.Suite(),
		gemm.Suite(), norm.Suite(),
	}
	for i := range all {
		all[i] = withFacets(all[i])
		all[i].Memo = &bench.Memo{}
	}
	return all
})

// Cases lists every case of every suite, sorted by ID.
func Cases() []bench.Case {
	var out []bench.Case
	for _, s := range Suites() {
		out = append(out, s.Cases()...)
	}
	slices.SortFunc(out, func(a, b bench.Case) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Find finds a case by its ID.
func Find(id string) (bench.Case, error) {
	for _, c := range Cases() {
		if c.ID == id {
			return c, nil
		}
	}
	return bench.Case{}, fmt.Errorf("no case is called %q; -assay.list lists them", id)
}

func init() {
	for _, c := range Cases() {
		suite.Register(suite.Case{ID: c.ID, Claim: c.Claim, Catches: c.Catches})
	}
}
