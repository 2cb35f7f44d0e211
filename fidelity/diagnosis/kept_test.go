package diagnosis_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/diagnosis"
	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/diagnose"
	"github.com/assay-suite/assay/fidelity/internal/totals"
)

// evidenceDir keeps what runs measured, so that another judge reads it in seconds and asks nothing again. It holds good
// for one version of the probes.
var evidenceDir = flag.String("assay.evidence", "", "folder of kept evidence: runs that it has are not measured "+
	"again, others are and go there")

// kept is what a judge reads of one run.
type kept struct {
	Drawn    string          `json:"drawn,omitempty"` // the server's parameters, for people
	Evidence evidence.Set    `json:"evidence"`
	Answers  []totals.Answer `json:"answers"`
	Logprobs string          `json:"logprobs,omitempty"`
}

// done judges what was kept as the job does.
func (k kept) done(t *testing.T) diagnose.Done {
	t.Helper()
	d := diagnose.Done{Evidence: k.Evidence, Diagnosis: diagnosis.Diagnose(k.Evidence), Logprobs: k.Logprobs}
	var err error
	d.Totals, err = totals.Judge(k.Answers, false)
	require.NoError(t, err)
	return d
}

func keptAt(id string) string {
	return filepath.Join(*evidenceDir, strings.ReplaceAll(id, "/", "_")+".json")
}

func isKept(id string) bool {
	_, err := os.Stat(keptAt(id))
	return err == nil
}

// keep returns what a run measured, from the folder of kept evidence where it is there.
func keep(t *testing.T, id string, measure func(t *testing.T) kept) kept {
	t.Helper()
	if *evidenceDir == "" {
		return measure(t)
	}
	path := keptAt(id)
	var k kept
	raw, err := os.ReadFile(path)
	if err == nil {
		require.NoError(t, json.Unmarshal(raw, &k))
		return k
	}
	require.NoError(t, os.MkdirAll(*evidenceDir, 0o755))
	k = measure(t)
	raw, err = json.Marshal(k)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+".tmp", raw, 0o600))
	require.NoError(t, os.Rename(path+".tmp", path))
	return k
}
