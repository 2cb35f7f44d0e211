package oracle

import "math"

// YaRN stretches a rotary table for contexts longer than the model was trained with: fast pairs keep
// their frequency, slow ones are divided by Factor, those between are blended.
//
// V4, layers that compress: base 160000, factor 16, original 65536, betas 32 and 1. V3.2: base 10000,
// factor 40, original 4096, betas 32 and 1, when the longest sequence exceeds 4096. 64 dims in both.
type YaRN struct {
	Rope
	Factor             float64
	Original           int // trained context; 0 switches YaRN off
	BetaFast, BetaSlow float64
}

// Correction is the range of pairs that are blended:
//
//	dim(r) = Dims · ln(Original / (2 pi r)) / (2 ln Base)
//	low = floor(dim(BetaFast)), high = ceil(dim(BetaSlow)), within [0, Dims-1]
//
// Source: V3.2 and V4 inference/model.py precompute_freqs_cis.
func (y YaRN) Correction() (low, high int) {
	dim := func(turns float64) float64 {
		return float64(y.Dims) * math.Log(float64(y.Original)/(2*math.Pi*turns)) / (2 * math.Log(y.Base))
	}
	low = max(int(math.Floor(dim(y.BetaFast))), 0)
	high = min(int(math.Ceil(dim(y.BetaSlow))), y.Dims-1)
	return low, high
}

// Frequencies are theta_i (1 - ramp_i) + theta_i/Factor · ramp_i with ramp_i = clamp((i - low) / (high
// - low), 0, 1); a range of no width is 0.001 wide. The amplitude is none of the table's business: see
// YaRNMScale.
func (y YaRN) Frequencies() []float64 {
	out := y.Rope.Frequencies()
	if y.Original == 0 {
		return out
	}
	low, high := y.Correction()
	span := float64(high - low)
	if low == high {
		span = 0.001
	}
	for i, theta := range out {
		ramp := math.Max(0, math.Min(1, float64(i-low)/span))
		out[i] = theta*(1-ramp) + theta/y.Factor*ramp
	}
	return out
}

// YaRNMScale is m = 0.1·mscale·ln(factor) + 1, and 1 for a factor up to 1. V3.2 multiplies its attention
// scale by m² (MLAScale); V4 has no such factor anywhere.
func YaRNMScale(factor, mscale float64) float64 {
	if factor <= 1 {
		return 1
	}
	return 0.1*mscale*math.Log(factor) + 1
}
