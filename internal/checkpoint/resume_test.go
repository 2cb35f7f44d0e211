package checkpoint

import (
	"math"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// A finished report is taken over for the same folder and name only.
func TestReportSurvivesTheLedger(t *testing.T) {
	folder := fstest.MapFS{"model.safetensors": {Data: []byte("weights"), ModTime: time.Unix(5, 0)}, "notes.txt": {}}
	id, err := Identity(folder)
	require.NoError(t, err)
	want := Report{
		Family: "v4", Tensors: 3, Seconds: 2, Bytes: 1e9,
		Findings: []Finding{{Severity: Certain, Kind: "nan", Tensors: []string{"a"}, Count: 1, Text: "a has NaN"}},
		Base:     []Deviation{{Tensor: "a", RelL2: 0.5}},
	}
	results := want.results("My Model", id)
	for _, r := range results {
		require.NoError(t, r.Validate())
	}

	got, ok, err := FromLedger(results, "My Model", id)
	require.NoError(t, err)
	require.True(t, ok)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}

	_, ok, err = FromLedger(results[:len(results)-1], "My Model", id)
	require.NoError(t, err)
	require.False(t, ok, "an examination that did not end is taken over")
	_, ok, err = FromLedger(results, "another", id)
	require.NoError(t, err)
	require.False(t, ok, "another checkpoint's report is taken over")

	folder["notes.txt"] = &fstest.MapFile{Data: []byte("more")}
	same, err := Identity(folder)
	require.NoError(t, err)
	require.Equal(t, id, same, "a file that is no part of the checkpoint changes its identity")
	folder["model.safetensors"].ModTime = time.Unix(6, 0)
	changed, err := Identity(folder)
	require.NoError(t, err)
	require.NotEqual(t, id, changed, "weights written anew keep the identity")
	_, err = Identity(os.DirFS("gone"))
	require.ErrorContains(t, err, "cannot be listed")

	broken := Report{Findings: want.Findings, Base: []Deviation{{RelL2: math.NaN()}}}
	require.Len(t, broken.results("x", id), 1, "the finding alone: a report with NaN is not kept, and no error")

	results[len(results)-1].Detail = []byte("{")
	_, _, err = FromLedger(results, "My Model", id)
	require.ErrorContains(t, err, "ASSAY_RESUME")
}
