package route

import "github.com/assay-suite/assay/kernels_test/bench"

var denseTwin = bench.Twin{Class: "strides", Name: "dense operands", Apply: func(_ bench.Gen, p *bench.Problem) bool {
	padded := len(p.Layout) > 0
	p.Layout = map[string]bench.Layout{}
	return padded
}}

// fixed sets an attribute that has another value.
func fixed(class, name, attr string, v any) bench.Twin {
	return bench.Twin{Class: class, Name: name, Apply: func(_ bench.Gen, p *bench.Problem) bool {
		old := p.Attrs[attr]
		p.Attrs[attr] = v
		return old != v
	}}
}

var (
	factorTwin = fixed("scale", "a routed scaling factor of 1", "routed_scaling", 1.0)
	floorTwin  = fixed("eps", "no floor", "renormalise_floor", 0.0)
	gentleTwin = bench.Twin{
		Class: "gate",
		Name:  "logits between -1 and 1",
		Apply: func(g bench.Gen, p *bench.Problem) bool {
			p.Attrs["renormalise_floor"] = 0.0
			p.Change("logits", func(int, float64) float64 { return 2*g.Float64() - 1 })
			return true
		},
	}
	equalTwin = bench.Twin{
		Class: "gate",
		Name:  "experts of equal logits, renormalised",
		Apply: func(_ bench.Gen, p *bench.Problem) bool {
			p.Attrs["renormalise"], p.Attrs["renormalise_floor"] = true, 0.0
			p.Change("logits", func(int, float64) float64 { return 0.5 })
			return true
		},
	}
)

var gateTwins = []bench.Twin{
	denseTwin,
	{Class: "graph", Name: "no captured graph", Apply: uncaptured},
	factorTwin,
	floorTwin,
	{Class: "selection", Name: "no bias", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		_, has := p.Operands["bias"]
		delete(p.Operands, "bias")
		delete(p.Layout, "bias")
		return has
	}},
	{Class: "selection", Name: "one group", Apply: fixed("", "", "n_group", 1.0).Apply},
	{Class: "selection", Name: "scores that are all different", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		n := p.Operands["logits"].Shape[1]
		p.Change("logits", func(i int, _ float64) float64 { return 3 - 0.0625*float64((i*7+i/n)%n) })
		return true
	}},
	fixed("scale", "renormalised weights", "renormalise", true),
	fixed("scale", "weights as they are", "renormalise", false),
	gentleTwin,
	equalTwin,
	{Class: "unread-memory", Name: "no padding", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		_, has := p.Operands["num_token_non_padded"]
		delete(p.Operands, "num_token_non_padded")
		delete(p.Layout, "num_token_non_padded")
		p.Unread = nil
		return has
	}},
}

var hashTwins = []bench.Twin{
	denseTwin,
	{Class: "graph", Name: "no captured graph", Apply: uncaptured},
	factorTwin,
	floorTwin,
	{
		Class: "selection",
		Name:  "experts 0, 1, ... in every row, which are the best",
		Apply: func(_ bench.Gen, p *bench.Problem) bool {
			k, n := p.Operands["tid2eid"].Shape[1], p.Operands["logits"].Shape[1]
			p.Change("tid2eid", func(i int, _ float64) float64 { return float64(i % k) })
			p.Change("logits", func(i int, _ float64) float64 { return 2 - 0.125*float64(i%n) })
			p.Unread = nil
			return true
		},
	},
	fixed("scale", "renormalised weights", "renormalise", true),
	fixed("scale", "weights as they are", "renormalise", false),
	gentleTwin,
	equalTwin,
}

var combineTwins = []bench.Twin{
	denseTwin,
	{Class: "graph", Name: "no captured graph", Apply: uncaptured},
	factorTwin,
	{Class: "unread-memory", Name: "every expert here", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		changed := false
		taken := map[int]bool{}
		for _, row := range p.In("src2dst").Ints() {
			taken[row] = true
			changed = changed || row < 0
		}
		free := 0
		p.Change("src2dst", func(_ int, v float64) float64 {
			if v >= 0 {
				return v
			}
			for taken[free] {
				free++
			}
			taken[free] = true
			return float64(free)
		})
		p.Unread = nil
		return changed
	}},
	{Class: "layout", Name: "equal rows of expert_out", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		o := p.Operands["expert_out"]
		c := o.Shape[1]
		p.Change("expert_out", func(i int, _ float64) float64 { return o.Values[i%c] })
		return true
	}},
	{Class: "scale", Name: "weights of 1", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		p.Change("topk_weights", func(int, float64) float64 { return 1 })
		return true
	}},
	{Class: "layout", Name: "equal weights", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		p.Change("topk_weights", func(int, float64) float64 { return 0.25 })
		return true
	}},
	{Class: "scale", Name: "no shared expert", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		_, has := p.Operands["shared_out"]
		delete(p.Operands, "shared_out")
		delete(p.Layout, "shared_out")
		return has
	}},
	{Class: "accumulation", Name: "outputs of 1 and weights of 1/4", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		p.Change("topk_weights", func(int, float64) float64 { return 0.25 })
		p.Change("expert_out", func(int, float64) float64 { return 1 })
		return true
	}},
}

// uncaptured runs a call by itself that replayed a graph.
func uncaptured(_ bench.Gen, p *bench.Problem) bool {
	was := p.CaptureWith != nil
	p.Mode, p.CaptureWith = "", nil
	return was
}
