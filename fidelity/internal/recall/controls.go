package recall

import (
	"fmt"

	"github.com/assay-suite/assay/internal/stat"
)

const (
	controlHigh  = 0.80 // recall that a control must reach
	controlLow   = 0.60 // recall that counts as lost against a control
	controlAlpha = 0.01 // Fisher's exact test, divided by the number of splits looked at
	floorShare   = 0.20 // recall at every length at or below this is "nothing is recalled"
)

// Controls is what the internal controls say of a run.
type Controls struct {
	Standing Standing // Regressed reads "fault" here; Held "no fault found"
	Text     string   // what was compared, with counts and p
	Rivals   string   // other explanations that the numbers do not exclude
	Where    string   // slug: length, distance, everywhere; empty without a fault
	kept     float64  // share found on the far side of the split that is a fault
}

type split struct {
	where, near, far string
	isNear, isFar    func(Observation) bool
}

// Control judges a run without a golden, by the same questions in easier circumstances:
//
//   - length: the shorter columns of the grid against the longer ones, at every split;
//   - distance: needles near the question (tail, just inside, short, depth 1) against needles far from
//     it (start, depth at most 0.25), whatever the length: a lost early part of the context takes short
//     prompts too, so that length alone would not show it;
//   - floor: nothing is recalled anywhere, not even from prompts of about a hundred tokens, while the
//     answers are well-formed codes. The architecture's rule needs a control that passes; here none
//     does, yet copying a code from three sentences is no matter of a model's strength. It is reported
//     as a fault, with a wrong chat template and a model without any recall as rivals.
//
// A split is a fault when near recall is at least 80 %, far recall at most 60 %, and Fisher's exact one-sided p is
// below 0.01 after Bonferroni over the splits; but where prompts of up to 2,048 tokens are found, far recall is above
// 10 % and a smooth decline explains the losses, the run is inconclusive: sound models decline. Without a fault, recall
// of at least 80 % at the longer half of the lengths is "no fault found"; anything else is inconclusive.
func Control(obs []Observation, lengths []int) (Controls, error) {
	measured := 0
	for _, o := range obs {
		if o.Measured {
			measured++
		}
	}
	if measured == 0 || len(lengths) == 0 {
		return Controls{Standing: Inconclusive, Text: "nothing was measured on the grid"}, nil
	}
	best, found, err := worstSplit(obs, splitsOf(lengths))
	if err != nil {
		return Controls{}, err
	}
	if found && best.kept < keptLeast {
		return best, nil
	}
	if found {
		text, smooth, err := smoothDecline(obs)
		if err != nil || !smooth {
			return best, err
		}
		return Controls{Standing: Inconclusive, Text: best.Text + "; " + text}, nil
	}
	if c, ok, err := floor(obs, lengths); err != nil || ok {
		return c, err
	}
	if float64(len(obs)-measured) > unmeasuredShare*float64(len(obs)) {
		return Controls{Standing: Inconclusive, Text: fmt.Sprintf("%d of %d cells unmeasured", len(obs)-measured, len(obs))},
			nil
	}
	half := lengths[len(lengths)/2:]
	hits, of := Count(obs, func(o Observation) bool { return o.Cell.Family == Recall && o.Cell.Tokens >= half[0] })
	if of > 0 && float64(hits) >= controlHigh*float64(of) {
		return Controls{
			Standing: Held,
			Text:     fmt.Sprintf("%d of %d found at %d tokens and more; no control differs", hits, of, half[0]),
		}, nil
	}
	return Controls{
		Standing: Inconclusive,
		Text: fmt.Sprintf("%d of %d found at %d tokens and more: neither enough for a pass nor a clear loss against "+
			"the controls", hits, of, half[0]),
	}, nil
}

func splitsOf(lengths []int) []split {
	grid := func(o Observation) bool { return o.Cell.Family == Recall }
	out := []split{{
		where: "distance", near: "near the question", far: "far from it",
		isNear: func(o Observation) bool {
			return grid(o) && o.Cell.Depth == 1 || o.Cell.Arm == Tail || o.Cell.Arm == Inside || o.Cell.Arm == Short
		},
		isFar: func(o Observation) bool { return grid(o) && o.Cell.Depth <= 0.25 || o.Cell.Arm == Start },
	}}
	for i := range len(lengths) - 1 {
		at := lengths[i]
		out = append(out, split{
			where: "length", near: fmt.Sprintf("up to %d tokens", at), far: fmt.Sprintf("from %d tokens", lengths[i+1]),
			isNear: func(o Observation) bool { return grid(o) && o.Cell.Tokens <= at || o.Cell.Arm == Short },
			isFar:  func(o Observation) bool { return grid(o) && o.Cell.Tokens > at },
		})
	}
	return out
}

// worstSplit returns the most significant split that is a fault.
func worstSplit(obs []Observation, splits []split) (Controls, bool, error) {
	var best Controls
	bestP := 1.0
	for _, s := range splits {
		a, n := Count(obs, s.isNear)
		c, m := Count(obs, s.isFar)
		if n == 0 || m == 0 || float64(a) < controlHigh*float64(n) || float64(c) > controlLow*float64(m) {
			continue
		}
		p, err := stat.FisherExact(a, n-a, c, m-c, stat.Greater)
		if err != nil {
			return best, false, err
		}
		if p *= float64(len(splits)); p >= controlAlpha || p >= bestP {
			continue
		}
		bestP = p
		best = Controls{
			Standing: Regressed, Where: s.where, kept: float64(c) / float64(m),
			Text: fmt.Sprintf("recall lost %s: %d of %d found, against %d of %d %s, p %s", s.far, c, m, a, n, s.near,
				pvalue(p)),
			Rivals: "a model too weak for this length, unless it is known to do better",
		}
	}
	return best, bestP < 1, nil
}

// floor looks for a total loss: see Control.
func floor(obs []Observation, lengths []int) (Controls, bool, error) {
	questions := func(o Observation) bool { return o.Cell.Family == Recall || o.Cell.Family == Window }
	hits, of := Count(obs, questions)
	easy, easyOf := Count(obs, func(o Observation) bool {
		return o.Cell.Arm == Short || o.Cell.Family == Recall && o.Cell.Tokens == lengths[0]
	})
	formed := 0
	for _, o := range obs {
		if o.Measured && questions(o) && o.Formed {
			formed++
		}
	}
	if of == 0 || easyOf == 0 || float64(hits) > floorShare*float64(of) || float64(formed) < controlHigh*float64(of) {
		return Controls{}, false, nil
	}
	upper, err := stat.UpperBound(easy, easyOf, 1-controlAlpha)
	if err != nil {
		return Controls{}, false, err
	}
	if upper > controlLow {
		return Controls{}, false, nil
	}
	return Controls{
		Standing: Regressed, Where: "everywhere",
		Text: fmt.Sprintf("recall lost at every length: %d of %d found, %d of %d in prompts of up to %d tokens, while %d "+
			"of %d answers are well-formed codes", hits, of, easy, easyOf, lengths[0], formed, of),
		Rivals: "a wrong chat template, or a model that cannot copy a code from a few sentences",
	}, true, nil
}
