package precision

import (
	"context"
	"strings"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// headRows is how many rows of an output head are examined, evenly spread: a vocabulary has 100,000.
const headRows = 256

// plainJobs are what every language model has: the output head under bf16 and fp8, and the gains of its norms. They
// stand in for hyper-connections where a checkpoint has none.
func (m *meter) plainJobs() []job {
	var out []job
	var norms []string
	for _, canon := range m.names {
		switch rows, cols, ok := m.shape(canon); {
		case !ok || m.integer(canon):
		case canon == "head.weight" && rows > 1:
			n := min(rows, headRows)
			out = append(out, job{canon, emulated * float64(n*cols*m.o.Tokens), func(context.Context) ([]Row, error) {
				return m.head(canon, rows, n)
			}})
		case rows == 1 && cols > 1 && strings.HasSuffix(canon, "norm.weight"):
			norms = append(norms, canon)
		}
	}
	if len(norms) > 0 {
		out = append(out, job{"norms", float64(len(norms)), func(context.Context) ([]Row, error) { return m.norms(norms) }})
	}
	return out
}

// head examines rows of the output head on drawn states.
func (m *meter) head(canon string, rows, n int) ([]Row, error) {
	w := oracle.Mat{}
	for i := range n {
		r := i * rows / n
		one, err := m.rows(canon, r, r+1)
		if err != nil {
			return nil, err
		}
		w.Rows, w.Cols, w.Data = w.Rows+1, one.Cols, append(w.Data, one.Data...)
	}
	x := m.enters(canon, "model.norm", w.Cols, m.o.Tokens)
	return m.products(canon, Head, x.rows(0, min(x.n, m.o.Tokens)), w, nil)
}

// norms is how far the gains move when they are rounded without scales, worst norm of each format.
func (m *meter) norms(names []string) ([]Row, error) {
	var out []Row
	for _, f := range []format.Format{format.BF16, format.FP16, format.E4M3FN} {
		worst := Row{Kind: Norm, Path: f.Name, Layer: -1, Note: "rounded without scales"}
		worst.Numbers = suite.Numbers{"rel-l2": -1}
		for _, canon := range names {
			g, err := m.all(canon)
			if err != nil {
				return nil, err
			}
			rounded := append([]float64(nil), g.Data...)
			f.RoundSlice(rounded)
			if e := zeroed(numerics.RelL2(rounded, g.Data)); e > worst.Numbers["rel-l2"] {
				worst.Tensor, worst.Layer, worst.Numbers["rel-l2"] = canon, layerOf(canon), e
			}
		}
		out = append(out, worst)
	}
	return out, nil
}
