package report

import (
	"fmt"
	"strings"
)

// sideGap is the space between the grid and the text to the right of it.
const sideGap = 6

// writeHeatMap prints a grid, the interval to the right of its head line and the
// legend to the right of its first row. Where that does not fit into s.Width both go
// below the grid; a grid that is itself too wide is broken into blocks of columns.
func writeHeatMap(b *strings.Builder, h HeatMap, s Style) {
	if h.Title != "" {
		b.WriteString(oneLine(h.Title) + "\n")
	}
	side := sideLines(h, s)
	if len(h.Rows) == 0 || len(h.Cols) == 0 {
		b.WriteString(padRight("heat map", labelWidth) + "empty: no cell was planned\n")
		return
	}
	g := layout(h)
	perBlock := len(h.Cols)
	if s.Width > 0 {
		perBlock = max(1, (s.Width-g.label)/g.cell)
	}
	beside := perBlock >= len(h.Cols)
	if s.Width > 0 {
		for _, l := range side {
			beside = beside && g.label+g.cell*len(h.Cols)+sideGap+l.width <= s.Width
		}
	}
	for from := 0; from < len(h.Cols); from += perBlock {
		if from > 0 {
			b.WriteByte('\n')
		}
		to := min(from+perBlock, len(h.Cols))
		for i, line := range g.block(h, from, to, s) {
			if beside && i < len(side) {
				line += strings.Repeat(" ", sideGap) + side[i].text
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	if !beside {
		for _, l := range side {
			if l.text != "" {
				b.WriteString("   " + l.text + "\n")
			}
		}
	}
}

// grid holds the column widths of a printed heat map.
type grid struct{ label, cell int }

// layout gives three columns of indent to the row labels and one to their heading,
// and two columns of space to the widest column label, six at least.
func layout(h HeatMap) grid {
	g := grid{label: 1 + width(oneLine(h.RowLabel)), cell: 6}
	for _, r := range h.Rows {
		g.label = max(g.label, 3+width(oneLine(r)))
	}
	g.label++
	for _, c := range h.Cols {
		g.cell = max(g.cell, 2+width(oneLine(c)))
	}
	return g
}

// block is the head line and one line per row, for columns from up to to.
func (g grid) block(h HeatMap, from, to int, s Style) []string {
	var head strings.Builder
	head.WriteString(padRight(" "+oneLine(h.RowLabel), g.label))
	for _, c := range h.Cols[from:to] {
		head.WriteString(padLeft(oneLine(c), g.cell))
	}
	lines := []string{head.String()}
	for r, label := range h.Rows {
		var line strings.Builder
		line.WriteString(padLeft(oneLine(label), g.label-1) + " ")
		for c := from; c < to; c++ {
			st := h.At(r, c).State
			line.WriteString(strings.Repeat(" ", g.cell-1) + paint(st.Glyph(s.ASCII), st.sgr(), s))
		}
		lines = append(lines, line.String())
	}
	return lines
}

// sideLine is a text to the right of the grid and its width without colour codes.
type sideLine struct {
	text  string
	width int
}

// sideLines are the recall with its interval, then the legend.
func sideLines(h HeatMap, s Style) []sideLine {
	recall := recallText(h.Recall)
	var plain, painted []string
	for _, st := range h.legend() {
		plain = append(plain, st.Glyph(s.ASCII)+" "+st.Word())
		painted = append(painted, paint(st.Glyph(s.ASCII), st.sgr(), s)+" "+st.Word())
	}
	return []sideLine{
		{recall, width(recall)},
		{strings.Join(painted, "  "), width(strings.Join(plain, "  "))},
	}
}

// recallText is "recall 34/35  [85.5 %, 99.5 %]"; a recall of nothing has no interval.
func recallText(r *Recall) string {
	if r == nil {
		return ""
	}
	label := oneLine(r.Label)
	if label == "" {
		label = "recall"
	}
	if r.Of <= 0 {
		return label + " unmeasured"
	}
	return fmt.Sprintf("%s %d/%d  [%.1f %%, %.1f %%]", label, r.Hits, r.Of, 100*r.Low, 100*r.High)
}

func paint(glyph, sgr string, s Style) string {
	if !s.Color {
		return glyph
	}
	return "\x1b[" + sgr + "m" + glyph + "\x1b[0m"
}

// writeTable prints a table with aligned columns, figures to the right.
func writeTable(b *strings.Builder, t Table) {
	rows := append([][]string{t.Head}, t.Rows...)
	var widths []int
	for _, row := range rows {
		for c, cell := range row {
			if c >= len(widths) {
				widths = append(widths, 0)
			}
			widths[c] = max(widths[c], width(oneLine(cell)))
		}
	}
	b.WriteByte('\n')
	if t.Title != "" {
		b.WriteString(oneLine(t.Title) + "\n")
	}
	for i, row := range rows {
		if i == 0 && len(row) == 0 {
			continue
		}
		var line strings.Builder
		line.WriteString("  ")
		for c, cell := range row {
			if c > 0 && numericColumn(t, c) {
				line.WriteString(" " + padLeft(oneLine(cell), widths[c]) + " ")
			} else {
				line.WriteString(" " + padRight(oneLine(cell), widths[c]) + " ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	if t.Note != "" {
		b.WriteString("   " + oneLine(t.Note) + "\n")
	}
}

// numericColumn reports whether every filled cell of column c begins like a number.
func numericColumn(t Table, c int) bool {
	seen := false
	for _, row := range t.Rows {
		if c >= len(row) || row[c] == "" {
			continue
		}
		seen = true
		if !strings.ContainsAny(row[c][:1], "0123456789+-.") {
			return false
		}
	}
	return seen
}
