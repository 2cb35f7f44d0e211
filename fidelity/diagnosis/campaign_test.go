package diagnosis_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/scripted"
)

// seeds of each kind, and of each control. At budget full the kinds have seeds that no version of the table had seen:
// it was last changed on seeds 1 to 20.
const (
	kindSeeds    = 20
	controlSeeds = 50
	firstUnseen  = 21
)

// smokeNames are the kinds that a smoke run must name.
var smokeNames = []string{
	"head-cut", "sparse-selection", "tail-only", "junk-cliff", "warm-forgets", "dead-logits", "prompt-not-seen",
}

// pairs are the combinations of two faults.
var pairs = strings.Fields(`
bad-replica.and.message-dropped chunk-seam.and.abort-damage coarse-kv.and.tool-arguments dead-logits.and.bos ` +
	`drift.and.head-cut
head-cut.and.load-junk head-cut.and.warm-forgets junk-cliff.and.stream-layer key-collision.and.generation-prompt ` +
	`middle-cut.and.bos
overflow-swallowed.and.reasoning-lost phase.and.message-dropped poisoned-prefix.and.decode-path ` +
	`position-encoding.and.warm-junk
prompt-not-seen.and.replay sparse-selection.and.early-finisher sparse-selection.and.warm-forgets ` +
	`special-token-leak.and.sparse-selection
tail-only.and.cross-talk tail-only.and.late-degeneration tier-restore.and.dead-logits tier-restore.and.open-thought
unequal-batch.and.speculation warm-forgets.and.foreign-script wrong-prompt.and.hidden-sampling`)

func kindNames() []string {
	var out []string
	for _, k := range scripted.Kinds() {
		out = append(out, k.Slug)
	}
	return out
}

// series is n seeds of each name: faults joined by ".and.", or a control.
func series(b probe.Budget, first, n uint64, names ...string) []subject {
	var out []subject
	for _, name := range names {
		s := subject{budget: b}
		if c, ok := strings.CutPrefix(name, "control."); ok {
			s.control = c
		} else {
			s.faults = strings.Split(name, ".and.")
		}
		for s.seed = first; s.seed < first+n; s.seed++ {
			out = append(out, s)
		}
	}
	return out
}

// again are the runs that every test run executes: the kinds that smoke must name, two controls, and one run of budget
// full.
func again() []subject {
	return append(series(probe.Smoke, 1, 1,
		append(slices.Clone(smokeNames), "control."+scripted.Healthy, "control."+scripted.WeakModel)...),
		series(probe.Full, firstUnseen, 1, "tier-restore")...)
}

// bars are the runs that the bars are about.
func bars() []subject {
	var controls []string
	for _, c := range slices.Sorted(maps.Keys(scripted.Controls())) {
		controls = append(controls, "control."+c)
	}
	return slices.Concat(
		series(probe.Smoke, 1, kindSeeds, smokeNames...), series(probe.Smoke, 1, controlSeeds, controls...),
		series(probe.Full, firstUnseen, kindSeeds, kindNames()...), series(probe.Full, 1, controlSeeds, controls...),
		series(probe.Full, 1, 1, pairs...),
	)
}

// visible are the runs that show what budget standard sees.
func visible() []subject {
	return slices.Concat(series(probe.Standard, 1, kindSeeds, kindNames()...), series(probe.Standard, 1, 1, pairs...))
}

// everything is set by the build tag exhaustive.
var everything bool

// The golden MUST hold the runs of the campaign and no others.
func TestCampaign(t *testing.T) {
	var ids []string
	for _, s := range slices.Concat(bars(), visible()) {
		ids = append(ids, s.id())
	}
	golden.Orphans(t, family, ids)
	if golden.Updating() {
		return // what is missing is being measured
	}
	g, err := golden.Read(family)
	require.NoError(t, err)
	for _, id := range ids {
		_, there := g.Cases[id]
		assert.True(t, there, "%s was not measured: ASSAY_BUDGET=full go test -tags exhaustive ./fidelity/diagnosis -run "+
			"TestMeasured -timeout 2h -update", id)
	}
}
