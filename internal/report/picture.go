package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Picture shows how an error lies over the rows and columns of an output, so that tiles and pages are seen. Values are
// |got − want| / bound: up to 1 is accepted, NaN was not judged. Rows[i] and Cols[j] label them, where a value stands
// for several rows or columns by their range.
type Picture struct {
	Title    string
	RowLabel string
	ColLabel string
	Rows     []string
	Cols     []string
	Values   [][]float64
	Caption  string
}

// dot is the side of a value in SVG units.
const dot = 7

// pictureView is a picture drawn.
type pictureView struct {
	Picture
	SVG template.HTML
}

// draw draws a picture: two colours, for values up to 1 and beyond, the stronger the larger on a logarithmic scale.
// What was not judged stays empty.
func (p Picture) draw() pictureView {
	rows, cols := len(p.Values), 0
	for _, row := range p.Values {
		cols = max(cols, len(row))
	}
	w, h := cols*dot, rows*dot
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="residual" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">`,
		max(w, 1), max(h, 1), max(w, 1), max(h, 1),
		template.HTMLEscapeString(visible(fmt.Sprintf("%s: %d rows, %d columns; %s", p.Title, rows, cols, p.Caption))))
	fmt.Fprintf(&b, `<rect class="ground" x="0" y="0" width="%d" height="%d"/>`, w, h)
	for i, row := range p.Values {
		for j, v := range row {
			if v == 0 || math.IsNaN(v) {
				continue
			}
			class, strength := "within", strengthOf(v)
			if v > 1 {
				class = "beyond"
			}
			fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" fill-opacity="%.2f"><title>%s</title></rect>`,
				class, j*dot, i*dot, dot, dot, strength, template.HTMLEscapeString(visible(p.tip(i, j, v))))
		}
	}
	b.WriteString("</svg>")
	return pictureView{p, template.HTML(b.String())} //nolint:gosec // numbers, and texts that are escaped above
}

// strengthOf maps 1e-2 to 1e3 onto 0.1 to 1.
func strengthOf(v float64) float64 {
	if math.IsInf(v, 0) {
		return 1
	}
	return math.Min(1, math.Max(0.1, 0.1+0.9*(math.Log10(math.Abs(v))+2)/5))
}

func (p Picture) tip(i, j int, v float64) string {
	at := func(labels []string, k int) string {
		if k < len(labels) {
			return labels[k]
		}
		return fmt.Sprint(k)
	}
	return fmt.Sprintf("%s %s, %s %s: %.3g of the bound", p.RowLabel, at(p.Rows, i), p.ColLabel, at(p.Cols, j), v)
}
