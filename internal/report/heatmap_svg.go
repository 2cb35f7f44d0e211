package report

import (
	"fmt"
	"html/template"
)

// gridView is a heat map with its geometry worked out; the template only prints
// rectangles. Lengths are in SVG user units, which are CSS pixels at full size.
type gridView struct {
	HeatMap
	Label  string // what a screen reader says for the picture
	W, H   int
	MinW   int // narrowest width at which the labels can still be read
	Cell   box // size of a cell, X and Y unused
	Rotate bool
	Axis   []axisText // row labels, then column labels
	Boxes  []box
	Legend []legendEntry
	Class  []classCount
	Plots  []plotView
}

// axisText is a row or column label.
type axisText struct {
	X, Y   int
	Text   string
	Column bool
}

// box is a drawn cell.
type box struct {
	Cell
	X, Y, W, H int
	State      State
	Text       string // margin, where there is room for it
	Tip        string
	Href       template.URL // "#finding-3", or empty
	Row, Col   string
}

type legendEntry struct {
	State State
	Word  string
	Count int
}

type classCount struct {
	Class string
	State State
	Count int
}

// charW is the width of a character of a 12 px label, rounded up.
const charW = 8

// newGridView lays the cells out: large with their margin in them while there are few
// columns, smaller with rotated labels when there are many.
func newGridView(h HeatMap, anchors map[string]string) (gridView, error) {
	g := gridView{HeatMap: h}
	cw, ch := 58, 34
	switch n := len(h.Cols); {
	case n > 24:
		cw, ch = 24, 20
	case n > 12:
		cw, ch = 36, 26
	}
	labels := 0
	for _, r := range h.Rows {
		labels = max(labels, width(oneLine(r)))
	}
	left := charW*min(labels, 24) + 14
	widest := 0
	for _, c := range h.Cols {
		widest = max(widest, width(oneLine(c)))
	}
	widest = min(widest, 24)
	top := 24
	if g.Rotate = widest*charW > cw; g.Rotate {
		top = widest*charW + 12
	}
	g.Cell = box{W: cw, H: ch}
	for r, label := range h.Rows {
		g.Axis = append(g.Axis, axisText{X: left - 8, Y: top + r*ch + ch/2 + 4, Text: shorten(label)})
	}
	for c, label := range h.Cols {
		g.Axis = append(g.Axis, axisText{X: left + c*cw + cw/2, Y: top - 8, Text: shorten(label), Column: true})
	}
	classes := map[string]int{}
	for r := range h.Rows {
		for c := range h.Cols {
			b := newBox(h, r, c, anchors)
			b.X, b.Y, b.W, b.H = left+c*cw+2, top+r*ch+2, cw-4, ch-4
			if cw < 50 {
				b.Text = ""
			}
			g.Boxes = append(g.Boxes, b)
			g.count(b, classes)
		}
	}
	g.W, g.H = left+len(h.Cols)*cw+8, top+len(h.Rows)*ch+4
	g.MinW = g.W * 3 / 4
	for _, s := range h.legend() {
		g.Legend = append(g.Legend, legendEntry{s, s.Word(), h.Count(s)})
	}
	g.Label = fmt.Sprintf("heat map of %d rows (%s) and %d columns (%s): %d exact, %d near miss, %d partial, %d lost, "+
		"%d unmeasured",
		len(h.Rows), oneLine(h.RowLabel), len(h.Cols), oneLine(h.ColLabel),
		h.Count(Exact), h.Count(NearMiss), h.Count(Partial), h.Count(Lost), h.Count(Unmeasured))
	var err error
	g.Plots, err = marginPlots(h)
	return g, err
}

// newBox is one cell without its place.
func newBox(h HeatMap, r, c int, anchors map[string]string) box {
	cell := h.At(r, c)
	b := box{Cell: cell, State: cell.State.Known(), Row: h.Rows[r], Col: h.Cols[c]}
	if cell.Margin != nil {
		b.Text = fmt.Sprintf("%.1f", *cell.Margin)
		if w := nats(*cell.Margin); w[len(w)-1] > '9' { // inf, n/a
			b.Text = w
		}
	}
	if a := anchors[cell.Case]; a != "" && cell.Case != "" {
		b.Href = template.URL("#" + a) //nolint:gosec // made of a number
	}
	b.Tip = fmt.Sprintf("%s %s, %s %s: %s", oneLine(h.RowLabel), oneLine(b.Row), oneLine(h.ColLabel), oneLine(b.Col),
		b.State.Word())
	if cell.Class != "" && cell.Class != string(b.State) {
		b.Tip += " (" + oneLine(cell.Class) + ")"
	}
	if cell.Margin != nil {
		b.Tip += ", margin " + nats(*cell.Margin) + " nats"
	}
	if cell.Golden != nil {
		b.Tip += ", golden " + nats(*cell.Golden)
	}
	if cell.Title != "" {
		b.Tip += ". " + oneLine(visible(cell.Title))
	}
	return b
}

// count adds the cell to the table of classes, in order of first appearance.
func (g *gridView) count(b box, index map[string]int) {
	class := oneLine(b.Class)
	if class == "" {
		class = string(b.State)
	}
	i, ok := index[class]
	if !ok {
		i = len(g.Class)
		index[class] = i
		g.Class = append(g.Class, classCount{Class: class, State: b.State})
	}
	g.Class[i].Count++
}

// shorten keeps a hostile or mistaken label from growing the picture without bound.
func shorten(s string) string {
	s = oneLine(s)
	if width(s) <= 24 {
		return s
	}
	return string([]rune(s)[:23]) + "…"
}

// MidX and MidY are where the text of a cell stands; InX and InY where the inner
// square of a near miss does.
func (b box) MidX() int { return b.X + b.W/2 }

// MidY is the baseline of the text of a cell.
func (b box) MidY() int { return b.Y + b.H/2 + 4 }

// InX is the left edge of the inner square of a near miss.
func (b box) InX() int { return b.X + b.W/2 - 3 }

// InY is its upper edge.
func (b box) InY() int { return b.Y + b.H/2 - 3 }

// Half is the path of the triangle that fills half of a partial cell.
func (b box) Half() string { return fmt.Sprintf("M%d %dV%dH%dz", b.X, b.Y, b.Y+b.H, b.X+b.W) }
