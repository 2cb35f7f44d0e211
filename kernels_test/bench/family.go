package bench

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics"
)

// Suite groups related operators with the variants and planted faults that validate the judge.
type Suite struct {
	Name     string // slug: indexer, attention, ...
	Families []Family
	// Built is the candidate that follows a declared contract to the letter; it is what runs where no worker is given.
	Built    func(contract string) (Candidate, error)
	Variants []Variant // correct implementations: none may be flagged
	Plants   []Plant   // faults: each must be flagged
	Memo     *Memo     // keeps what Facets lists; nil: it is listed again each time
}

// Family is the cases of one operator.
type Family struct {
	Op        string // the operator's own name, mhc_pre
	Slug      string // its segment in case IDs, mhc-pre
	Claim     string // one sentence with MUST
	Doc       Doc
	Contracts []numerics.Contract // sharpest first
	Draw      func(g Gen) (Problem, error)
	Expect    func(c Case, p Problem) ([]Expected, error)
	Scenarios []Scenario
	// Twins neutralise one feature of a problem each, most specific first: where the candidate passes the twin, the
	// feature is what it gets wrong.
	Twins []Twin
	// Facets says which operands make the facets that a candidate can offer.
	Facets FacetRule
	// NaN says where a NaN in an operand does something else than reach every result that depends on it.
	NaN NaNRule
}

// Doc is the operator's row in the table of adapters/README.md.
type Doc struct {
	Summary           string // one line, with the formula's name
	Operands, Outputs []TensorDoc
	Attrs             []AttrDoc
}

// TensorDoc describes an operand or an output.
type TensorDoc struct{ Name, DType, Shape, Meaning string }

// AttrDoc describes an attribute.
type AttrDoc struct{ Name, Meaning string }

// Scenario is one idea of a family's table, run on every shape and under every contract named.
type Scenario struct {
	ID, Why   string
	Phase     string   // prefill, decode, extend; empty where the operator has none
	Catches   []string // public bugs or catalogue rows; never read by the judge
	Shapes    []Shape
	Contracts []string // names of Family.Contracts; nil is all of them
	Layout    map[string]Layout
	Change    func(g Gen, p *Problem) error // edits what Draw drew; nil keeps it
	// Relate makes the row metamorphic: the candidate's answers to the parts, joined, are compared with its answer to the
	// whole.
	Relate func(g Gen, p Problem) (Relation, error)
	// Full rows run under ASSAY_BUDGET=full only: production sizes.
	Full bool
}

// Relation is a metamorphic restatement of a problem: parts, and how to join their outputs.
type Relation struct {
	Parts []Problem
	Join  func(parts []Results) (Results, error)
	// With are problems of other requests that run in the same launch as the first part, where the candidate can do that:
	// its outputs must not change.
	With []Problem
	// Exact asks for equal bits; else both sides may each lie within the contract's bound of the truth.
	Exact bool
}

// Twin neutralises one feature.
type Twin struct {
	Class, Name string
	// Apply edits a problem (a deep copy); false where the feature is neutral already.
	Apply func(g Gen, p *Problem) bool
}

// Gen draws a case's inputs. Its random numbers follow from the case ID alone, the contract's segment left out.
type Gen struct {
	*rand.Rand
	Shape    Shape
	Contract numerics.Contract
}

// Normal draws n Gaussians of standard deviation sd (NormFloat64, ziggurat), as fp32 values.
func (g Gen) Normal(n int, sd float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(float32(sd * g.NormFloat64()))
	}
	return out
}

// Case is one row at one shape under one contract.
type Case struct {
	ID       string   // slug path, kernels/topk/all-equal/flash-s1300-t1/ties-any
	Claim    string   // the family's
	Catches  []string // the scenario's
	Suite    string
	Family   Family
	Scenario Scenario
	Shape    Shape
	Contract numerics.Contract
	Command  string // what judges it again; empty: `go test ./kernels_test` with the case's name
	NaN      string // NaNAny where the candidate declares that results of a NaN may be anything
}

// Cases lists every case of a suite that the budget allows, sorted by ID: rows marked Full are left out unless
// ASSAY_BUDGET is full.
func (s Suite) Cases() []Case {
	var out []Case
	for _, f := range s.Families {
		for _, k := range f.Scenarios {
			if k.Full && !full() {
				continue
			}
			for _, shape := range k.Shapes {
				for _, c := range f.Contracts {
					if k.Contracts == nil || slices.Contains(k.Contracts, c.Name) {
						out = append(out, s.at(f, k, shape, c))
					}
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Case) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func full() bool {
	budget, _ := suite.Value("ASSAY_BUDGET")
	return budget == "full"
}

func (s Suite) at(f Family, k Scenario, shape Shape, c numerics.Contract) Case {
	return Case{
		ID:    fmt.Sprintf("kernels/%s/%s/%s/%s", f.Slug, k.ID, shape.Name, c.Name),
		Claim: f.Claim, Catches: k.Catches,
		Suite: s.Name, Family: f, Scenario: k, Shape: shape, Contract: c,
	}
}

// RowID is the case ID without its contract: the contracts of a row judge the same inputs.
func (c Case) RowID() string {
	return fmt.Sprintf("kernels/%s/%s/%s", c.Family.Slug, c.Scenario.ID, c.Shape.Name)
}

// gen is the generator of the case, at its beginning.
func (c Case) gen() Gen { return Gen{suite.Rand(c.RowID()), c.Shape, c.Contract} }

// Problem draws the case's inputs.
func (c Case) Problem() (Problem, error) {
	g := c.gen()
	p, err := c.Family.Draw(g)
	if err != nil {
		return p, fmt.Errorf("the inputs of case %q cannot be drawn: %w", c.ID, err)
	}
	if p.Layout == nil {
		p.Layout = map[string]Layout{}
	}
	maps.Copy(p.Layout, c.Scenario.Layout)
	if c.Scenario.Change != nil {
		if err := c.Scenario.Change(g, &p); err != nil {
			return p, fmt.Errorf("the inputs of case %q cannot be drawn: %w", c.ID, err)
		}
	}
	if err := p.check(); err != nil {
		return p, fmt.Errorf("the inputs of case %q: %w", c.ID, err)
	}
	return p, nil
}

// Variant is a correct implementation of some operators.
type Variant struct {
	Name      string
	Contract  string // what it declares; empty: correct under every contract of its operators
	Candidate Candidate
}

// Plant is a fault put into an otherwise correct candidate, to see that the judge finds it.
type Plant struct {
	Name, Effect, Origin string
	Row                  string   // row of the catalogue, T1; empty for a suite's own
	Class                string   // what the diagnosis should say; for a row of the catalogue the row's (RowPlant)
	On                   []string // operators it applies to
	Declared             []string // contracts under whose cases it runs; nil is all
	Build                func(contract string) (Candidate, error)
}

// Concerns tells whether a plant can be put into a case.
func (p Plant) Concerns(c Case) bool {
	return slices.Contains(p.On, c.Family.Op) && (p.Declared == nil || slices.Contains(p.Declared, c.Contract.Name))
}

// Concerns tells whether a variant is correct in a case, offering its operator.
func (v Variant) Concerns(c Case, h Hello) bool {
	_, has := h.Ops[c.Family.Op]
	return has && (v.Contract == "" || v.Contract == c.Contract.Name)
}
