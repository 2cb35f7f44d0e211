package layers_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/layers"
)

// referenceCase is the golden case that holds the reference of the fp32 mix.
const referenceCase = "reference/mhc-fp32"

// gateRisk is the chance that the gate rejects one sound kernel, by its own assumption of normal logarithms.
const gateRisk = 1e-3

// TestLayers measures both stacks and the end effects, and holds them against the goldens. The measurements run beside
// one another; whatever reads goldens waits for them (TestPage stands in a later file), so that -update needs one run.
func TestLayers(t *testing.T) {
	var nano, flash collector
	var reports sync.Map // slug to layers.Result of flash43
	var stack *nanoStack
	t.Run("measure", func(t *testing.T) {
		t.Run("flash43", func(t *testing.T) {
			t.Parallel()
			cases, byName := measureFlash(t)
			for id, c := range cases {
				flash.add(id, c)
			}
			for name, r := range byName {
				reports.Store(name, r)
			}
		})
		stack = newNanoStack(t)
		for _, name := range pick(nanoSlice...) {
			t.Run("nano/"+name, func(t *testing.T) {
				t.Parallel()
				c := newCurveCase(t, stack.measure(t, variants()[name]), nanoDepths)
				nano.add("curve/"+name, c)
				t.Log(summary(c))
			})
		}
		if full() {
			t.Run("nano/reference", func(t *testing.T) {
				t.Parallel()
				nano.add(referenceCase, shortReference(stack.reference(t)))
			})
		}
		measureEnds(t, &nano)
	})
	if t.Failed() {
		return
	}
	if len(nano.cases) > 0 { // a -run filter may leave one family alone
		golden.Assert(t, nanoFamily, golden.Doc{Provenance: nanoProvenance, Cases: nano.cases}, nanoRules)
	}
	if len(flash.cases) > 0 {
		golden.Assert(t, flashFamily, golden.Doc{Provenance: flashProvenance, Cases: flash.cases}, curveRules)
	}
	golden.Orphans(t, nanoFamily, nanoCases())
	golden.Orphans(t, flashFamily, append(slices.Collect(maps.Keys(variants())), referenceCase))
	report := func(name string) layers.Result {
		v, _ := reports.Load(name)
		r, ok := v.(layers.Result)
		assert.True(t, ok, "no report of %s", name)
		return r
	}
	t.Run("anchors", func(t *testing.T) { checkAnchors(t, report) })
	t.Run("gate/flash43", func(t *testing.T) {
		candidates := map[string]bool{"sound/reordered": true, "mhc/tf32": false, "mhc/bf16": false}
		if full() {
			candidates["sound/pairwise"] = true
		}
		checkGate(t, flashFamily, candidates, report)
	})
	t.Run("gate/nano", func(t *testing.T) {
		fp32 := under(numerics.MHCFP32())
		planted := map[string]variant{
			"sound/reordered": {mix: reordered(fp32, 1000)}, "sound/pairwise": {mix: pairwise()},
			"mhc/tf32": variants()["mhc/tf32"], "mhc/bf16": variants()["mhc/bf16"],
		}
		sound := map[string]bool{"sound/reordered": true, "sound/pairwise": true, "mhc/tf32": false, "mhc/bf16": false}
		checkGate(t, nanoFamily, sound, func(name string) layers.Result { return stack.measure(t, planted[name]) })
		if full() {
			checkSoundOrders(t, stack)
		}
	})
}

// checkGate plants a finer declaration than what ran: a kernel declared fp32 MUST be rejected by the golden's reference
// when it runs in bf16 or TF32, and MUST be accepted in another correct order. candidates says of each whether it is
// sound.
func checkGate(t *testing.T, family string, candidates map[string]bool, report func(name string) layers.Result) {
	t.Helper()
	var ref layers.Reference
	readCase(t, family, referenceCase, &ref)
	for name, sound := range candidates {
		findings, err := ref.Check(report(name), gateRisk)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if sound && len(findings) > 0 {
			t.Errorf("%s is a correct kernel and is rejected: %d findings, first: %v", name, len(findings), findings[0])
		}
		if !sound && len(findings) == 0 {
			t.Errorf("%s declared as fp32 passes the gate", name)
		}
		if !sound && len(findings) > 0 {
			t.Logf("%s declared as fp32: %d findings, first: %v", name, len(findings), findings[0])
		}
	}
}

// checkSoundOrders counts false alarms over orders that took no part in the calibration.
func checkSoundOrders(t *testing.T, stack *nanoStack) {
	t.Helper()
	var ref layers.Reference
	readCase(t, nanoFamily, referenceCase, &ref)
	const orders = 40
	for seed := range orders {
		findings, err := ref.Check(stack.measure(t, variant{mix: reordered(under(numerics.MHCFP32()), uint64(2000+seed))}),
			gateRisk)
		if err != nil || len(findings) > 0 {
			t.Errorf("order %d of the fp32 mix is rejected: %v, %v", seed, findings, err)
		}
	}
	t.Logf("%d further orders of the fp32 mix, none rejected at risk %v each", orders, gateRisk)
}

// shortReference rounds for the golden.
func shortReference(r layers.Reference) layers.Reference {
	for _, bands := range [][]layers.Band{r.Local, r.Free, {r.Slope}} {
		for i, b := range bands {
			bands[i] = layers.Band{Mean: thousandth(b.Mean), SD: float64(short(b.SD))}
		}
	}
	r.Slope = layers.Band{Mean: thousandth(r.Slope.Mean), SD: float64(short(r.Slope.SD))}
	return r
}

// endCase is the ID of an end effect.
func endCase(k int, name string) string { return fmt.Sprintf("end/top-k-%d/%s", k, name) }

// nanoCases are all IDs of the nano family.
func nanoCases() []string {
	ids := []string{referenceCase}
	for name := range variants() {
		ids = append(ids, "curve/"+name)
	}
	for _, k := range endTopK() {
		ids = append(ids, endCase(k, "exact"))
		for _, name := range endVariants(k, true) {
			ids = append(ids, endCase(k, name))
		}
	}
	return ids
}
