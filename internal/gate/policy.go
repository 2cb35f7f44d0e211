package gate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/internal/stat"
)

// Family is a group of cells that is tested as one.
type Family string

// The gated families. Everything else that is asked is diagnosis.
const (
	Far         Family = "far"
	Near        Family = "near"
	Cache       Family = "cache"
	Concurrency Family = "concurrency"
)

// Families lists the gated families in the order in which they are printed.
func Families() []Family { return []Family{Far, Near, Cache, Concurrency} }

// BlessCells is how many cells a family needs at bless so that every plan has its reserve: the standard plan's last
// stage, and a tenth more for those that turn out unstable.
const BlessCells = 134

// Plan says which families are gated, and after how many stable cells each is looked at.
type Plan struct {
	Families []Family
	// Stages are cumulative numbers of stable cells, rising. They are cut to what the golden has.
	Stages []int
}

// PlanFor returns the plan of a budget: smoke gates far and near with 10 cells, standard all families with 40, both
// with two reserves; full spends everything at once and so no alpha on looking. It fails on another name.
func PlanFor(budget string) (Plan, error) {
	switch budget {
	case "smoke":
		return Plan{[]Family{Far, Near}, []int{10, 20, 40}}, nil
	case "standard", "":
		return Plan{Families(), []int{40, 80, 120}}, nil
	case "full":
		return Plan{Families(), []int{120}}, nil
	}
	return Plan{}, fmt.Errorf("budget %q is unknown: use smoke, standard or full", budget)
}

// Policy holds the numbers of the gate. DefaultPolicy has those that assay promises.
type Policy struct {
	Alpha         float64 // family-wise level over all tests of a run
	DropMargin    float64 // net share of pairs lost that matters in practice
	MarginNats    float64 // mean drop of margins that matters in practice, nats
	NoiseFactor   float64 // and how many times the difference between repeats at bless it must be
	MaxUnmeasured float64 // largest share of a family's cells without a pair
	MaxUnstable   float64 // largest share of a family's cells whose repeats 1 to 3 disagree
	RecallFloor   float64 // smallest recall over repeats 1 to 3 that can be blessed
	TriggerLost   int     // lost cells at the first look that ask for more
	Dismiss       float64 // p from which an extended family is let go
	Power         float64 // of the smallest drop that is printed
	Level         float64 // confidence of the interval of the drop
	Draw          stat.Resampling
}

// DefaultPolicy returns the promised numbers.
//
// The recall floor is a half: a model that finds less has fewer cells to lose than cells that nothing can be lost in.
// Dismiss is 0.05: an extended family with less evidence than that, such as four losses against none, is held; with
// more it goes on as long as there are cells, since a drop so far may still be one. It spends no alpha either way.
func DefaultPolicy() Policy {
	return Policy{
		Alpha: 0.01, DropMargin: 0.02, MarginNats: 0.25, NoiseFactor: 3,
		MaxUnmeasured: 0.05, MaxUnstable: 0.10, RecallFloor: 0.5,
		TriggerLost: 2, Dismiss: 0.05, Power: 0.8, Level: 0.95,
	}
}

func (p Policy) validate() error {
	var errs []error
	share := func(name string, v float64, open bool) {
		if !(v >= 0 && v <= 1) || (open && (v == 0 || v == 1)) {
			errs = append(errs, fmt.Errorf("the gate's %s is %v: use a share between 0 and 1", name, v))
		}
	}
	share("Alpha", p.Alpha, true)
	share("DropMargin", p.DropMargin, false)
	share("MaxUnmeasured", p.MaxUnmeasured, false)
	share("MaxUnstable", p.MaxUnstable, false)
	share("RecallFloor", p.RecallFloor, false)
	share("Dismiss", p.Dismiss, false)
	share("Power", p.Power, true)
	share("Level", p.Level, true)
	if !(p.MarginNats >= 0) || !(p.NoiseFactor >= 0) || math.IsInf(p.MarginNats+p.NoiseFactor, 0) {
		errs = append(errs, fmt.Errorf("the gate's margin of %v nat and noise factor of %v: use numbers of at least 0",
			p.MarginNats, p.NoiseFactor))
	}
	if p.TriggerLost < 1 {
		errs = append(errs, fmt.Errorf("the gate asks for more cells after %d lost ones: use at least 1", p.TriggerLost))
	}
	return errors.Join(errs...)
}

func (p Plan) validate() error {
	if len(p.Families) == 0 || len(p.Stages) == 0 {
		return fmt.Errorf("a plan of %d families and %d stages gates nothing: name at least one of each", len(p.Families),
			len(p.Stages))
	}
	last := 0
	for _, n := range p.Stages {
		if n <= last {
			return fmt.Errorf("the stages %v of a plan do not rise: use cumulative numbers of cells", p.Stages)
		}
		last = n
	}
	for i, f := range p.Families {
		if slices.Contains(p.Families[:i], f) {
			return fmt.Errorf("the plan names the family %q twice: name it once", string(f))
		}
	}
	return nil
}

// Weights returns what each of k looks may spend of a test's alpha: a half, a quarter, ..., and the last one as much as
// the one before it, so that all of it is spent. One look has it all.
func Weights(looks int) []float64 {
	var out []float64
	for k := 1; k <= looks; k++ {
		out = append(out, math.Ldexp(1, -min(k, looks-1)))
	}
	return out
}

// stagesOf cuts stages to n cells: what a golden cannot fill is left out, and the first that it cannot fill ends with
// all that there are. A rest of less than half the stage joins the one before it, since a look at a few cells costs as
// much alpha as any.
func stagesOf(stages []int, n int) []int {
	var out []int
	last := 0
	for _, s := range stages {
		if s >= n {
			if len(out) > 0 && 2*(n-last) < s-last {
				out[len(out)-1] = n
				return out
			}
			return append(out, n)
		}
		out, last = append(out, s), s
	}
	return out
}
