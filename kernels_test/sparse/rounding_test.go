package sparse_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A query of zeros with one row and no sink gives that row back. Rounded, its value MUST be s times a number of four
// significant bits or a multiple of 2^-9, no further from the row than half of that step, s the power of two that the
// operator's text says for the group; the rotated channels MUST be as they were.
func TestRoundedRowByHand(t *testing.T) {
	groups, tiny := 0, 0
	for _, b := range ready(t, "sparse-attention/rounded-") {
		p := b.Problem().Clone()
		for name := range p.Operands {
			if len(name) > 6 && name[:6] == "extra_" {
				delete(p.Operands, name)
			}
		}
		delete(p.Operands, "attn_sink")
		p.Change("q", func(int, float64) float64 { return 0 })
		p.Change("topk_length", func(int, float64) float64 { return 1 })
		p.Change("indices", func(_ int, v float64) float64 { return max(v, 0) })
		all, err := b.Case.Family.Expect(b.Case, p)
		require.NoError(t, err)
		o, indices := all[0], p.In("indices")
		h, d := o.Shape[1], o.Shape[2]
		lead := d - p.Attrs.Int("rope_dims")
		for q := range o.Shape[0] {
			row := p.In("kv").Row(int(indices.Row(q)[0]))
			got := o.Want[q*h*d : q*h*d+d]
			for c := lead; c < d; c++ {
				require.Equal(t, row[c], got[c], "%s: rotated channel %d", b.Case.ID, c)
			}
			for from := 0; from < lead; from += 64 {
				to := min(from+64, lead)
				s := scaleByHand(row[from:to])
				groups++
				if s == 0x1p-22 {
					tiny++
				}
				for c := from; c < to; c++ {
					step := math.Ldexp(s, max(math.Ilogb(row[c]/s), -6)-3)
					if got[c] != step*math.Round(got[c]/step) || math.Abs(got[c]-row[c]) > step/2 {
						t.Fatalf("%s: channel %d of query %d, %v, becomes %v; the step of its group is %v", b.Case.ID, c, q, row[c],
							got[c], step)
					}
				}
			}
		}
	}
	require.Greater(t, groups, 20)
	require.Greater(t, tiny, 5)
}

// scaleByHand is the smallest power of two that is not below max(amax, 1e-4) · fp32(1/448).
func scaleByHand(group []float64) float64 {
	most := 1e-4
	for _, v := range group {
		most = max(most, math.Abs(v))
	}
	s := math.Ldexp(1, -60)
	for s < float64(float32(most)*float32(1.0/448)) {
		s *= 2
	}
	return s
}
