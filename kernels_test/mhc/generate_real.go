package mhc

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/safetensors"
)

// gates draws n values of 2·sigmoid(z), z Gaussian with deviation 1.5.
func (g gen) gates(n int) []float64 {
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

// rowScales multiplies each token's row of x by a power of ten between lo and hi, first and last at the ends.
func (g gen) rowScales(p problem, lo, hi float64) {
	t, length := g.tokens, g.k()
	p.change("x", func(i int, v float32) float32 {
		at := 0.5
		if t > 1 {
			at = float64(i/length) / float64(t-1)
		}
		return float32(float64(v) * math.Pow(10, lo+(hi-lo)*at))
	})
}

// withoutMixes makes the mixes vanish, so that the bases alone are the logits.
func withoutMixes(p problem) { p.change("fn", scaledBy(0)) }

// combBase sets the bases of comb to f(row, column).
func (g gen) combBase(p problem, f func(j, k int) float64) {
	n := g.streams
	for j := range n {
		for k := range n {
			p.Operands["base"].Values[2*n+j*n+k] = float64(float32(f(j, k)))
		}
	}
}

// gateBase sets the bases of pre and post; for mhc_head only pre exists.
func (g gen) gateBase(p problem, pre, post float32) {
	n := g.streams
	for j, base := 0, p.Operands["base"].Values; j < min(2*n, len(base)); j++ {
		base[j] = float64(pre)
		if j >= n {
			base[j] = float64(post)
		}
	}
}

// real replaces the operands by nano-v4's: the weights of one hyper-connection and the first tokens of the states that
// entered it in a recorded forward pass of the Hugging Face implementation (fixtures/nano-v4/hf_trace_067.safetensors).
//
// operands maps an operand to a tensor; a name with "trace:" in front is a recorded activation, cut to the case's
// tokens.
func (g gen) real(p problem, operands map[string]string) error {
	for name, tensor := range operands {
		file := "nano-v4/model.safetensors"
		activation := len(tensor) > 6 && tensor[:6] == "trace:"
		if activation {
			file, tensor = "nano-v4/hf_trace_067.safetensors", tensor[6:]
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
	}
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
	return wide(values), err
}
