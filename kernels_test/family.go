package kernels

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics"
)

// Family is the suite of one operator.
type Family struct {
	Op    string // the operator's own name, mhc_pre
	Slug  string // its segment in case IDs, mhc-pre
	Test  string // the test that iterates it, TestMHCPre
	Claim string // one sentence with MUST
	Draw  func(Gen) Problem
	Kases []Kase
}

// Kase is a row of a suite's table: one idea, run on every shape and under every contract named.
type Kase struct {
	ID, Why   string
	Catches   []string // public bugs; never read by the judge
	Shapes    []Shape
	Contracts []string                 // names of Declared; nil is all of them
	Layout    map[string]Layout        // operands that do not lie densely
	Change    func(Gen, Problem) error // edits what Draw drew; nil keeps it
}

// Case is one row at one shape under one contract.
type Case struct {
	suite.Case
	Family   Family
	Kase     Kase
	Shape    Shape
	Contract numerics.Contract
}

// Families lists the suites.
func Families() []Family { return []Family{mhcPre, mhcPost, mhcHead} }

// Cases lists every case of every suite, sorted by ID.
func Cases() []Case {
	var out []Case
	for _, f := range Families() {
		out = append(out, f.Cases()...)
	}
	return out
}

// Cases expands the table.
func (f Family) Cases() []Case {
	var out []Case
	for _, k := range f.Kases {
		for _, s := range k.Shapes {
			for _, c := range declared() {
				if k.Contracts != nil && !slices.Contains(k.Contracts, c.Name) {
					continue
				}
				out = append(out, f.at(k, s, c))
			}
		}
	}
	slices.SortFunc(out, func(a, b Case) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (f Family) at(k Kase, s Shape, c numerics.Contract) Case {
	elements := 0
	for _, shape := range f.outputShapes(s) {
		n := 1
		for _, d := range shape {
			n *= d
		}
		elements += n
	}
	return Case{
		Case: suite.Case{
			ID:      fmt.Sprintf("kernels/%s/%s/%s/%s", f.Slug, k.ID, s.Slug(), c.Name),
			Claim:   f.Claim,
			Catches: k.Catches,
			Cost:    suite.Cost{Elements: elements},
		},
		Family: f, Kase: k, Shape: s, Contract: c,
	}
}

// outputShapes is what the operator writes at a shape.
func (f Family) outputShapes(s Shape) map[string][]int {
	t, n, c := s.Tokens, s.Streams, s.Width
	switch f.Op {
	case "mhc_pre":
		return map[string][]int{"y": {t, c}, "post": {t, n}, "comb": {t, n, n}}
	case "mhc_post":
		return map[string][]int{"out": {t, n, c}}
	}
	return map[string][]int{"y": {t, c}}
}

// seedID is the case ID without its contract: the three contracts of a row judge the same inputs.
func (c Case) seedID() string {
	return fmt.Sprintf("kernels/%s/%s/%s", c.Family.Slug, c.Kase.ID, c.Shape.Slug())
}

// Problem draws the case's inputs.
func (c Case) Problem() (Problem, error) {
	g := Gen{suite.Rand(c.seedID()), c.Shape}
	p := c.Family.Draw(g)
	p.Outputs = c.Family.outputShapes(c.Shape)
	for name, l := range c.Kase.Layout {
		if _, ok := p.Operands[name]; !ok {
			return p, fmt.Errorf("case %q lays out operand %q, which %s does not have", c.ID, name, c.Family.Op)
		}
		p.Layout[name] = l
	}
	if c.Kase.Change != nil {
		if err := c.Kase.Change(g, p); err != nil {
			return p, fmt.Errorf("the inputs of case %q cannot be drawn: %w", c.ID, err)
		}
	}
	return p, nil
}

// declared are the contracts of the mixing GEMM that the suites know.
func declared() []numerics.Contract {
	return []numerics.Contract{numerics.MHCFP32(), numerics.MHCTF32(), numerics.MHCBF16()}
}

func init() {
	for _, c := range Cases() {
		suite.Register(c.Case)
	}
}
