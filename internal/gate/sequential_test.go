package gate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/gate"
	"github.com/assay-suite/assay/internal/stat"
)

// fairCoin is P(X >= lost) of a fair coin thrown n times, by Pascal's triangle: a second source for McNemar's p.
func fairCoin(n int) []float64 {
	row := []float64{1}
	for range n {
		next := make([]float64, len(row)+1)
		for k, v := range row {
			next[k] += v / 2
			next[k+1] += v / 2
		}
		row = next
	}
	for k := len(row) - 2; k >= 0; k-- {
		row[k] += row[k+1]
	}
	return row
}

// everAlarms is the exact chance that a test at level alpha alarms at any of its looks when every cell is lost with
// probability rate, won with the same, and the planner always goes on, which is the most looks that any rule can have.
func everAlarms(stages []int, weights []float64, rate, alpha float64, tails [][]float64) float64 {
	size := stages[len(stages)-1] + 1
	at := make([][]float64, size) // probability of [lost][won] without an alarm so far
	for i := range at {
		at[i] = make([]float64, size)
	}
	at[0][0] = 1
	alarm, look := 0.0, 0
	for cell := 1; cell < size; cell++ {
		for lost := cell; lost >= 0; lost-- {
			for won := cell - lost; won >= 0; won-- {
				v := at[lost][won] * (1 - 2*rate)
				if lost > 0 {
					v += at[lost-1][won] * rate
				}
				if won > 0 {
					v += at[lost][won-1] * rate
				}
				at[lost][won] = v
			}
		}
		if cell != stages[look] {
			continue
		}
		for lost := range cell + 1 {
			for won := range cell + 1 - lost {
				if tails[lost+won][lost]/weights[look] < alpha {
					alarm += at[lost][won]
					at[lost][won] = 0
				}
			}
		}
		look++
	}
	return alarm
}

// The proof of the package comment, by enumeration, and the rule that it replaces: looking again without paying.
func TestAddingCellsKeepsAlpha(t *testing.T) {
	var tails [][]float64
	for n := range 121 {
		tails = append(tails, fairCoin(n))
	}
	p, err := stat.McNemar(9, 3, stat.Greater)
	require.NoError(t, err)
	require.True(t, stat.WithinRel(p, tails[12][9], 1e-12), "McNemar %v, Pascal %v", p, tails[12][9])

	worst, unpaid := 0.0, 0.0
	for _, stages := range [][]int{{10, 20, 40}, {40, 80, 120}} {
		for _, alpha := range []float64{0.05, 0.01, 0.01 / 4, 0.01 / 8} {
			for _, rate := range []float64{0.01, 0.03, 0.1, 0.25, 0.5} {
				paid := everAlarms(stages, gate.Weights(3), rate, alpha, tails)
				if paid > alpha {
					t.Errorf("stages %v, alpha %v, rate %v: false alarms %v", stages, alpha, rate, paid)
				}
				worst = max(worst, paid/alpha)
				unpaid = max(unpaid, everAlarms(stages, []float64{1, 1, 1}, rate, alpha, tails)/alpha)
			}
		}
	}
	t.Logf("worst false alarm rate %.2f alpha; without weights %.2f alpha", worst, unpaid)
	if unpaid <= 1 {
		t.Errorf("looking three times at full alpha stays at %.2f alpha: the enumeration cannot tell the rules apart", unpaid)
	}
	if worst < 0.3 {
		t.Errorf("the weighted rule spends at most %.2f alpha: it is weaker than it need be", worst)
	}
}

func TestWeightsSpendAll(t *testing.T) {
	for looks := 1; looks <= 8; looks++ {
		sum := 0.0
		for _, w := range gate.Weights(looks) {
			sum += w
		}
		if sum != 1 {
			t.Errorf("%d looks spend %v of alpha", looks, sum)
		}
	}
}
