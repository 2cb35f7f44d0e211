package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// chartView is a chart drawn. Texts stay outside of the picture, where the page escapes and wraps them.
type chartView struct {
	Chart
	Plot    *plotView // nil where fewer than two points can be drawn
	Legend  []legendLine
	Listed  []numbered
	Dropped int
}

type legendLine struct {
	Name string
	Ink  string // class of the swatch
	Dash bool
}

type numbered struct {
	Number int // 0: it has no place in the picture
	Text   string
	Strong bool
}

// lines are the looks of the first five series; later ones begin again.
var lines = [...]struct {
	ink    ink
	name   string
	dashes []vg.Length
	shape  draw.GlyphDrawer
}{
	{inkText, "text", nil, draw.CircleGlyph{}},
	{inkGolden, "golden", []vg.Length{4, 3}, draw.BoxGlyph{}}, // the second series often is the golden
	{inkPartial, "partial", nil, draw.PyramidGlyph{}},
	{inkExact, "exact", nil, draw.SquareGlyph{}},
	{inkNear, "near", []vg.Length{5, 3}, draw.RingGlyph{}},
}

// maxTicks is the number of labelled places on the X axis at most.
const maxTicks = 40

// newChartView draws the chart, or leaves the picture out where there is too little to draw.
func newChartView(c Chart) (chartView, error) {
	v := chartView{Chart: c}
	var series [][]Point
	var xs []float64
	for i, s := range c.Series {
		ps, dropped := s.clean()
		v.Dropped += dropped
		series = append(series, ps)
		look := lines[i%len(lines)]
		v.Legend = append(v.Legend, legendLine{s.Name, look.name, look.dashes != nil})
		for _, p := range ps {
			xs = append(xs, p.X)
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	if len(xs) < 2 {
		for _, m := range c.Marks {
			v.Listed = append(v.Listed, numbered{Text: m.Text, Strong: m.Strong})
		}
		return v, nil
	}
	axis := func(x float64) float64 { return x }
	if c.LogX && xs[0] > 0 {
		axis = math.Log2
	}
	var at, values []float64
	for i := 0; i < len(xs); i += 1 + len(xs)/maxTicks {
		at, values = append(at, axis(xs[i])), append(values, xs[i])
	}
	p := newPlot(at, values)
	p.X.Min, p.X.Max = axis(xs[0]), axis(xs[len(xs)-1])
	p.Y.Label.Text = ""
	p.Add(gridLines())
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, ps := range series {
		for _, q := range ps {
			lo, hi = min(lo, q.Y), max(hi, q.Y)
			if q.Low != nil && q.High != nil {
				lo, hi = min(lo, *q.Low), max(hi, *q.High)
			}
		}
	}
	if hi == lo {
		lo, hi = lo-1, hi+1
	}
	v.number(p, axis, lo, hi)
	for i, ps := range series {
		if err := addSeries(p, ps, i, axis); err != nil {
			return v, err
		}
	}
	pad := 0.06 * (hi - lo)
	p.Y.Min, p.Y.Max = lo-pad, hi+3*pad // room for the numbers of the marks
	canvas := vgsvg.NewWith(vgsvg.UseWH(440, 240))
	p.Draw(draw.Crop(draw.New(canvas), 0, -16, 0, 0))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return v, fmt.Errorf("drawing the chart: %w", err)
	}
	v.Plot = &plotView{SVG: themed(b.String())}
	return v, nil
}

// number draws the marks that lie on the axis and numbers them; the rest is only listed. Marks that nearly coincide
// share a place for their numbers.
func (v *chartView) number(p *plot.Plot, axis func(float64) float64, lo, hi float64) {
	type place struct {
		x    float64
		text string
	}
	var places []place
	n, pad, near := 0, 0.06*(hi-lo), 0.03*(p.X.Max-p.X.Min)
	for _, m := range v.Marks {
		entry := numbered{Text: m.Text, Strong: m.Strong}
		// A logarithm of zero or less is no place, and neither is one beyond the ends.
		if x := axis(m.At); drawable(m.At) && m.At != 0 && x >= p.X.Min && x <= p.X.Max {
			n++
			entry.Number = n
			addMark(p, m, axis, lo-pad, hi+pad)
			i := slices.IndexFunc(places, func(q place) bool { return math.Abs(q.x-x) < near })
			if i < 0 {
				places = append(places, place{x, strconv.Itoa(n)})
			} else {
				places[i].text += " " + strconv.Itoa(n)
			}
		}
		v.Listed = append(v.Listed, entry)
	}
	style := p.X.Tick.Label
	style.YAlign, style.XAlign = draw.YBottom, draw.XCenter
	for _, q := range places {
		p.Add(&plotter.Labels{
			XYs:       plotter.XYs{{X: q.x, Y: hi + pad}},
			Labels:    []string{q.text},
			TextStyle: []draw.TextStyle{style},
		})
	}
}

// addMark draws one line; a strong one is solid, with the ends of its band.
func addMark(p *plot.Plot, m Mark, axis func(float64) float64, lo, hi float64) {
	vertical := func(x float64, ink ink, width vg.Length, dashes []vg.Length) {
		p.Add(&plotter.Line{
			XYs:       plotter.XYs{{X: x, Y: lo}, {X: x, Y: hi}},
			LineStyle: draw.LineStyle{Color: ink, Width: width, Dashes: dashes},
		})
	}
	if !m.Strong {
		vertical(axis(m.At), inkPartial, 1, []vg.Length{3, 3})
		return
	}
	for _, end := range []float64{m.At - m.PlusMinus, m.At + m.PlusMinus} {
		if e := axis(end); m.PlusMinus > 0 && drawable(end) && e >= p.X.Min && e <= p.X.Max {
			vertical(e, inkLost, 0.6, nil)
		}
	}
	vertical(axis(m.At), inkLost, 1.6, nil)
}

// addSeries draws a line through the points, the points and their intervals.
func addSeries(p *plot.Plot, ps []Point, i int, axis func(float64) float64) error {
	if len(ps) == 0 {
		return nil
	}
	look := lines[i%len(lines)]
	var xy plotter.XYs
	for _, q := range ps {
		x := axis(q.X)
		xy = append(xy, plotter.XY{X: x, Y: q.Y})
		if q.Low != nil && q.High != nil {
			bar := &plotter.Line{
				XYs:       plotter.XYs{{X: x, Y: *q.Low}, {X: x, Y: *q.High}},
				LineStyle: draw.LineStyle{Color: look.ink, Width: 0.8},
			}
			p.Add(bar)
		}
	}
	l, err := plotter.NewLine(xy)
	if err != nil {
		return fmt.Errorf("drawing a series: %w", err)
	}
	l.Color, l.Width, l.Dashes = look.ink, 1.2, look.dashes
	s, err := plotter.NewScatter(xy)
	if err != nil {
		return fmt.Errorf("drawing a series: %w", err)
	}
	s.GlyphStyle = draw.GlyphStyle{Color: look.ink, Radius: 2.8, Shape: look.shape}
	p.Add(l, s)
	return nil
}

// newChartViews draws all cliffs and charts of a run.
func newChartViews(r Run) ([]chartView, error) {
	var all []Chart
	for _, c := range r.Cliffs {
		all = append(all, c.chart())
	}
	var out []chartView
	for _, c := range append(all, r.Charts...) {
		v, err := newChartView(c)
		if err != nil {
			return nil, fmt.Errorf("drawing the chart %q: %w", c.Title, err)
		}
		out = append(out, v)
	}
	return out, nil
}
