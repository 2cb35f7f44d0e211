package sparse

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/bench/softmax"
	"github.com/assay-suite/assay/oracle/faults"
)

// attending is the contract's own kernel with a step replaced.
func attending(change func(k *kernel[float32])) func(string) (bench.Candidate, error) {
	return func(contract string) (bench.Candidate, error) {
		k, err := ownAttention(contract)
		if err != nil {
			return nil, err
		}
		change(&k)
		return bench.FromKernel("faulty", opAttention, k.run), nil
	}
}

// mergingWith is the built-in merge with a step replaced, of both operators.
func mergingWith(change func(m *merger[float32])) func(string) (bench.Candidate, error) {
	return func(string) (bench.Candidate, error) {
		m := naturalMerge()
		change(&m)
		return m.candidate("faulty"), nil
	}
}

// seeing and after wrap the contract's own candidate.
func seeing(f func(c *bench.Call)) func(string) (bench.Candidate, error) {
	return bench.Builder(built).Before(f)
}

func after(f func(c bench.Call, r *bench.Reply)) func(string) (bench.Candidate, error) {
	return bench.Builder(built).After(f)
}

// sampled are the contracts of sparse_attention but the production-size one.
func sampled() []string {
	return []string{fp32, v4First, v4Later, flashMLA, flashInfer, v4Pages, v32Pages}
}

func plants() []bench.Plant {
	return slices.Concat(cataloguePlants(), listPlants(), attentionPlants(), roundingPlants(), mergePlants(),
		listerPlants())
}

// own is a fault that the catalogue does not have.
func own(name, class, effect, origin string, declared []string, build func(string) (bench.Candidate, error),
	on ...string,
) bench.Plant {
	if len(on) == 0 {
		on = []string{opAttention}
	}
	return bench.Plant{Name: name, Class: class, Effect: effect, Origin: origin, On: on, Declared: declared, Build: build}
}

// replacing is a fault of sparse_attention alone.
func replacing(name, class, effect, origin string, declared []string, change func(k *kernel[float32])) bench.Plant {
	return own(name, class, effect, origin, declared, attending(change))
}

func cataloguePlants() []bench.Plant {
	two, nat := []string{base2, bf16Base2, combine}, []string{natural, bf16Natural, plusInf}
	never := func(string, int) bool { return false }
	row := func(r faults.Row, op string, contracts []string, build func(string) (bench.Candidate, error)) bench.Plant {
		return bench.RowPlant(r, []string{op}, build).Under(contracts...)
	}
	return []bench.Plant{
		row(faults.S1, opMergeState, two, mergingWith(func(m *merger[float32]) { m.inTwo = never })),
		row(faults.S2, opMergeStates, two, mergingWith(func(m *merger[float32]) {
			m.inTwo = func(word string, state int) bool { return word == wordTwo && state == 0 }
		})),
		row(faults.S3, opMergeState, nat, mergingWith(func(m *merger[float32]) {
			*m = merging(baseTwo[float32]())
			m.inTwo = func(string, int) bool { return true }
		})),
		row(faults.S5, opMergeState, nil, mergingWith(func(m *merger[float32]) {
			m.none = func(float32) bool { return false }
		})),
		row(faults.S7, opAttention, sampled(), attending(func(k *kernel[float32]) {
			partial := k.partial
			k.partial = func(g gathered, s softmax.State) float32 {
				if !g.wantsLSE {
					return 0
				}
				return partial(g, s)
			}
		})),
		row(faults.S10, opAttention, sampled(), attending(func(k *kernel[float32]) {
			lse := k.lse
			k.lse = func(s softmax.State, sink float32, parts int) float32 {
				if parts == 1 {
					return k.log(float32(s.Sum))
				}
				return lse(s, sink, parts)
			}
		})),
		row(faults.S11, opMergeState, nil, seeing(func(c *bench.Call) {
			v := c.Views["suffix_o"]
			v.Strides = c.Views["prefix_o"].Strides
			c.Views["suffix_o"] = v
		})),
		row(faults.T9, opAttention, sampled(), attending(func(k *kernel[float32]) {
			k.Tile = 16
			k.streamed = func(z []float32, s *softmax.State) {
				none := float32(math.Inf(-1))
				for _, x := range z[:min(k.Tile, len(z))] {
					if x > none {
						return
					}
				}
				if len(z) > 0 { // no rescaling takes it out again
					s.Sum = float64(k.Exp(none - none))
					for c := range s.Acc {
						s.Acc[c] = s.Sum
					}
				}
			}
		})),
		row(faults.T10, opAttention, sampled(), attending(func(k *kernel[float32]) {
			lanes := k.lanes
			k.lanes = func(n, width, queries int) int {
				if queries > 64 {
					return width
				}
				return lanes(n, width, queries)
			}
		})),
	}
}

// restless is a kernel whose first output depends on how often it ran.
func restless(contract string) (bench.Candidate, error) {
	k, err := ownAttention(contract)
	var runs atomic.Int64
	return bench.FromKernel("faulty", opAttention, func(a bench.Args) (bench.Results, error) {
		out, err := k.run(a)
		if err == nil && runs.Add(1)%2 == 0 {
			v := float32(out["o"][0])
			out["o"][0] = float64(math.Nextafter32(v, 2*v))
		}
		return out, err
	}), err
}
