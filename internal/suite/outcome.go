package suite

import "fmt"

// Outcome is what became of one case.
type Outcome string

// The outcomes, mildest first in the order that Worst uses. A part that was not measured weighs more than one that
// passed, so that a run with a gap is never green; a broken tool weighs more than a fault, because it makes every other
// outcome of the run doubtful.
const (
	Skip       Outcome = "skip"       // the feature is absent
	Passed     Outcome = "pass"       // measured and within its rule
	Unmeasured Outcome = "unmeasured" // should have been measured and was not
	Failed     Outcome = "fail"       // measured and outside of its rule
	Errored    Outcome = "error"      // the engine or the tool broke
)

// rank returns the outcome's place in the lattice, -1 for an unknown one.
func (o Outcome) rank() int {
	switch o {
	case Skip:
		return 0
	case Passed:
		return 1
	case Unmeasured:
		return 2
	case Failed:
		return 3
	case Errored:
		return 4
	}
	return -1
}

// Validate returns an error for a string that is no outcome.
func (o Outcome) Validate() error {
	if o.rank() < 0 {
		return fmt.Errorf("outcome %q is not one of skip, pass, unmeasured, fail, error", string(o))
	}
	return nil
}

// Worst returns the heaviest of some outcomes, Skip for none. An unknown outcome counts as Errored.
func Worst(outcomes ...Outcome) Outcome {
	worst := Skip
	for _, o := range outcomes {
		if o.rank() < 0 {
			return Errored
		}
		if o.rank() > worst.rank() {
			worst = o
		}
	}
	return worst
}
