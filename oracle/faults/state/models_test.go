package state_test

import (
	"errors"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/oracle/faults/state"
)

// Every case passes the corrected model; at least two, all but the blind ones, find the fault, and what
// they find is a ViolationError and not a broken model.
func TestModelsKillTheirFaults(t *testing.T) {
	for _, m := range state.Models() {
		kills := 0
		for _, c := range m.Cases {
			name := m.Slug + "/" + c.ID
			if err := c.Run(false); err != nil {
				t.Errorf("%s: the corrected model fails: %v", name, err)
			}
			err := c.Run(true)
			var found *state.ViolationError
			if err != nil && !errors.As(err, &found) {
				t.Errorf("%s: the faulty model breaks instead of being found: %v", name, err)
			}
			switch {
			case err != nil:
				kills++
			case !c.Blind:
				t.Errorf("%s: the fault passes", name)
			}
			if err != nil && c.Blind {
				t.Errorf("%s is listed as blind and finds: %v", name, err)
			}
			t.Logf("%s: %v", name, err)
		}
		if kills < 2 {
			t.Errorf("%s: %d cases find the fault; two are needed", m.Slug, kills)
		}
	}
}

// rows are those of the catalogue that are no function of an operator's inputs and outputs; N7 alone
// needs a device.
func TestModelsCoverTheRows(t *testing.T) {
	rows := []string{
		"A7", "G1", "G11", "G14", "G2", "G3", "G4", "G9", "L1", "L3", "N1", "N2", "N3", "N4", "N5", "N8",
		"Q18", "Q6", "Q7", "Q8", "S4", "T8", "V1",
	}
	var got []string
	for _, m := range state.Models() {
		got = append(got, m.Row)
	}
	require.Equal(t, rows, slices.Compact(got))
}

func TestModelsAreNamed(t *testing.T) {
	slug := regexp.MustCompile(`^[a-z0-9]+([.-][a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, m := range state.Models() {
		if !slug.MatchString(m.Slug) || !slug.MatchString(m.Class) || m.Effect == "" || m.Origin == "" || seen[m.Slug] {
			t.Errorf("model %+v: a slug and a class, each once, an effect and an origin", m.Slug)
		}
		seen[m.Slug] = true
		for _, c := range m.Cases {
			if id := m.Slug + "/" + c.ID; !slug.MatchString(c.ID) || c.Why == "" || seen[id] {
				t.Errorf("case %s: an ID that is a slug, once, and a reason", id)
			} else {
				seen[id] = true
			}
		}
	}
}
