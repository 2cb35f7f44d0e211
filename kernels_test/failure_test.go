package kernels_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	kernels "github.com/assay-suite/assay/kernels_test"
)

func find(t *testing.T, id string) kernels.Case {
	t.Helper()
	for _, c := range kernels.Cases() {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no case is called %q", id)
	return kernels.Case{}
}

func plant(t *testing.T, name string) kernels.Plant {
	t.Helper()
	plants, err := kernels.Plants()
	require.NoError(t, err)
	for _, p := range plants {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no plant is called %q", name)
	return kernels.Plant{}
}

// failure judges a planted fault in a case and returns the text that a reader gets.
func failure(t *testing.T, fault, id string) string {
	t.Helper()
	c := find(t, id)
	b, err := kernels.NewBench(c)
	require.NoError(t, err)
	under, err := plant(t, fault).Candidate(c.Contract.Name)
	require.NoError(t, err)
	r, err := b.Judge(t.Context(), under)
	require.NoError(t, err)
	require.False(t, r.Accepted())
	return b.Failure(t.Context(), under, r)
}

// A failure MUST say what was claimed, what came, how far it may lie and why, where it is wrong, what explains it, and how to
// run it again.
func TestFailureText(t *testing.T) {
	for _, row := range []struct{ name, fault, id, want string }{
		{
			"bound", "sinkhorn-eps-missing", "kernels/mhc-pre/uniform-comb/nano-t2/fp32", `
    claim    y, post and comb MUST lie within what the declared contract of the mixing GEMM allows after norm, gates and Sinkhorn in fp32, and follow from the operands alone
    got      1 at token 0, to 0 of comb-column-sums
    want     0.999999 ± N   (n+1 = 5 fp32 roundings of a sum near 1; errors of the logits enter through eps alone: N certain)
    shape    8 of 8 elements of comb-column-sums, every element; bound gate: beyond the certain bound of contract "fp32" (rho max N); y ρ <= N, post ρ <= N, comb ρ <= N
    likely   sinkhorn-eps-missing: the softmax and the Sinkhorn steps lack their eps; the gate keeps it; that leaves N of the difference, ρ <= N   (rivals: scale, offset)
    again    go test ./kernels_test -count=1 -run '^TestMHCPre$/^uniform-comb$/^nano-t2$/^fp32$'`,
		},
		{
			"poison", "fn-tail-masked", "kernels/mhc-head/padded-fn/nano-t4/tf32-rn", `
    claim    y MUST lie within what the declared contract of the mixing GEMM allows after norm, gate and collapse in fp32, and follow from the operands alone
    got      N at token 0, channel 0 of y, and NaN with poison around the operands
    want     N ± N   (GEMM under tf32-rn, fp32 norm, sigmoid and eps, then a product and a sum over streams: N certain)
    shape    512 of 512 elements of y, every element; structure gate: poison in inputs that the contract leaves unread changed the output
    likely   reads past fn: poison in the memory around fn alone, which no view reaches, changes the output
    again    go test ./kernels_test -count=1 -run '^TestMHCHead$/^padded-fn$/^nano-t4$/^tf32-rn$'`,
		},
		{
			"unwritten", "last-tile-unwritten", "kernels/mhc-post/lengths/nano-t67/fp32", `
    claim    every stream MUST be post_k f + sum_j comb[j,k] X[j] within five fp32 roundings of its terms, and follow from the operands alone
    got      NaN at token 64, stream 0, channel 0 of out
    want     N ± N   (five fp32 products added in any order: N certain)
    shape    1536 of 34304 elements of out, all of token 64 to 66; structure gate: elements still hold the prefill pattern: they were never written
    likely   launch too small: 1536 elements of out were never written: the grid covers fewer rows or columns than the output has
    again    go test ./kernels_test -count=1 -run '^TestMHCPost$/^lengths$/^nano-t67$/^fp32$'`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, masked(failure(t, row.fault, row.id))); diff != "" {
				t.Errorf("the failure reads otherwise (-want +got):\n%s", diff)
			}
		})
	}
}

// measured are numbers that a test of wording does not fix: anything with a fraction or an exponent but the exact 0.999999.
var measured = regexp.MustCompile(`-?\d+\.\d+(e[-+]\d+)?|\d+e[-+]\d+`)

func masked(text string) string {
	return measured.ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasPrefix(s, "0.999999") {
			return s
		}
		return "N"
	})
}

// The command of a failure MUST survive a shell and select nothing but its case.
func TestAgainIsAnchoredAndQuoted(t *testing.T) {
	got := kernels.Again("TestA", "x.y", "it's")
	want := `go test ./kernels_test -count=1 -run '^TestA$/^x\.y$/^it'\''s$'`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The cause that a failure names first MUST be the planted one in at least 80 of 100 cases, and it MUST be among those named
// in at least 95; tried on the first three cases that reject each fault.
func TestCausesAreNamed(t *testing.T) {
	plants, err := kernels.Plants()
	require.NoError(t, err)
	var first, named, total int
	for _, p := range plants {
		want := cause[p.Name]
		if want == "" {
			want = p.Name
		}
		seen := 0
		for _, c := range kernels.Cases() {
			if seen == 3 || !p.Concerns(c) || home(p) != c.Contract.Name || c.Shape.K() > 512 || want == "structure" || c.Shape.Tokens > 8 && want != "launch too small" {
				continue
			}
			b, err := kernels.NewBench(c)
			require.NoError(t, err)
			under, err := p.Candidate(c.Contract.Name)
			require.NoError(t, err)
			r, err := b.Judge(t.Context(), under)
			require.NoError(t, err)
			if r.Accepted() {
				continue
			}
			seen++
			total++
			for i, guess := range b.Explain(t.Context(), under, r) {
				if guess.Name == want {
					named++
					if i == 0 {
						first++
					}
					break
				}
			}
		}
	}
	t.Logf("named first in %d, named at all in %d of %d", first, named, total)
	if 100*first < 80*total || 100*named < 95*total {
		t.Errorf("the planted cause is named first in %d and named at all in %d of %d", first, named, total)
	}
}

// cause is the name under which a fault of memory is known to Explain, which cannot tell the ways of reading past an operand
// apart. "structure": the gate's reason says it already.
var cause = map[string]string{
	"k-tail-masked": "reads past x", "k-tail-through-fmax": "reads past x", "rows-beyond-masked": "reads past x", "stride-ignored": "reads past x",
	"fn-tail-masked": "reads past fn", "gates-offset-ignored": "reads past comb", "last-tile-unwritten": "launch too small",
	"rows-missing": "structure", "input-overwritten": "structure",
}
