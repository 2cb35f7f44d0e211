package oracle_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

func indexKeys(hadamard bool) map[string]oracle.IndexKey {
	weight, bias := ramp(1, 128, 1).Data, ramp(1, 128, 2).Data
	yarn := oracle.YaRN{Rope: oracle.Rope{Base: 10000, Dims: 64}, Factor: 40, Original: 4096, BetaFast: 32, BetaSlow: 1}
	return map[string]oracle.IndexKey{
		"V3.2": {
			Weight: weight, Bias: bias, LayerNorm: true, Eps: 1e-6, Hadamard: hadamard,
			Rotary: oracle.Rotary{Frequencies: yarn.Frequencies(), Pairing: oracle.PairHalf, Leading: true},
		},
		"V4": {
			Weight:   weight,
			Eps:      1e-6,
			Hadamard: hadamard,
			Rotary:   oracle.Rotary{Frequencies: oracle.Rope{Base: 160000, Dims: 64}.Frequencies()},
		},
	}
}

// One non-zero channel at position 0 can be followed by hand: the norm makes it sqrt(128) times its
// weight, RoPE leaves it, Hadamard spreads it into +-weight along the row of its index.
func TestIndexKeyByHand(t *testing.T) {
	x := oracle.NewMat(1, 128)
	x.Data[5] = 3
	key := oracle.IndexKey{Rotary: indexKeys(true)["V4"].Rotary, Hadamard: true, Weight: make([]float64, 128)}
	key.Weight[5] = 0.75
	got, err := key.Keys(x, []int{0})
	require.NoError(t, err)
	for d, v := range got.Data {
		want := 0.75
		if ones := d&1 + d>>2&1; ones == 1 {
			want = -0.75
		}
		if !near(v, want) {
			t.Fatalf("channel %d is %v, want %v", d, v, want)
		}
	}
}

// V3.2's norm turns a constant row into its bias, whatever the weight: a bias on channel 0 is then turned
// by the position itself into channels 0 and 32, and spread by Hadamard with these two signs.
func TestIndexKeyV32ByHand(t *testing.T) {
	x := oracle.NewMat(1, 128)
	for d := range x.Data {
		x.Data[d] = 7
	}
	key := indexKeys(false)["V3.2"]
	key.Bias = make([]float64, 128)
	key.Bias[0] = 2
	got, err := key.Keys(x, []int{3})
	require.NoError(t, err)
	for d, v := range got.Data {
		want := map[int]float64{0: 2 * math.Cos(3), 32: 2 * math.Sin(3)}[d]
		if !near(v, want) {
			t.Errorf("channel %d is %v, want %v", d, v, want)
		}
	}
	key.Hadamard = true
	got, err = key.Keys(x, []int{3})
	require.NoError(t, err)
	for d, v := range got.Data {
		want := 2 * (math.Cos(3) + math.Sin(3)) / math.Sqrt(128)
		if d>>5&1 == 1 {
			want = 2 * (math.Cos(3) - math.Sin(3)) / math.Sqrt(128)
		}
		if !near(v, want) {
			t.Errorf("channel %d is %v with Hadamard, want %v", d, v, want)
		}
	}
}

// Logits from the keys do not see Hadamard when it is on both sides, and do when it is on the queries
// alone; order matters: RoPE after Hadamard is another key.
func TestIndexKeyHadamardOnBothSides(t *testing.T) {
	x, q, w := ramp(6, 128, 3), ramp(2, 128, 4), ramp(2, 1, 5)
	positions := []int{0, 4, 8, 12, 16, 4096}
	turned, err := oracle.Hadamard(q, 128)
	require.NoError(t, err)
	for name, with := range indexKeys(true) {
		keys, err := with.Keys(x, positions)
		require.NoError(t, err)
		plain, err := indexKeys(false)[name].Keys(x, positions)
		require.NoError(t, err)
		want := oracle.IndexerLogits(q, plain, w, []int{6, 6})
		both := oracle.IndexerLogits(turned, keys, w, []int{6, 6})
		one := oracle.IndexerLogits(turned, plain, w, []int{6, 6})
		differ := false
		for i := range want.Data {
			if math.Abs(both.Data[i]-want.Data[i]) > 1e-12 {
				t.Errorf("%s: logit %d is %v with Hadamard on both sides, %v without", name, i, both.Data[i], want.Data[i])
			}
			differ = differ || math.Abs(one.Data[i]-want.Data[i]) > 0.1
		}
		if !differ {
			t.Errorf("%s: Hadamard on the queries alone passes", name)
		}
	}
}

// What the pages hold is the key within half a step of its format, in all three caches and under a
// shuffled table; keys written one at a time leave the same bytes.
func TestIndexKeyStore(t *testing.T) {
	fp8, err := format.PageIndexFP8(2, 128)
	require.NoError(t, err)
	fp4, err := format.PageIndexFP4(2, 128)
	require.NoError(t, err)
	bf16, err := oracle.PageIndexBF16(2, 128)
	require.NoError(t, err)
	x, positions := ramp(5, 128, 6), []int{0, 4, 8, 12, 1 << 20}
	table := []int{4, 0, 2}
	for name, c := range map[string]struct {
		layout format.Layout
		recipe string
		group  int
		// step bounds the error of an element by relative half a step, or by a share of the group's amax
		relative, ofAmax float64
	}{
		"fp8":  {fp8, "vllm-index-fp8", 128, 0x1p-4, 0x1p-10 * 2 / 448},
		"fp4":  {fp4, "v4-fp4", 32, 0, 2.0 / 6},
		"bf16": {bf16, "v4-fp4", 128, 0x1p-8, 0},
	} {
		key := indexKeys(true)["V4"]
		keys, err := key.Keys(x, positions)
		require.NoError(t, err)
		cache, single := oracle.NewBytePages(c.layout, 5, 0xff), oracle.NewBytePages(c.layout, 5, 0xff)
		require.NoError(t, key.Store(cache, table, 0, x, positions, recipe(t, c.recipe)), name)
		for i := range 5 {
			require.NoError(t, key.Store(single, table, i, x.Slice(i, i+1), positions[i:i+1], recipe(t, c.recipe)), name)
		}
		require.Equal(t, fmt.Sprint(cache.Pages), fmt.Sprint(single.Pages), name)
		got, err := cache.Read(table, 0, 5)
		require.NoError(t, err)
		for i := range 5 {
			for d, v := range keys.Row(i) {
				amax := 0.0
				for _, o := range keys.Row(i)[d/c.group*c.group : (d/c.group+1)*c.group] {
					amax = math.Max(amax, math.Abs(o))
				}
				if bound := math.Max(c.relative*math.Abs(v), c.ofAmax*amax) * (1 + 1e-6); math.Abs(got.Row(i)[d]-v) > bound {
					t.Fatalf("%s: key %d, channel %d: %v is stored as %v", name, i, d, v, got.Row(i)[d])
				}
			}
		}
	}
}

// Rounding to bf16 after each step: exact keys within four roundings, and not equal to them.
func TestIndexKeyRound(t *testing.T) {
	key := indexKeys(false)["V3.2"]
	exact, err := key.Keys(ramp(2, 128, 8), []int{3, 4})
	require.NoError(t, err)
	key.Round = format.BF16
	got, err := key.Keys(ramp(2, 128, 8), []int{3, 4})
	require.NoError(t, err)
	differ := false
	for i, v := range got.Data {
		if format.BF16.Round(v) != v || math.Abs(v-exact.Data[i]) > 4*0x1p-8*exact.MaxAbs() {
			t.Fatalf("element %d is %v, exact %v", i, v, exact.Data[i])
		}
		differ = differ || v != exact.Data[i]
	}
	if !differ {
		t.Error("rounding changes nothing")
	}
	key.Rotary.Frequencies = make([]float64, 65)
	_, err = key.Keys(ramp(1, 128, 1), []int{0})
	require.ErrorContains(t, err, "index key")
}
