package route

import "github.com/assay-suite/assay/kernels_test/bench"

// set gives one attribute another value.
func set(attr string, v any) bench.Change { return bench.Set(bench.Attrs{attr: v}) }

// uniform draws the logits between two values.
func uniform(low, high float64) bench.Change {
	return func(g bench.Gen, p *bench.Problem) error {
		p.Change("logits", func(int, float64) float64 { return low + (high-low)*g.Float64() })
		return nil
	}
}

// inBF16 gives the logits in bf16.
var inBF16 = bench.As(bench.BF16, "logits")

// each edits the logits of each token: f gets the token, the expert and the value.
func each(f func(t, e int, v float64) float64) bench.Change {
	return func(_ bench.Gen, p *bench.Problem) error {
		n := p.Operands["logits"].Shape[1]
		p.Change("logits", func(i int, v float64) float64 { return f(i/n, i%n, v) })
		return nil
	}
}

// biased edits the bias.
func biased(f func(e int, v float64) float64) bench.Change { return bench.Each(f, "bias") }
