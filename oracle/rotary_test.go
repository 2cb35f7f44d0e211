package oracle_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

// One-hot channels at position 1: what each pairing moves where.
func TestRotaryOneHot(t *testing.T) {
	freq := []float64{math.Pi / 2, math.Pi / 6}
	s3 := math.Sqrt(3) / 2
	for name, c := range map[string]struct {
		r       oracle.Rotary
		channel int
		want    []float64
	}{
		// channel 1 is the first of pair 0
		"interleaved, trailing": {oracle.Rotary{Frequencies: freq}, 1, []float64{0, 0, 1, 0, 0}},
		"interleaved, pair 1":   {oracle.Rotary{Frequencies: freq}, 3, []float64{0, 0, 0, s3, .5}},
		"half, trailing":        {oracle.Rotary{Frequencies: freq, Pairing: oracle.PairHalf}, 1, []float64{0, 0, 0, 1, 0}},
		"half, pair 1":          {oracle.Rotary{Frequencies: freq, Pairing: oracle.PairHalf}, 2, []float64{0, 0, s3, 0, .5}},
		"half, leading": {
			oracle.Rotary{Frequencies: freq, Pairing: oracle.PairHalf, Leading: true},
			0,
			[]float64{0, 0, 1, 0, 0},
		},
		"interleaved, leading": {oracle.Rotary{Frequencies: freq, Leading: true}, 0, []float64{0, 1, 0, 0, 0}},
		"leading leaves last":  {oracle.Rotary{Frequencies: freq, Leading: true}, 4, []float64{0, 0, 0, 0, 1}},
		"amplitude":            {oracle.Rotary{Frequencies: freq, Amplitude: 2}, 3, []float64{0, 0, 0, 2 * s3, 1}},
	} {
		x := oracle.NewMat(1, 5)
		x.Data[c.channel] = 1
		got, err := c.r.Apply(x, 5, []int{1}, false)
		require.NoError(t, err, name)
		for d, w := range c.want {
			if math.Abs(got.Data[d]-w) > 1e-15*2 {
				t.Errorf("%s: %v, want %v", name, got.Data, c.want)
				break
			}
		}
	}
	_, err := oracle.Rotary{Frequencies: freq}.Apply(oracle.NewMat(1, 6), 3, []int{0}, false)
	require.ErrorContains(t, err, "do not hold 4")
}

// Interleaved and trailing is RotateInterleaved to the bit (which recorded tensors prove); half is the
// same on channels permuted; leading on a head turned around; the inverse undoes; scores depend on
// the distance alone.
func TestRotaryIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const width, pairs = 8, 3
		rope := oracle.Rope{Base: 10000, Dims: 2 * pairs}
		positions := rapid.SliceOfN(rapid.IntRange(0, 1<<20-1), 2, 2).Draw(t, "positions")
		x := drawMat(t, 2, 2*width, "x")
		r := oracle.Rotary{Frequencies: rope.Frequencies(), FP32Table: true}
		inverse := rapid.Bool().Draw(t, "inverse")
		want := oracle.RotateInterleaved(x, width, positions, rope, inverse)
		got, err := r.Apply(x, width, positions, inverse)
		require.NoError(t, err)
		if !slices.Equal(got.Data, want.Data) {
			t.Fatalf("interleaved: %v, want %v", got.Data, want.Data)
		}
		back, err := r.Apply(got, width, positions, !inverse)
		require.NoError(t, err)
		for i, v := range back.Data {
			if math.Abs(v-x.Data[i]) > 1e-14*16 {
				t.Fatalf("the inverse gives %v for %v", v, x.Data[i])
			}
		}
		// Channel 2i of a pair sits at i, channel 2i+1 at pairs+i, and the head's untouched part behind.
		other := oracle.NewMat(2, 2*width)
		to := func(d int) int {
			if d < width-2*pairs {
				return 2*pairs + d
			}
			d -= width - 2*pairs
			return d/2 + d%2*pairs
		}
		for row := range 2 {
			for d := range 2 * width {
				other.Row(row)[d/width*width+to(d%width)] = x.Row(row)[d]
			}
		}
		half, err := oracle.Rotary{
			Frequencies: r.Frequencies, Pairing: oracle.PairHalf, Leading: true,
			FP32Table: true,
		}.Apply(other, width, positions, inverse)
		require.NoError(t, err)
		for row := range 2 {
			for d := range 2 * width {
				if half.Row(row)[d/width*width+to(d%width)] != want.Row(row)[d] {
					t.Fatalf("half, leading: row %d channel %d differs", row, d)
				}
			}
		}
	})
}

func TestRotaryScoresDependOnDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := oracle.Rotary{
			Frequencies: oracle.Rope{Base: 10000, Dims: 8}.Frequencies(),
			Pairing:     rapid.SampledFrom([]oracle.Pairing{oracle.PairInterleaved, oracle.PairHalf}).Draw(t, "pairing"),
		}
		x := drawMat(t, 2, 8, "x")
		distance, at := rapid.IntRange(0, 5000).Draw(t, "distance"), rapid.IntRange(0, 1<<20).Draw(t, "at")
		score := func(p int) float64 {
			y, err := r.Apply(x, 8, []int{p, p + distance}, false)
			require.NoError(t, err)
			sum := 0.0
			for d, v := range y.Row(0) {
				sum += v * y.Row(1)[d]
			}
			return sum
		}
		// Angles near 2^20 are rounded by 2^-33 each; |x| is at most 8·sqrt(8) on either side.
		if a, b := score(0), score(at); math.Abs(a-b) > 4*0x1p-33*512 {
			t.Fatalf("distance %d scores %v at 0 and %v at %d", distance, a, b, at)
		}
	})
}

// The second source at long positions: e^(i) to 256 bits by its series, raised to the position by
// repeated squaring. Pair 0 turns by the position itself, which is exact in fp32 and float64.
func TestRotaryAtAMillion(t *testing.T) {
	cos1, sin1 := bigUnit()
	for _, p := range []int{1, 1857, 65536, 1<<20 - 1, 1 << 20} {
		c, s := bigPower(cos1, sin1, p)
		for _, table := range []bool{false, true} {
			r := oracle.Rotary{Frequencies: []float64{1}, FP32Table: table}
			got, err := r.Apply(oracle.Mat{Rows: 1, Cols: 2, Data: []float64{1, 0}}, 2, []int{p}, false)
			require.NoError(t, err)
			if math.Abs(got.Data[0]-c) > 0x1p-52 || math.Abs(got.Data[1]-s) > 0x1p-52 {
				t.Errorf("position %d: %v, want %v %v", p, got.Data, c, s)
			}
		}
	}
}

func bigUnit() (cos, sin *big.Float) {
	cos, sin = new(big.Float).SetPrec(256), new(big.Float).SetPrec(256)
	term := new(big.Float).SetPrec(256).SetInt64(1)
	for n := range 60 {
		part := []*big.Float{cos, sin}[n%2]
		if n/2%2 == 0 {
			part.Add(part, term)
		} else {
			part.Sub(part, term)
		}
		term.Quo(term, new(big.Float).SetInt64(int64(n+1)))
	}
	return cos, sin
}

func bigPower(c, s *big.Float, p int) (cos, sin float64) {
	mul := func(a, b, c, d *big.Float) (re, im *big.Float) {
		f := func() *big.Float { return new(big.Float).SetPrec(256) }
		re = f().Sub(f().Mul(a, c), f().Mul(b, d))
		return re, f().Add(f().Mul(a, d), f().Mul(b, c))
	}
	re, im := new(big.Float).SetInt64(1).SetPrec(256), new(big.Float).SetPrec(256)
	for ; p > 0; p /= 2 {
		if p%2 == 1 {
			re, im = mul(re, im, c, s)
		}
		c, s = mul(c, s, c, s)
	}
	cos, _ = re.Float64()
	sin, _ = im.Float64()
	return cos, sin
}

// fp32 tables stay within two roundings of the angle, and near 2^20 they are visibly off.
func TestRotaryFP32Table(t *testing.T) {
	freq := oracle.YaRN{
		Rope: oracle.Rope{Base: 160000, Dims: 64}, Factor: 16, Original: 65536, BetaFast: 32,
		BetaSlow: 1,
	}.Frequencies()
	exact, table := oracle.Rotary{Frequencies: freq}, oracle.Rotary{Frequencies: freq, FP32Table: true}
	worst := 0.0
	for p := 1<<20 - 512; p < 1<<20; p++ {
		for i := range freq {
			d := math.Abs(exact.Angle(p, i) - table.Angle(p, i))
			if d > exact.Angle(p, i)*(2*0x1p-24+0x1p-47) || i == 0 && d != 0 {
				t.Fatalf("position %d, pair %d is off by %v", p, i, d)
			}
			worst = math.Max(worst, d)
		}
	}
	if worst < 0x1p-6 {
		t.Errorf("the fp32 table is off by %v at most; a visible error of 2^-6 was expected", worst)
	}
}
