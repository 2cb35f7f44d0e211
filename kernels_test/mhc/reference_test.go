package mhc_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/mhc"
)

// What the suites expect MUST be the closed form where there is one. Zero rows have mixes 0, so that post is
// 2·sigmoid(base), whatever fn is; equal logits give a comb of (1-1e-6)/4 (docs/sources.md: 0.2499998).
func TestExpectedClosedForms(t *testing.T) {
	uniform, err := bench.New(find(t, "kernels/mhc-pre/uniform-comb/nano-t2/fp32"))
	require.NoError(t, err)
	comb := output(t, uniform, "comb")
	for i, v := range comb.Want {
		if !(math.Abs(v-0.25/(1+1e-6)) <= 1e-12) {
			t.Errorf("comb[%d] of equal logits is %.9f, want %.9f", i, v, 0.25/(1+1e-6))
		}
	}
	c := find(t, "kernels/mhc-pre/zero-rows/nano-t4/fp32")
	zero, err := bench.New(c)
	require.NoError(t, err)
	p, err := c.Problem()
	require.NoError(t, err)
	post, base := output(t, zero, "post"), p.Operands["base"].Values
	for j := range 4 {
		want := 2 / (1 + math.Exp(-base[4+j]))
		if got := post.Want[4+j]; !(math.Abs(got-want) <= 1e-14) { // token 1 is a zero row
			t.Errorf("post[1, %d] of a zero row is %v, want %v", j, got, want)
		}
	}
	coded := find(t, "kernels/mhc-post/stream-coded/nano-t3/fp32")
	b, err := bench.New(coded)
	require.NoError(t, err)
	p, err = coded.Problem()
	require.NoError(t, err)
	in, out := p.Operands, output(t, b, "out")
	for k := range 4 { // token 0, channel 0: post_k f + sum_j comb[j,k]·(j+1)
		want := in["post"].Values[k] * in["f"].Values[0]
		for j := range 4 {
			want += in["comb"].Values[j*4+k] * float64(j+1)
		}
		if got := out.Want[k*128]; !(math.Abs(got-want) <= 1e-14) {
			t.Errorf("out[0, %d, 0] is %v, want %v", k, got, want)
		}
	}
}

// A looser contract MUST never have the sharper bound: fp32 <= tf32 <= bf16, element by element's largest.
func TestBoundsAreOrdered(t *testing.T) {
	var last float64
	for _, contract := range []string{"fp32", "tf32-rn", "bf16"} {
		b, err := bench.New(find(t, "kernels/mhc-pre/unit-scale/nano-t4/"+contract))
		require.NoError(t, err)
		var worst float64
		for _, v := range output(t, b, "post").Bound {
			worst = max(worst, v)
		}
		if !(worst > last) {
			t.Errorf("the largest bound of post under %s is %.3g, not above %.3g", contract, worst, last)
		}
		if !(worst < 0.05) {
			t.Errorf("the largest bound of post under %s is %.3g: it judges nothing", contract, worst)
		}
		last = worst
	}
}

func output(t *testing.T, b *bench.Bench, name string) bench.Expected {
	t.Helper()
	for _, e := range b.Expected {
		if e.Name == name {
			return e
		}
	}
	t.Fatalf("case %s expects no output %q", b.Case.ID, name)
	return bench.Expected{}
}

func find(t *testing.T, id string) bench.Case {
	t.Helper()
	for _, c := range mhc.Suite().Cases() {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no case is called %q", id)
	return bench.Case{}
}
