package format_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/spelling"
	"github.com/assay-suite/assay/numerics/format"
)

// change is a way to store or read a quantised weight; it returns the changed copy, or false where
// it changes nothing.
type change func(t *testing.T, b format.Block, q format.Quantised, w []float64) (format.Quantised, bool)

func swapNibbles(_ *testing.T, _ format.Block, q format.Quantised, _ []float64) (format.Quantised, bool) {
	q.Codes = slices.Clone(q.Codes)
	for i, c := range q.Codes {
		q.Codes[i] = c<<4 | c>>4
	}
	return q, true
}

func dropTensorScale(_ *testing.T, _ format.Block, q format.Quantised, _ []float64) (format.Quantised, bool) {
	q.TensorScale = 1
	return q, true
}

func scaleIndexOffByOne(_ *testing.T, _ format.Block, q format.Quantised, _ []float64) (format.Quantised, bool) {
	s := append(slices.Clone(q.Scales[1:]), q.Scales[0])
	same := slices.Equal(s, q.Scales)
	q.Scales = s
	return q, !same
}

func scaleOneBinadeLow(_ *testing.T, _ format.Block, q format.Quantised, _ []float64) (format.Quantised, bool) {
	q.Scales = slices.Clone(q.Scales)
	for i := range q.Scales {
		q.Scales[i]--
	}
	return q, true
}

// requantise encodes the fp32 weights again under the stored power-of-two scales, so that w / scale
// is exact.
func requantise(r format.Rounding) change {
	return func(t *testing.T, b format.Block, q format.Quantised, w []float64) (format.Quantised, bool) {
		t.Helper()
		scales, err := format.DecodeBytes(b.Scale, q.Scales)
		require.NoError(t, err)
		_, sc := b.ScaleShape(q.Rows, q.Cols)
		codes := make([]uint32, len(w))
		for i, x := range w {
			s := scales[i/q.Cols/b.BlockRows*sc+i%q.Cols/b.BlockCols]
			codes[i] = b.Element.Encode(x/s, r, format.Saturate)
		}
		q.Codes, err = format.PackCodes(b.Element, codes)
		require.NoError(t, err)
		return q, true
	}
}

// The half-step check has teeth: each reading fault is caught in every tensor it touches, and a
// rounding that is also "nearest" passes.
func TestHalfStepCheckCatchesPlants(t *testing.T) {
	mx, nv := openTwin(t, "nano-v4-mxfp4"), openTwin(t, "nano-v4-nvfp4")
	for _, row := range []struct {
		name  string
		twin  twin
		block format.Block
		do    change
		bad   bool
	}{
		{"mxfp4 nibbles swapped", mx, format.MXFP4, swapNibbles, true},
		{"nvfp4 nibbles swapped", nv, format.NVFP4, swapNibbles, true},
		{"nvfp4 scale_2 dropped", nv, format.NVFP4, dropTensorScale, true},
		{"mxfp4 scale index off by one", mx, format.MXFP4, scaleIndexOffByOne, true},
		{"nvfp4 scale index off by one", nv, format.NVFP4, scaleIndexOffByOne, true},
		{"blockfp8 scale one binade low", mx, format.BlockFP8, scaleOneBinadeLow, true},
		{"mxfp4 truncated", mx, format.MXFP4, requantise(format.RZ), true},
		{"blockfp8 truncated", mx, format.BlockFP8, requantise(format.RZ), true},
		{"mxfp4 ties away", mx, format.MXFP4, requantise(format.RNA), false},
		{"blockfp8 ties to even", mx, format.BlockFP8, requantise(format.RN), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			touched, outside, elements := 0, 0, 0
			for _, stored := range row.twin.fp32.Names() {
				name := spelling.Release(stored)
				b, q, ok := row.twin.block(t, name)
				if !ok || b != row.block {
					continue
				}
				w := row.twin.weight(t, stored)
				q, changed := row.do(t, b, q, w)
				if !changed {
					continue
				}
				var s tally
				judgeBlock(t, &s, name, b, q, w)
				touched, outside, elements = touched+1, outside+s.outside, elements+s.elements
				if caught := s.outside > 0; caught != row.bad {
					t.Errorf("%s: %d of %d elements outside their half step, worst %s", name, s.outside, s.elements, s.where)
				}
			}
			require.NotZero(t, touched, "the plant must touch a tensor")
			t.Logf("%d tensors, %d of %d elements outside", touched, outside, elements)
		})
	}
}

// In every blockfp8 tensor of the twins all block scales are equal, so a wrong scale index cannot
// show there. A synthetic matrix with blocks of growing size, the last ones short, shows it.
func TestHalfStepCheckSeesBlockFP8ScaleIndex(t *testing.T) {
	b := format.BlockFP8
	q := format.Quantised{Rows: 200, Cols: 300, Scales: []byte{117, 120, 122, 119, 124, 118}}
	w := make([]float64, q.Rows*q.Cols)
	r := rand.New(rand.NewPCG(20261129, 2))
	for i := range w {
		s := format.E8M0.Decode(uint32(q.Scales[i/q.Cols/128*3+i%q.Cols/128]))
		w[i] = (2*r.Float64() - 1) * 448 * s
	}
	q, _ = requantise(format.RN)(t, b, q, w)
	var good, bad tally
	judgeBlock(t, &good, "good", b, q, w)
	require.Zero(t, good.outside, good.where)
	q, changed := scaleIndexOffByOne(t, b, q, w)
	require.True(t, changed)
	judgeBlock(t, &bad, "bad", b, q, w)
	require.NotZero(t, bad.outside)
	t.Logf("worst %.6f half steps; with the index off by one %d of %d outside", good.worst, bad.outside, bad.elements)
}
