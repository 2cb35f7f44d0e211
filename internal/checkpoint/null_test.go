package checkpoint

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/stat"
)

// Where there is nothing to find, the statistics behind suspects must alarm as often as they say: at a risk
// of 1 in 100 the observed rate of 4,000 draws has 0.01 inside its 99.9 % interval or above it.
func TestSuspectsAlarmAsOftenAsStated(t *testing.T) {
	const draws, each = 4000, 0.01
	rng := rand.New(rand.NewPCG(20261129, 11))
	limit := critical(each, 1)
	gauss := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	cases := map[string]func() float64{
		// Rows without a common subspace: the stored and the exchanged order are alike.
		"nibble-order-rows": func() float64 {
			return affinity(matrix{32, 64, gauss(32 * 64)}, []matrix{{8, 64, gauss(8 * 64)}, {8, 64, gauss(8 * 64)}})
		},
		// Norms that do not go together.
		"nibble-order-columns": func() float64 {
			return fisher(pearson(gaps(gauss(128)), gaps(gauss(128)))) * math.Sqrt(61)
		},
		// Gate and up that follow down equally: one common part each.
		"gate-and-up": func() float64 {
			down, up, gate := gauss(128), gauss(128), gauss(128)
			for i := range down {
				up[i] += down[i]
				gate[i] += down[i]
			}
			return dependent(pearson(up, down), pearson(gate, down), pearson(gate, up), 128)
		},
	}
	for name, draw := range cases {
		t.Run(name, func(t *testing.T) {
			alarms := 0
			for range draws {
				if draw() < -limit {
					alarms++
				}
			}
			interval, err := stat.ClopperPearson(alarms, draws, 0.999)
			require.NoError(t, err)
			low, high := interval.Lo, interval.Hi
			t.Logf("%d alarms in %d draws, stated %g, 99.9 %% interval [%.4f, %.4f]", alarms, draws, each, low, high)
			if low > each {
				t.Errorf("%d alarms in %d draws: above the stated risk %g (99.9 %% interval from %.4f)", alarms, draws, each, low)
			}
			if high < each/5 {
				t.Errorf("%d alarms in %d draws: vacuous beside the stated risk %g", alarms, draws, each)
			}
		})
	}
}
