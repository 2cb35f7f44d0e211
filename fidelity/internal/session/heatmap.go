package session

import (
	"fmt"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

func state(o recall.Observation) report.State {
	switch {
	case !o.Measured:
		return report.Unmeasured
	case o.Hit:
		return report.Exact
	}
	return report.StateOf(o.Class)
}

// heatMap draws the worst repeat of every grid cell.
func heatMap(p recall.Plan, obs []recall.Observation, golden *recall.Golden, jd recall.Judgement) report.HeatMap {
	h := report.HeatMap{
		RowLabel: "depth", ColLabel: "length in tokens",
		Recall: &report.Recall{Hits: jd.Hits, Of: jd.Of, Low: jd.Interval.Lo, High: jd.Interval.Hi, Method: "Wilson, 95 %"},
	}
	for _, n := range p.Lengths {
		h.Cols = append(h.Cols, fmt.Sprint(n))
	}
	for _, depth := range p.Depths {
		h.Rows = append(h.Rows, fmt.Sprintf("%.2f", depth))
		row := make([]report.Cell, len(p.Lengths))
		for c, n := range p.Lengths {
			row[c] = report.Cell{State: report.Unmeasured, Class: string(needle.Unmeasured)}
			seen := false
			for _, o := range obs {
				if o.Cell.Family != recall.Recall || o.Cell.Tokens != n || o.Cell.Depth != depth {
					continue
				}
				if cell := cellOf(o, golden); !seen || cell.State.Rank() > row[c].State.Rank() {
					row[c], seen = cell, true
				}
			}
		}
		h.Cells = append(h.Cells, row)
	}
	return h
}

func cellOf(o recall.Observation, golden *recall.Golden) report.Cell {
	c := report.Cell{
		Case:  o.Cell.ID,
		Class: o.Class,
		State: state(o),
		Title: fmt.Sprintf("want %s, got %q", o.Expected, recall.Clip(o.Answer, 60)),
	}
	if m, ok := o.MinMargin(); ok {
		c.Margin = &m
	}
	if g, ok := paired(o, golden); ok && len(g.Positions) > 0 {
		m, _ := recall.Observation{Positions: g.Positions}.MinMargin()
		c.Golden = &m
	}
	return c
}

func paired(o recall.Observation, golden *recall.Golden) (recall.GoldenCell, bool) {
	if golden == nil {
		return recall.GoldenCell{}, false
	}
	g, ok := golden.Cells[o.Cell.ID]
	return g, ok && g.Prompt == o.PromptSHA
}

// lengthTable shows where along the length something changes.
func lengthTable(d *Done, golden *recall.Golden) report.Table {
	t := report.Table{
		Title: "recall by length", Head: []string{"tokens", "found", "of", "median margin", "median shift"},
		Note:     "margins and shifts in nats; shift against the golden",
		Terminal: d.Judgement.Code == suite.Regression && golden != nil,
	}
	shift := shiftByID(d.Judgement)
	for _, n := range d.Plan.Lengths {
		hits, of := recall.Count(
			d.Observations,
			func(o recall.Observation) bool { return o.Cell.Family == recall.Recall && o.Cell.Tokens == n },
		)
		var margins, shifts []float64
		for _, o := range d.Observations {
			if o.Cell.Family != recall.Recall || o.Cell.Tokens != n {
				continue
			}
			for _, p := range o.Positions {
				margins = append(margins, p.Margin)
			}
			if s, ok := shift[o.Cell.ID]; ok {
				shifts = append(shifts, s.Size())
			}
		}
		t.Rows = append(t.Rows, []string{
			fmt.Sprint(n), fmt.Sprint(hits), fmt.Sprint(of), medianText(margins), medianText(shifts),
		})
	}
	return t
}

func shiftByID(jd recall.Judgement) map[string]recall.Shift {
	out := map[string]recall.Shift{}
	if jd.Golden != nil {
		for _, s := range jd.Golden.Shifts {
			out[s.ID] = s
		}
	}
	return out
}
