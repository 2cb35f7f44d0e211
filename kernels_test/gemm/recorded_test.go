package gemm_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/gemm"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// device answers with what an H200 wrote for the same operands.
type device struct {
	op string
	y  []float64
}

func (d device) Hello(context.Context) (bench.Hello, error) {
	return bench.Hello{Name: "recorded", Ops: map[string]bench.Capability{d.op: {}}}, nil
}

func (d device) Run(_ context.Context, call bench.Call) (bench.Reply, error) {
	return bench.Reply{Outputs: map[string]bench.Storage{"y": {DType: call.Outputs["y"].DType, Data: d.y}}}, nil
}

// What an H200 computed MUST be accepted under the contract that names its arithmetic, and rejected under those that
// promise more.
func TestRecordedDevice(t *testing.T) {
	raw, err := fixtures.ReadFile(fixtures.FS, "oracles/gemm_h200.safetensors.gz")
	require.NoError(t, err)
	f, err := safetensors.NewReader(bytes.NewReader(raw), int64(len(raw)), "gemm_h200.safetensors")
	require.NoError(t, err)
	for _, c := range []struct {
		op, name, x, w, out, contract string
		accepted                      bool
	}{
		{"fp8_gemm", "fp8.k4096.gauss", "a_e4m3", "b_e4m3", "out_accurate", "fp8-hopper", true},
		{"fp8_gemm", "fp8.k4096.coherent", "a_e4m3", "b_e4m3", "out_accurate", "fp8-hopper", true},
		{"fp8_gemm", "fp8.k4096.gauss", "a_e4m3", "b_e4m3", "out_fast_accum", "fp8-hopper", false},
		{"fp8_gemm", "fp8.k4096.coherent", "a_e4m3", "b_e4m3", "out_fast_accum", "fp8-hopper", false},
		{"fp8_gemm", "fp8.k4096.gauss", "a_e4m3", "b_e4m3", "out_accurate", "fp8", false},
		{"fp8_gemm", "fp8.k4096.coherent", "a_e4m3", "b_e4m3", "out_fast_accum", "fp8", false},
		{"dense_gemm", "mhc.nano.gauss", "x_bf16", "w_fp32", "out_fp32", "fp32", true},
		{"dense_gemm", "mhc.nano.coherent", "x_bf16", "w_fp32", "out_fp32", "fp32", true},
		{"dense_gemm", "mhc.nano.gauss", "x_bf16", "w_fp32", "out_tf32", "tf32-rn", true},
		{"dense_gemm", "mhc.nano.coherent", "x_bf16", "w_fp32", "out_tf32", "tf32-rn", true},
		{"dense_gemm", "mhc.nano.gauss", "x_bf16", "w_fp32", "out_tf32", "fp32", false},
		{"dense_gemm", "mhc.nano.coherent", "x_bf16", "w_fp32", "out_tf32", "tf32x3", false},
		{"bf16_gemm", "mhc.nano.gauss", "x_bf16", "w_fp32", "out_bf16", "bf16-hopper", true},
		{"bf16_gemm", "mhc.nano.coherent", "x_bf16", "w_fp32", "out_bf16", "bf16-hopper", true},
	} {
		t.Run(c.name+"/"+c.out+"/"+c.contract, func(t *testing.T) {
			x, w, y := load(t, f, c.name+"."+c.x), load(t, f, c.name+"."+c.w), load(t, f, c.name+"."+c.out)
			x, y = first(x), first(y)
			b, err := bench.New(recordedCase(t, c.op, c.contract, x, w))
			require.NoError(t, err)
			r, err := b.Judge(t.Context(), device{c.op, y.Data})
			require.NoError(t, err)
			t.Logf("accepted %t, rho %.3g, %s", r.Accepted(), r.Rho(), r.Gate())
			if r.Accepted() != c.accepted {
				found, _ := r.First()
				t.Errorf("what the device computed is accepted: %t, want %t: %s", r.Accepted(), c.accepted, found.Verdict.Reason)
			}
		})
	}
}

// recordedCase is a case of an operator on recorded operands, rounded to the dtype that its contract stores.
func recordedCase(t *testing.T, op, contract string, x, w bench.Tensor) bench.Case {
	t.Helper()
	for _, f := range gemm.Suite().Families {
		for _, c := range f.Contracts {
			if f.Op != op || c.Name != contract {
				continue
			}
			k := bench.Scenario{ID: "recorded", Change: func(_ bench.Gen, p *bench.Problem) error {
				p.Change("x", func(i int, _ float64) float64 { return x.Data[i] })
				p.Change("w", func(i int, _ float64) float64 { return w.Data[i] })
				return nil
			}}
			shape := bench.S("recorded", map[string]int{
				"m": x.Shape[0], "n": w.Shape[0], "k": x.Shape[1], "members": numerics.MinEnsemble,
			})
			return bench.Case{Suite: "gemm", Family: f, Scenario: k, Shape: shape, Contract: c}
		}
	}
	require.Fail(t, "no contract", "%s of %s", contract, op)
	return bench.Case{}
}

// first keeps a few rows in a default run.
func first(m bench.Tensor) bench.Tensor {
	rows := m.Shape[0]
	if bench.Every() > 1 {
		rows = min(rows, 6)
	}
	return bench.Tensor{Shape: []int{rows, m.Shape[1]}, Data: m.Data[:rows*m.Shape[1]]}
}

func load(t *testing.T, f *safetensors.File, name string) bench.Tensor {
	t.Helper()
	info, ok := f.Tensor(name)
	require.True(t, ok, name)
	raw, err := f.Bytes(name)
	require.NoError(t, err)
	ff, err := format.ByDType(string(info.DType))
	require.NoError(t, err)
	v, err := format.DecodeBytes(ff, raw)
	require.NoError(t, err)
	return bench.Tensor{Shape: info.Shape, Data: v}
}
