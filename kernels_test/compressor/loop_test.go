package compressor

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// byDefinition is row (b, d) of a sequence from the definition alone, without any state: per channel the softmax over
// the tokens that the block looks at, each through its channel.
func byDefinition(kv, gate, ape bench.Tensor, p oracle.Pooling, b, d int) float64 {
	num, den := 0.0, 0.0
	look := func(e, channel int) {
		w := math.Exp(gate.Row(e)[channel] + ape.Row(e % p.Ratio)[channel])
		num, den = num+w*kv.Row(e)[channel], den+w
	}
	for j := range p.Ratio {
		switch {
		case !p.Overlap:
			look(b*p.Ratio+j, d)
		default:
			look(b*p.Ratio+j, p.Width+d)
			if b > 0 {
				look((b-1)*p.Ratio+j, d)
			}
		}
	}
	return num / den
}

var loops = []bench.Shape{
	shape("a", 4, 3, 1, 3, 1), shape("b", 3, 2, 1, 3, 1), shape("c", 5, 2, 0, 2, 1), shape("d", 1, 2, 1, 4, 1),
	shape("e", 32, 1, 0, 2, 1),
}

// oneShot draws a sequence at every remainder.
func oneShot(t *testing.T, s bench.Shape, left int) (gen, bench.Problem, bench.Case) {
	t.Helper()
	c := Suite().Cases()[0]
	c.Shape, c.Contract = s, contracts()[0]
	c.ID = fmt.Sprintf("%s-%d", s.Name, left)
	g := genOf(bench.Gen{Rand: newRand(uint64(left)), Shape: s, Contract: c.Contract})
	return g, g.compress([]int{g.pool.Ratio*g.blocks + left}), c
}

// What is expected MUST be the definition, and of the definition's rows a kernel that is fed chunk by chunk with the
// state that it returned itself MUST stay within the bound, at every remainder and for chunks of 1, 2, 3 and more
// tokens.
func TestClosedLoop(t *testing.T) {
	for _, s := range loops {
		for left := range s.Dim("ratio") {
			g, p, c := oneShot(t, s, left)
			want, err := expect(c, p)
			require.NoError(t, err)
			for i, v := range want[0].Want {
				if w := byDefinition(p.In("kv"), p.In("gate"), p.In("ape"), g.pool, i/g.pool.Width, i%g.pool.Width); math.Abs(v-w) >
					1e-12*(1+math.Abs(w)) {
					t.Fatalf("%s: element %d is expected to be %v, by definition %v", c.ID, i, v, w)
				}
			}
			for _, chunk := range []int{1, 2, 3, g.pool.Ratio + 1, 1000} {
				got := fed(t, g, p, chunk)
				require.Len(t, got, len(want[0].Want))
				for i, v := range got {
					if math.Abs(v-want[0].Want[i]) > want[0].Bound[i] {
						t.Errorf("%s in chunks of %d: element %d is %v, want %v within %v", c.ID, chunk, i, v, want[0].Want[i],
							want[0].Bound[i])
					}
				}
			}
		}
	}
}

// fed runs a sequence in chunks; each call gets the state that the one before it returned, in another slot.
func fed(t *testing.T, g gen, p bench.Problem, chunk int) []float64 {
	t.Helper()
	kernel := correct().run
	c, rows := g.pool.Channels(), g.stateRows()
	n := p.In("kv").Dim(0)
	state := bench.Results{"new_state_kv": make([]float64, rows*c), "new_state_gate": make([]float64, rows*c)}
	for i := range rows * c {
		state["new_state_kv"][i], state["new_state_gate"][i] = math.NaN(), math.NaN()
	}
	var out []float64
	for at := 0; at < n; at += chunk {
		to := min(at+chunk, n)
		step := p.Clone()
		part := func(name string) bench.Operand {
			return bench.Floats(bench.F32, append([]float64(nil), p.In(name).Data[at*c:to*c]...), to-at, c)
		}
		slot := at % 3
		pool := func(name string) bench.Operand {
			v := make([]float64, 3*rows*c)
			for i := range v {
				v[i] = math.NaN()
			}
			copy(v[slot*rows*c:], state[name])
			return bench.Floats(bench.F32, v, 3, rows, c)
		}
		step.Operands["kv"], step.Operands["gate"] = part("kv"), part("gate")
		step.Operands["cu_seqlens"] = bench.Ints([]int{0, to - at}, 2)
		step.Operands["start"], step.Operands["slot"] = bench.Ints([]int{at}, 1), bench.Ints([]int{slot}, 1)
		step.Operands["state_kv"], step.Operands["state_gate"] = pool("new_state_kv"), pool("new_state_gate")
		step.Outputs = map[string]bench.Output{
			"c":            bench.Out(bench.F32, to/g.pool.Ratio-at/g.pool.Ratio, g.pool.Width),
			"new_state_kv": bench.Out(bench.F32, 1, rows, c), "new_state_gate": bench.Out(bench.F32, 1, rows, c),
		}
		r, err := kernel(step.Args())
		require.NoError(t, err)
		out = append(out, r["c"]...)
		state = r
	}
	return out
}
