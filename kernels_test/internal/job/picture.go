package job

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/kernels_test/bench"
)

// The largest picture, in boxes; larger outputs are drawn by the largest value of each box.
const (
	pictureRows = 64
	pictureCols = 96
)

// Pictures draws the residuals of a failed output: |got − want| / bound over its rows (the first axis) and all else
// as columns, so that tiles and pages are seen.
func Pictures(b *bench.Bench, r bench.Report) []report.Picture {
	f, bad := r.First()
	if !bad {
		return nil
	}
	for _, e := range b.Expected {
		if e.Name != f.Output || len(f.Got) != len(e.Want) || len(e.Want) == 0 {
			continue
		}
		rho := e.Rho(f.Got)
		rows := 1
		if len(e.Shape) > 1 {
			rows = e.Shape[0]
		}
		return []report.Picture{residuals(e, rho, rows)}
	}
	return nil
}

func residuals(e bench.Expected, rho []float64, rows int) report.Picture {
	cols := len(rho) / rows
	tall, wide := (rows+pictureRows-1)/pictureRows, (cols+pictureCols-1)/pictureCols
	p := report.Picture{
		Title: e.Name, RowLabel: axis(e, 0, "row"), ColLabel: axis(e, 1, "column"),
		Caption: "|got - want| / bound; the weaker colour is within the bound",
	}
	if tall*wide > 1 {
		p.Caption += fmt.Sprintf("; each box is the largest of %d x %d elements", tall, wide)
	}
	for i := 0; i < rows; i += tall {
		row := make([]float64, 0, pictureCols)
		for j := 0; j < cols; j += wide {
			row = append(row, largest(rho, cols, i, min(i+tall, rows), j, min(j+wide, cols)))
		}
		p.Values = append(p.Values, row)
		p.Rows = append(p.Rows, span(i, min(i+tall, rows)))
	}
	for j := 0; j < cols; j += wide {
		p.Cols = append(p.Cols, span(j, min(j+wide, cols)))
	}
	return p
}

// largest is the worst of a box; a NaN, which has no size, counts as nothing.
func largest(rho []float64, cols, i, iEnd, j, jEnd int) float64 {
	out := 0.0
	for ; i < iEnd; i++ {
		for at := i*cols + j; at < i*cols+jEnd; at++ {
			if v := rho[at]; v > out || math.IsInf(v, 1) {
				out = v
			}
		}
	}
	return out
}

func span(from, to int) string {
	if to-from == 1 {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d to %d", from, to-1)
}

func axis(e bench.Expected, i int, otherwise string) string {
	if i < len(e.Axes) {
		return e.Axes[i]
	}
	return otherwise
}
