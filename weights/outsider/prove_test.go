package outsider

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/weights"
)

var drawsFlag = flag.Int("draws", 0, "folders of each kind under ASSAY_BUDGET=full; 0: 30 sound ones, 5 damaged ones")

func drawn(usual int) int {
	if *drawsFlag > 0 {
		return *drawsFlag
	}
	return usual
}

// examine is the doctor's answer on a folder, as a user gets it.
func examine(t *testing.T, f *folder) (weights.Report, error) {
	t.Helper()
	base, err := os.MkdirTemp("", "outsider") //nolint:usetesting // thousands of folders: each goes at once
	require.NoError(t, err)
	defer func() { assert.NoError(t, os.RemoveAll(base)) }()
	dir, err := f.put(base)
	require.NoError(t, err)
	return weights.Examine(context.Background(), dir)
}

func fault(x weights.Finding) bool {
	return x.Severity == weights.Certain || x.Severity == weights.Likely
}

// half names the two halves: what the doctor's owner may see the results of, and what is asked once.
var halves = []struct {
	name string
	held bool
}{{"tuning", false}, {"held-out", true}}

// Sound folders MUST end with code 0 and nothing above worth a look: 30 draws of every pair under ASSAY_BUDGET=full,
// one of a few pairs by default.
func TestSound(t *testing.T) {
	for _, h := range halves {
		t.Run(h.name, func(t *testing.T) {
			for i, p := range pairs() {
				if heldOut(p.name()) != h.held || (!full() && (h.held || i%16 > 0)) {
					continue
				}
				t.Run(p.name(), func(t *testing.T) {
					n := 1
					if full() {
						n = drawn(30)
					}
					for d := range n {
						sound(t, p, d)
					}
				})
			}
		})
	}
}

func sound(t *testing.T, p pair, d int) {
	t.Helper()
	rep, err := examine(t, draw(p, d))
	if err == nil && rep.Code == 0 && !slices.ContainsFunc(rep.Findings, fault) {
		return
	}
	t.Errorf("ALARM %s draw %d: code %d, %v, %s%s", p.name(), d, rep.Code, err, rep.Verdict, faults(rep))
}

func faults(rep weights.Report) string {
	var b strings.Builder
	for _, x := range rep.Findings {
		if fault(x) {
			fmt.Fprintf(&b, "\n    %s %s %v: %s", x.Severity, x.Kind, x.Tensors, x.Text)
		}
	}
	return b.String()
}

// tally counts how damages of one kind (or scheme) were answered.
type tally struct{ named, found, missed int }

func (c tally) all() int { return c.named + c.found + c.missed }

func (c tally) plus(d tally) tally {
	return tally{c.named + d.named, c.found + d.found, c.missed + d.missed}
}

func (c tally) share() float64 { return float64(c.named) / float64(max(c.all(), 1)) }

// judged is what the doctor made of a damage: one of named, found and missed is 1.
func judged(t *testing.T, f *folder, words []string) (c tally, said string) {
	t.Helper()
	rep, err := examine(t, f)
	if err != nil {
		return tally{missed: 1}, "error: " + err.Error()
	}
	said = rep.Verdict + faults(rep)
	if rep.Code != 1 {
		return tally{missed: 1}, said
	}
	for _, x := range rep.Findings {
		if fault(x) && (named(x.Text, words) || named(strings.Join(x.Tensors, "\n"), words)) {
			return tally{named: 1}, said
		}
	}
	return tally{found: 1}, said
}

// Damages MUST be found and named: 95 of 100 of all, 80 of 100 of each kind. Five folders of every scheme get each kind
// under ASSAY_BUDGET=full, one of a few schemes some by default.
func TestDamages(t *testing.T) {
	schemes := map[string][]pair{}
	for _, p := range pairs() {
		if p.sparse == "" {
			schemes[p.scheme] = append(schemes[p.scheme], p)
		}
	}
	for _, h := range halves {
		t.Run(h.name, func(t *testing.T) {
			kinds, by := map[string]tally{}, map[string]tally{}
			for _, s := range slices.Sorted(maps.Keys(schemes)) {
				if !full() && (h.held || !slices.Contains(sliceSchemes, s)) {
					continue
				}
				t.Run(s, func(t *testing.T) {
					n := 1
					if full() {
						n = drawn(5)
					}
					for d := range n {
						p := schemes[s][d%len(schemes[s])]
						for k, c := range harm(t, p, 1000+d, h.held) {
							kinds[k], by[s] = kinds[k].plus(c), by[s].plus(c)
						}
					}
				})
			}
			table(t, "scheme", by)
			total := table(t, "kind", kinds)
			if !full() {
				assert.Equal(t, total.all(), total.named, "found and named in the slice")
				return
			}
			assert.GreaterOrEqual(t, total.share(), 0.95, "found and named")
			for k, c := range kinds {
				assert.GreaterOrEqual(t, c.share(), 0.8, "%s: found and named", k)
			}
		})
	}
}

// What every run asks; the bars are of the whole, under ASSAY_BUDGET=full.
var (
	sliceSchemes = []string{"awq", "ct-nvfp4", "fp8-block-bf16"}
	sliceKinds   = []string{"zeros-in-codes", "stretch-of-another", "shard-missing", "one-layer-less", "scale-zero"}
)

// harm does every kind of a half to one folder.
func harm(t *testing.T, p pair, d int, held bool) map[string]tally {
	t.Helper()
	f, counts := draw(p, d), map[string]tally{}
	for _, m := range damages() {
		if heldOut(m.kind) != held || m.original || (!full() && !slices.Contains(sliceKinds, m.kind)) {
			continue
		}
		c := f.clone()
		words, ok := m.do(c, seeded(m.kind+p.name(), d))
		if !ok {
			continue
		}
		got, said := judged(t, c, words)
		counts[m.kind] = got
		if got.named == 0 {
			t.Logf("MISS %s in %s draw %d (found %d), wanted one of %s; said %s", m.kind, p.name(), d, got.found,
				strings.Join(words[:min(4, len(words))], " | "), said)
		}
	}
	return counts
}

func table(t *testing.T, head string, counts map[string]tally) tally {
	t.Helper()
	var sum tally
	t.Logf("%-34s named  found  missed", head)
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		c := counts[k]
		t.Logf("%-34s %5d %6d %7d  %3.0f %%", k, c.named, c.found, c.missed, 100*c.share())
		sum.named, sum.found, sum.missed = sum.named+c.named, sum.found+c.found, sum.missed+c.missed
	}
	t.Logf("%-34s %5d %6d %7d  %5.1f %%", "all", sum.named, sum.found, sum.missed, 100*sum.share())
	return sum
}
