package oracle_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

// blockByDefinition is row b from the definition alone: per channel, the softmax over the tokens
// that the block looks at, each through the channel it is seen in.
func blockByDefinition(a, g, ape oracle.Mat, p oracle.Pooling, b, d int) float64 {
	num, den := 0.0, 0.0
	look := func(token, channel int) {
		if token < 0 {
			return
		}
		e := math.Exp(g.Row(token)[channel] + ape.Row(token % p.Ratio)[channel])
		num += e * a.Row(token)[channel]
		den += e
	}
	for j := range p.Ratio {
		if p.Overlap {
			look((b-1)*p.Ratio+j, d)
			look(b*p.Ratio+j, p.Width+d)
		} else {
			look(b*p.Ratio+j, d)
		}
	}
	return num / den
}

func ramp(rows, cols, seed int) oracle.Mat {
	m := oracle.NewMat(rows, cols)
	for i := range m.Data {
		m.Data[i] = math.Sin(float64(seed+1) * float64(i+1))
	}
	return m
}

// Every ratio at every remainder: one push, single tokens and three uneven chunks give the same rows
// to the bit, and these are the definition's.
func TestCompressorStreamEveryRemainder(t *testing.T) {
	for _, p := range []oracle.Pooling{
		{Ratio: 1, Width: 2},
		{Ratio: 1, Width: 2, Overlap: true},
		{Ratio: 3, Width: 2},
		{Ratio: 4, Width: 3, Overlap: true},
		{Ratio: 5, Width: 1, Overlap: true},
		{Ratio: 128, Width: 1},
	} {
		t.Run(fmt.Sprintf("ratio %d overlap %v", p.Ratio, p.Overlap), func(t *testing.T) {
			ape := ramp(p.Ratio, p.Channels(), 3)
			longest := 3*p.Ratio + 1
			a, g := ramp(longest, p.Channels(), 1), ramp(longest, p.Channels(), 2)
			for n := 2 * p.Ratio; n <= longest; n++ {
				want := push(t, p, ape, a, g, n)
				require.Len(t, want.Data, n/p.Ratio*p.Width)
				if got := push(t, p, ape, a, g, n/3, n/2, n); !slices.Equal(got.Data, want.Data) {
					t.Errorf("%d tokens in chunks: %v, at once %v", n, got.Data, want.Data)
				}
				for i, v := range want.Data {
					if w := blockByDefinition(a, g, ape, p, i/p.Width, i%p.Width); !close12(v, w) {
						t.Fatalf("%d tokens, element %d is %v, by definition %v", n, i, v, w)
					}
				}
			}
			var singles []int
			for n := range longest {
				singles = append(singles, n+1)
			}
			if got, want := push(t, p, ape, a, g, singles...),
				push(t, p, ape, a, g, longest); !slices.Equal(got.Data, want.Data) {
				t.Error("token by token differs from one push")
			}
		})
	}
}

// push feeds tokens up to each of the ends and checks where the emitted blocks are numbered.
func push(t require.TestingT, p oracle.Pooling, ape, a, g oracle.Mat, ends ...int) oracle.Mat {
	s, err := oracle.NewCompressorStream(p, ape)
	require.NoError(t, err)
	out := oracle.NewMat(0, p.Width)
	for _, end := range ends {
		rows, first, err := s.Push(a.Slice(s.Len(), end), g.Slice(s.Len(), end))
		require.NoError(t, err)
		require.Equal(t, out.Rows, first)
		out = out.Append(rows)
	}
	return out
}

// A cut anywhere, with a clone that goes another way in between, does not show.
func TestCompressorStreamClone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := oracle.Pooling{Ratio: rapid.IntRange(1, 6).Draw(t, "ratio"), Width: 2, Overlap: rapid.Bool().Draw(t, "overlap")}
		n := rapid.IntRange(0, 20).Draw(t, "tokens")
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		a, g, ape := drawMat(t, n, p.Channels(), "a"), drawMat(t, n, p.Channels(), "g"),
			drawMat(t, p.Ratio, p.Channels(), "ape")
		want := push(t, p, ape, a, g, n)
		s, err := oracle.NewCompressorStream(p, ape)
		require.NoError(t, err)
		head, _, err := s.Push(a.Slice(0, cut), g.Slice(0, cut))
		require.NoError(t, err)
		other := s.Clone()
		_, _, err = other.Push(drawMat(t, 7, p.Channels(), "other"), drawMat(t, 7, p.Channels(), "other gates"))
		require.NoError(t, err)
		tail, _, err := s.Push(a.Slice(cut, n), g.Slice(cut, n))
		require.NoError(t, err)
		if got := head.Append(tail); !slices.Equal(got.Data, want.Data) {
			t.Fatalf("cut at %d of %d: %v, want %v", cut, n, got.Data, want.Data)
		}
	})
}

func TestCompressorStreamRefuses(t *testing.T) {
	_, err := oracle.NewCompressorStream(oracle.Pooling{Ratio: 0, Width: 1}, oracle.Mat{})
	require.ErrorContains(t, err, "ratio 0")
	_, err = oracle.NewCompressorStream(oracle.Pooling{Ratio: 4, Width: 2, Overlap: true}, oracle.NewMat(4, 2))
	require.ErrorContains(t, err, "needs [4, 4]")
	s, err := oracle.NewCompressorStream(oracle.Pooling{Ratio: 4, Width: 2}, oracle.Mat{})
	require.NoError(t, err)
	_, _, err = s.Push(oracle.NewMat(1, 2), oracle.NewMat(1, 3))
	require.ErrorContains(t, err, "need 2 channels")
	_, _, err = new(oracle.CompressorStream).Push(oracle.Mat{}, oracle.Mat{})
	require.ErrorContains(t, err, "NewCompressorStream")
}
