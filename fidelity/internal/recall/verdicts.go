package recall

import (
	"cmp"

	"github.com/assay-suite/assay/internal/suite"
)

// Gate is one verdict of a run, as a case.
type Gate struct {
	ID, Claim string
	Outcome   suite.Outcome
	Text      string
}

// Gates lists the verdicts of a run as cases. The golden decides where there is one; the controls are then
// information and do not fail the run.
func (jd Judgement) Gates() []Gate {
	out := []Gate{
		{
			"fidelity/gate/cache", "an answer from the cache MUST be the answer computed cold", GateOutcome(jd.Cache.Standing),
			jd.Cache.Text,
		},
	}
	decided := jd.Golden != nil && jd.Golden.Overall != Absent
	if jd.Golden != nil {
		out = append(out, Gate{
			"fidelity/gate/golden", "recall and margins MUST be those of the golden", GateOutcome(jd.Golden.Overall),
			jd.Golden.String() + "; " + jd.Golden.Gate.Sentence,
		})
	}
	controls := Gate{
		"fidelity/gate/controls", "recall MUST NOT depend on length or distance", GateOutcome(jd.Controls.Standing),
		jd.Controls.Text,
	}
	if decided {
		controls.Outcome = suite.Skip
		controls.Text = "the golden decides; for information: " + controls.Text
	}
	answers := map[suite.Code]suite.Outcome{
		suite.Pass: suite.Passed, suite.Regression: suite.Failed, suite.Inconclusive: suite.Unmeasured,
	}[jd.Totals.Code]
	return append(out, controls, Gate{
		"fidelity/gate/replicas", "the same greedy question MUST be answered alike on every connection",
		GateOutcome(jd.Replicas.Standing), cmp.Or(jd.Replicas.Text, "not asked"),
	}, Gate{
		"fidelity/gate/answers", "no more answers MUST be wrong than those of a sound model", answers, jd.Totals.All.String(),
	})
}

// GateOutcome is a gate's answer as the outcome of a case.
func GateOutcome(s Standing) suite.Outcome {
	switch s {
	case Held:
		return suite.Passed
	case Regressed:
		return suite.Failed
	case Absent:
		return suite.Skip
	}
	return suite.Unmeasured
}
