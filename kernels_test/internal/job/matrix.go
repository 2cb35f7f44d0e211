package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle/faults"
	"github.com/assay-suite/assay/oracle/faults/state"
)

// Killed is one row of the kill matrix.
type Killed struct {
	ID         string   `json:"id"`
	Slug       string   `json:"slug"`
	KilledBy   string   `json:"killed_by"` // output, state-model, device-only
	Suite      string   `json:"suite"`
	Ran        int      `json:"ran"`
	Cases      []string `json:"cases"`    // that stopped the fault
	Unlisted   int      `json:"unlisted"` // of them, those whose catches do not name the row
	Gate       string   `json:"gate"`     // of the first
	CauseNamed string   `json:"cause_named"`
	Rivals     []string `json:"rivals"` // classes named after it
	CauseTrue  string   `json:"cause_true"`
	Cosine     string   `json:"cosine"`    // what three other measures say of the first killing case
	AllClose   string   `json:"allclose"`  //
	CalcDiff   string   `json:"calc_diff"` //
}

// Survives says why a row does not count as killed, or nothing.
func (k Killed) Survives() string {
	switch {
	case k.KilledBy == faults.DeviceOnly:
		return ""
	case len(k.Cases) < 2:
		return fmt.Sprintf("%s %s is stopped by %d of %d cases, want at least 2", k.ID, k.Slug, len(k.Cases), k.Ran)
	case k.KilledBy == faults.Output && k.Unlisted == 0:
		return fmt.Sprintf("%s %s is stopped only by cases that list it in their catches", k.ID, k.Slug)
	}
	return ""
}

// Named tells whether the diagnosis named the true class first, and whether it is among all that it named.
func (k Killed) Named() (first, among bool) {
	return k.CauseNamed == k.CauseTrue, k.CauseNamed == k.CauseTrue || slices.Contains(k.Rivals, k.CauseTrue)
}

// Planted finds the plant of a catalogue row and its suite.
func Planted(row string) (bench.Suite, bench.Plant, error) {
	for _, s := range Suites() {
		for _, p := range s.Plants {
			if p.Row == row {
				return s, p, nil
			}
		}
	}
	return bench.Suite{}, bench.Plant{}, fmt.Errorf("no suite plants row %s of the fault catalogue", row)
}

// KillOutput runs a planted row through workers, one for each contract, on at most limit cases (0: all), production
// sizes left out. start turns a plant into the worker that runs it. The first killing case, by ID, is diagnosed.
func KillOutput(ctx context.Context, row faults.Row, limit int,
	start func(s bench.Suite, p bench.Plant, contract string) (bench.Candidate, error),
) (Killed, error) {
	k := Killed{ID: row.ID, Slug: row.Slug, KilledBy: row.KilledBy, Suite: row.Suite, CauseTrue: row.Class}
	s, p, err := Planted(row.ID)
	if err != nil {
		return k, err
	}
	workers := map[string]bench.Candidate{}
	for _, c := range s.Cases() {
		if c.Scenario.Full || !p.Concerns(c) || limit > 0 && k.Ran >= limit {
			continue
		}
		if workers[c.Contract.Name] == nil {
			if workers[c.Contract.Name], err = start(s, p, c.Contract.Name); err != nil {
				return k, err
			}
		}
		if err := k.run(ctx, c, workers[c.Contract.Name]); err != nil {
			return k, err
		}
	}
	return k, nil
}

// run adds one case to a row.
func (k *Killed) run(ctx context.Context, c bench.Case, under bench.Candidate) error {
	b, err := bench.New(c)
	if err != nil {
		return err
	}
	k.Ran++
	r, broken := b.Judge(ctx, under)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case bench.Unsupported(broken) || broken == nil && r.Accepted():
		return nil
	}
	gate := r.Gate()
	if broken != nil {
		gate = "error" // a fault that makes the candidate crash is seen by the crash
	}
	k.Cases = append(k.Cases, strings.TrimPrefix(c.ID, "kernels/"))
	if !slices.ContainsFunc(c.Catches, func(s string) bool { return strings.Fields(s)[0] == k.ID }) {
		k.Unlisted++
	}
	if k.Gate != "" || broken != nil {
		return nil //nolint:nilerr // the crash is counted above
	}
	k.Gate = gate
	for i, cause := range b.Explain(ctx, under, r) {
		switch {
		case i == 0:
			k.CauseNamed = cause.Class
		case cause.Class != k.CauseNamed && !slices.Contains(k.Rivals, cause.Class):
			k.Rivals = append(k.Rivals, cause.Class)
		}
	}
	k.others(b, r)
	return nil
}

// others says what cosine (0.999), torch's allclose for bf16 (rtol 1.6e-2, atol 1e-5) and DeepGEMM's calc_diff (1e-3)
// say of the output that decided.
func (k *Killed) others(b *bench.Bench, r bench.Report) {
	f, _ := r.First()
	for _, e := range b.Expected {
		if e.Name != strings.TrimSuffix(f.Output, "-in-parts") || len(f.Got) != len(e.Want) || len(e.Want) == 0 {
			continue
		}
		verdict := func(ok bool) string {
			if ok {
				return "passes"
			}
			return "fails"
		}
		k.Cosine = verdict(numerics.Cosine(f.Got, e.Want) >= 0.999)
		k.CalcDiff = verdict(numerics.CalcDiff(f.Got, e.Want) < 1e-3)
		k.AllClose = verdict(allClose(f.Got, e.Want))
	}
}

func allClose(got, want []float64) bool {
	for i, w := range want {
		if d := got[i] - w; !(max(d, -d) <= 1e-5+1.6e-2*max(w, -w)) && got[i] != w {
			return false
		}
	}
	return true
}

// KillModel runs a row's state or address model: its cases find the fault in the faulty model and none in the corrected
// one, which is an error here.
func KillModel(row faults.Row) (Killed, error) {
	k := Killed{ID: row.ID, Slug: row.Slug, KilledBy: row.KilledBy, Suite: row.Suite, CauseTrue: row.Class}
	for _, m := range state.Models() {
		if m.Row != row.ID {
			continue
		}
		for _, c := range m.Cases {
			k.Ran++
			if err := c.Run(false); err != nil {
				return k, fmt.Errorf("row %s: case %q flags the corrected model: %w", row.ID, c.ID, err)
			}
			if err := c.Run(true); err != nil {
				k.Cases = append(k.Cases, c.ID)
				if k.Gate == "" {
					k.Gate = "model"
				}
			}
		}
	}
	return k, nil
}
