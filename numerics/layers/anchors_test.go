package layers_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/trace"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/layers"
	"github.com/assay-suite/assay/oracle"
)

// The independent anchor: in another author's 43-layer residual toy (no hyper-connections, emulated casts) rounding to
// bf16 grows with slope 0.32, truncation with 0.83, and a bf16 accumulator is seven times as bad as rounding in the
// first layer and flat. That toy is another stack, so its numbers are not asked for; its order is, with half its
// distances.
const (
	anchorRounding   = 0.32
	anchorTruncation = 0.83
	anchorFirstLayer = 7
)

// checkAnchors asserts that three faults have three shapes.
func checkAnchors(t *testing.T, report func(string) layers.Result) {
	t.Helper()
	law := func(name string) layers.Law {
		l, err := report(name).Free.Law(confidence)
		require.NoError(t, err)
		return l
	}
	rounding, truncation, accumulator := law("residual/bf16"), law("residual/bf16-rz"), law("linear/bf16-acc")
	t.Logf("slope: rounding %.2f [%.2f, %.2f] (toy %.2f), truncation %.2f [%.2f, %.2f] (toy %.2f), bf16 accumulator "+
		"%.2f [%.2f, %.2f] (toy: flat)",
		rounding.Slope, rounding.Lo, rounding.Hi, anchorRounding, truncation.Slope, truncation.Lo, truncation.Hi,
		anchorTruncation,
		accumulator.Slope, accumulator.Lo, accumulator.Hi)
	if rounding.Hi >= truncation.Lo || accumulator.Hi >= truncation.Lo {
		t.Errorf("the intervals of truncation [%.2f, %.2f] and of rounding [%.2f, %.2f] or the accumulator [%.2f, %.2f] "+
			"overlap",
			truncation.Lo, truncation.Hi, rounding.Lo, rounding.Hi, accumulator.Lo, accumulator.Hi)
	}
	if gap := truncation.Slope - rounding.Slope; gap < (anchorTruncation-anchorRounding)/2 {
		t.Errorf("truncation grows only %.2f steeper than rounding; the toy has %.2f", gap, anchorTruncation-anchorRounding)
	}
	if !rounding.Contains(anchorRounding) {
		t.Errorf("the slope of rounding is in [%.2f, %.2f], which excludes the toy's %.2f", rounding.Lo, rounding.Hi,
			anchorRounding)
	}
	first := report("linear/bf16-acc").Free.RMS()[0] / report("residual/bf16").Free.RMS()[0]
	if first < anchorFirstLayer {
		t.Errorf("the bf16 accumulator is %.1f times as bad as rounding after the first layer; in the toy %d times", first,
			anchorFirstLayer)
	}
	// Why the accumulator is not flat here: its errors are no bias (coherence about 1), and the state grows more slowly
	// than depth^½, against which independent errors would be flat (TestThreeShapes).
	acc := report("linear/bf16-acc")
	if c := acc.Coherence(); c > 1.5 {
		t.Errorf("the accumulator's errors add up with coherence %.2f; independent ones have 1", c)
	}
	size := acc.Free.Ref[0]
	if growth := math.Log(size[len(size)-1]/size[0]) / math.Log(flashLayers); growth > 0.4 {
		t.Errorf("the state grows as depth^%.2f, so that independent errors should be flat", growth)
	}
	if c := report("residual/bf16-rz").Coherence(); c < 2 {
		t.Errorf("truncation adds up with coherence %.2f; a bias stands out from independent errors, which have 1", c)
	}
}

// TestHuggingFaceAutocast holds the emulation of bf16 products against a second source: the logits that the Hugging
// Face implementation gave for the same prompt under bf16 autocast, against its own in fp32. Autocast runs the
// attention products in bf16 too, which this variant does not, and keeps its own list of fp32 operators; two
// implementations of one recipe differ by less than a factor of two here, while the neighbours on the ladder differ by
// eight (TF32) and more.
func TestHuggingFaceAutocast(t *testing.T) {
	tr, err := trace.Open(fixtures.FS, "nano-v4/hf_trace_067.safetensors")
	require.NoError(t, err)
	want := tr.Mat("logits", 0)
	recorded := numerics.RelL2(tr.Mat("logits_bf16", 0).Data, want.Data)
	errorOf := func(v variant) float64 {
		var p tap
		logits, err := p.pass(model(t), v, nanoTopK, tr.Prompt, want.Rows)
		require.NoError(t, err)
		got := oracle.NewMat(0, want.Cols)
		for _, row := range logits {
			got = got.Append(oracle.Mat{Rows: 1, Cols: len(row), Data: row})
		}
		return numerics.RelL2(got.Data, want.Data)
	}
	bf16, tf32 := under(numerics.MHCBF16()), under(numerics.MHCTF32())
	emulated, finer := errorOf(variant{mix: bf16, linear: bf16}), errorOf(variant{mix: tf32, linear: tf32})
	t.Logf("relative error of the logits: Hugging Face under bf16 autocast %.2e, emulated bf16 products %.2e, TF32 %.2e",
		recorded, emulated, finer)
	if r := emulated / recorded; math.Max(r, 1/r) > 2 {
		t.Errorf("emulated bf16 products give %.2e, Hugging Face recorded %.2e: more than a factor of 2 apart", emulated,
			recorded)
	}
	if recorded/finer <= 2 {
		t.Errorf("TF32 products give %.2e, too near to the recorded %.2e for this test to tell contracts apart", finer,
			recorded)
	}
}

// TestEndEffectOfTheMix holds the end effect against a second source: an independent float64 implementation of nano-v4
// found that the hyper-connections' mix in bf16 moves the top-20 log-probabilities by 0.0028 nats, in the median over
// 13 prompts of 230 to 1,024 tokens. Ours is the rms over five positions of one prompt, so that a factor of 3 is asked
// for; TF32 and fp8 must fall outside of it, or the test could not tell contracts apart.
func TestEndEffectOfTheMix(t *testing.T) {
	const independent, within = 0.0028, 3
	near := func(name string) (float64, bool) {
		var e endEffect
		readCase(t, nanoFamily, endCase(nanoTopK, name), &e)
		r := float64(e.LogitShift) / independent
		return float64(e.LogitShift), max(r, 1/r) <= within
	}
	for name, want := range map[string]bool{"mhc/tf32": false, "mhc/bf16": true, "mhc/fp8-accurate": false} {
		if shift, ok := near(name); ok != want {
			t.Errorf("%s moves the top 20 by %.2g nats: within a factor of %d of %v is %v, want %v", name, shift, within,
				independent, ok, want)
		}
	}
}
