package fidelity_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/golden"
)

// TestGolden keeps the goldens of the fp32 models: their keys are the cells of the plan, and with -update they are
// recorded anew where the model moved. (That their values hold is TestMainJob's claim, and TestNanoFlash's.)
func TestGolden(t *testing.T) {
	for _, model := range []string{"nano-v4", "nano-flash"} {
		t.Run(model, func(t *testing.T) {
			family, budget := familyOf(model), budgetOfGolden(model)
			plan, err := recall.NewPlan(budget, 0)
			require.NoError(t, err)
			ids := []string{recall.HeaderID}
			for _, c := range plan.Cells {
				ids = append(ids, c.ID)
			}
			if golden.Updating() {
				record(t, model, embeddedJob(t, model, budget))
			}
			golden.Orphans(t, family, ids)
			g, err := readGolden(family)
			require.NoError(t, err)
			require.NotNil(t, g, "goldens/%s.json is missing", family)
			for _, c := range plan.Cells {
				if _, ok := g.Cells[c.ID]; !ok {
					t.Errorf("golden %s lacks the cell %s: run go test ./fidelity -run '^TestGolden$' -update", family, c.ID)
				}
			}
		})
	}
}

// record runs a job and writes its golden, unless the one on disk holds.
func record(t *testing.T, model string, j session.Job) {
	t.Helper()
	d, err := j.Run(t.Context())
	require.NoError(t, err)
	if g := d.Judgement.Golden; g != nil && g.Margins == recall.Held && len(g.Unpaired)+len(g.Missing) == 0 {
		return
	}
	write(t, familyOf(model), model, d.Plan, d.Observations)
}

// write makes a golden of one run of a shipped model, whose engine repeats itself to the bit.
func write(t *testing.T, family, model string, p recall.Plan, obs []recall.Observation) {
	t.Helper()
	cases, _, err := recall.Bless(p.Only(wholePlan), [][]recall.Observation{obs}, recall.Blessing{
		Reason: "what the shipped weights answer", Exact: true,
		Server: recall.Server{Kind: "embedded"},
		Source: "rows do not depend on their neighbours: TestRepeats wants two runs equal to the bit",
	})
	require.NoError(t, err)
	name, err := golden.Record(t, family, golden.Doc{Provenance: provenance(t, model), Cases: cases})
	require.NoError(t, err)
	t.Logf("golden %s recorded", name)
}

// familyOf is the golden of a shipped model under the shipped haystack.
func familyOf(model string) string {
	return recall.GoldenFamily(model, "opticks", budgetOfGolden(model))
}

// budgetOfGolden is what a shipped model's golden holds: nano-v4's every budget, the others' the standard one.
func budgetOfGolden(model string) recall.Budget {
	if model == "nano-v4" {
		return recall.Full
	}
	return recall.Standard
}

func provenance(t testing.TB, folder string) golden.Provenance {
	t.Helper()
	return golden.Provenance{
		Generator: "session.Job on internal/server over internal/nano",
		Seed:      "needle: PCG by FNV-1a of seed 0 and case ID",
		Source:    "fixtures/" + folder + ", which internal/nano holds to HF; haystack opticks " + haystack(t).SHA256[:16],
		Model:     "sha256:" + fingerprint(t, folder),
		Profile:   "opticks",
	}
}

// fingerprint hashes the weight files of a folder of fixtures in order of name.
func fingerprint(t testing.TB, folder string) string {
	t.Helper()
	entries, err := fixtures.FS.ReadDir(folder)
	require.NoError(t, err)
	h := sha256.New()
	for _, e := range entries {
		if path.Ext(e.Name()) != ".safetensors" || len(e.Name()) > 3 && e.Name()[:3] == "hf_" {
			continue
		}
		f, err := fixtures.FS.Open(path.Join(folder, e.Name()))
		require.NoError(t, err)
		_, err = io.Copy(h, f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	return hex.EncodeToString(h.Sum(nil))
}
