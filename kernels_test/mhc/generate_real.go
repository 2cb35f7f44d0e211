package mhc

import (
	"fmt"
	"math"
	"strings"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/safetensors"
)

// gateValues draws n values of 2·sigmoid(z), z Gaussian with deviation 1.5.
func (g gen) gateValues(n int) []float64 {
	out := g.Normal(n, 1.5)
	for i, z := range out {
		out[i] = 2 / (1 + math.Exp(-z))
	}
	return out
}

// combs draws t doubly stochastic n×n matrices: Sinkhorn of Gaussian logits of deviation sd.
func (g gen) combs(t, n int, sd float64) []float64 {
	var out []float64
	for range t {
		b := g.Normal(n*n, sd)
		oracle.Sinkhorn(b, n, iterations, hcEps)
		out = append(out, b...)
	}
	return out
}

// rowScales multiplies each token's row of x by a power of ten from 1e-5 to 1e-2, first and last at the ends.
func rowScales(g gen, p *bench.Problem) {
	p.Change("x", func(i int, v float64) float64 {
		at := 0.5
		if g.tokens > 1 {
			at = float64(i/g.k()) / float64(g.tokens-1)
		}
		return v * math.Pow(10, -5+3*at)
	})
}

// combBase sets the bases of comb to f(row, column).
func combBase(f func(g gen, j, k int) float64) bench.Change {
	return edit(func(g gen, p *bench.Problem) {
		n := g.streams
		for j := range n {
			for k := range n {
				p.Operands["base"].Values[2*n+j*n+k] = float64(float32(f(g, j, k)))
			}
		}
	})
}

// gates sets the bases of pre and post; for mhc_head only pre exists.
func gates(pre, post float64) bench.Change {
	return edit(func(g gen, p *bench.Problem) {
		p.Change("base", func(j int, v float64) float64 {
			switch n := g.streams; {
			case j < n:
				return pre
			case j < 2*n:
				return post
			}
			return v
		})
	})
}

// recorded replaces the operands by nano-v4's: the weights of one hyper-connection and the first tokens of the states
// that entered it in a recorded forward pass of the Hugging Face implementation
// (fixtures/nano-v4/hf_trace_067.safetensors).
//
// operands maps an operand to a tensor; a name with "trace:" in front is a recorded activation, cut to the case's
// tokens.
func recorded(operands map[string]string) bench.Change {
	return func(_ bench.Gen, p *bench.Problem) error {
		for name, tensor := range operands {
			if err := load(p, name, tensor); err != nil {
				return err
			}
		}
		return nil
	}
}

func load(p *bench.Problem, name, tensor string) error {
	file := "nano-v4/model.safetensors"
	tensor, activation := strings.CutPrefix(tensor, "trace:")
	if activation {
		file = "nano-v4/hf_trace_067.safetensors"
	}
	values, err := fixture(file, tensor)
	if err != nil {
		return err
	}
	o := p.Operands[name]
	if activation && len(values) > len(o.Values) {
		values = values[:len(o.Values)]
	}
	if len(values) != len(o.Values) {
		return fmt.Errorf("%s: tensor %q has %d values, operand %q of shape %v needs %d", file, tensor, len(values), name,
			o.Shape, len(o.Values))
	}
	o.Values = values
	p.Operands[name] = o
	return nil
}

func fixture(file, tensor string) (_ []float64, err error) {
	f, err := safetensors.OpenFS(fixtures.FS, file)
	if err != nil {
		return nil, err
	}
	values, err := f.Float32s(tensor)
	if closing := f.Close(); err == nil {
		err = closing
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out, err
}
