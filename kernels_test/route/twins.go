package route

import "github.com/assay-suite/assay/kernels_test/bench"

var (
	factorTwin       = bench.Fixed("scale", "a routed scaling factor of 1", bench.Attrs{"routed_scaling": 1.0})
	floorTwin        = bench.Fixed("eps", "no floor", bench.Attrs{"renormalise_floor": 0.0})
	renormalisedTwin = bench.Fixed("scale", "renormalised weights", bench.Attrs{"renormalise": true})
	rawTwin          = bench.Fixed("scale", "weights as they are", bench.Attrs{"renormalise": false})
	gentleTwin       = bench.Twin{
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
	bench.Dense(),
	bench.Eager(),
	factorTwin,
	floorTwin,
	bench.Lacking("selection", "no bias", "bias"),
	bench.Fixed("selection", "one group", bench.Attrs{"n_group": 1.0}),
	{Class: "selection", Name: "scores that are all different", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		n := p.Operands["logits"].Shape[1]
		p.Change("logits", func(i int, _ float64) float64 { return 3 - 0.0625*float64((i*7+i/n)%n) })
		return true
	}},
	renormalisedTwin,
	rawTwin,
	gentleTwin,
	equalTwin,
	{Class: "unread-memory", Name: "no padding", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		p.Unread = nil
		return p.Drop("num_token_non_padded")
	}},
}

var hashTwins = []bench.Twin{
	bench.Dense(),
	bench.Eager(),
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
	renormalisedTwin,
	rawTwin,
	gentleTwin,
	equalTwin,
}

var combineTwins = []bench.Twin{
	bench.Dense(),
	bench.Eager(),
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
	bench.Level("scale", "weights of 1", 1, "topk_weights"),
	bench.Level("layout", "equal weights", 0.25, "topk_weights"),
	bench.Lacking("scale", "no shared expert", "shared_out"),
	{Class: "accumulation", Name: "outputs of 1 and weights of 1/4", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		p.Change("topk_weights", func(int, float64) float64 { return 0.25 })
		p.Change("expert_out", func(int, float64) float64 { return 1 })
		return true
	}},
}
