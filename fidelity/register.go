package fidelity

import "github.com/assay-suite/assay/internal/suite"

func init() {
	if p, err := NewPlan(Full, 0); err == nil { // a test holds that it is nil
		for _, c := range p.Cells {
			suite.Register(c.Case)
		}
	}
	for _, g := range (Judgement{Golden: &Comparison{}}).gates() {
		suite.Register(suite.Case{ID: g.id, Claim: g.claim})
	}
}
