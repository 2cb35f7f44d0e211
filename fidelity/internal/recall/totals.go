package recall

import (
	"github.com/assay-suite/assay/fidelity/internal/totals"
	"github.com/assay-suite/assay/internal/gate"
)

// Answers are observations as the totals take them. What a golden of the same prompt has wrong as well is left out: it
// is known. A nil golden knows nothing.
func Answers(obs []Observation, g *Golden) []totals.Answer {
	var out []totals.Answer
	for _, o := range obs {
		if g != nil {
			if c, ok := g.Cells[o.Cell.ID]; ok && c.Prompt == o.PromptSHA && !c.Hit {
				continue
			}
		}
		c := o.Cell
		a := totals.Answer{
			Form: totals.Alone(c.Tokens), Task: "needle", Tokens: c.Tokens, Distance: 1 - c.Depth, Measured: o.Measured,
			Wrong: !o.Hit, Order: o.Order, Conn: o.Conn, Reported: o.Tokens.N,
		}
		switch {
		case c.Gate == gate.Cache:
			a.Form = totals.Warm
		case c.Family == Cache:
			a.Form = totals.Cold
		case c.Family == Concurrency:
			a.Form = totals.Concurrent
		case c.Arm == Repeated: // several copies are easier than one
			a.Task = Repeated
		}
		out = append(out, a)
	}
	return out
}
