package stat_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/stat"
)

// conditional is the definition in exact rationals: every pair of tables with the margins of two.
func conditional(s, t stat.Table) float64 {
	ways := func(t stat.Table, k int) *big.Int {
		row, col, n := t.A+t.B, t.A+t.C, t.A+t.B+t.C+t.D
		if k < 0 || k > row || col-k < 0 || col-k > n-row {
			return new(big.Int)
		}
		return new(big.Int).Mul(new(big.Int).Binomial(int64(row), int64(k)),
			new(big.Int).Binomial(int64(n-row), int64(col-k)))
	}
	all, tail := new(big.Int), new(big.Int)
	for i := range s.A + s.B + 1 {
		for k := range t.A + t.B + 1 {
			w := new(big.Int).Mul(ways(s, i), ways(t, k))
			all.Add(all, w)
			if i+k >= s.A+t.A {
				tail.Add(tail, w)
			}
		}
	}
	p, _ := new(big.Rat).SetFrac(tail, all).Float64()
	return p
}

// The stratified test MUST be the exact conditional one, and Fisher's of one table.
func TestStratifiedExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func() stat.Table { return stat.Table{A: r.IntN(6), B: r.IntN(6), C: r.IntN(6), D: r.IntN(6)} }
	for range 200 {
		one, two := draw(), draw()
		fisher, err := stat.FisherExact(one.A, one.B, one.C, one.D, stat.Greater)
		require.NoError(t, err)
		got, err := stat.StratifiedExact([]stat.Table{one})
		require.NoError(t, err)
		assert.True(t, stat.WithinRel(got, fisher, 1e-9))
		got, err = stat.StratifiedExact([]stat.Table{one, two, {A: 3, C: 2}})
		require.NoError(t, err)
		assert.True(t, stat.WithinRel(got, conditional(one, two), 1e-9), "%v %v", one, two)
	}
	_, err := stat.StratifiedExact([]stat.Table{{A: -1}})
	require.Error(t, err)
}

// Where length explains everything the stratified test MUST see nothing, though the pooled one does.
func TestStratifiedExactIsNotFooled(t *testing.T) {
	easy, hard := stat.Table{A: 1, B: 9, C: 9, D: 81}, stat.Table{A: 72, B: 8, C: 9, D: 1}
	p, err := stat.StratifiedExact([]stat.Table{easy, hard})
	require.NoError(t, err)
	assert.Greater(t, p, 0.3)
	pooled, err := stat.FisherExact(easy.A+hard.A, easy.B+hard.B, easy.C+hard.C, easy.D+hard.D, stat.Greater)
	require.NoError(t, err)
	assert.Less(t, pooled, 1e-9)
}
