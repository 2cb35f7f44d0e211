package quant_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/safetensors"
)

// vectors lists the files that the libraries made.
func vectors(t *testing.T) []string {
	t.Helper()
	files, err := vectorsOf()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 24, "testdata/vectors.py writes one file for each format and option")
	return files
}

func vectorsOf() ([]string, error) { return filepath.Glob(filepath.Join("testdata", "*.safetensors")) }

// opened is a vector file with its plan and the name of its codes.
func opened(t *testing.T, path string) (*safetensors.File, *quant.Plan, string) {
	t.Helper()
	f, err := safetensors.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() }) // only read from
	plan, err := quant.ParsePlan([]byte(f.Metadata()["config"]), nil)
	require.NoError(t, err)
	plan.Headers(f.Metadata())
	for _, name := range f.Names() {
		if _, part := quant.Split(name); part == quant.Codes && name != "decoded" {
			return f, plan, name
		}
	}
	t.Fatalf("%s has no codes", path)
	return nil, nil, ""
}

// Every vector decodes to what its own library decodes it to: within the rounding of the dtype that the library
// computes in (a unit in the last place of bf16 or fp16 for those that do not compute in fp32).
func TestDecodeAgreesWithTheLibraries(t *testing.T) {
	for _, path := range vectors(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".safetensors")
		t.Run(name, func(t *testing.T) {
			f, plan, codes := opened(t, path)
			w, faults := plan.Find(f, codes)
			require.Empty(t, faults)
			require.NotNil(t, w)
			want, err := f.Float32s("decoded")
			require.NoError(t, err)
			rows := min(w.Total(), len(want)/w.Cols) // a large vector keeps the decode of its first rows
			got, err := w.Read(0, rows)
			require.NoError(t, err)
			require.Len(t, want, rows*w.Cols)
			u := precisionOf(want)
			for i, x := range got {
				// One rounding of the result, one of the product with the scale, one of an added bias or a factor.
				bound := 3 * u * math.Max(math.Abs(x), math.Abs(float64(want[i])))
				if name == "mlx-3bit" || strings.HasPrefix(name, "mlx") {
					bound = 4 * u * largest(got)
				}
				if d := math.Abs(x - float64(want[i])); d > bound {
					t.Fatalf("element %d is %g, the library gives %g (difference %g, bound %g)", i, x, want[i], d, bound)
				}
			}
			t.Logf("%s (%s), %s: %d values within %g", w.Layout, w.Detail, f.Metadata()["by"], len(got), u)
			// Any range of rows reads the same values.
			for from := 0; from < rows; from += 7 {
				to := min(rows, from+9)
				part, err := w.Read(from, to)
				require.NoError(t, err)
				require.Equal(t, got[from*w.Cols:to*w.Cols], part)
			}
			relative := numerics.RelL2(got, widened(want))
			require.Less(t, relative, 2*u)
		})
	}
}

func widened(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

func largest(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		m = math.Max(m, math.Abs(x))
	}
	return m
}

// precisionOf is the unit roundoff of the narrowest format that holds every value.
func precisionOf(v []float32) float64 {
	bits := 0
	for _, x := range v {
		b := math.Float32bits(x)
		n := 23
		for n > 7 && b>>(23-n)&1 == 0 {
			n--
		}
		bits = max(bits, n)
	}
	return math.Exp2(float64(-min(bits, 23) - 1))
}

// The vectors tell conventions apart: read under the other one, each is far from what its library decodes.
func TestVectorsRejectOtherConventions(t *testing.T) {
	for name, change := range map[string][2]string{
		"gptq-4bit":      {`"checkpoint_format": "gptq"`, `"checkpoint_format": "gptq_v2"`},
		"gptq-8bit":      {`"bits": 8`, `"bits": 4`},
		"ct-nvfp4":       {`"quant_method": "compressed-tensors"`, `"quant_method": "modelopt"`},
		"ct-fp8-block":   {`"block_structure": [16, 16]`, `"block_structure": [8, 8]`},
		"ct-w4a16":       {`"group_size": 32`, `"group_size": 16`},
		"modelopt-mxfp4": {`"quant_algo": "MXFP4"`, `"quant_algo": "FP8"`},
	} {
		f, _, codes := opened(t, filepath.Join("testdata", name+".safetensors"))
		config := f.Metadata()["config"]
		other := strings.Replace(config, change[0], change[1], 1)
		require.NotEqual(t, config, other, name)
		plan, err := quant.ParsePlan([]byte(other), nil)
		require.NoError(t, err, name)
		w, faults := plan.Find(f, codes)
		if w == nil || len(faults) > 0 {
			continue // refused
		}
		want, err := f.Float32s("decoded")
		require.NoError(t, err)
		if w.Elements() != len(want) {
			continue
		}
		got, err := w.Read(0, w.Total())
		require.NoError(t, err)
		if e := numerics.RelL2(got, widened(want)); !(e > 0.1) {
			t.Errorf("%s read with %s: relative L2 %g, want a large one", name, change[1], e)
		}
	}
}

// Without their scales, or with one of another shape or dtype, weights are named and not decoded.
func TestFaultsAreNamed(t *testing.T) {
	for _, path := range vectors(t) {
		f, plan, codes := opened(t, path)
		w, _ := plan.Find(f, codes)
		for part, name := range w.Parts() {
			switch part {
			case quant.Codes, quant.Order, quant.Input, quant.Zero:
				continue
			}
			got, faults := plan.Find(without{f, name}, codes)
			if got != nil && got.Layout != quant.Plain || len(faults) == 0 && got != nil && got.Layout == w.Layout {
				t.Errorf("%s without %s: still a weight of layout %s", filepath.Base(path), name, got.Layout)
			}
			if strings.HasPrefix(filepath.Base(path), "torchao") {
				continue
			}
			got, faults = plan.Find(misshapen{f, name}, codes)
			if got != nil || len(faults) == 0 {
				if part == quant.Shape && len(faults) > 0 {
					continue
				}
				t.Errorf("%s with %s of another shape: still a weight", filepath.Base(path), name)
			}
		}
	}
}

type without struct {
	*safetensors.File
	name string
}

func (w without) Tensor(name string) (safetensors.Info, bool) {
	if name == w.name {
		return safetensors.Info{}, false
	}
	return w.File.Tensor(name)
}

type misshapen struct {
	*safetensors.File
	name string
}

func (m misshapen) Tensor(name string) (safetensors.Info, bool) {
	info, ok := m.File.Tensor(name)
	if name == m.name {
		info.Shape = slices.Insert(slices.Clone(info.Shape), 0, 3)
		info.Size = min(info.Size, 3)
	}
	return info, ok
}

// The vectors stay small.
func TestVectorsAreSmall(t *testing.T) {
	total := int64(0)
	for _, path := range vectors(t) {
		info, err := os.Stat(path)
		require.NoError(t, err)
		total += info.Size()
	}
	if total > 400_000 {
		t.Errorf("the vectors are %d bytes; keep them small", total)
	}
}
