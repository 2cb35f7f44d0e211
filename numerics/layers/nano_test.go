package layers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/trace"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/layers"
)

const (
	nanoFamily = "numerics/layers-nano"
	nanoTopK   = 64
)

// nanoDepths are all of its sublayers.
var nanoDepths = []int{1, 2, 3, 4, 5, 6, 7, 8}

var nanoProvenance = golden.Provenance{
	Generator: "numerics/layers_test.TestLayers/measure", Seed: "none: weights and prompts are fixtures; reorderings " +
		"are seeds 0 to 15 of math/rand/v2 PCG",
	Source: "fixtures/nano-v4 (weights, hf_trace_067 and hf_greedy prompts), exact side in float64 (reproduces the " +
		"recorded traces, internal/nano); contracts of package numerics",
	Notes: "depth counts sublayers: attention and experts of 4 layers",
}

// nanoSlice are the variants of every run.
var nanoSlice = []string{
	"mhc/fp32", "mhc/tf32", "mhc/tf32-rz", "mhc/bf16", "mhc/bf16-rz", "mhc/fp8-accurate", "mhc/fp8-fast",
	"linear/fp32", "linear/bf16", "linear/fp8-accurate",
	"residual/bf16", "residual/bf16-rz",
}

// nanoStack is the exact pass over a prompt, against which candidates are measured.
type nanoStack struct {
	ids           []int
	exact, probed tap
}

// newNanoStack reads the 67 tokens of the shipped trace.
func newNanoStack(t testing.TB) *nanoStack {
	t.Helper()
	tr, err := trace.Open(fixtures.FS, "nano-v4/hf_trace_067.safetensors")
	require.NoError(t, err)
	s := &nanoStack{ids: tr.Prompt, probed: tap{probe: 0x1p-20}}
	for _, p := range []*tap{&s.exact, &s.probed} {
		_, err := p.pass(model(t), variant{}, nanoTopK, s.ids, 0)
		require.NoError(t, err)
		require.Len(t, p.states, sublayers)
	}
	return s
}

// measure runs a variant twice: by itself, and with every sublayer given the exact state.
func (s *nanoStack) measure(t testing.TB, v variant) layers.Result {
	t.Helper()
	free, local := tap{}, tap{force: s.exact.states}
	for _, p := range []*tap{&free, &local} {
		_, err := p.pass(model(t), v, nanoTopK, s.ids, 0)
		require.NoError(t, err)
	}
	r, err := layers.Compare(len(s.ids), nil, nil, s.exact.data(), local.data(), free.data(), s.probed.data())
	require.NoError(t, err)
	return r
}

// reference calibrates the gate of the fp32 mix on its reorderings.
func (s *nanoStack) reference(t testing.TB) layers.Reference {
	t.Helper()
	var members []layers.Result
	for seed := range layers.MinMembers {
		members = append(members, s.measure(t, variant{mix: reordered(under(numerics.MHCFP32()), uint64(seed))}))
	}
	ref, err := layers.Calibrate(members)
	require.NoError(t, err)
	return ref
}
