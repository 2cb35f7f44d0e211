package oracle_test

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	_ "github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/spelling"
	"github.com/assay-suite/assay/internal/trace"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
	"github.com/assay-suite/assay/safetensors"
)

// The local proof: every operator is fed the inputs that Hugging Face recorded and must give the
// output that it recorded, within its own fp32 error bound. Bounds are derived by numerics.Tracked,
// an error analysis that holds for every summation order, so nothing here is a guessed tolerance.
const (
	boundFactor = 4    // of the derived fp32 bound: room for what FP32() may not know of the GPU's functions
	ceiling     = 1e-5 // of the tensor's largest value, whatever the bound says
)

// reading is one recorded output beside what the operator gives and the bound per element.
type reading struct {
	op               string
	got, want, bound []float64
}

// subject is one trace with the weights and the operators to be checked on it.
type subject struct {
	*testing.T
	tr   *trace.Trace
	ckpt *safetensors.Checkpoint
	far  int // tokens per compressed row of the layer without indexer
	topK int
	ops  oracle.Ops
	cfg  oracle.HCConfig
	ar   numerics.Arith
}

func newSubject(t *testing.T, file string, ops oracle.Ops) *subject {
	t.Helper()
	folder := path.Dir(file)
	constants, ok := map[string][2]int{"nano-v4": {32, 64}, "nano-flash": {128, 512}}[folder]
	require.True(t, ok, file)
	sub, err := fs.Sub(fixtures.FS, folder)
	require.NoError(t, err)
	ckpt, err := safetensors.OpenSpelled(sub, ".", spelling.Release)
	require.NoError(t, err)
	t.Cleanup(func() { _ = ckpt.Close() })
	tr, err := trace.Open(fixtures.FS, file)
	require.NoError(t, err)
	return &subject{
		T: t, tr: tr, ckpt: ckpt, far: constants[0], topK: constants[1], ops: ops, ar: numerics.FP32(),
		cfg: oracle.HCConfig{Streams: 4, Iterations: 20, Eps: 1e-6, NormEps: 1e-6},
	}
}

// readings are all checks of all layers.
func (s *subject) readings() []reading {
	var all []reading
	for i := range 4 {
		all = append(all, s.hyperConnections(i)...)
		all = append(all, s.projections(i)...)
		all = append(all, s.compressed(i)...)
		all = append(all, s.attention(i)...)
		all = append(all, s.experts(i)...)
	}
	return append(all, s.head()...)
}

func TestOperatorsReproduceTheirRecordedOutputs(t *testing.T) {
	for _, file := range []string{
		"nano-v4/hf_trace_067.safetensors", "nano-v4/hf_trace_391.safetensors.gz", "nano-flash/hf_trace_512.safetensors.gz",
	} {
		t.Run(file, func(t *testing.T) {
			worst := map[string][2]float64{}
			for _, r := range newSubject(t, file, oracle.Reference()).readings() {
				rho, rel, problem := r.judge()
				worst[r.op] = [2]float64{math.Max(worst[r.op][0], rho), math.Max(worst[r.op][1], rel)}
				if problem != "" {
					t.Error(problem)
				}
			}
			for _, op := range sortedKeys(worst) {
				t.Logf("%-24s error/bound %.3f (limit %d)   error/largest %.1e (limit %.0e)", op, worst[op][0], boundFactor,
					worst[op][1], ceiling)
			}
		})
	}
}

// Every fault that changes an operator beyond fp32 must fail that operator's own check.
func TestLocalChecksRejectFaults(t *testing.T) {
	for name, op := range map[string]string{
		"comb-transposed":            "hc-post",
		"sinkhorn-one-step-short":    "hc-comb",
		"hc-norm-sqrt2":              "hc-comb",
		"hc-reads-past-end":          "hc-comb",
		"compressor-overlap-dropped": "compressor",
		"window-one-short":           "attention",
		"first-half-lost":            "attention",
		"v-scale-1.02":               "attention",
	} {
		t.Run(name, func(t *testing.T) {
			f, err := faults.Lookup(name)
			require.NoError(t, err)
			for _, r := range newSubject(t, "nano-v4/hf_trace_067.safetensors", f.Apply(oracle.Reference())).readings() {
				if _, _, problem := r.judge(); r.op == op && problem != "" {
					return
				}
			}
			t.Errorf("no check of %s fails under %s", op, f.Effect)
		})
	}
}

// judge gives the worst error over bound and over the largest value, and the first breach in words.
func (r reading) judge() (rho, rel float64, problem string) {
	if len(r.got) != len(r.want) || len(r.got) != len(r.bound) || len(r.got) == 0 {
		return math.Inf(1), math.Inf(1),
			fmt.Sprintf("%s: %d values and %d bounds for %d recorded ones", r.op, len(r.got), len(r.bound), len(r.want))
	}
	largest := 0.0
	for _, w := range r.want {
		largest = math.Max(largest, math.Abs(w))
	}
	for i, w := range r.want {
		e := math.Abs(r.got[i] - w)
		if math.IsNaN(e) {
			e = math.Inf(1)
		}
		rho, rel = math.Max(rho, ratio(e, r.bound[i])), math.Max(rel, ratio(e, largest))
		if problem == "" && (e > boundFactor*r.bound[i] || e > ceiling*largest) {
			problem = fmt.Sprintf("%s: element %d is %v, recorded %v: off by %.2e, bound %d x %.2e, ceiling %.2e", r.op, i,
				r.got[i], w, e, boundFactor, r.bound[i], ceiling*largest)
		}
	}
	return rho, rel, problem
}

func ratio(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return a / b
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// weight reads a matrix [rows, cols] of the checkpoint; a vector has one row.
func (s *subject) weight(name string) oracle.Mat {
	s.Helper()
	info, ok := s.ckpt.Tensor(name)
	require.True(s, ok, name)
	single, err := s.ckpt.Float32s(name)
	require.NoError(s, err)
	cols := info.Shape[len(info.Shape)-1]
	m := oracle.NewMat(len(single)/cols, cols)
	for i, v := range single {
		m.Data[i] = float64(v)
	}
	return m
}

// tracked gives the rows of a recorded or stored matrix as exact operands.
func tracked(m oracle.Mat) [][]numerics.Tracked {
	rows := make([][]numerics.Tracked, m.Rows)
	for t := range rows {
		rows[t] = numerics.ExactSlice(m.Row(t))
	}
	return rows
}

// linear is x wᵀ with its bound for any summation order.
func (s *subject) linear(x [][]numerics.Tracked, w oracle.Mat) [][]numerics.Tracked {
	columns := tracked(w)
	out := make([][]numerics.Tracked, len(x))
	for t := range x {
		for _, row := range columns {
			out[t] = append(out[t], s.ar.Dot(x[t], row))
		}
	}
	return out
}

// bounds flattens the error part.
func bounds(rows [][]numerics.Tracked) []float64 {
	var out []float64
	for _, row := range rows {
		for _, v := range row {
			out = append(out, v.E)
		}
	}
	return out
}

// rotate is RoPE on the trailing 16 dims of every head with its bound.
func (s *subject) rotate(x [][]numerics.Tracked, width int, positions []int, rope oracle.Rope,
	inverse bool,
) [][]numerics.Tracked {
	out := make([][]numerics.Tracked, len(x))
	for t, row := range x {
		out[t] = append([]numerics.Tracked(nil), row...)
		for end := width; end <= len(row); end += width {
			tail := out[t][end-rope.Dims : end]
			for i := range rope.Dims / 2 {
				angle := s.ar.RopeAngle(positions[t], rope.Base, i, rope.Dims)
				tail[2*i], tail[2*i+1] = s.ar.Rotate(tail[2*i], tail[2*i+1], angle, s.ar.U, inverse)
			}
		}
	}
	return out
}
