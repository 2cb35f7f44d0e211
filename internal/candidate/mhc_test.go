package candidate

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/oracle"
)

// hcProblem is one call of an mHC operator with its dense operands.
type hcProblem struct {
	name string
	call Call
	in   map[string]oracle.Mat
}

// operand lays a matrix out with a lead, and a gap after every row, both of NaN: who reads them shows it. Dims are
// those of a row; without them the only row is a vector.
func (p *hcProblem) operand(name string, m oracle.Mat, dims ...int) {
	const lead, gap = 3, 5
	poison := float32(math.NaN())
	data := slices.Repeat([]float32{poison}, lead)
	for t := range m.Rows {
		for _, v := range m.Row(t) {
			data = append(data, float32(v))
		}
		data = append(data, slices.Repeat([]float32{poison}, gap)...)
	}
	v := View{Storage: name + "_storage", Offset: lead, Shape: []int{m.Cols}, Strides: []int{1}}
	switch len(dims) {
	case 1:
		v.Shape, v.Strides = []int{m.Rows, m.Cols}, []int{m.Cols + gap, 1}
	case 2:
		v.Shape, v.Strides = []int{m.Rows, dims[0], dims[1]}, []int{m.Cols + gap, dims[1], 1}
	}
	p.in[name] = m
	p.call.Storage[v.Storage], p.call.Views[name] = FromFloat32s(data), v
}

const (
	hcEps, hcNormEps = 1e-6, 1e-6
	hcIterations     = 20
)

// hcProblems draws calls of all three operators, with values that are exact in float32.
func hcProblems() []hcProblem {
	rng := rand.New(rand.NewPCG(4, 2))
	normal := func(rows, cols int, sd float64) oracle.Mat {
		m := oracle.NewMat(rows, cols)
		for i := range m.Data {
			m.Data[i] = float64(float32(sd * rng.NormFloat64()))
		}
		return m
	}
	var out []hcProblem
	for _, shape := range []struct{ tokens, n, width int }{{0, 4, 64}, {1, 4, 64}, {5, 4, 128}, {3, 2, 64}} {
		t, n, k := shape.tokens, shape.n, shape.n*shape.width
		for _, c := range []struct {
			name        string
			x, gateBase float64
			logits      float64
		}{{"plain", 1, 0, 1}, {"tiny-rows", 1e-4, 0, 1}, {"gates-low", 1, -20, 1}, {"large-logits", 1, 0, 15}} {
			fresh := func(op string, outputs map[string][]int) hcProblem {
				p := hcProblem{fmt.Sprintf("%s/%s/t%d-n%d-c%d", op, c.name, t, n, shape.width), Call{
					Op: op, Attrs: map[string]any{
						"hc_mult": n, "sinkhorn_iterations": hcIterations, "hc_eps": hcEps, "norm_eps": hcNormEps,
					},
					Storage: map[string]Storage{}, Views: map[string]View{}, Outputs: map[string]Output{},
				}, map[string]oracle.Mat{}}
				p.call.Case = p.name
				for name, shape := range outputs {
					p.call.Outputs[name] = Output{"F32", shape, "nan"}
				}
				p.operand("x", normal(t, k, c.x), n, shape.width)
				return p
			}
			mixed := func(p *hcProblem, rows, scales int) {
				p.operand("fn", normal(rows, k, 1/math.Sqrt(float64(k))), k)
				p.operand("scale", normal(1, scales, 0.7))
				base := normal(1, rows, c.logits)
				for j := range min(2*n, rows) {
					base.Data[j] = float64(float32(base.Data[j] + c.gateBase))
				}
				p.operand("base", base)
			}
			pre := fresh("mhc_pre", map[string][]int{"y": {t, shape.width}, "post": {t, n}, "comb": {t, n, n}})
			mixed(&pre, (2+n)*n, 3)
			head := fresh("mhc_head", map[string][]int{"y": {t, shape.width}})
			mixed(&head, n, 1)
			post := fresh("mhc_post", map[string][]int{"out": {t, n, shape.width}})
			post.operand("f", normal(t, shape.width, 1), shape.width)
			post.operand("post", normal(t, n, 1), n)
			post.operand("comb", normal(t, n*n, 0.3), n, n)
			out = append(out, pre, head, post)
		}
	}
	return out
}

// expect computes a problem with the oracles.
func (p hcProblem) expect(ops hcOps) map[string]oracle.Mat {
	n := p.call.Attrs["hc_mult"].(int)
	cfg := oracle.HCConfig{Streams: n, Iterations: ops.iterations, Eps: hcEps, NormEps: ops.normEps}
	switch p.call.Op {
	case "mhc_pre":
		pre, post, comb := oracle.HCSplit(oracle.HCMix(p.in["x"], p.in["fn"], cfg.NormEps), p.in["scale"].Data,
			p.in["base"].Data, cfg)
		for i := range post.Data {
			post.Data[i] += ops.postEps
		}
		return map[string]oracle.Mat{"y": oracle.HCPre(p.in["x"], pre), "post": post, "comb": comb}
	case "mhc_head":
		mixes := oracle.HCMix(p.in["x"], p.in["fn"], cfg.NormEps)
		return map[string]oracle.Mat{
			"y": oracle.HCPre(p.in["x"], oracle.HCHead(mixes, p.in["scale"].Data[0], p.in["base"].Data, ops.headEps)),
		}
	default:
		comb := p.in["comb"]
		if ops.transposed {
			comb = oracle.NewMat(comb.Rows, comb.Cols)
			for t := range comb.Rows {
				for j := range n {
					for k := range n {
						comb.Row(t)[j*n+k] = p.in["comb"].Row(t)[k*n+j]
					}
				}
			}
		}
		return map[string]oracle.Mat{"out": oracle.HCPost(p.in["f"], p.in["post"], comb, p.in["x"])}
	}
}

// hcOps is what can be wrong with the oracles, or with the reference: either shows.
type hcOps struct {
	iterations       int
	normEps          float64
	postEps, headEps float64
	transposed       bool
}

// agree tells where two implementations that work in float64 and store float32 differ, empty if nowhere. Each rounds
// once to float32, so that one step of float32 apart is allowed. The sums of at most 512 terms, each within 512·2^-53
// of its terms' sizes, make 2^-44 of them; gates and Sinkhorn amplify that by less than 2^8: 2^-36 of the largest
// value.
func agree(got Storage, want oracle.Mat) string {
	values, err := got.Float32s()
	if err != nil || len(values) != len(want.Data) {
		return fmt.Sprintf("%d values for %d (%v)", len(values), len(want.Data), err)
	}
	largest := 0.0
	for _, v := range want.Data {
		largest = math.Max(largest, math.Abs(v))
	}
	for i, v := range want.Data {
		a, b := float64(values[i]), float64(float32(v))
		allowed := 0x1p-23*math.Max(math.Abs(a), math.Abs(b)) + 0x1p-36*largest
		if !(math.Abs(a-b) <= allowed) {
			return fmt.Sprintf("element %d is %v and %v, %v apart with %v allowed", i, a, b, math.Abs(a-b), allowed)
		}
	}
	return ""
}

// The numpy reference, written from the formulas, MUST agree with the oracles on every case, and disagree with each of
// these mistakes on some case.
func TestReferenceMHC(t *testing.T) {
	w := script(t, "'"+adapters+"/reference_mhc.py'")
	right := hcOps{hcIterations, hcNormEps, 0, hcEps, false}
	faults := map[string]func(*hcOps){
		"one Sinkhorn step less": func(o *hcOps) { o.iterations-- },
		"no norm eps":            func(o *hcOps) { o.normEps = 0 },
		"eps on post":            func(o *hcOps) { o.postEps = hcEps },
		"no eps in the head":     func(o *hcOps) { o.headEps = 0 },
		"comb transposed":        func(o *hcOps) { o.transposed = true },
	}
	caught := map[string]string{}
	problems := hcProblems()
	require.Len(t, problems, 48)
	for _, p := range problems {
		got, err := w.Run(t.Context(), p.call)
		require.NoError(t, err, p.name)
		for name, want := range p.expect(right) {
			if why := agree(got.Outputs[name], want); why != "" {
				t.Errorf("%s: output %q: the reference and the oracle disagree: %s", p.name, name, why)
			}
		}
		for fault, plant := range faults {
			wrong := right
			plant(&wrong)
			for name, want := range p.expect(wrong) {
				if agree(got.Outputs[name], want) != "" {
					caught[fault] = p.name
				}
			}
		}
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(faults)), slices.Collect(maps.Keys(caught)),
		"faults that disagree somewhere")
	assert.Zero(t, w.Restarts())
}
