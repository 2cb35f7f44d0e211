package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Chart is a plot of lines over a measured axis: margins along an answer, time by length.
type Chart struct {
	Title  string
	XLabel string // "prompt tokens"
	YLabel string // "margin, nats"
	LogX   bool   // logarithmic where every X is positive
	Series []Series
	Marks  []Mark
	Note   string
}

// Series is one line of a chart. Points without a finite place are counted, not drawn.
type Series struct {
	Name   string
	Points []Point
}

// Point is a measured point; Low and High, where given, are the ends of its interval.
type Point struct {
	X, Y      float64
	Low, High *float64
}

// Mark is a numbered place on the X axis. Strong ones are drawn as a band of PlusMinus to either side.
type Mark struct {
	At, PlusMinus float64
	Text          string
	Strong        bool
}

// Cliff is recall by length with the edge that was found and what is known to break there.
type Cliff struct {
	Title  string // "recall by prompt length" if empty
	XLabel string // "prompt tokens" if empty
	Rates  []Rate // At is the length
	Edge   *Edge
	Causes []Cause // of the cliff arithmetic, likeliest first
	Note   string
}

// Edge is where recall breaks, in tokens.
type Edge struct{ At, PlusMinus float64 }

// Cause is a known reason for an edge. Where At is 0 its place is taken from a Text that begins like "2048: "; without
// one it is only listed.
type Cause struct {
	At   float64
	Text string
}

// placed is the cause with its place in At and the words alone in Text.
func (c Cause) placed() Cause {
	if c.At != 0 {
		return c
	}
	head, rest, ok := strings.Cut(c.Text, ": ")
	if n, err := strconv.ParseUint(strings.ReplaceAll(strings.TrimSpace(head), ",", ""), 10, 40); ok && err == nil {
		return Cause{At: float64(n), Text: rest}
	}
	return c
}

// Heading is the title or what stands for it.
func (c Cliff) Heading() string { return axisName(c.Title, "recall by prompt length") }

// Text is the edge in one line, with the likeliest causes.
func (c Cliff) Text() string {
	if c.Edge == nil {
		return "no edge found"
	}
	s := "edge at " + tokens(c.Edge.At) + " ± " + tokens(c.Edge.PlusMinus) + " tokens"
	if len(c.Causes) == 0 {
		return s
	}
	var causes []string
	for _, cause := range c.Causes {
		causes = append(causes, cause.placed().words())
	}
	return s + ": " + strings.Join(causes, " · ")
}

// words is "2,048: top-k 512 x ratio 4".
func (c Cause) words() string {
	if c.At == 0 {
		return oneLine(c.Text)
	}
	return tokens(c.At) + ": " + oneLine(c.Text)
}

// tokens prints a length; what is no number of tokens is said to be none.
func tokens(v float64) string {
	if math.IsNaN(v) || math.Abs(v) > 1e15 {
		return "?"
	}
	return thousands(int(math.Round(v)))
}

// chart draws shares in per cent.
func (c Cliff) chart() Chart {
	s := Series{Name: "recall"}
	for _, r := range c.Rates {
		share, ok := r.Share()
		if !ok {
			continue
		}
		p := Point{X: r.At, Y: 100 * share}
		if r.Interval() != "" {
			p.Low, p.High = new(100*r.Low), new(100*r.High)
		}
		s.Points = append(s.Points, p)
	}
	out := Chart{
		Title:  c.Heading(),
		XLabel: axisName(c.XLabel, "prompt tokens"),
		YLabel: "recall, %",
		LogX:   true,
		Series: []Series{s},
		Note:   c.Note,
	}
	if c.Edge != nil {
		out.Marks = append(out.Marks, Mark{
			At:        c.Edge.At,
			PlusMinus: c.Edge.PlusMinus,
			Strong:    true,
			Text:      "measured edge: " + tokens(c.Edge.At) + " ± " + tokens(c.Edge.PlusMinus),
		})
	}
	for _, cause := range c.Causes {
		cause = cause.placed()
		out.Marks = append(out.Marks, Mark{At: cause.At, Text: cause.words()})
	}
	return out
}

// drawable reports whether a coordinate can be drawn: finite, and of a size that axes can be ticked at.
func drawable(v float64) bool {
	return v == 0 || math.Abs(v) <= 1e12 && math.Abs(v) >= 1e-6
}

// clean drops what cannot be drawn and says how much that was.
func (s Series) clean() (out []Point, dropped int) {
	for _, p := range s.Points {
		if !drawable(p.X) || math.IsInf(p.Y, 0) || math.IsNaN(p.Y) {
			dropped++
			continue
		}
		p.Y = clampPlot(p.Y)
		if p.Low == nil || p.High == nil || math.IsNaN(*p.Low+*p.High) {
			p.Low, p.High = nil, nil
		} else {
			p.Low, p.High = new(clampPlot(*p.Low)), new(clampPlot(*p.High))
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b Point) int {
		switch {
		case a.X < b.X:
			return -1
		case a.X > b.X:
			return 1
		}
		return 0
	})
	return out, dropped
}

// Interval is the point's interval for a table, or empty.
func (p Point) Interval() string {
	if p.Low == nil || p.High == nil {
		return ""
	}
	return fmt.Sprintf("%.4g to %.4g", *p.Low, *p.High)
}

// number prints a coordinate with up to six figures.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
