package kernels_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/suite"
	kernels "github.com/assay-suite/assay/kernels_test"
)

func TestMHCPre(t *testing.T)  { iterate(t, "mhc_pre") }
func TestMHCPost(t *testing.T) { iterate(t, "mhc_post") }
func TestMHCHead(t *testing.T) { iterate(t, "mhc_head") }

// candidate is the code under test: worker where there is one, else the built-in candidate that follows the
// case's contract to the letter.
func candidate(t *testing.T, contract string, worker kernels.Candidate) kernels.Candidate {
	t.Helper()
	if worker != nil {
		return worker
	}
	r, err := kernels.Built(contract)
	require.NoError(t, err)
	return kernels.FromOps(r.Name, r.Ops())
}

// rhoRules compare the rho tables of the built-in candidates.
var rhoRules = golden.All(golden.Factor(1.5, "rho tables keep two digits and compare within x1.5"))

type rho struct {
	Median golden.Float `json:"median"`
	P99    golden.Float `json:"p99"`
	Max    golden.Float `json:"max"`
	// Martingale is the largest rho under the sharper bound, where one applies.
	Martingale golden.Float `json:"martingale-max,omitempty"`
}

// iterate runs every case of an operator, records its outcome and compares its rho table with the golden.
func iterate(t *testing.T, op string) {
	t.Helper()
	worker := workerOf(t)
	tables := map[string]any{}
	for _, f := range kernels.Families() {
		if f.Op != op {
			continue
		}
		cases := f.Cases()
		for kase, ofKase := range grouped(cases, func(c kernels.Case) string { return c.Kase.ID }) {
			t.Run(kase, func(t *testing.T) {
				for shape, ofShape := range grouped(ofKase, func(c kernels.Case) string { return c.Shape.Slug() }) {
					t.Run(shape, func(t *testing.T) {
						for _, c := range ofShape {
							t.Run(c.Contract.Name, func(t *testing.T) {
								alone := "'^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$'"
								require.Contains(t, c.Again(), alone, "the command of a failure selects another test")
								tables[c.ID] = judge(t, c, worker)
							})
						}
					})
				}
			})
		}
	}
	if worker != nil {
		return // the golden is of the built-in candidates
	}
	golden.Assert(t, "kernels/mhc-rho", golden.Doc{Provenance: provenance("TestMHCPre, TestMHCPost, TestMHCHead"), Cases: tables}, rhoRules)
}

// grouped yields the cases by key, in the order in which the keys appear.
func grouped(cases []kernels.Case, key func(kernels.Case) string) iter.Seq2[string, []kernels.Case] {
	return func(yield func(string, []kernels.Case) bool) {
		seen := map[string]bool{}
		for _, c := range cases {
			k := key(c)
			if seen[k] {
				continue
			}
			seen[k] = true
			group := slices.DeleteFunc(slices.Clone(cases), func(c kernels.Case) bool { return key(c) != k })
			if !yield(k, group) {
				return
			}
		}
	}
}

func provenance(test string) golden.Provenance {
	return golden.Provenance{
		Generator: "kernels_test." + test, Seed: suite.RandDescription + ", the contract's segment left out; NormFloat64 (ziggurat)",
		Source: "oracle in float64 and numerics' bounds (docs/sources.md); nano-v4 rows: fixtures/nano-v4",
	}
}

// judge runs one case and returns its rho table by output.
func judge(t *testing.T, c kernels.Case, worker kernels.Candidate) map[string]rho {
	t.Helper()
	b, err := kernels.NewBench(c)
	require.NoError(t, err)
	under := candidate(t, c.Contract.Name, worker)
	r, err := b.Judge(t.Context(), under)
	result := suite.Result{Case: c.ID, Outcome: suite.Passed, Seconds: r.Seconds, Numbers: suite.Numbers{}}
	table := map[string]rho{}
	for _, f := range r.Findings {
		q := f.Verdict.Rho
		table[f.Output] = rho{twoDigits(q.Median), twoDigits(q.P99), twoDigits(q.Max), twoDigits(f.Verdict.RhoMartingale.Max)}
		result.Numbers["rho-max-"+f.Output] = q.Max
	}
	switch text := b.Failure(t.Context(), under, r); {
	case kernels.Unsupported(err):
		result.Outcome, result.Message = suite.Skip, err.Error()
	case err != nil:
		result.Outcome, result.Message = suite.Errored, err.Error()
		t.Error(err)
	case !r.Accepted():
		f, _ := r.First()
		result.Outcome, result.Message = suite.Failed, f.Verdict.Reason
		t.Error(text)
	}
	require.NoError(t, suite.Record(result))
	return table
}

func twoDigits(x float64) golden.Float {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 1, 64), 64)
	if err != nil || math.IsInf(v, 0) {
		return golden.Float(x)
	}
	return golden.Float(v)
}

// Every correct implementation MUST pass every case under the contract that it declares, whatever its order, split, tile,
// or excess of precision.
func TestMHCCorrectVariants(t *testing.T) {
	variants := kernels.Variants()
	if len(variants) < 40 {
		t.Errorf("%d correct variants, want at least 40", len(variants))
	}
	worst := make([]float64, len(kernels.Cases()))
	t.Run("cases", func(t *testing.T) {
		for i, c := range kernels.Cases() {
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				b, err := kernels.NewBench(c)
				require.NoError(t, err)
				for _, v := range variants {
					if v.Contract != c.Contract.Name {
						continue
					}
					under := kernels.FromOps(v.Name, v.Ops())
					r, err := b.Judge(t.Context(), under)
					require.NoError(t, err)
					if !r.Accepted() {
						t.Errorf("variant %s is correct and was rejected%s", v.Name, b.Failure(t.Context(), under, r))
					}
					for _, f := range r.Findings {
						worst[i] = max(worst[i], f.Verdict.Rho.Max, f.Verdict.RhoMartingale.Max)
					}
				}
			})
		}
	})
	byContract := map[string]float64{}
	for i, c := range kernels.Cases() {
		byContract[c.Contract.Name] = max(byContract[c.Contract.Name], worst[i])
	}
	t.Logf("%d variants, %d cases; largest rho: fp32 %.3g, tf32-rn %.3g, bf16 %.3g", len(variants), len(worst), byContract["fp32"], byContract["tf32-rn"], byContract["bf16"])
}

// A candidate that does not offer an operator MUST be told from one that is wrong.
func TestUnsupportedIsNoFault(t *testing.T) {
	b, err := kernels.NewBench(kernels.Cases()[0])
	require.NoError(t, err)
	_, err = b.Judge(t.Context(), refusing{})
	if !kernels.Unsupported(err) {
		t.Errorf("got %v, want an error that wraps ErrUnsupported", err)
	}
}

type refusing struct{ kernels.Candidate }

func (refusing) Run(ctx context.Context, _ kernels.Call) (kernels.Reply, error) {
	return kernels.Reply{}, errors.Join(kernels.ErrUnsupported, ctx.Err())
}
