package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// plotView is a finished plot and the sentence under it.
type plotView struct {
	SVG     template.HTML
	Caption string
}

// ink is an opaque colour, 0xRRGGBB. The palette consists of primary colours, which
// vgsvg prints exactly; themed turns them into CSS variables, so that the plot follows
// light and dark mode.
type ink uint32

const (
	inkPaper   ink = 0xFFFFFF
	inkText    ink = 0x0000FF
	inkGrid    ink = 0x00FFFF
	inkExact   ink = 0x00FF00
	inkNear    ink = 0xFFFF00
	inkLost    ink = 0xFF0000
	inkGolden  ink = 0xFF00FF
	inkPartial ink = 0x800000
)

// RGBA makes ink a color.Color.
func (i ink) RGBA() (r, g, b, a uint32) {
	wide := func(v ink) uint32 { return uint32(v&0xff) * 0x101 }
	return wide(i >> 16), wide(i >> 8), wide(i), 0xffff
}

// themed rewrites gonum's standalone SVG for use inside the page.
func themed(svg string) template.HTML {
	if i := strings.Index(svg, "<svg"); i > 0 {
		svg = svg[i:] // XML declaration and comment have no place in HTML
	}
	r := strings.NewReplacer(
		"#FFFFFF", "none", "#0000FF", "var(--text)", "#00FFFF", "var(--rule)",
		"#00FF00", "var(--exact)", "#FFFF00", "var(--near)", "#FF0000", "var(--lost)",
		"#FF00FF", "var(--golden)", "#800000", "var(--partial)",
		"font-family:Liberation Sans", "font-family:inherit",
		"\n\txmlns:xlink=\"http://www.w3.org/1999/xlink\"", "",
		"<svg ", `<svg class="plot" aria-hidden="true" focusable="false" `,
	)
	return template.HTML(r.Replace(svg)) //nolint:gosec // gonum escapes texts, and they are numbers only
}

// point is a measured cell in a plot.
type point struct {
	x, y  float64
	state State
}

// marginPlots plots the cells' margins against the columns (log scale, length) and
// against the rows (depth), with the median and, where there is one, the golden's
// median. An axis whose labels are no numbers gets no plot, neither does a grid with
// fewer than two margins.
func marginPlots(h HeatMap) ([]plotView, error) {
	var out []plotView
	cols, colsOK := numbers(h.Cols)
	rows, rowsOK := numbers(h.Rows)
	if colsOK {
		logs := make([]float64, len(cols))
		for i, v := range cols {
			logs[i] = v
			if slices.Min(cols) > 0 {
				logs[i] = math.Log2(v)
			}
		}
		v, ok, err := marginPlot(h, logs, cols, func(_, c int) float64 { return logs[c] })
		if err != nil {
			return nil, err
		}
		if ok {
			v.Caption = "smallest margin of each needle against " + axisName(h.ColLabel, "column") + ". " + v.Caption
			out = append(out, v)
		}
	}
	if rowsOK {
		v, ok, err := marginPlot(h, rows, rows, func(r, _ int) float64 { return rows[r] })
		if err != nil {
			return nil, err
		}
		if ok {
			v.Caption = "the same against " + axisName(h.RowLabel, "row") + ". " + v.Caption
			out = append(out, v)
		}
	}
	return out, nil
}

func axisName(label, otherwise string) string {
	if label = oneLine(label); label == "" {
		return otherwise
	}
	return label
}

// numbers parses axis labels; thousands commas and a per cent sign are allowed. What
// no depth or length can be (below 1e-6, above 1e12) counts as words.
func numbers(labels []string) ([]float64, bool) {
	var out []float64
	for _, l := range labels {
		l = strings.TrimSuffix(strings.ReplaceAll(strings.TrimSpace(l), ",", ""), "%")
		v, err := strconv.ParseFloat(strings.TrimSpace(l), 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1e12 || v != 0 && math.Abs(v) < 1e-6 {
			return nil, false
		}
		out = append(out, v)
	}
	return out, len(out) > 0
}

// marginPlot draws one plot. at are the axis positions, values what is written there.
func marginPlot(h HeatMap, at, values []float64, x func(r, c int) float64) (plotView, bool, error) {
	var got, golden []point
	infinite := 0
	for r := range h.Rows {
		for c := range h.Cols {
			cell := h.At(r, c)
			if cell.Margin != nil {
				if math.IsInf(*cell.Margin, 0) || math.IsNaN(*cell.Margin) {
					infinite++
				} else {
					got = append(got, point{x(r, c), clampPlot(*cell.Margin), cell.State.Known()})
				}
			}
			if cell.Golden != nil && !math.IsInf(*cell.Golden, 0) && !math.IsNaN(*cell.Golden) {
				golden = append(golden, point{x(r, c), clampPlot(*cell.Golden), Exact})
			}
		}
	}
	if len(got) < 2 {
		return plotView{}, false, nil
	}
	p := newPlot(at, values)
	p.Add(gridLines())
	if err := addLine(p, golden, inkGolden, []vg.Length{4, 3}); err != nil {
		return plotView{}, false, err
	}
	if err := addLine(p, got, inkText, nil); err != nil {
		return plotView{}, false, err
	}
	for _, s := range []struct {
		state State
		ink   ink
		shape draw.GlyphDrawer
	}{
		{Exact, inkExact, draw.CircleGlyph{}},
		{NearMiss, inkNear, draw.PyramidGlyph{}},
		{Partial, inkPartial, draw.RingGlyph{}},
		{Lost, inkLost, draw.BoxGlyph{}},
	} {
		if err := addPoints(p, got, s.state, s.ink, s.shape); err != nil {
			return plotView{}, false, err
		}
	}
	p.Y.Min, p.Y.Max = min(p.Y.Min, 0), max(p.Y.Max, 0)
	if span := p.Y.Max - p.Y.Min; span > 0 {
		p.Y.Max += 0.06 * span
		p.Y.Min -= 0.06 * span
	}
	canvas := vgsvg.NewWith(vgsvg.UseWH(440, 240))
	p.Draw(draw.Crop(draw.New(canvas), 0, -16, 0, 0)) // room for half of the last label
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return plotView{}, false, fmt.Errorf("drawing the margin plot: %w", err)
	}
	caption := "Line: median"
	if len(golden) > 0 {
		caption += "; dashed: the golden's median"
	}
	if infinite > 0 {
		caption += fmt.Sprintf("; %d margins without a finite value are not drawn", infinite)
	}
	return plotView{SVG: themed(b.String()), Caption: caption + "."}, true, nil
}

// clampPlot keeps absurd margins from overflowing, or underflowing, the tick search.
func clampPlot(v float64) float64 {
	if math.Abs(v) < 1e-6 {
		return 0
	}
	return max(-1e6, min(1e6, v))
}

// newPlot has fixed ticks under the measured positions and the page's own font.
func newPlot(at, values []float64) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = inkPaper
	face := font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, 11)
	p.Y.Label.Text = "margin, nats"
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Label.TextStyle.Color, a.Tick.Label.Color = inkText, inkText, inkText
		a.Tick.Color = inkGrid
		a.Color = inkGrid
		a.Label.TextStyle.Font, a.Tick.Label.Font = face, face
	}
	var ticks []plot.Tick
	last := math.Inf(-1)
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	span := at[order[len(order)-1]] - at[order[0]]
	for _, i := range order {
		t := plot.Tick{Value: at[i]}
		label := strconv.FormatFloat(values[i], 'f', -1, 64)
		// A digit of the 11 px label takes 6 of the axis' 380 units, the gap 10.
		if at[i]-last >= span*float64(6*len(label)+10)/380 {
			t.Label, last = label, at[i]
		}
		ticks = append(ticks, t)
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.X.Min, p.X.Max = at[order[0]], at[order[len(order)-1]]
	if span == 0 { // gonum divides by the span
		p.X.Min, p.X.Max = p.X.Min-1, p.X.Max+1
	}
	return p
}

func gridLines() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = inkGrid, inkGrid
	return g
}

// addLine joins the medians of ps at each x.
func addLine(p *plot.Plot, ps []point, ink ink, dashes []vg.Length) error {
	if len(ps) == 0 {
		return nil
	}
	byX := map[float64][]float64{}
	for _, q := range ps {
		byX[q.x] = append(byX[q.x], q.y)
	}
	var xy plotter.XYs
	for x, ys := range byX {
		slices.Sort(ys)
		n := len(ys)
		xy = append(xy, plotter.XY{X: x, Y: (ys[(n-1)/2] + ys[n/2]) / 2})
	}
	slices.SortFunc(xy, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	l, err := plotter.NewLine(xy)
	if err != nil {
		return fmt.Errorf("drawing the median: %w", err)
	}
	l.Color, l.Width, l.Dashes = ink, 1.2, dashes
	p.Add(l)
	return nil
}

// addPoints draws the points of one state; shape and colour both tell it.
func addPoints(p *plot.Plot, ps []point, state State, ink ink, shape draw.GlyphDrawer) error {
	var xy plotter.XYs
	for _, q := range ps {
		if q.state == state {
			xy = append(xy, plotter.XY{X: q.x, Y: q.y})
		}
	}
	if len(xy) == 0 {
		return nil
	}
	s, err := plotter.NewScatter(xy)
	if err != nil {
		return fmt.Errorf("drawing the cells: %w", err)
	}
	s.GlyphStyle = draw.GlyphStyle{Color: ink, Radius: 3.2, Shape: shape}
	p.Add(s)
	return nil
}
