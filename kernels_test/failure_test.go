package kernels_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// rejected judges a planted fault in a case.
func rejected(t *testing.T, fault, id string) (bench.Suite, *bench.Bench, bench.Candidate, bench.Report) {
	t.Helper()
	c := find(t, id)
	s, p := plant(t, c.Suite, fault)
	b, err := bench.New(c)
	require.NoError(t, err)
	under, err := p.Build(c.Contract.Name)
	require.NoError(t, err)
	r, err := b.Judge(t.Context(), under)
	require.NoError(t, err)
	require.False(t, r.Accepted())
	return s, b, under, r
}

var numbers = regexp.MustCompile(`-?\d+\.\d+(e[-+]\d+)?|\d+e[-+]\d+`)

// A failure MUST say what was claimed, what came, how far it may lie and why, where it is wrong, what explains it,
// which known bug it looks like, and how to run it again.
func TestFailureText(t *testing.T) {
	for _, row := range []struct{ name, fault, id, want string }{
		{
			"bound", "rms-eps-missing", "kernels/rms-norm/tiny/d512-t4/fp32", `
    claim    y MUST be x/sqrt(mean(x^2)+eps) times the weight within fp32 evaluation in any order, rounded once ` +
				`to its dtype
    why      rows where eps is most of the sum
    got      N at row 0, channel 0 of y
    want     N ± N   (fp32 sum of squares in any order, root, two products, one rounding to the output: N certain)
    shape    2048 of 2048 elements of y, every element; bound gate: beyond the certain bound of contract "fp32" ` +
				`(rho max N)
    likely   eps (eps too small to matter): the same case passes with eps too small to matter   (rivals: scale (scale))
    like     rms-eps-missing: the norm has no eps (eps dropped in a fused norm); that leaves 0 of the difference
    again    go test ./kernels_test -count=1 -run '^TestCases$/^rms-norm$/^tiny$/^d512-t4$/^fp32$'`,
		},
		{
			"poison", "fn-tail-masked", "kernels/mhc-head/padded-fn/nano-t4/tf32-rn", `
    claim    y MUST lie within what the declared contract of the mixing GEMM allows after norm, gate and collapse ` +
				`in fp32, and follow from the operands alone
    why      weights sliced out of a wider tensor
    got      N at token 0, channel 0 of y, and NaN with poison in what is not to be read
    want     N ± N   (GEMM under tf32-rn, fp32 norm, sigmoid and eps, then a product and a sum over streams: N certain)
    shape    512 of 512 elements of y, every element; structure gate: poison in inputs that the contract leaves ` +
				`unread changed the output
    likely   unread-memory (reads past fn): poison in the memory around fn, and in those of its elements that the ` +
				`operator leaves unread, changes the output   (rivals: strides (dense operands))
    again    go test ./kernels_test -count=1 -run '^TestCases$/^mhc-head$/^padded-fn$/^nano-t4$/^tf32-rn$'`,
		},
		{
			"unwritten", "last-tile-unwritten", "kernels/mhc-post/lengths/nano-t67/fp32", `
    claim    every stream MUST be post_k f + sum_j comb[j,k] X[j] within five fp32 roundings of its terms, and ` +
				`follow from the operands alone
    why      no token, one, and the edges of a tile of 64
    got      NaN at token 64, stream 0, channel 0 of out
    want     N ± N   (five fp32 products added in any order: N certain)
    shape    1536 of 34304 elements of out, all of token 64 to 66; structure gate: elements still hold the ` +
				`prefill pattern: they were never written
    likely   unwritten (launch too small): 1536 elements of out were never written
    like     last-tile-unwritten: rows of a last tile that is not full, tile 64, are never written (grid rounded ` +
				`down); that leaves 0 of the difference
    again    go test ./kernels_test -count=1 -run '^TestCases$/^mhc-post$/^lengths$/^nano-t67$/^fp32$'`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, b, under, r := rejected(t, row.fault, row.id)
			got := numbers.ReplaceAllString(b.Failure(t.Context(), under, r, s.Plants), "N")
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A failure MUST be shrunk to fewer tokens that still fail.
func TestShrink(t *testing.T) {
	_, b, under, r := rejected(t, "rms-half-lanes", "kernels/rms-norm/lengths/d512-t65/fp32")
	small, report := bench.Shrink(t.Context(), b, r, under, 200)
	assert.False(t, report.Accepted())
	assert.Equal(t, map[string]int{"rows": 1, "width": 1}["rows"], small.Case.Shape.Dim("rows"))
	assert.Less(t, small.Case.Shape.Dim("width"), 8)
}

// The repro MUST show the failure with numpy alone, appear complete, and accept the right outputs.
func TestRepro(t *testing.T) {
	python := value("ASSAY_PYTHON")
	if python == "" {
		t.Skip("set ASSAY_PYTHON to an interpreter with numpy to run the repro")
	}
	s, b, under, r := rejected(t, "rms-half-lanes", "kernels/rms-norm/padded/d512-t5/bf16-out")
	dir := filepath.Join(t.TempDir(), "repros", "case")
	require.NoError(t, b.WriteRepro(dir, r, b.Failure(t.Context(), under, r, s.Plants)))
	out, err := exec.CommandContext(t.Context(), python, filepath.Join(dir, "repro.py")).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "2560 of 2560 elements beyond the bound")
	script, err := os.ReadFile(filepath.Join(dir, "repro.py"))
	require.NoError(t, err)
	fixed := regexp.MustCompile(`    raise NotImplementedError\n`).ReplaceAllString(string(script),
		`    x = operands["x"].astype(np.float64)
    outputs["y"][...] = x / np.sqrt((x * x).mean(1, keepdims=True) + attrs["norm_eps"]) * operands["weight"]
`)
	// float64 is not rounded to bf16 here
	fixed = regexp.MustCompile(`\(off <= bound\)`).ReplaceAllString(fixed, `(off <= 2 * bound)`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fixed.py"), []byte(fixed), 0o600))
	out, err = exec.CommandContext(t.Context(), python, filepath.Join(dir, "fixed.py")).CombinedOutput()
	require.NoError(t, err, string(out))
	entries, err := os.ReadDir(filepath.Dir(dir))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "a temporary folder is left")
}
