package bench

import (
	"context"
	"fmt"

	"github.com/assay-suite/assay/numerics"
)

// Declared is the contract that a candidate is judged under, and how it was found.
type Declared struct {
	Contract string
	Why      string
}

// Declare finds the contract of a candidate for a family, so that nobody has to declare one by hand: of the contracts,
// sharpest first, the first one whose first rows all accept it; where none does, the loosest, since not even that one
// does. Rows are how many rows are tried, 3 where 0. An error says that the candidate broke or does not offer the
// operator.
func (s Suite) Declare(ctx context.Context, f Family, under Candidate, rows int) (Declared, error) {
	if len(f.Contracts) == 1 {
		return Declared{f.Contracts[0].Name, "it is the only one"}, nil
	}
	var offered bool
	var last error
	for _, contract := range f.Contracts {
		tried, accepted, arithmetic := 0, true, ""
		for _, c := range s.Cases() {
			if c.Family.Op != f.Op || c.Contract.Name != contract.Name || tried >= max(rows, 3) || c.Scenario.Relate != nil {
				continue
			}
			b, err := New(c)
			if err != nil {
				return Declared{}, err
			}
			r, err := b.Judge(ctx, under)
			switch {
			case ctx.Err() != nil:
				return Declared{}, ctx.Err()
			case err != nil:
				last = err
				continue
			}
			offered = true
			tried++
			accepted = accepted && r.Accepted()
			if arithmetic == "" {
				arithmetic = b.Arithmetic(r)
			}
		}
		if tried > 0 && accepted {
			why := fmt.Sprintf("the sharpest contract that accepts its first %d rows", tried)
			if arithmetic != "" {
				why += "; " + arithmetic
			}
			return Declared{contract.Name, why}, nil
		}
	}
	loosest := f.Contracts[len(f.Contracts)-1].Name
	if !offered {
		return Declared{}, fmt.Errorf("%s: no contract can be found, since no row of it ran: %w", f.Op, last)
	}
	return Declared{loosest, "no contract accepts its first rows; this is the loosest"}, nil
}

// Arithmetic says which accumulator reproduces a GEMM-like output bit for bit, or nothing where the case has no such
// output.
func (b *Bench) Arithmetic(r Report) string {
	for i, e := range b.Expected {
		if e.Gemm == nil || i >= len(r.Findings) || len(r.Findings[i].Got) != e.Gemm.M*e.Gemm.N {
			continue
		}
		found, err := numerics.Explain(r.Findings[i].Got, *e.Gemm)
		if err == nil && found.Explained() {
			return e.Name + " is " + found.String()
		}
	}
	return ""
}
