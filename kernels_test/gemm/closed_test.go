package gemm_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/gemm"
	"github.com/assay-suite/assay/numerics"
)

// caseOf finds a case by its ID.
func caseOf(t *testing.T, id string) bench.Case {
	t.Helper()
	for _, c := range gemm.Suite().Cases() {
		if c.ID == id {
			return c
		}
	}
	require.Fail(t, "no case", id)
	return bench.Case{}
}

func plantOf(t *testing.T, row string) bench.Plant {
	t.Helper()
	for _, p := range gemm.Suite().Plants {
		if p.Row == row {
			return p
		}
	}
	require.Fail(t, "no plant", row)
	return bench.Plant{}
}

// constants fills the operands of a product: 2 and 3 under multipliers of 0.5 and 0.25, whose products and sums are
// exact.
func constants(p *bench.Problem) (perProduct float64) {
	packed := map[bool]map[string]float64{
		false: {"x": 2, "w": 3}, true: {"x": 0x44, "w": 0x55},
	}
	for _, name := range []string{"x", "w"} {
		v := packed[p.Operands[name].DType == bench.U8][name]
		p.Change(name, func(int, float64) float64 { return v })
	}
	perProduct = 6
	for name, v := range map[string]float64{
		"x_scale": 0.5, "w_scale": 0.25, "input_scale": 2, "weight_scale_2": 0.125, "alpha": 8,
	} {
		if _, ok := p.Operands[name]; ok {
			p.Change(name, func(int, float64) float64 { return v })
			perProduct *= v
		}
	}
	return perProduct
}

// Constant operands MUST give K times one product, in every row that an expert has.
func TestConstantOperands(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range gemm.Suite().Cases() {
		if strings.HasPrefix(c.Family.Op, "quantise") || seen[c.Family.Op] || c.Shape.Dim("m") < 2 ||
			c.Scenario.Relate != nil {
			continue
		}
		seen[c.Family.Op] = true
		p, err := c.Problem()
		require.NoError(t, err)
		want := constants(&p) * float64(c.Shape.Dim("k"))
		expected, err := c.Family.Expect(c, p)
		require.NoError(t, err)
		judged := 0
		for i, v := range expected[0].Want {
			if expected[0].Free != nil && expected[0].Free[i] {
				continue
			}
			judged++
			if v != want {
				t.Errorf("%s: y[%d] is %v, K = %d products give %v", c.ID, i, v, c.Shape.Dim("k"), want)
				break
			}
		}
		if judged == 0 {
			t.Errorf("%s judges nothing", c.ID)
		}
	}
	if len(seen) != 10 {
		t.Errorf("%d products were looked at, want 10", len(seen))
	}
}

// The smallest input of the 13-bit accumulator: 448·448 + 255 times 7.5·1 is 202,616.5, and 200,704 where each of the
// small products is cut away beside the large one.
func TestSmallestInput(t *testing.T) {
	c := caseOf(t, "kernels/fp8-gemm/one-large/k256/fp8")
	b, err := bench.New(c)
	require.NoError(t, err)
	if got := b.Expected[0].Want[0]; got != 202616.5 {
		t.Errorf("the exact value is %v, want 202616.5", got)
	}
	under, err := plantOf(t, "A1").Build("fp8")
	require.NoError(t, err)
	reply, err := under.Run(t.Context(), b.Call())
	require.NoError(t, err)
	if got := reply.Outputs["y"].Data[0]; got != 200704 {
		t.Errorf("the accumulator of 13 bits gives %v, want 200704", got)
	}
}

// What 3xTF32 loses of its small parts grows with K by one sign, and MUST be rejected at every depth of sums of one
// sign, and its mean error MUST grow faster than that of a correct kernel.
func TestDepthOfThreeTF32(t *testing.T) {
	under, err := plantOf(t, "A4").Build("tf32x3")
	require.NoError(t, err)
	correct, err := gemm.Suite().Built("tf32x3")
	require.NoError(t, err)
	var faulty, sound []float64
	for _, k := range []string{"k64", "k256", "k1024", "k3072"} {
		b, err := bench.New(caseOf(t, "kernels/dense-gemm/depth/"+k+"/tf32x3"))
		require.NoError(t, err)
		r, err := b.Judge(t.Context(), under)
		require.NoError(t, err)
		if r.Accepted() {
			t.Errorf("at depth %s small parts rounded towards zero are accepted", k)
		}
		ok, err := b.Judge(t.Context(), correct)
		require.NoError(t, err)
		want := b.Expected[0].Want
		faulty, sound = append(faulty, numerics.RelL2(r.Findings[0].Got, want)),
			append(sound, numerics.RelL2(ok.Findings[0].Got, want))
	}
	t.Logf("relative error by depth: %.2g with the fault, %.2g without", faulty, sound)
	if grown, sane := faulty[3]/faulty[0], sound[3]/sound[0]; grown < 24 || sane > grown/2 {
		t.Errorf("the error grows %.3g-fold from K = 64 to 3,072, without the fault %.3g-fold; a loss of one sign grows "+
			"with K itself, 48-fold, rounding more slowly", grown, sane)
	}
}

// A change of one output by a bf16 step MUST be seen, whatever the size of the sum.
func TestOneStepIsSeen(t *testing.T) {
	for _, op := range []string{
		"block-fp8-gemm/rows/m8-n24-k160", "mxfp4-gemm/rows/m8-n24-k160", "nvfp4-gemm/few-rows/m8-n24-k96",
		"masked-gemm/alone/e4-m9-n24-k160-a1",
	} {
		b, err := bench.New(caseOf(t, "kernels/"+op+"/fp32"))
		require.NoError(t, err)
		correct, err := gemm.Suite().Built("fp32")
		require.NoError(t, err)
		wrong := bench.After(correct, func(_ bench.Call, r *bench.Reply) {
			y := r.Outputs["y"].Data
			for i, v := range y {
				if e := b.Expected[0]; !e.Free[i] && v != 0 {
					y[i] = float64(math.Float32frombits(math.Float32bits(float32(v)) + 1<<16)) // the next bf16 number
					return
				}
			}
		})
		r, err := b.Judge(t.Context(), wrong)
		require.NoError(t, err)
		if r.Accepted() {
			t.Errorf("%s: an output that is one bf16 step off is accepted", op)
		}
	}
}

// A rejected case MUST be shrunk to one that is rejected for the same operator, whatever dimensions its shape has.
func TestShrinks(t *testing.T) {
	for row, id := range map[string]string{
		"Q5": "batched-mxfp8-gemm/rows/b2-m63-n12-k64", "A2": "block-fp8-gemm/one-sign/k1024",
		"R6": "masked-gemm/few-rows/e3-m8-n24-k160-a1",
	} {
		b, err := bench.New(caseOf(t, "kernels/"+id+"/fp32"))
		require.NoError(t, err)
		under, err := plantOf(t, row).Build("fp32")
		require.NoError(t, err)
		r, err := b.Judge(t.Context(), under)
		require.NoError(t, err)
		require.False(t, r.Accepted(), id)
		small, still := bench.Shrink(t.Context(), b, r, under, 60)
		if f, _ := still.First(); still.Accepted() || f.Verdict.Where.Count == 0 && f.Verdict.Gate == numerics.Structure {
			t.Errorf("%s shrinks to %v, where the finding is %q", id, small.Case.Shape.Dims, f.Verdict.Reason)
		}
		t.Logf("%s: %v to %v", row, b.Case.Shape.Dims, small.Case.Shape.Dims)
	}
}
