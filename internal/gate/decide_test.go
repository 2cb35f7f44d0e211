package gate_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/gate"
)

// Expected p-values are by hand: losses alone have p = 2^-losses, a look of three weighs 1/2, 1/4, 1/4, and Holm takes
// the smallest of four times 4. Regressed at 10 of 40: 4 x 2 x 2^-10 = 0.0078; not at 9: 0.0156.
func TestDecideRecall(t *testing.T) {
	far := gate.Far
	for _, c := range []struct {
		name  string
		cells int // at bless
		edit  func(now map[string]gate.Outcome)
		want  gate.Standing // of far
		all   gate.Standing
		look  int
		more  int
		adj   float64
	}{
		{"unchanged", 120, func(map[string]gate.Outcome) {}, gate.Held, gate.Held, 1, 0, 1},
		{"one lost", 120, func(n map[string]gate.Outcome) { answer(n, far, 3, 4, miss()) }, gate.Held, gate.Held, 1, 0, 1},
		{
			"two lost ask for more", 120, func(n map[string]gate.Outcome) { answer(n, far, 3, 5, miss()) }, gate.Undecided,
			gate.Undecided, 1, 40, 1,
		},
		{
			"nine lost", 120, func(n map[string]gate.Outcome) { answer(n, far, 0, 9, miss()) }, gate.Undecided, gate.Undecided,
			1, 40, 8.0 / 512,
		},
		{
			"ten lost", 120, func(n map[string]gate.Outcome) { answer(n, far, 0, 10, miss()) }, gate.Regressed, gate.Regressed,
			1, 0, 8.0 / 1024,
		},
		{
			"two lost, then clean", 120, func(n map[string]gate.Outcome) {
				answer(n, far, 40, 80, hit())
				answer(n, far, 3, 5, miss())
			}, gate.Held, gate.Held, 2, 0, 1,
		},
		{
			"nine lost, two more", 120, func(n map[string]gate.Outcome) {
				answer(n, far, 40, 80, hit())
				answer(n, far, 31, 42, miss())
			}, gate.Regressed, gate.Regressed, 2, 0, 16.0 / 2048,
		},
		{
			"five lost, then clean", 120, func(n map[string]gate.Outcome) {
				answer(n, far, 40, 80, hit())
				answer(n, far, 0, 5, miss())
			}, gate.Undecided, gate.Undecided, 2, 40, 8.0 / 32,
		},
		{
			"five lost, then clean to the end", 120, func(n map[string]gate.Outcome) {
				answer(n, far, 40, 120, hit())
				answer(n, far, 0, 5, miss())
			}, gate.Inconclusive, gate.Inconclusive, 3, 0, 8.0 / 32,
		},
		{
			"half a reserve", 120, func(n map[string]gate.Outcome) {
				answer(n, far, 40, 79, hit())
				answer(n, far, 0, 9, miss())
			}, gate.Undecided, gate.Undecided, 1, 1, 8.0 / 512,
		},
		{
			"no early stop", 120, func(n map[string]gate.Outcome) { answer(n, far, 0, 39, miss()); delete(n, id(far, 39)) },
			gate.Undecided, gate.Undecided, 0, 1, 1,
		},
		{
			"no reserve: one look has all of alpha", 40, func(n map[string]gate.Outcome) { answer(n, far, 0, 9, miss()) },
			gate.Regressed, gate.Regressed, 1, 0, 4.0 / 512,
		},
		{
			"no reserve, eight lost", 40, func(n map[string]gate.Outcome) { answer(n, far, 0, 8, miss()) }, gate.Inconclusive,
			gate.Inconclusive, 1, 0, 4.0 / 256,
		},
		{
			"two unmeasured of 40", 120, func(n map[string]gate.Outcome) { answer(n, far, 0, 2, gate.Outcome{}) }, gate.Held,
			gate.Held, 1, 0, 1,
		},
		{
			"three unmeasured of 40", 120, func(n map[string]gate.Outcome) { answer(n, far, 0, 3, gate.Outcome{}) },
			gate.Inconclusive, gate.Inconclusive, 1, 0, 1,
		},
		{"three with another prompt", 120, func(n map[string]gate.Outcome) {
			answer(n, far, 0, 3, gate.Outcome{Measured: true, Hit: true, Prompt: "q"})
		}, gate.Inconclusive, gate.Inconclusive, 1, 0, 1},
		{"unmeasured covers up for losses", 120, func(n map[string]gate.Outcome) {
			answer(n, far, 0, 3, gate.Outcome{})
			answer(n, far, 3, 30, miss())
		}, gate.Inconclusive, gate.Inconclusive, 1, 0, math.Ldexp(8, -27)},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := tried(40, hit())
			c.edit(now)
			d, err := gate.Decide(blessed(t, c.cells, hit()), standard(t), now, gate.DefaultPolicy())
			require.NoError(t, err)
			r := d.Families[0]
			if r.Standing != c.want || d.Overall != c.all || r.Look != c.look || len(r.More) != c.more || len(d.More) != c.more {
				t.Errorf("far %s at look %d with %d more cells, overall %s; want %s, %d, %d, %s\n%s",
					r.Standing, r.Look, len(r.More), d.Overall, c.want, c.look, c.more, c.all, r.Sentence)
			}
			if math.Abs(r.Adjusted-min(1, c.adj)) > 1e-12 { // log-gammas of at most 120: 1e-13
				t.Errorf("adjusted p %v, want %v", r.Adjusted, c.adj)
			}
			if d.Tests != 4 {
				t.Errorf("corrected for %d tests, want 4", d.Tests)
			}
		})
	}
}

func TestStagesAreCutToTheGolden(t *testing.T) {
	for stable, want := range map[int]struct{ looks, first int }{
		7: {1, 7}, 40: {1, 40}, 44: {1, 44}, 59: {1, 59}, 60: {2, 40}, 80: {2, 40}, 99: {2, 40}, 100: {3, 40}, 120: {3, 40},
		134: {3, 40},
	} {
		d, err := gate.Decide(blessed(t, stable, hit()), standard(t), nil, gate.DefaultPolicy())
		require.NoError(t, err)
		if r := d.Families[0]; r.Looks != want.looks || len(r.More) != want.first || r.Standing != gate.Undecided {
			t.Errorf("%d stable cells: %d looks, first at %d, want %+v", stable, r.Looks, len(r.More), want)
		}
	}
}

func TestDecideMargins(t *testing.T) {
	noise := func(g gate.Golden, aa float64) gate.Golden {
		for i := range g.Families {
			g.Families[i].AA = aa
		}
		return g
	}
	for _, c := range []struct {
		name string
		aa   float64
		now  gate.Outcome
		want gate.Standing
	}{
		{"unchanged", 0, with(3), gate.Held},
		{"a harmless shift, certain as it is", 0, with(2.76), gate.Held},
		{"beyond a quarter of a nat", 0, with(2.74), gate.Regressed},
		{"within three times the difference at bless", 0.1, with(2.71), gate.Held},
		{"beyond it", 0.1, with(2.69), gate.Regressed},
		{"a gain", 0, with(9), gate.Held},
		{"margins gone", 0, hit(), gate.Inconclusive},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := tried(40, with(3))
			answer(now, gate.Cache, 0, 40, c.now)
			d, err := gate.Decide(noise(blessed(t, 120, with(3)), c.aa), standard(t), now, gate.DefaultPolicy())
			require.NoError(t, err)
			if r := d.Families[2]; r.Standing != c.want || d.Overall != c.want || d.Tests != 8 {
				t.Errorf("%s of %d tests, want %s: %s", d.Overall, d.Tests, c.want, r.Sentence)
			}
		})
	}
}

func TestDecidePracticalMargin(t *testing.T) {
	// Twelve lost of 120 are far beyond chance; with a margin of 15 points they are nothing that matters.
	now := tried(120, hit())
	answer(now, gate.Near, 0, 12, miss())
	p := gate.DefaultPolicy()
	plan, err := gate.PlanFor("full")
	require.NoError(t, err)
	for margin, want := range map[float64]gate.Standing{0.02: gate.Regressed, 0.15: gate.Held} {
		p.DropMargin = margin
		d, err := gate.Decide(blessed(t, 120, hit()), plan, now, p)
		require.NoError(t, err)
		if d.Overall != want {
			t.Errorf("margin %v: %s, want %s", margin, d.Sentence, want)
		}
	}
}

func TestDecideSmoke(t *testing.T) {
	plan, err := gate.PlanFor("smoke")
	require.NoError(t, err)
	now := tried(10, hit())
	d, err := gate.Decide(blessed(t, 120, hit()), plan, now, gate.DefaultPolicy())
	require.NoError(t, err)
	if d.Overall != gate.Held || len(d.Families) != 2 || d.Tests != 2 || d.Families[0].Pairs != 10 {
		t.Errorf("smoke: %+v", d)
	}
	// Eight of ten: 2^-8 x 2 (look) x 2 (Holm) = 0.0156; nine: 0.0078.
	answer(now, gate.Near, 0, 8, miss())
	d, err = gate.Decide(blessed(t, 120, hit()), plan, now, gate.DefaultPolicy())
	require.NoError(t, err)
	want := []string{}
	for i := 10; i < 20; i++ {
		want = append(want, id(gate.Near, i))
	}
	if diff := cmp.Diff(want, d.More); d.Overall != gate.Undecided || diff != "" {
		t.Errorf("%s, more (-want +got):\n%s", d.Sentence, diff)
	}
	answer(now, gate.Near, 0, 9, miss())
	d, err = gate.Decide(blessed(t, 120, hit()), plan, now, gate.DefaultPolicy())
	require.NoError(t, err)
	if d.Overall != gate.Regressed {
		t.Error(d.Sentence)
	}
}

func TestDecideSentences(t *testing.T) {
	now := tried(40, hit())
	answer(now, gate.Far, 0, 10, miss())
	answer(now, gate.Near, 5, 6, gate.Outcome{})
	g := blessed(t, 120, hit())
	g.Families = g.Families[:3]
	d, err := gate.Decide(g, standard(t), now, gate.DefaultPolicy())
	require.NoError(t, err)
	var all strings.Builder
	all.WriteString(d.Sentence + "\n")
	for _, r := range d.Families {
		all.WriteString(r.Sentence + "\n")
	}
	// Newcombe's interval for 30 both, 10 lost of 40, and for 40 (39) of 40 both, was computed apart in Python; the
	// smallest drop, also from there, is where 80 % of binomials of 40 reach 10 losses: 2^-10 < 0.01/2/3 < 2^-9 gives 10.
	want := `regressed in far: 3 tests on 119 pairs, false alarms held at 0.01
far regressed: 10 lost, 0 won of 40 pairs, p 0.00098, 0.0059 after Holm, drop 25.0 points (95 % interval 11.1 to ` +
		`40.2), minimum detectable drop 30 points
near held: 0 lost, 0 won of 39 pairs, 1 of 40 cells unmeasured, drop 0.0 points (95 % interval -9.0 to 9.0), ` +
		`minimum detectable drop 31 points
cache held: 0 lost, 0 won of 40 pairs, drop 0.0 points (95 % interval -8.8 to 8.8), minimum detectable drop 30 points
concurrency absent: the golden has no such cells
`
	if diff := cmp.Diff(want, all.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDecideSaysWhatWouldSettleIt(t *testing.T) {
	// Eight of 40 without a reserve: nine losses are needed, which that rate has at 45 cells.
	now := tried(40, hit())
	answer(now, gate.Far, 0, 8, miss())
	d, err := gate.Decide(blessed(t, 40, hit()), standard(t), now, gate.DefaultPolicy())
	require.NoError(t, err)
	if !strings.HasSuffix(d.Families[0].Sentence, "at this rate 45 cells in all would settle it") {
		t.Error(d.Families[0].Sentence)
	}
}

func TestDecideRefusesBadInput(t *testing.T) {
	g := blessed(t, 40, hit())
	good := gate.DefaultPolicy()
	for _, c := range []struct {
		name string
		edit func(g *gate.Golden, plan *gate.Plan, now map[string]gate.Outcome, p *gate.Policy)
	}{
		{"alpha 0", func(_ *gate.Golden, _ *gate.Plan, _ map[string]gate.Outcome, p *gate.Policy) { p.Alpha = 0 }},
		{"alpha NaN", func(_ *gate.Golden, _ *gate.Plan, _ map[string]gate.Outcome, p *gate.Policy) { p.Alpha = math.NaN() }},
		{"margin NaN", func(_ *gate.Golden, _ *gate.Plan, _ map[string]gate.Outcome, p *gate.Policy) {
			p.MarginNats = math.NaN()
		}},
		{"zero policy", func(_ *gate.Golden, _ *gate.Plan, _ map[string]gate.Outcome, p *gate.Policy) { *p = gate.Policy{} }},
		{
			"no family", func(_ *gate.Golden, plan *gate.Plan, _ map[string]gate.Outcome, _ *gate.Policy) {
				plan.Families = nil
			},
		},
		{"a family twice", func(_ *gate.Golden, plan *gate.Plan, _ map[string]gate.Outcome, _ *gate.Policy) {
			plan.Families = []gate.Family{gate.Far, gate.Far}
		}},
		{"stages fall", func(_ *gate.Golden, plan *gate.Plan, _ map[string]gate.Outcome, _ *gate.Policy) {
			plan.Stages = []int{40, 20}
		}},
		{"a stage of nothing", func(_ *gate.Golden, plan *gate.Plan, _ map[string]gate.Outcome, _ *gate.Policy) {
			plan.Stages = []int{0}
		}},
		{"a hole in the golden", func(g *gate.Golden, _ *gate.Plan, _ map[string]gate.Outcome, _ *gate.Policy) {
			g.Families[0].Stable = append(g.Families[0].Stable, "lost")
		}},
		{"noise NaN", func(g *gate.Golden, _ *gate.Plan, _ map[string]gate.Outcome, _ *gate.Policy) {
			g.Families[0].AA = math.NaN()
		}},
		{"a margin of NaN", func(_ *gate.Golden, _ *gate.Plan, now map[string]gate.Outcome, _ *gate.Policy) {
			now[id(gate.Far, 0)] = with(math.NaN())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := gate.Golden{Families: append([]gate.Baseline{}, g.Families...)}
			plan, now, p := standard(t), tried(40, hit()), good
			c.edit(&bad, &plan, now, &p)
			if d, err := gate.Decide(bad, plan, now, p); err == nil {
				t.Errorf("decided: %s", d.Sentence)
			}
		})
	}
	if _, err := gate.PlanFor("large"); err == nil {
		t.Error("accepts a budget of that name")
	}
	d, err := gate.Decide(gate.Golden{}, standard(t), nil, good)
	if err != nil || d.Overall != gate.Absent {
		t.Errorf("an empty golden: %s, %v", d.Overall, err)
	}
}
