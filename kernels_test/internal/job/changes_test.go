package job

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/protocol"
)

// A new version of an engine MUST be compared facet by facet: what became worse, better, or was not judged.
func TestChangedSaysWhatMoved(t *testing.T) {
	was := map[string]FacetResult{
		"moe_gate F32":  {State: "equivalent", Contract: "fp32", Cases: 25, Rho: "0.4"},
		"rms_norm BF16": {State: "equivalent", Contract: "bf16-out", Cases: 27, Rho: "0.5"},
		"rope F32":      {State: "equivalent", Contract: "fp32-table", Cases: 40, Rho: "0.0004"},
		"topk F32":      {State: "equivalent", Contract: "ties-any", Cases: 40, Rho: "0"},
	}
	now := map[string]FacetResult{
		"moe_gate F32":  {State: "fault", Contract: "fp32", Cases: 25, Failed: 4, Rho: "2.8e+03"},
		"rms_norm BF16": {State: "equivalent", Contract: "bf16-out", Cases: 27, Rho: "0.62"},
		"rope F32":      {State: "equivalent", Contract: "fp32-table", Cases: 40, Rho: "0.0012"},
		"merge F32":     {State: "equivalent", Contract: "natural", Cases: 20, Rho: "0.1"},
	}
	assert.Equal(t, []string{
		"merge F32: new, equivalent under natural, rho 0.1",
		"moe_gate F32: fault (4 of 25 cases fail), was equivalent under fp32; rho 0.4 -> 2.8e+03",
		"topk F32: not judged in this run, was equivalent under ties-any",
	}, Changed(was, now))
	assert.Empty(t, Changed(now, now))
}

// A loss of share beyond noise MUST be a finding of its own kind, and one within it none.
func TestSlowerIsNoNoise(t *testing.T) {
	timed := func(share, spread float64) []Timed {
		return []Timed{{Op: "rms_norm", Class: "prefill t2048", Share: share, Spread: spread, Of: "copy bandwidth"}}
	}
	was := map[string]WasTimed{"rms_norm prefill t2048": {Share: 0.81, Spread: 0.01}}
	assert.Equal(t, []string{"slower: rms_norm prefill t2048: 0.62 of the copy bandwidth, was 0.81"},
		Slower(was, timed(0.62, 0.01)))
	assert.Empty(t, Slower(was, timed(0.75, 0.01)))
	assert.Empty(t, Slower(was, timed(0.62, 0.08)), "three spreads of noise")
	assert.Empty(t, Slower(was, timed(0.95, 0.01)))
	good := Outcome{
		Hello: bench.Hello{Name: "w"}, Changes: Slower(was, timed(0.62, 0.01)),
		Judged: []Judged{{Facet: bench.Facet{Op: "rms_norm"}, State: Equivalent}},
	}
	assert.Equal(t, int(suite.Regression), good.Verdict().Code)
	assert.Contains(t, good.Verdict().Text, "slower: rms_norm")
	good.Changes = []string{"rms_norm: rho 0.1 -> 0.3"}
	assert.Equal(t, int(suite.Pass), good.Verdict().Code)
}

// clocked answers calls with times, and notes what it was asked.
type clocked struct {
	calls []bench.Call
	times *protocol.Times
}

func (c *clocked) Hello(context.Context) (bench.Hello, error) { return bench.Hello{}, nil }

func (c *clocked) Run(_ context.Context, call bench.Call) (bench.Reply, error) {
	c.calls = append(c.calls, call)
	return bench.Reply{Times: c.times}, nil
}

// Times MUST be medians, and rates shares of what the same run measured.
func TestTimesAreSharesOfMeasuredCeilings(t *testing.T) {
	h := bench.Hello{Name: "w", Ops: map[string]bench.Capability{
		"rms_norm": {DTypes: []string{"BF16"}}, "sinkhorn": {}, "window_mask": {},
	}}
	samples := []float64{10, 11, 9, 10, 1000, 10, 10, 12}
	under := &clocked{times: &protocol.Times{
		Samples: samples, First: 2, How: "graph", Launches: 1, Ceilings: protocol.Ceilings{CopyGBs: 4000, BF16: 700},
	}}
	all, err := Options{}.Times(t.Context(), under, h)
	require.NoError(t, err)
	by := map[string]Timed{}
	for _, r := range all {
		by[r.Name()] = r
	}
	norm := by["rms_norm decode t32"]
	assert.Equal(t, 10.0, norm.Microseconds)
	const moved = 2*2*32*7168 + 4*7168 // bf16 in and out, the fp32 gain
	assert.Equal(t, fmt.Sprintf("%.9f", moved/10.0/1e3/4000), fmt.Sprintf("%.9f", norm.Share))
	assert.Equal(t, "copy bandwidth", norm.Of)
	assert.Equal(t, "no shape is listed for it", by["window_mask "].NotTimed)
	timed := 0
	for _, c := range under.calls { // a small call first, which is not timed
		if c.Time > 0 {
			assert.Equal(t, repetitions, c.Time)
			timed++
		}
	}
	assert.Equal(t, 3, timed)
	under.times = nil
	all, err = Options{}.Times(t.Context(), under, h)
	require.NoError(t, err)
	assert.Equal(t, "the worker has no clock of a device", all[len(all)-1].NotTimed)
}

// Every listed shape MUST be drawn: a time that cannot be taken is a gap in every run.
func TestEveryTimedShapeCanBeDrawn(t *testing.T) {
	if testing.Short() {
		t.Skip("draws 100 MiB of operands")
	}
	rows := timeRows()
	for _, s := range Suites() {
		for _, f := range s.Families {
			for _, row := range rows[f.Op] {
				small := timeRow{class: row.class, dims: map[string]int{}}
				maps.Copy(small.dims, row.dims)
				for _, d := range []string{"vocabulary", "n", "width"} {
					if small.dims[d] > 512 {
						small.dims[d] = 512
					}
				}
				drawn, why := false, error(nil)
				for _, c := range timedCases(f) {
					if !drawn {
						_, _, why = timedCall(c, small)
						drawn = why == nil
					}
				}
				assert.True(t, drawn, "%s at %v: %v", f.Op, row.class, why)
			}
		}
	}
}
