package probe

import (
	"context"
	"fmt"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/needle"
)

// cue asks for the same kind of needle in words of its own sentence, in others, and in none of them: what is chosen by
// likeness is found by the first only, what is lost by none.
func cue() probe {
	return probe{
		name: evidence.Cue,
		cost: func(r *Runner) Cost {
			n := len(ways(r))
			return asks(n*r.s.reps, r.s.longest).plus(asks(n*r.s.reps, 1024))
		},
		run: func(ctx context.Context, t *task) error {
			var units []unit
			for i := range t.r.s.reps {
				for _, w := range ways(t.r) {
					long, short := t.r.over(), t.r.under(768)
					w.spec.Length = long
					units = append(units, one(t.id("%s/%d", w.arm, i), t.r.needleStep(w.arm, float64(long), w.spec, w.form)))
					w.spec.Length = max(short, w.least)
					if t.r.edge > 0 && w.spec.Length > t.r.edge {
						continue // no control of this kind is short enough
					}
					units = append(units, one(t.id("short-%s/%d", w.arm, i),
						t.r.needleStep("short-"+w.arm, float64(w.spec.Length), w.spec, w.form)))
				}
			}
			_, err := t.take(ctx, units...)
			return err
		},
	}
}

type way struct {
	arm   string
	spec  needle.Spec
	form  func(p needle.Prompt) (string, needle.Truth)
	least int // tokens that a short prompt needs
}

func ways(r *Runner) []way {
	at := needle.Spec{Depth: 0.15}
	gap := at
	gap.Kind = needle.Gap
	out := []way{
		{arm: "verbatim", spec: at, form: verbatim},
		{arm: "paraphrase", spec: at, form: paraphrase},
		{arm: "gap", spec: gap},
	}
	if r.o.Budget == Smoke {
		return out
	}
	for _, k := range []struct {
		arm  string
		kind needle.Kind
	}{
		{"uuid", needle.UUID},
		{"path", needle.Path},
		{"phrase", needle.Phrase},
		{"several", needle.Several},
		{"nth", needle.Nth},
		{
			"distractors", needle.Distractors,
		},
	} {
		s := needle.Spec{Kind: k.kind}
		if k.kind == needle.UUID || k.kind == needle.Path || k.kind == needle.Phrase {
			s.Depth = 0.15
		}
		out = append(out, way{arm: k.arm, spec: s, least: 512})
	}
	return out
}

// verbatim begins the needle's own sentence.
func verbatim(p needle.Prompt) (string, needle.Truth) {
	return replaceQuestion(p, fmt.Sprintf("Complete with the code only: The access code for the %s archive is",
		p.Truth.Name)), p.Truth
}

// paraphrase keeps the name and no other word of the needle's sentence.
func paraphrase(p needle.Prompt) (string, needle.Truth) {
	return replaceQuestion(p, fmt.Sprintf("Question: which five digits does somebody need at %s? Answer with only these "+
		"digits.", p.Truth.Name)), p.Truth
}
