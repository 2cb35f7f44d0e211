package checkpoint_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
	"github.com/assay-suite/assay/internal/report"
)

// What a page must say: a sound checkpoint passes, certain and likely findings fail by their
// kind, one worth a look does not.
func TestPage(t *testing.T) {
	sound := checkpoint.Report{Family: "v4", Tensors: 162, Expected: 162, Bytes: 4}.Page("nano-v4", time.Unix(0, 0))
	assert.Equal(t, 0, sound.Verdict.Code)
	require.Len(t, sound.Cases, 1)
	assert.Equal(t, report.Pass, sound.Cases[0].Outcome)

	bad := checkpoint.Report{
		Findings: []checkpoint.Finding{
			{Severity: checkpoint.Certain, Kind: "nan", Tensors: []string{"head.weight"}, Text: "head.weight has 3 NaN"},
			{Severity: checkpoint.Likely, Kind: "nibble-order", Text: "looks swapped"},
			{Severity: checkpoint.Look, Kind: "constant", Text: "holds one value"},
		},
		Base: []checkpoint.Deviation{{Tensor: "embed.weight", RelL2: 0.5, HalfSteps: 7, Outside: 12}},
	}.Page("My Model", time.Unix(0, 0))
	assert.Equal(t, 1, bad.Verdict.Code)
	require.Len(t, bad.Cases, 3)
	assert.Equal(t, report.Fail, bad.Cases[0].Outcome)
	assert.Equal(t, "weights/doctor/my-model/nan/0", bad.Cases[0].ID)
	assert.Equal(t, report.Fail, bad.Cases[1].Outcome)
	assert.Equal(t, report.Pass, bad.Cases[2].Outcome)

	var page strings.Builder
	require.NoError(t, report.WriteHTML(&page, bad))
	for _, want := range []string{"head.weight has 3 NaN", "looks swapped", "embed.weight"} {
		assert.Contains(t, page.String(), want)
	}
}
