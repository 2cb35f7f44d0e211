package layers_test

import (
	"math"

	"github.com/assay-suite/assay/internal/golden"
)

// short keeps three significant digits.
func short(v float64) golden.Float {
	if v == 0 || v-v != 0 {
		return golden.Float(v)
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(v))))
	return golden.Float(math.Round(v*scale) / scale)
}

func hundredth(v float64) golden.Float { return golden.Float(math.Round(v*100) / 100) }

func thousandth(v float64) float64 { return math.Round(v*1000) / 1000 }
