package blind

import (
	"context"
	"fmt"
	"slices"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
)

// Seeds is how many kernels of a rare kind are judged.
const Seeds = 100

// Enough is how many of them must be stopped.
const Enough = 95

// rarely are kernels that are wrong in some calls or in few elements, drawn from a seed.
func (d drawn) rarely() []Mutant {
	rare := func(name string, seeded func(seed int) func(c bench.Call, r *bench.Reply)) Mutant {
		wrap := func(seed int) func(c bench.Candidate) bench.Candidate {
			return func(c bench.Candidate) bench.Candidate { return bench.After(c, seeded(seed)) }
		}
		return Mutant{Class: Rare, Name: name, seeded: wrap, wrap: wrap(0)}
	}
	whole := func(name string, wrong func(seed, call int) bool) Mutant {
		return rare(name, func(seed int) func(c bench.Call, r *bench.Reply) {
			call := 0
			return func(_ bench.Call, r *bench.Reply) {
				call++
				if wrong(seed, call) {
					for _, s := range r.Outputs {
						for i, v := range s.Data {
							s.Data[i] = spoiled(s.DType, v)
						}
					}
				}
			}
		})
	}
	return []Mutant{
		whole("wrong in every second call", func(seed, call int) bool { return call%2 == seed%2 }),
		whole("wrong in one call of twenty", func(seed, call int) bool {
			return suite.Seed(fmt.Sprintf("%s call %d of seed %d", d.family.Op, call, seed))%20 == 0
		}),
		rare("wrong in one element of ten thousand", func(seed int) func(c bench.Call, r *bench.Reply) {
			rng := suite.Rand(fmt.Sprintf("%s elements of seed %d", d.family.Op, seed))
			return func(_ bench.Call, r *bench.Reply) {
				for _, o := range d.family.Doc.Outputs {
					s := r.Outputs[o.Name]
					for i, v := range s.Data {
						if rng.IntN(10000) == 0 {
							s.Data[i] = spoiled(s.DType, v)
						}
					}
				}
			}
		}),
	}
}

// spoiled is another value of a dtype: not far from v, and far beyond any rounding.
func spoiled(dtype string, v float64) float64 {
	switch {
	case dtype == bench.U8 && v >= 128:
		return v - 128
	case dtype == bench.U8:
		return v + 128
	case integer(dtype):
		return v + 1
	}
	return bench.Round(dtype, 1.5*v+1)
}

// stale are kernels that keep an operand of the call before, where it has the shape of the present one.
func (d drawn) stale() []Mutant {
	var out []Mutant
	for _, o := range d.family.Doc.Operands {
		out = append(out, Mutant{
			Class: Stale, Hint: o.Name, Name: o.Name + " of the call before",
			wrap: func(c bench.Candidate) bench.Candidate { return &keeper{Candidate: c, name: o.Name} },
		})
	}
	return out
}

// keeper is a candidate that computes with an operand of the call before.
type keeper struct {
	bench.Candidate
	name string

	shape []int
	last  []float64
}

// Run gives the kernel the operand of the call before, where there was one of this shape.
func (k *keeper) Run(ctx context.Context, call bench.Call) (bench.Reply, error) {
	v, ok := call.Views[k.name]
	if !ok {
		return k.Candidate.Run(ctx, call)
	}
	mine := call.Clone()
	s := mine.Storage[v.Storage]
	now := make([]float64, v.Len())
	v.Each(func(i, at int) { now[i] = s.Data[at] })
	if slices.Equal(k.shape, v.Shape) {
		v.Each(func(i, at int) { s.Data[at] = bench.Round(s.DType, k.last[i]) })
	}
	k.shape, k.last = v.Shape, now
	return k.Candidate.Run(ctx, mine)
}
