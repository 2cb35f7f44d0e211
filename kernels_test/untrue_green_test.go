package kernels_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// sound is a candidate that offers every eager facet of an operator, and after edits what it wrote.
func sound(t *testing.T, op string, after func(c bench.Call, r *bench.Reply)) bench.Candidate {
	t.Helper()
	w := &whole{[]string{op}, only(t, op).Built, map[string]bench.Candidate{}}
	if after == nil {
		return eager{w, op}
	}
	return eager{bench.After(w, after), op}
}

// eager offers no graphs.
type eager struct {
	bench.Candidate
	op string
}

func (e eager) Hello(context.Context) (bench.Hello, error) {
	return bench.Hello{Name: "eager", Ops: map[string]bench.Capability{e.op: {}}}, nil
}

// scaled multiplies what calls with an operand of a dtype write.
func scaled(operand, dtype string, by float64) func(c bench.Call, r *bench.Reply) {
	return func(c bench.Call, r *bench.Reply) {
		v, has := c.Views[operand]
		if !has || c.Storage[v.Storage].DType != dtype {
			return
		}
		for name, s := range r.Outputs {
			for i := range s.Data {
				s.Data[i] = bench.Round(s.DType, s.Data[i]*by)
			}
			r.Outputs[name] = s
		}
	}
}

// raising fails every call of a phase.
type raising struct{ bench.Candidate }

func (r raising) Run(ctx context.Context, call bench.Call) (bench.Reply, error) {
	if call.Phase == "extend" {
		return bench.Reply{}, errors.New("CUDA error: invalid argument")
	}
	return r.Candidate.Run(ctx, call)
}

// silent does not offer a phase, in words.
type silent struct{ bench.Candidate }

func (r silent) Run(ctx context.Context, call bench.Call) (bench.Reply, error) {
	if call.Phase == "extend" {
		return bench.Reply{}, errors.Join(errors.New("no chunks"), bench.ErrUnsupported)
	}
	return r.Candidate.Run(ctx, call)
}

// moody is wrong in every n-th call, in one element.
type moody struct {
	bench.Candidate
	n, calls int
}

func (m *moody) Run(ctx context.Context, call bench.Call) (bench.Reply, error) {
	r, err := m.Candidate.Run(ctx, call)
	if m.calls++; err == nil && m.calls%m.n == 0 {
		for name, s := range r.Outputs {
			if len(s.Data) > 0 {
				s.Data[len(s.Data)/2] = bench.Round(s.DType, s.Data[len(s.Data)/2]*1.5+1)
				r.Outputs[name] = s
			}
		}
	}
	return r, err
}

// What was green without having been looked at MUST be what it is: a fault in one storage format beside a sound one, a
// kernel that meets no contract, a part that is not answered. A sound kernel whose order moves MUST stay sound.
func TestGreenHasLooked(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, row := range []struct {
		name, op string
		under    bench.Candidate
		want     map[string]job.State // by a word of the facet; the others are equivalent
		says     string               // in the verdict
	}{
		{"sound", "rms_norm", sound(t, "rms_norm", nil), nil, "equivalent: 4 of 4 facets"},
		{
			"bf16 doubled", "rms_norm", sound(t, "rms_norm", scaled("x", bench.BF16, 2)),
			map[string]job.State{"-> BF16": job.Fault}, // with gains in fp32, and in bf16
			"fault: 2 of 4 facets",
		},
		{
			"fp8 path of zeros", "gqa_attention", sound(t, "gqa_attention", scaled("k_cache", bench.E4M3, 0)),
			map[string]job.State{"paged BF16+F8_E4M3": job.Fault},
			"fault: 3 of 15 facets",
		},
		{
			"merge of zeros", "merge_state", sound(t, "merge_state", scaled("prefix_o", bench.F32, 0)),
			map[string]job.State{"F32 -> F32": job.Fault},
			"fault: 4 of 6 facets",
		},
		{
			"raises in extend", "mla_attention",
			raising{sound(t, "mla_attention", nil)},
			map[string]job.State{"extend": job.Fault},
			"fault: 3 of 9 facets",
		},
		{
			"extend unsupported", "mla_attention",
			silent{sound(t, "mla_attention", nil)},
			map[string]job.State{"extend": job.Partial},
			"partial: 6 of 9 facets",
		},
		{
			"one call in twenty", "mhc_post", &moody{sound(t, "mhc_post", nil), 20, 0},
			map[string]job.State{"F32": job.Fault, "BF16": job.Fault},
			"fault: 2 of 2 facets",
		},
		{
			"order moves", "topk", sound(t, "topk", func(c bench.Call, r *bench.Reply) {
				s := r.Outputs["indices"]
				k := c.Outputs["indices"].Shape[1]
				for at := 0; at < len(s.Data); at += k {
					n := 0
					for n < k && s.Data[at+n] >= 0 {
						n++
					}
					rng.Shuffle(n, func(i, j int) { s.Data[at+i], s.Data[at+j] = s.Data[at+j], s.Data[at+i] })
				}
			}),
			nil, "nondeterministic: topk F32 -> I32",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			all, err := job.Run(t.Context(), row.under, job.Options{Suites: []bench.Suite{only(t, row.op)}})
			require.NoError(t, err)
			for _, j := range all {
				want := job.Equivalent
				for word, state := range row.want {
					if strings.Contains(j.Facet.String(), word) {
						want = state
					}
				}
				assert.Equal(t, want, j.State, j.Facet)
				for _, r := range j.Rows {
					if r.Outcome == "fail" {
						assert.Contains(t, r.Text, "likely", "a failure says what is likely, or that nothing is")
						break
					}
				}
			}
			h, err := row.under.Hello(t.Context())
			require.NoError(t, err)
			assert.Contains(t, job.Outcome{Hello: h, Judged: all}.Verdict().Text, row.says)
		})
	}
}
