package route

import "github.com/assay-suite/assay/kernels_test/bench"

type change = func(bench.Gen, *bench.Problem) error

// all are changes one after the other.
func all(changes ...change) change {
	return func(g bench.Gen, p *bench.Problem) error {
		for _, c := range changes {
			if err := c(g, p); err != nil {
				return err
			}
		}
		return nil
	}
}

func set(attr string, v any) change {
	return func(_ bench.Gen, p *bench.Problem) error {
		p.Attrs[attr] = v
		return nil
	}
}

func without(operand string) change {
	return func(_ bench.Gen, p *bench.Problem) error {
		delete(p.Operands, operand)
		delete(p.Layout, operand)
		return nil
	}
}

// uniform draws the logits between two values.
func uniform(low, high float64) change {
	return func(g bench.Gen, p *bench.Problem) error {
		p.Change("logits", func(int, float64) float64 { return low + (high-low)*g.Float64() })
		return nil
	}
}

// inBF16 gives the logits in bf16.
func inBF16(_ bench.Gen, p *bench.Problem) error {
	o := p.Operands["logits"]
	p.Operands["logits"] = bench.Floats(bench.BF16, o.Values, o.Shape...)
	return nil
}

// each edits the logits of each token: f gets the token, the expert and the value.
func each(f func(t, e int, v float64) float64) change {
	return func(_ bench.Gen, p *bench.Problem) error {
		n := p.Operands["logits"].Shape[1]
		p.Change("logits", func(i int, v float64) float64 { return f(i/n, i%n, v) })
		return nil
	}
}

// biased edits the bias.
func biased(f func(e int, v float64) float64) change {
	return func(_ bench.Gen, p *bench.Problem) error {
		p.Change("bias", f)
		return nil
	}
}

// captured replays a graph that was captured with other values of an operand.
func captured(operand string, f func(i int, v float64) float64) change {
	return func(_ bench.Gen, p *bench.Problem) error {
		before := p.Clone()
		before.Change(operand, f)
		before.Mode, before.Unread = "graph", nil
		p.Mode, p.CaptureWith = "graph", &before
		return nil
	}
}
