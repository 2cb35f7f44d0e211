package format_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/spelling"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// tally is what one kind of tensor showed: how many, how far at worst in half steps, how many
// elements at the largest code stand for a larger weight.
type tally struct {
	tensors, elements, outside, saturated int
	worst                                 float64
	where                                 string
}

// add judges dequantised values v with their half steps against the fp32 weights w.
func (s *tally) add(name string, v, below, above, w []float64) {
	s.tensors++
	for i := range w {
		s.elements++
		r := (w[i] - v[i]) / above[i]
		if w[i] < v[i] {
			r = (v[i] - w[i]) / below[i]
		}
		if !(r <= 1) { // NaN is outside too
			s.outside++
		}
		if !(r <= s.worst) {
			s.worst, s.where = r, fmt.Sprintf("%s[%d]: %v for %v", name, i, v[i], w[i])
		}
	}
}

// twin is a quantised folder beside the fp32 one.
type twin struct {
	fp32, q *safetensors.Checkpoint
}

func openTwin(t *testing.T, dir string) twin {
	t.Helper()
	open := func(d string) *safetensors.Checkpoint {
		c, err := safetensors.OpenSpelled(fixtures.FS, d, spelling.Release)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	return twin{open("nano-v4"), open(dir)}
}

// block returns the layout and stored parts of a quantised weight; ok is false for a plain tensor.
func (w twin) block(t *testing.T, name string) (b format.Block, q format.Quantised, ok bool) {
	t.Helper()
	stem, isWeight := strings.CutSuffix(name, ".weight")
	info, _ := w.q.Tensor(name)
	_, hasScale := w.q.Tensor(stem + ".scale")
	_, hasNV := w.q.Tensor(stem + ".weight_scale")
	if !isWeight || !hasScale && !hasNV {
		return b, q, false
	}
	bytes := func(n string) []byte {
		raw, err := w.q.Bytes(n)
		require.NoError(t, err)
		return raw
	}
	q = format.Quantised{Rows: info.Shape[0], Cols: info.Shape[1], Codes: bytes(name)}
	switch {
	case hasNV:
		b, q.Cols, q.Scales = format.NVFP4, 2*q.Cols, bytes(stem+".weight_scale")
		ts, err := w.q.Float32s(stem + ".weight_scale_2")
		require.NoError(t, err)
		q.TensorScale = ts[0]
	case info.DType == safetensors.U8:
		b, q.Cols, q.Scales = format.MXFP4, 2*q.Cols, bytes(stem+".scale")
	default:
		b, q.Scales = format.BlockFP8, bytes(stem+".scale")
	}
	return b, q, true
}

// judgeBlock adds one quantised weight to its tally.
func judgeBlock(t *testing.T, s *tally, name string, b format.Block, q format.Quantised, w []float64) {
	t.Helper()
	v, err := b.Decode(q)
	require.NoError(t, err)
	require.Len(t, v, len(w), name)
	below, above, err := b.HalfSteps(q)
	require.NoError(t, err)
	s.add(name, v, below, above, w)
	codes, err := format.UnpackCodes(b.Element, q.Codes)
	require.NoError(t, err)
	for i, c := range codes {
		if c&^(1<<(b.Element.Width()-1)) == b.Element.MaxCode() && math.Abs(w[i]) > math.Abs(v[i]) {
			s.saturated++
		}
	}
}

// weight is a tensor of the fp32 folder.
func (w twin) weight(t *testing.T, name string) []float64 {
	t.Helper()
	raw, err := w.fp32.Bytes(name)
	require.NoError(t, err)
	v, err := format.DecodeBytes(format.FP32, raw)
	require.NoError(t, err)
	return v
}

// judge checks every tensor of the twin and returns the tallies by kind.
func (w twin) judge(t *testing.T) map[string]*tally {
	t.Helper()
	kinds := map[string]*tally{}
	of := func(kind string) *tally {
		if kinds[kind] == nil {
			kinds[kind] = &tally{}
		}
		return kinds[kind]
	}
	seen := 0
	for _, stored := range w.fp32.Names() {
		name := spelling.Release(stored)
		info, ok := w.q.Tensor(name)
		require.True(t, ok, "the twin lacks %q", name)
		seen++
		if info.DType == safetensors.I64 {
			a, err := w.fp32.Bytes(stored)
			require.NoError(t, err)
			b, err := w.q.Bytes(name)
			require.NoError(t, err)
			require.Equal(t, a, b, name)
			of("i64").tensors++
			of("i64").elements += info.Elements()
			continue
		}
		want := w.weight(t, stored)
		if b, q, ok := w.block(t, name); ok {
			judgeBlock(t, of(b.Name), name, b, q, want)
			continue
		}
		f, err := format.ByDType(string(info.DType))
		require.NoError(t, err)
		raw, err := w.q.Bytes(name)
		require.NoError(t, err)
		v, err := format.DecodeBytes(f, raw)
		require.NoError(t, err)
		require.Len(t, v, len(want), name)
		below, above := make([]float64, len(v)), make([]float64, len(v))
		for i, x := range v {
			if f == format.FP32 { // must be equal: any difference is infinitely many steps
				continue
			}
			below[i], above[i] = f.Gaps(x)
			below[i], above[i] = below[i]/2, above[i]/2
		}
		if f == format.FP32 {
			require.Equal(t, want, v, name)
			of("fp32").tensors++
			of("fp32").elements += len(v)
			continue
		}
		of(f.Name).add(name, v, below, above, want)
	}
	scales := 0
	for _, name := range w.q.Names() {
		if strings.HasSuffix(name, "scale") && !strings.Contains(name, "hc_") || strings.HasSuffix(name, ".weight_scale_2") {
			scales++
		}
	}
	require.Equal(t, len(w.q.Names()), seen+scales, "every tensor of the twin is a weight of nano-v4 or a scale of one")
	return kinds
}

func TestQuantisedTwinsLieWithinHalfAStep(t *testing.T) {
	for dir, want := range map[string][]string{
		"nano-v4-mxfp4": {"bf16", "blockfp8", "fp32", "i64", "mxfp4"},
		"nano-v4-nvfp4": {"bf16", "blockfp8", "fp32", "i64", "nvfp4"},
	} {
		t.Run(dir, func(t *testing.T) {
			kinds := openTwin(t, dir).judge(t)
			names := slices.Sorted(maps.Keys(kinds))
			require.Equal(t, want, names)
			for _, kind := range names {
				s := kinds[kind]
				t.Logf("%-8s %3d tensors %7d elements, worst %.7f half steps (%s), %d beyond the largest code", kind, s.tensors,
					s.elements, s.worst, s.where, s.saturated)
				if s.outside > 0 {
					t.Errorf("%s: %d of %d elements lie outside their half step, worst %s", kind, s.outside, s.elements, s.where)
				}
			}
		})
	}
}
