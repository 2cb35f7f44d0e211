package layers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
)

// page is the summary that is made of the goldens.
var page = filepath.Join("..", "..", "docs", "layers.md")

// TestPage compares the committed page with what the goldens give, or rewrites it with -update.
func TestPage(t *testing.T) {
	golden.Page(t, page, renderPage(t))
}

const pageHead = `# How an error grows with depth

Made by ` + "`go test ./numerics/layers -update`" + ` from goldens/numerics/layers-nano.json and layers-flash43.json.
Do not edit.

- **site**: where the stack leaves float64. ` + "`mhc`" + ` is the mixing GEMM of the hyper-connections, ` +
	"`linear`" + ` every other product with a
  weight, ` + "`residual`" + ` the cast of the streams after each sublayer. Everything else stays exact.
- **contract**: ` + "`-rz`" + ` truncates where its twin rounds to nearest (operands, and for bf16 the output), ` +
	"`bf16-acc`" + ` keeps the sum in bf16 as no
  tensor core does, ` + "`fp8-fast`" + ` is Hopper's native accumulation, ` + "`fp8-accurate`" +
	` promotes into fp32 every 128 products. fp8 scales are powers of two
  by row; quantising the operands is part of the error.
- **local**: median relative error of one layer that is given the exact state. **free**: of the whole stack up to ` +
	`that depth.
- **slope** of log free error against log depth, mean over tokens with its 95 % Student interval: 0 is an error ` +
	`that each layer makes anew, 1/2 a
  random walk, 1 a bias.
- **coherence**: free error at the end over what independent local errors would add up to under the gain of a ` +
	`random probe. Above 1 errors
  share a direction; below 1 the stack damps them more than it does the probe.
`

// renderPage makes the page of the committed goldens.
func renderPage(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(pageHead)
	flash, nano := goldenCases(t, flashFamily), goldenCases(t, nanoFamily)
	fmt.Fprintf(&b, "\n## V4-Flash width: 43 layers, hyper-connections 16,384 wide\n\n")
	fmt.Fprintf(&b, "Rank-64 SiLU maps after RMSNorm as sublayers, %d channels %d times as large as the rest, %d "+
		"tokens.\n", outliers, outlierFactor, flashTokens)
	curveTable(&b, flash, "", flashDepths, []int{0, 3, 6})
	anchorText(t, &b, flash)
	fmt.Fprintf(&b, "\n## nano-v4: 8 sublayers, real weights and tokens\n\nThe 67 tokens of the recorded trace. They "+
		"attend to one another, so the intervals are for this\n"+
		"prompt. No product but the mix is longer than 128, so that fp8-fast and fp8-accurate are one in `linear`.\n")
	curveTable(&b, nano, "curve/", nanoDepths, []int{0, 3, 7})
	truncationText(t, &b, flash, nano)
	fmt.Fprintf(&b, "\n## nano-v4: what reaches the answer\n\n")
	b.WriteString("One question of 770 tokens, needle in the middle, right code fed back; `exact` is float64 at the " +
		"same top-k. The shift of the\n" +
		"logits is the rms over the exact top 20, the margin's the median over five digits, both in nats. Needle rank: " +
		"worst of five queries in the better\n" +
		"layer. Lost mass: what the exact model's attention would put on rows that are not selected. `linear` includes " +
		"lm_head, whose own\n" +
		"output rounding is part of its logit shift.\n")
	endTable(&b, nano)
	return b.String()
}

func goldenCases(t testing.TB, family string) map[string]json.RawMessage {
	t.Helper()
	f, err := golden.Read(family)
	require.NoError(t, err)
	out := map[string]json.RawMessage{}
	for id, c := range f.Cases {
		out[id], err = json.Marshal(c)
		require.NoError(t, err)
	}
	return out
}

// anchorText says how the stack compares with the independent toy, and where it does not.
func anchorText(t testing.TB, b *strings.Builder, cases map[string]json.RawMessage) {
	t.Helper()
	read := func(name string) (c curveCase) {
		require.NoError(t, json.Unmarshal(cases[name], &c))
		return c
	}
	rounding, truncation, accumulator := read("residual/bf16"), read("residual/bf16-rz"), read("linear/bf16-acc")
	fmt.Fprintf(b, "\nAnchor: an independent 43-layer residual toy without hyper-connections has slope %.2f for "+
		"rounding (here %.2f), %.2f for truncation\n"+
		"(here %.2f), and a bf16 accumulator that is flat and %d times as bad as rounding from the first layer. Here the "+
		"accumulator is %.0f times as bad\n"+
		"from the first layer, but not flat: slope %.2f. Errors that are independent from layer to layer grow as "+
		"depth^1/2; they are flat against a state that\n"+
		"does so too, and this state grows more slowly (the tests assert both). What tells the accumulator from truncation "+
		"is its level and its coherence.\n",
		anchorRounding, float64(rounding.Slope), anchorTruncation, float64(truncation.Slope), anchorFirstLayer,
		float64(accumulator.Free[0]/rounding.Free[0]), float64(accumulator.Slope))
}

// truncationText says where truncation compounds.
func truncationText(t testing.TB, b *strings.Builder, flash, nano map[string]json.RawMessage) {
	t.Helper()
	slope := func(cases map[string]json.RawMessage, name string) float64 {
		var c curveCase
		require.NoError(t, json.Unmarshal(cases[name], &c))
		return float64(c.Slope)
	}
	fmt.Fprintf(b, "\nTruncation compounds as a bias where it acts on the state itself, in the cast of the residual. In "+
		"the mixing GEMM it raises the local error and not\n"+
		"the slope (nano-v4: bf16-rz %.2f against bf16 %.2f, 43 layers: %.2f against %.2f). In the other products "+
		"nano-v4's slope rises (%.2f against\n"+
		"%.2f), the synthetic stack's does not (%.2f against %.2f): its maps differ from layer to layer at random.\n",
		slope(nano, "curve/mhc/bf16-rz"), slope(nano, "curve/mhc/bf16"), slope(flash, "mhc/bf16-rz"),
		slope(flash, "mhc/bf16"),
		slope(nano, "curve/linear/bf16-rz"), slope(nano, "curve/linear/bf16"), slope(flash, "linear/bf16-rz"),
		slope(flash, "linear/bf16"))
}

func curveTable(b *strings.Builder, cases map[string]json.RawMessage, prefix string, depths, show []int) {
	b.WriteString("\n| site | contract | local |")
	for _, i := range show {
		fmt.Fprintf(b, " free at %d |", depths[i])
	}
	b.WriteString(" slope | 95 % | coherence |\n| --- | --- | --- |" + strings.Repeat(" --- |", len(show)+3) + "\n")
	gain := 0.0
	for _, site := range []string{siteResidual, siteMix, siteLinear} {
		for _, contract := range ladder() {
			var c curveCase
			if raw, ok := cases[prefix+site+"/"+contract.name]; !ok || json.Unmarshal(raw, &c) != nil {
				continue
			}
			fmt.Fprintf(b, "| %s | %s | %.1e |", site, contract.name, float64(c.LocalMedian))
			for _, i := range show {
				fmt.Fprintf(b, " %.1e |", float64(c.Free[i]))
			}
			fmt.Fprintf(b, " %.2f | %.2f to %.2f | %.2g |\n", float64(c.Slope), float64(c.SlopeLo), float64(c.SlopeHi),
				float64(c.Coherence))
			gain = float64(c.Gain)
		}
	}
	fmt.Fprintf(b, "\nMean gain of the exact stack per step, on a random probe: %.3g.\n", gain)
}

func endTable(b *strings.Builder, cases map[string]json.RawMessage) {
	b.WriteString("\n| top-k | site and contract | digits | margin shift | logit shift | 1 - Jaccard | needle rank | " +
		"lost mass |\n" + "|" + strings.Repeat(" --- |", 8) + "\n")
	for _, k := range endTopK() {
		ids := slices.DeleteFunc(slices.Sorted(maps.Keys(cases)), func(id string) bool {
			return !strings.HasPrefix(id, endCase(k, ""))
		})
		for _, id := range ids {
			var e endEffect
			if json.Unmarshal(cases[id], &e) != nil {
				continue
			}
			fmt.Fprintf(b, "| %d | %s | %d/5 | %.1g | %.1g | %.2g | %d | %.3f |\n", k, strings.TrimPrefix(id, endCase(k, "")),
				e.Recall, float64(e.MarginShift), float64(e.LogitShift), float64(e.Distance), e.NeedleRank, float64(e.LostMass))
		}
	}
}
