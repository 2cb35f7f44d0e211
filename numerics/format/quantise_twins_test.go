package format_test

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/spelling"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// twinRecipes are the recipes that reproduce what torch stored, by block format.
var twinRecipes = map[string]string{"blockfp8": "torch-blockfp8", "mxfp4": "torch-mxfp4", "nvfp4": "torch-nvfp4"}

// diff counts where two stored matrices differ, byte by byte; the tensor scale counts as one.
func diff(a, b format.Quantised) (codes, scales int) {
	count := func(x, y []byte) (n int) {
		if len(x) != len(y) {
			return max(len(x), len(y))
		}
		for i := range x {
			if x[i] != y[i] {
				n++
			}
		}
		return n
	}
	scales = count(a.Scales, b.Scales)
	if math.Float32bits(a.TensorScale) != math.Float32bits(b.TensorScale) {
		scales++
	}
	return count(a.Codes, b.Codes), scales
}

// eachTwin calls fn for every quantised tensor of a twin with the fp32 weights it was made of and,
// for w1 and w3 of an expert, the largest magnitude of both, which they share.
func eachTwin(t *testing.T, dir string,
	fn func(name string, b format.Block, stored format.Quantised, w []float32, shared float32),
) {
	t.Helper()
	tw := openTwin(t, dir)
	original := map[string]string{}
	for _, n := range tw.fp32.Names() {
		original[spelling.Release(n)] = n
	}
	amax := func(name string) (m float32) {
		v, err := tw.fp32.Float32s(original[name])
		require.NoError(t, err)
		for _, x := range v {
			m = max(m, float32(math.Abs(float64(x))))
		}
		return m
	}
	for _, name := range slices.Sorted(maps.Keys(original)) {
		stored := original[name]
		b, q, ok := tw.block(t, name)
		if !ok {
			continue
		}
		w, err := tw.fp32.Float32s(stored)
		require.NoError(t, err)
		shared := float32(0)
		for from, to := range map[string]string{".w1.": ".w3.", ".w3.": ".w1."} {
			if b.TensorScale && strings.Contains(name, from) {
				shared = max(amax(name), amax(strings.Replace(name, from, to, 1)))
			}
		}
		fn(name, b, q, w, shared)
	}
}

// Quantising nano-v4's fp32 weights gives every code and scale byte that torch stored in the twins.
func TestQuantiseReproducesTheTwins(t *testing.T) {
	for dir, kinds := range map[string]map[string]int{
		"nano-v4-mxfp4": {"blockfp8": 0, "mxfp4": 0},
		"nano-v4-nvfp4": {"blockfp8": 0, "nvfp4": 0},
	} {
		t.Run(dir, func(t *testing.T) {
			scales := map[string]int{}
			eachTwin(t, dir, func(name string, b format.Block, stored format.Quantised, w []float32, shared float32) {
				r, err := format.RecipeByName(twinRecipes[b.Name])
				require.NoError(t, err)
				got, err := r.QuantiseShared(w, stored.Rows, stored.Cols, shared)
				require.NoError(t, err)
				if c, s := diff(stored, got); c+s > 0 {
					t.Errorf("%s (%s): %d of %d code bytes and %d of %d scale bytes differ", name, r, c, len(stored.Codes), s,
						len(stored.Scales))
				}
				kinds[b.Name] += len(w)
				scales[b.Name] += len(stored.Scales)
			})
			for kind, n := range kinds {
				require.NotZero(t, n, kind)
				t.Logf("%-8s %7d elements and %5d scales bit for bit", kind, n, scales[kind])
			}
		})
	}
}

// The tensors that torch stored as bf16 are what AppendEncoded makes of the fp32 ones.
func TestEncodeReproducesTheTwinsBF16(t *testing.T) {
	for _, dir := range []string{"nano-v4-mxfp4", "nano-v4-nvfp4"} {
		tw := openTwin(t, dir)
		n := 0
		for _, stored := range tw.fp32.Names() {
			name := spelling.Release(stored)
			if info, ok := tw.q.Tensor(name); !ok || info.DType != safetensors.BF16 {
				continue
			}
			w, err := tw.fp32.Float32s(stored)
			require.NoError(t, err)
			got, err := format.AppendEncoded(nil, format.BF16, w, format.RN, format.Overflow)
			require.NoError(t, err)
			want, err := tw.q.Bytes(name)
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got), name)
			n += len(w)
		}
		require.NotZero(t, n)
		t.Logf("%s: %d bf16 elements bit for bit", dir, n)
	}
}

// Every rule of a recipe that these weights can show is seen: changed, the bytes differ. The others
// are told apart on made-up blocks in TestRulesThatDiffer.
func TestTwinsSeeTheRules(t *testing.T) {
	for _, row := range []struct {
		name, dir, block string
		seen             bool
		change           func(*format.Recipe)
	}{
		{"mxfp4 floor rule", "nano-v4-mxfp4", "mxfp4", true, func(r *format.Recipe) { r.Rule = format.ScaleFloorAmax }},
		{"mxfp4 nearest scale", "nano-v4-mxfp4", "mxfp4", true, func(r *format.Recipe) { r.Rule = format.ScaleNearest }},
		{"mxfp4 truncated", "nano-v4-mxfp4", "mxfp4", true, func(r *format.Recipe) { r.Rounding = format.RZ }},
		{"mxfp4 zero sign kept", "nano-v4-mxfp4", "mxfp4", true, func(r *format.Recipe) { r.ZeroSign = format.SignKept }},
		{"mxfp4 scale by bits", "nano-v4-mxfp4", "mxfp4", false, func(r *format.Recipe) { r.Rule = format.ScaleCeilBits }},
		{"mxfp4 reciprocal of 6", "nano-v4-mxfp4", "mxfp4", false, func(r *format.Recipe) { r.ScaleOp = format.Multiply }},
		{
			"nvfp4 zero sign of negatives", "nano-v4-nvfp4", "nvfp4", true, func(r *format.Recipe) {
				r.ZeroSign = format.SignOfNegative
			},
		},
		{"nvfp4 blocks of 32", "nano-v4-nvfp4", "nvfp4", true, func(r *format.Recipe) { r.Block.BlockCols = 32 }},
		{
			"nvfp4 global factor multiplied", "nano-v4-nvfp4", "nvfp4", true, func(r *format.Recipe) {
				r.Rule = format.ScaleTwoLevelMultiply
			},
		},
		{
			"blockfp8 scale rounded down", "nano-v4-mxfp4", "blockfp8", true, func(r *format.Recipe) {
				r.Rule = format.ScaleDown
			},
		},
		{"blockfp8 through bf16", "nano-v4-mxfp4", "blockfp8", true, func(r *format.Recipe) { r.BF16First = true }},
		{
			"blockfp8 reciprocal of 448", "nano-v4-mxfp4", "blockfp8", false, func(r *format.Recipe) {
				r.ScaleOp = format.Multiply
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			tensors, changed := 0, 0
			eachTwin(t, row.dir, func(_ string, b format.Block, stored format.Quantised, w []float32, shared float32) {
				if b.Name != row.block || tensors >= 8 {
					return
				}
				tensors++
				r, err := format.RecipeByName(twinRecipes[b.Name])
				require.NoError(t, err)
				row.change(&r)
				got, err := r.QuantiseShared(w, stored.Rows, stored.Cols, shared)
				require.NoError(t, err)
				if !bytes.Equal(got.Codes, stored.Codes) || !bytes.Equal(got.Scales, stored.Scales) ||
					got.TensorScale != stored.TensorScale {
					changed++
				}
			})
			if (changed > 0) != row.seen {
				t.Errorf("%d of %d tensors changed", changed, tensors)
			}
		})
	}
}
