package layers_test

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/numerics/layers"
)

// confidence of every interval of a slope.
const confidence = 0.95

// curveCase is what one variant did to a stack, as a golden and a row of docs/layers.md.
type curveCase struct {
	LocalMedian golden.Float   `json:"local-median"` // over the layers, rows together
	LocalMax    golden.Float   `json:"local-max"`
	Free        []golden.Float `json:"free"` // at the depths that the family lists
	Slope       golden.Float   `json:"slope"`
	SlopeLo     golden.Float   `json:"slope-lo"`
	SlopeHi     golden.Float   `json:"slope-hi"`
	Gain        golden.Float   `json:"gain"`
	Coherence   golden.Float   `json:"coherence"`
}

func newCurveCase(t testing.TB, r layers.Result, depths []int) curveCase {
	t.Helper()
	law, err := r.Free.Law(confidence)
	require.NoError(t, err)
	local, free := r.Local.RMS(), r.Free.RMS()
	c := curveCase{
		LocalMax: short(slices.Max(local)),
		Slope:    hundredth(law.Slope), SlopeLo: hundredth(law.Lo), SlopeHi: hundredth(law.Hi),
		Gain: short(r.MeanGain()), Coherence: short(r.Coherence()),
	}
	slices.Sort(local)
	c.LocalMedian = short(local[len(local)/2])
	for _, d := range depths {
		c.Free = append(c.Free, short(free[d-1]))
	}
	return c
}

// slopeRule: two laws of growth, ½ and 1 or 0 and ½, lie ½ apart; a tenth of that cannot turn one into the other.
// The emulation is deterministic, so that nothing but another float64 summation order moves a slope at all.
var slopeRule = golden.Abs(0.05, "a tenth of the distance between two laws of growth")

var curveRules = golden.Rules{
	Default: golden.Factor(1.5, "errors keep three digits and compare within x1.5, as rho tables"),
}.
	With("slope*", slopeRule).
	With("gain", golden.Rel(0.01, "a property of the exact stack: three digits")).
	With("members", golden.Count("how many reorderings")).
	With("slope/*", slopeRule).
	With("*/*/mean", golden.Abs(0.405, "logarithm of x1.5")).
	With("*/*/sd", golden.AbsOrRel(0.01, 1, "a spread of 16 draws is good to a factor of two at most"))

// sites are the places where a stack leaves float64.
const (
	siteMix, siteLinear, siteResidual = "mhc", "linear", "residual"
)

// variants are all of them by slug.
func variants() map[string]variant {
	v := map[string]variant{
		siteResidual + "/bf16":    {residual: format.BF16.RoundSlice},
		siteResidual + "/bf16-rz": {residual: truncate},
	}
	for _, c := range ladder() {
		v[siteMix+"/"+c.name] = variant{mix: c.gemm}
		v[siteLinear+"/"+c.name] = variant{linear: c.gemm}
	}
	return v
}

// full says whether everything runs, or the slice of it that fits into every `go test`.
func full() bool {
	budget, _ := suite.Value("ASSAY_BUDGET")
	return budget == "full" || golden.Updating()
}

// pick returns the slugs to run, sorted: all, or those of the slice.
func pick(slice ...string) []string {
	if full() {
		return slices.Sorted(maps.Keys(variants()))
	}
	return slice
}

// collector gathers cases from parallel tests.
type collector struct {
	mu    sync.Mutex
	cases map[string]any
}

func (c *collector) add(id string, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cases == nil {
		c.cases = map[string]any{}
	}
	c.cases[id] = value
}

// readCase reads one case of a committed golden.
func readCase(t testing.TB, family, id string, into any) {
	t.Helper()
	f, err := golden.Read(family)
	require.NoError(t, err)
	value, ok := f.Cases[id]
	require.True(t, ok, "golden %q has no case %q", family, id)
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, into))
}
