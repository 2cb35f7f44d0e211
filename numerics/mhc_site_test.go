package numerics_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// mhcSite is one hyper-connection of a checkpoint and the hidden states that enter it.
type mhcSite struct {
	name            string
	x               []float64 // [tokens, streams·width], un-normalised residual
	tokens, k       int
	fn, scale, base []float64 // [24, k], [3], [24]
	rows            int
}

var mhcConfig = oracle.HCConfig{Streams: 4, Iterations: 20, Eps: 1e-6, NormEps: 1e-6}

// newSite reads prefix+"fn", +"scale" and +"base".
func newSite(t testing.TB, f tensors, name, prefix string, x []float64) mhcSite {
	t.Helper()
	fn := read(t, f, prefix+"fn")
	require.Len(t, fn.shape, 2)
	k := fn.shape[1]
	require.Zero(t, len(x)%k, "hidden states of %d values are no rows of %d", len(x), k)
	return mhcSite{
		name: name, x: x, tokens: len(x) / k, k: k, rows: fn.shape[0],
		fn: fn.v, scale: read(t, f, prefix+"scale").v, base: read(t, f, prefix+"base").v,
	}
}

// mhcCase is the deviation of one contract from float64 at one site: of the mixes, and of the gates after sigmoid and
// Sinkhorn, which are evaluated in float64 on both sides so that the GEMM alone is measured.
type mhcCase struct {
	RelL2         golden.Float `json:"rel-l2-mixes"`
	Rho           rhoTable     `json:"rho"`
	RhoStrict     rhoTable     `json:"rho-strict"`
	RhoMartingale *rhoTable    `json:"rho-martingale,omitempty"`
	Pre           golden.Float `json:"max-abs-pre"`
	Post          golden.Float `json:"max-abs-post"`
	Comb          golden.Float `json:"max-abs-comb"`
}

var mhcRules = golden.Rules{Default: golden.Exact("names")}.
	With("rho*/*", golden.Factor(1.5, "rho tables keep two digits and compare within x1.5")).
	With("*", golden.Factor(1.5, "two digits of a deviation, as rho tables"))

// measured is a case with what the test asserts on.
type measured struct {
	mhcCase
	got    []float64
	bounds numerics.GemmBounds
}

// measureMHC runs the site's GEMM under c and compares with float64.
func measureMHC(t testing.TB, s mhcSite, c numerics.Contract) measured {
	t.Helper()
	got, err := c.Gemm(s.x, s.fn, s.tokens, s.rows, s.k)
	require.NoError(t, err)
	b, err := c.GemmBounds(s.x, s.fn, s.tokens, s.rows, s.k, alpha)
	require.NoError(t, err)
	pre, post, comb := s.gates(got)
	preX, postX, combX := s.gates(b.Want)
	m := measured{got: got, bounds: b, mhcCase: mhcCase{
		RelL2:     twoDigits(numerics.RelL2(s.normed(got), s.normed(b.Want))),
		Rho:       tableOf(numerics.QuantilesOf(numerics.Rho(got, b.Want, b.Det))),
		RhoStrict: tableOf(numerics.QuantilesOf(numerics.Rho(got, b.Center, b.Strict))),
		Pre:       twoDigits(numerics.MaxAbs(pre, preX)),
		Post:      twoDigits(numerics.MaxAbs(post, postX)),
		Comb:      twoDigits(numerics.MaxAbs(comb, combX)),
	}}
	if b.Martingale != nil {
		q := tableOf(numerics.QuantilesOf(numerics.Rho(got, b.Want, b.Martingale)))
		m.RhoMartingale = &q
	}
	return m
}

// normed multiplies a GEMM result by 1/sqrt(mean(x²)+eps) of its row, exactly.
func (s mhcSite) normed(mixes []float64) []float64 {
	out := make([]float64, len(mixes))
	for t := range s.tokens {
		var sq float64
		for _, v := range s.x[t*s.k : (t+1)*s.k] {
			sq += v * v
		}
		r := 1 / math.Sqrt(sq/float64(s.k)+mhcConfig.NormEps)
		for j := range s.rows {
			out[t*s.rows+j] = mixes[t*s.rows+j] * r
		}
	}
	return out
}

func (s mhcSite) gates(mixes []float64) (pre, post, comb []float64) {
	m := oracle.Mat{Rows: s.tokens, Cols: s.rows, Data: s.normed(mixes)}
	a, b, c := oracle.HCSplit(m, s.scale, s.base, mhcConfig)
	return a.Data, b.Data, c.Data
}

// judgeSite judges got at the site under c, around what c reads.
func judgeSite(s mhcSite, m measured, got []float64, c numerics.Contract) numerics.Verdict {
	return numerics.Judge(numerics.Trial{
		Shape: []int{s.tokens, s.rows}, Axes: []string{"token", "mix"}, Got: got,
		Want: m.bounds.Center, Bound: m.bounds.Strict, Martingale: m.bounds.Martingale, Alpha: alpha,
	}, c)
}

// checkLadder asserts what must hold at every site, whatever the numbers: each contract inside its own bound, and
// each rejected under the next finer one.
func checkLadder(t *testing.T, s mhcSite) map[string]any {
	t.Helper()
	contracts := []numerics.Contract{numerics.MHCFP32(), numerics.MHCTF32(), numerics.MHCBF16()}
	cases := map[string]any{}
	var finer measured
	for i, c := range contracts {
		m := measureMHC(t, s, c)
		cases[s.name+"/"+c.Name] = m.mhcCase
		t.Logf("%-14s %-8s mixes rel L2 %8.2g, strict rho max %-7.2g max abs after: pre %.2g post %.2g comb %.2g",
			s.name, c.Name, float64(m.RelL2), float64(m.RhoStrict.Max), float64(m.Pre), float64(m.Post), float64(m.Comb))
		if v := judgeSite(s, m, m.got, c); !v.Accepted {
			t.Errorf("%s under its own contract %s: %v", s.name, c.Name, v)
		}
		if i > 0 {
			if v := judgeSite(s, finer, m.got, contracts[i-1]); v.Accepted || v.Gate != numerics.Bound {
				t.Errorf("%s: %s sold as %s is not rejected by the bound: %v", s.name, c.Name, contracts[i-1].Name, v)
			}
		}
		finer = m
	}
	return cases
}
