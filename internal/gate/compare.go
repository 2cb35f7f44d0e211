package gate

import (
	"fmt"
	"math"
)

// Slot is a cell of a comparison, in plan order.
type Slot struct {
	ID     string
	Family Family
}

// Arms are the outcomes of a comparison by cell ID, as Decide takes them: the server before, the same server asked the
// same again (the A/A arm), and the server now. Interleave them: cell by cell, not arm by arm.
type Arms struct {
	Before, Again, Now map[string]Outcome
}

// Comparison is Decide's answer about Now against Before, with the A/A arm beside it.
type Comparison struct {
	Decision
	// Noisy says that the A/A arm alarmed in either direction. Overall is then inconclusive: a server that differs
	// from itself by that much says nothing about another.
	Noisy bool
	// Same are the A/A decisions: again against before, before against again.
	Same [2]Decision
}

// Compare decides about two servers without a golden. No cell is left out as unstable, since there are no repeats to
// choose by; McNemar's test needs none. margins says that both servers give them, known before anything is compared.
// A cell counts as tried when all three arms tried it. It fails as Decide does, and on a cell that stands twice.
func Compare(order []Slot, margins bool, arms Arms, plan Plan, p Policy) (Comparison, error) {
	for _, arm := range []map[string]Outcome{arms.Before, arms.Again, arms.Now} {
		for id, o := range arm {
			if o.HasMargin && (math.IsNaN(o.Margin) || math.IsInf(o.Margin, 0)) {
				return Comparison{}, fmt.Errorf("the cell %q has a margin of %v: say that it has none instead", id, o.Margin)
			}
		}
	}
	var c Comparison
	pair := func(base, now map[string]Outcome, noise bool) (Decision, error) {
		g, seen, err := paired(order, margins, arms, base, now, noise)
		if err != nil {
			return Decision{}, err
		}
		return Decide(g, plan, seen, p)
	}
	var err error
	if c.Decision, err = pair(arms.Before, arms.Now, true); err != nil {
		return c, err
	}
	if c.Same[0], err = pair(arms.Before, arms.Again, false); err != nil {
		return c, err
	}
	if c.Same[1], err = pair(arms.Again, arms.Before, false); err != nil {
		return c, err
	}
	for _, d := range c.Same {
		if d.Overall == Regressed && !c.Noisy {
			c.Noisy, c.Overall = true, Inconclusive
			c.Sentence = fmt.Sprintf("inconclusive: the first server differs from itself (%s), so nothing is said about the "+
				"second", d.Sentence)
		}
	}
	return c, nil
}

// paired makes a golden of base, and of now what can be paired with it. A cell that some arm did not try is tried by
// none, so its outcome in the golden is never looked at.
func paired(order []Slot, margins bool, arms Arms, base, now map[string]Outcome, noise bool) (Golden,
	map[string]Outcome, error,
) {
	var g Golden
	at := map[Family]int{}
	seen, listed := map[string]Outcome{}, map[string]bool{}
	sum, n := map[Family]float64{}, map[Family]float64{}
	for _, s := range order {
		if listed[s.ID] {
			return g, nil, fmt.Errorf("the cell %q stands twice in a comparison: give each its own ID", s.ID)
		}
		listed[s.ID] = true
		i, ok := at[s.Family]
		if !ok {
			i = len(g.Families)
			at[s.Family] = i
			g.Families = append(g.Families, Baseline{Family: s.Family, Cells: map[string]Outcome{}, Margins: margins})
		}
		b := &g.Families[i]
		b.Stable = append(b.Stable, s.ID)
		b.Cells[s.ID] = Outcome{Measured: true}
		x, tried1 := arms.Before[s.ID]
		y, tried2 := arms.Again[s.ID]
		if _, tried3 := arms.Now[s.ID]; !tried1 || !tried2 || !tried3 {
			continue
		}
		seen[s.ID] = Outcome{}
		if base[s.ID].Measured {
			b.Cells[s.ID], seen[s.ID] = base[s.ID], now[s.ID]
		}
		if x.HasMargin && y.HasMargin {
			sum[s.Family] += x.Margin - y.Margin
			n[s.Family]++
		}
	}
	for i := range g.Families {
		if f := g.Families[i].Family; noise && n[f] > 0 {
			g.Families[i].AA = math.Abs(sum[f]) / n[f]
		}
	}
	return g, seen, nil
}
