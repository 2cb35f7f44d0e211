package compressor

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{Name: "compressor", Families: []bench.Family{
		{Op: opCompress, Slug: "compress", Doc: compressDoc()},
		{Op: opExtend, Slug: "compress-extend", Doc: extendDoc()},
	}, Built: built}
}

func built(contract string) (bench.Candidate, error) {
	return nil, fmt.Errorf("no contract of the compressor suite is called %q", contract)
}
