package diagnosis_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/scripted"
)

// The seeds that the campaign may hold of each kind and control. What was measured of them is in the golden: at least
// leastSmoke, leastStandard and leastFull of each kind, and leastControl of each control.
const (
	smokeSeeds    = 10
	standardSeeds = 5
	fullSeeds     = 5
	firstFull     = 21

	leastSmoke    = 6
	leastStandard = 3
	leastFull     = 1
	leastControl  = 1
	leastPairs    = 12
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
		series(probe.Full, firstFull, 1, "tier-restore")...)
}

// bars are the runs that the bars are about.
func bars() []subject {
	var controls []string
	for _, c := range slices.Sorted(maps.Keys(scripted.Controls())) {
		controls = append(controls, "control."+c)
	}
	return slices.Concat(
		series(probe.Smoke, 1, smokeSeeds, smokeNames...), series(probe.Smoke, 1, smokeSeeds, controls...),
		series(probe.Full, firstFull, fullSeeds, kindNames()...), series(probe.Full, 1, smokeSeeds, controls...),
		series(probe.Standard, 1, 1, pairs...),
	)
}

// visible are the runs that show what budget standard sees.
func visible() []subject { return series(probe.Standard, 1, standardSeeds, kindNames()...) }

// everything is set by the build tag exhaustive.
var everything bool

// The golden MUST hold runs of the campaign and no others, and enough of each kind.
func TestCampaign(t *testing.T) {
	var ids []string
	for _, s := range slices.Concat(bars(), visible()) {
		ids = append(ids, s.id())
	}
	golden.Orphans(t, family, ids)
	if golden.Updating() {
		return // what is missing is being measured
	}
	const more = "%s %s: measure more by ASSAY_BUDGET=full go test -tags exhaustive ./fidelity/diagnosis " +
		"-run TestMeasured -timeout 2h -update"
	all := measured(t)
	enough := func(budget string, least int, names ...string) {
		for _, name := range names {
			if c := all[budget][name]; assert.NotNil(t, c, more, budget, name) {
				assert.GreaterOrEqual(t, c.runs, least, more, budget, name)
			}
		}
	}
	enough("smoke", leastSmoke, smokeNames...)
	enough("standard", leastStandard, kindNames()...)
	enough("full", leastFull, kindNames()...)
	for c := range scripted.Controls() {
		enough("smoke", leastControl, "control."+c)
		enough("full", leastControl, "control."+c)
	}
}
