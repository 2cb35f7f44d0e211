package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTerminalBlocks types by hand what the terminal shows of the full sample between its facts and its findings.
func TestTerminalBlocks(t *testing.T) {
	const want = `cliff        edge at 2,048 ± 16 tokens: 2,048: top-k 512 x ratio 4 as configured: sparse ` +
		`selection · 2,048: a prefill step of 2048 · half of a context that nobody told
cold and warm  4 pairs, 2 proven: both found 1 · only cold 1 · only warm 0 · neither 1 · unmeasured 1
               a hit of the cache loses what a miss finds
token accounting  1 of 2 as expected: tool call -23

concurrency
   clients at once           1                   2  4
   unique, unequal, short  4/4                 8/8  9/16
   shared, equal, long     4/4  0/8 (2 unmeasured)  unmeasured
   each rung asks all its clients at one moment
diagnosis    sparse-selection (likely: 48 runs, 5 arms, p 1.2e-07): needles further back than the window are lost ` +
		`beyond 2,048 tokens, and found when their block is among the last
             evidence  cliff 2,048 ± 16 = top-k 512 x ratio 4
                       tail 8/8 · repeated x8 8/8 · paraphrase 0/8
                       prompt_tokens exact · cold = warm
             rivals    tail-only · junk-cliff
             splitter  ask for the selected blocks
             next      SGLang: --enable-return-indexer-topk
note         budget (firm: 12 runs): thoughts eat a third of the answer's tokens
             unmeasured  replicas: one URL only
                         soak: needs ASSAY_DISRUPT=1

suspects
   suspect                 state          evidence                                  next
   mhc-bf16                cleared        kernels: equivalent in 24 cases, prefill  MHC_BF16=0
                                          numerics: 6 rows within their bounds
   mma-decode              not exercised  kernels: no case ran, decode              SPARSE_MMA=0
   stock sparse selection  implicated     live: sparse-selection (likely)
`
	var b strings.Builder
	writeBlocks(&b, fullRun(), Style{})
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("blocks differ (-want +got):\n%s", diff)
	}
}

// TestDiagnosisForms: what is ambiguous says so first, what is clean shows no class, and a note alone is no diagnosis.
func TestDiagnosisForms(t *testing.T) {
	first := func(d *Diagnosis) string { return d.facts()[0].Text }
	assert.Empty(t, (*Diagnosis)(nil).facts())
	assert.Empty(t, (&Diagnosis{}).facts())
	assert.Equal(t, "clean", first(&Diagnosis{Verdict: "clean"}))
	assert.Equal(t, "ambiguous: a or b\na (weak): seen", first(&Diagnosis{
		Verdict: "ambiguous", Text: "ambiguous: a or b", Classes: []Class{{Name: "a", Grade: "weak", Says: "seen"}},
	}))
	noted := (&Diagnosis{Verdict: "clean", Text: "clean", Classes: []Class{{Name: "budget", Note: true}}}).facts()
	require.Len(t, noted, 2)
	assert.Equal(t, "clean", noted[0].Text)
	assert.Equal(t, "note", noted[1].Label)
	assert.False(t, (&Diagnosis{Verdict: "clean"}).Faulty())
	assert.True(t, (&Diagnosis{Verdict: "ambiguous"}).Faulty())
}

// TestNextFlag: the engine that was asked decides, and where it has no switch the others are told.
func TestNextFlag(t *testing.T) {
	all := []Flag{{"A", "-a", false}, {"B", "-b", true}, {"C", "", false}}
	assert.Equal(t, []Flag{{"B", "-b", true}}, Class{Flags: all}.Next())
	all[1].Text = ""
	assert.Equal(t, []Flag{{"A", "-a", false}}, Class{Flags: all}.Next())
	assert.Empty(t, Class{}.Next())
}

func TestRateStates(t *testing.T) {
	for _, row := range []struct {
		r     Rate
		state State
		text  string
	}{
		{Rate{Hits: 4, Of: 4}, Exact, "4/4"},
		{Rate{Hits: 0, Of: 4}, Lost, "0/4"},
		{Rate{Hits: 1, Of: 4, Unmeasured: 2}, Partial, "1/4 (2 unmeasured)"},
		{Rate{Unmeasured: 3}, Unmeasured, "unmeasured"},
		{Rate{}, Unmeasured, "unmeasured"},
	} {
		assert.Equal(t, row.state, row.r.State(), row.text)
		assert.Equal(t, row.text, row.r.Text())
	}
	assert.Equal(t, Rate{}, LadderArm{}.Step(3), "a rung that is missing is unmeasured")
}

// TestPairCount: every combination of sides is counted once; an unmeasured side is no loss.
func TestPairCount(t *testing.T) {
	var p Pairs
	for _, a := range States() {
		for _, b := range States() {
			p.Rows = append(p.Rows, Pair{First: Side{State: a}, Second: Side{State: b}})
		}
	}
	// Five states each: one found, three not, one unmeasured. 25 = 1 + 3 + 3 + 9 + 9.
	assert.Equal(t, PairCount{Both: 1, OnlyFirst: 3, OnlySecond: 3, Neither: 9, Unmeasured: 9}, p.Count())
	ordered := p.Ordered()
	assert.NotEqual(t, ordered[0].First.State, ordered[0].Second.State, "pairs that differ come first")
	assert.Equal(t, ordered[24].First.State, ordered[24].Second.State)
}

// TestUnknownStandingClearsNothing: a state that this package does not know is not exercised.
func TestUnknownStandingClearsNothing(t *testing.T) {
	assert.Equal(t, NotExercised, Standing("Cleared").Known())
	assert.Equal(t, "implicated c · not exercised a, b", suspectLine([]Suspect{
		{Name: "a", State: "odd"},
		{Name: "b"},
		{Name: "c", State: Implicated},
	}))
}

func TestTokenRows(t *testing.T) {
	assert.Empty(t, TokenRow{Built: new(3)}.Diff(), "a count that was not said has no difference")
	assert.Equal(t, "+2", TokenRow{Built: new(3), Reported: new(5)}.Diff())
	assert.Equal(t, "0 of 0 as expected", Tokens{}.Text())
}
