package kernels_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
	"github.com/assay-suite/assay/oracle/faults"
)

const matrixFamily = "kernels/kill-matrix"

// slice are the output rows that every run executes again; the others wait for ASSAY_BUDGET=full.
var slice = []string{"A6", "H1", "P2", "R1", "S1"}

// TestKillMatrix plants every row of the fault catalogue: output rows through the worker protocol, the others in their
// models. Each MUST be stopped by at least two cases, an output row by one that does not list it, and the result is the
// committed one exactly.
func TestKillMatrix(t *testing.T) {
	var mu sync.Mutex
	cases := map[string]any{}
	var ids []string
	t.Run("rows", func(t *testing.T) {
		for _, row := range faults.Catalogue() {
			ids = append(ids, row.ID)
			if row.KilledBy == faults.Output && budget() != "full" && !slices.Contains(slice, row.ID) {
				continue
			}
			t.Run(row.ID, func(t *testing.T) {
				t.Parallel()
				k, err := kill(t, row)
				require.NoError(t, err)
				if text := k.Survives(); text != "" {
					t.Error(text)
				}
				mu.Lock()
				defer mu.Unlock()
				cases[row.ID] = k
			})
		}
	})
	golden.Assert(t, matrixFamily, golden.Doc{Provenance: provenance("TestKillMatrix"), Cases: cases},
		golden.All(golden.Count("candidates and models are deterministic")))
	golden.Orphans(t, matrixFamily, ids)
}

func kill(t *testing.T, row faults.Row) (job.Killed, error) {
	t.Helper()
	if row.KilledBy != faults.Output {
		return job.KillModel(row)
	}
	return job.KillOutput(t.Context(), row, 0,
		func(s bench.Suite, p bench.Plant, contract string) (bench.Candidate, error) {
			c, _ := startWorker(t, workerLine(t, s.Name, p.Name, contract))
			return c, nil
		})
}

// matrix is the committed matrix in the catalogue's order.
func matrix(t *testing.T) []job.Killed {
	t.Helper()
	f, err := golden.Read(matrixFamily)
	require.NoError(t, err)
	raw, err := json.Marshal(f.Cases)
	require.NoError(t, err)
	byID := map[string]job.Killed{}
	require.NoError(t, json.Unmarshal(raw, &byID))
	var out []job.Killed
	for _, row := range faults.Catalogue() {
		k, ok := byID[row.ID]
		if !ok {
			t.Errorf("the matrix lacks row %s (%s)", row.ID, row.Slug)
			continue
		}
		out = append(out, k)
	}
	return out
}

// The diagnosis MUST name the class that the catalogue gave the row beforehand for at least 80 % of the output rows,
// and have it among its answers for at least 95 %.
func TestCausesAreNamed(t *testing.T) {
	first, among, of := 0, 0, 0
	for _, k := range matrix(t) {
		if k.KilledBy != faults.Output {
			continue
		}
		of++
		a, b := k.Named()
		if a {
			first++
		}
		if b {
			among++
		}
		if !a {
			t.Logf("%s %s: named %q, rivals %q, true %q", k.ID, k.Slug, k.CauseNamed, k.Rivals, k.CauseTrue)
		}
	}
	t.Logf("%d of %d output rows named first, %d among the answers", first, of, among)
	assert.GreaterOrEqual(t, 100*first, 80*of)
	assert.GreaterOrEqual(t, 100*among, 95*of)
}

// Without a suite exactly its rows MUST survive: none is killed twice by accident, and the test says which would be
// lost.
func TestEverySuiteIsNeeded(t *testing.T) {
	rows := matrix(t)
	suites := map[string]bool{}
	for _, k := range rows {
		suites[k.Suite] = true
	}
	for name := range suites {
		lost := job.Survivors(rows, name)
		t.Logf("without %s survive: %s", name, strings.Join(lost, ", "))
		assert.NotEmpty(t, lost, name)
	}
	assert.Empty(t, job.Survivors(rows, "no-such-suite"))
}

// docs/kill-matrix.md MUST be what the committed matrix says.
func TestKillMatrixDoc(t *testing.T) {
	golden.Page(t, "../docs/kill-matrix.md", job.MatrixDoc(matrix(t), insideModelByLength(t)))
}

// insideModelByLength reads what fidelity.TestSwaps has measured.
func insideModelByLength(t *testing.T) []job.InsideLength {
	t.Helper()
	f, err := golden.Read("fidelity/swap")
	require.NoError(t, err)
	raw, err := json.Marshal(f.Cases)
	require.NoError(t, err)
	var cases map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &cases))
	var out []job.InsideLength
	for _, fault := range faults.All() {
		for id, value := range cases {
			length, ok := strings.CutPrefix(id, "fidelity/swap/"+fault.Name+"/len-")
			if !ok {
				continue
			}
			tokens, err := strconv.Atoi(length)
			require.NoError(t, err)
			var row struct {
				Found  int     `json:"found"`
				Of     int     `json:"of"`
				Margin float64 `json:"median-margin-nats"`
				Shift  float64 `json:"median-shift-nats"`
			}
			require.NoError(t, json.Unmarshal(value, &row), id)
			out = append(out, job.InsideLength{
				Fault:  fault.Name,
				Row:    fault.Row,
				Tokens: tokens,
				Found:  row.Found,
				Of:     row.Of,
				Margin: row.Margin,
				Shift:  row.Shift,
			})
		}
	}
	return out
}
