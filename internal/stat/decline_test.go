package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/stat"
)

// spots draws answers of a server whose chance of a wrong answer is wrong.
func spots(r *rand.Rand, n int, wrong func(length, distance float64) float64) []stat.Spot {
	var out []stat.Spot
	for _, length := range []float64{128, 256, 512, 1024, 2048, 4096, 8192} {
		for _, distance := range []float64{0.1, 0.5, 0.9} {
			s := stat.Spot{Length: length, Distance: distance, N: n}
			for range n {
				if r.Float64() < wrong(length, distance) {
					s.Wrong++
				}
			}
			out = append(out, s)
		}
	}
	return out
}

// rejected is the share of servers that are told from any smooth decline at a level.
func rejected(t *testing.T, servers, n int, level float64, wrong func(length, distance float64) float64) float64 {
	t.Helper()
	bad := 0
	for k := range servers {
		_, p, err := stat.FitDecline(spots(rand.New(rand.NewPCG(uint64(k), 5)), n, wrong), 60, uint64(k))
		require.NoError(t, err)
		if p < level {
			bad++
		}
	}
	return float64(bad) / float64(servers)
}

// fallsTo is a decline of its own making: the odds of a right answer fall by a power of the length, so that share is
// lost at 8,192 tokens. It is not of the family that is fitted.
func fallsTo(share float64) func(length, _ float64) float64 {
	return func(length, _ float64) float64 {
		odds := share / (1 - share) * math.Pow(length/8192, 1.2)
		return odds / (1 + odds)
	}
}

// A sound server MUST be told from a smooth decline no more often than the level says, and a step MUST be seen.
func TestFitDecline(t *testing.T) {
	const servers = 20
	for name, wrong := range map[string]func(length, distance float64) float64{
		"never wrong":      func(_, _ float64) float64 { return 0 },
		"3 % everywhere":   func(_, _ float64) float64 { return 0.03 },
		"10 % lost at 8 K": fallsTo(0.1),
		"30 % lost at 8 K": fallsTo(0.3),
		"60 % lost at 8 K": fallsTo(0.6),
		"of the family":    stat.Decline{Base: 0.02, Rate: 0.9, Power: 1, Far: 1}.Wrong,
	} {
		// At a level of 5 % more than 5 of 20 come by chance in one run of 3,000.
		assert.LessOrEqual(t, rejected(t, servers, 8, 0.05, wrong), 5.0/servers, name)
	}
	step := func(length, _ float64) float64 {
		if length > 1500 {
			return 0.97
		}
		return 0.01
	}
	assert.GreaterOrEqual(t, rejected(t, servers/2, 8, 1e-4, step), 1.0, "a step at 1,500 tokens")
	middle := func(length, distance float64) float64 {
		if length > 500 && distance > 0.3 && distance < 0.7 {
			return 0.9
		}
		return 0.01
	}
	assert.GreaterOrEqual(t, rejected(t, servers/2, 8, 1e-4, middle), 1.0, "the middle lost")
}

// The fit MUST find the decline that made many answers.
func TestFitDeclineFinds(t *testing.T) {
	made := stat.Decline{Base: 0.05, Rate: 0.7, Power: 1, Far: 1}
	got, p, err := stat.FitDecline(spots(rand.New(rand.NewPCG(3, 3)), 400, made.Wrong), 60, 1)
	require.NoError(t, err)
	assert.Greater(t, p, 0.001)
	for _, length := range []float64{256, 2048, 8192} {
		want := made.Wrong(length, 0.5)
		assert.LessOrEqual(t, math.Abs(got.Wrong(length, 0.5)-want), 3*math.Sqrt(want*(1-want)/400), "%v", got)
	}
	for _, bad := range [][]stat.Spot{nil, {{Length: 1, N: 0}}, {{Length: 0, N: 1}}, {{Length: 1, N: 1, Wrong: 2}}} {
		_, _, err := stat.FitDecline(bad, 60, 1)
		require.Error(t, err)
	}
}
