//go:build weights

package nano_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

// What the planted faults do to recall and margins was measured once with an independent float64
// implementation, on 13 prompts of 230 to 1,024 tokens of the same recording. The prompts chosen
// there are not known, so a recall may differ by two prompts and a median shift by a factor of two.
func TestWeightsFaultsDoWhatAnIndependentModelSaw(t *testing.T) {
	m := load(t, "nano-v4", oracle.Reference())
	var all, some []greedyCase
	for _, c := range records[0].all(t) {
		if c.Length >= 230 && c.Length <= 1024 && c.Repeat == 1 {
			all = append(all, c)
		}
	}
	for i := range 13 {
		some = append(some, all[i*len(all)/13])
	}
	_, exact := recall(m, some)
	for _, c := range []struct {
		fault  string
		recall int
		shift  float64 // median over digits, nats; 0 where too few needles are left for a median
	}{
		{"window-one-short", 13, 0.011},
		{"v-scale-1.02", 13, 0.051},
		{"comb-transposed", 13, 1.3},
		{"first-half-lost", 5, 7.9},
		{"select-last", 7, 0.019},
		{"select-random", 4, 0},
		{"compressor-overlap-dropped", 0, 9.5},
	} {
		t.Run(c.fault, func(t *testing.T) {
			f, err := faults.Lookup(c.fault)
			require.NoError(t, err)
			got, margins := recall(m.With(f.Apply(oracle.Reference())), some)
			shifts := make([]float64, len(exact))
			for i := range exact {
				shifts[i] = math.Abs(margins[i] - exact[i])
			}
			slices.Sort(shifts)
			shift := shifts[len(shifts)/2]
			fmt.Printf("nano-v4: %-26s recall %d/13 (an independent model: %d), median margin shift %.2g nats (%.2g)\n", c.fault,
				got, c.recall, shift, c.shift)
			if got < c.recall-2 || got > c.recall+2 {
				t.Errorf("recall is %d/13, an independent model had %d/13", got, c.recall)
			}
			if c.shift > 0 && (shift < c.shift/2 || shift > 2*c.shift) {
				t.Errorf("the median margin shifts by %.2g nats, in an independent model by %.2g", shift, c.shift)
			}
		})
	}
}

// recall teacher-forces the planted code and counts prompts in which every digit was the model's
// first choice; margins are the right digit's logit minus the best other one.
func recall(m *nano.Model, cases []greedyCase) (exact int, margins []float64) {
	for _, c := range cases {
		s, next, all := m.NewState(), c.Prompt, true
		for _, digit := range c.Code {
			logits, err := m.Extend(context.Background(), s, next, 1)
			if err != nil {
				return exact, append(margins, math.NaN())
			}
			other := math.Inf(-1)
			for id, v := range logits[0] {
				if id != digit {
					other = math.Max(other, v)
				}
			}
			margins = append(margins, logits[0][digit]-other)
			all = all && logits[0][digit] > other
			next = []int{digit}
		}
		if all {
			exact++
		}
	}
	return exact, margins
}
