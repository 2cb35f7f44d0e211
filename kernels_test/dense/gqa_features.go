package dense

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// features are what some engines' attention has and others lack: each is an attribute that a worker must list.
func features() []bench.Scenario {
	phases := map[string][]req{
		"prefill": {{7, 7}, {3, 3}, {1, 1}}, "extend": {{3, 20}, {2, 9}}, "decode": {{1, 1}, {1, 17}, {1, 33}},
	}
	var out []bench.Scenario
	for _, phase := range []string{"prefill", "extend", "decode"} {
		out = append(out,
			bench.Scenario{
				ID: "softcap-" + phase, Phase: phase,
				Why:    "scores of up to 60 under a cap of 50, as Gemma 2 has: a cap that is missing, or before the scale, shows",
				Shapes: []bench.Shape{shape("odd", 4, phases[phase]...)},
				Change: softCapped,
			},
			bench.Scenario{
				ID: "kv-scales-by-head-" + phase, Phase: phase, Contracts: []string{"fp8-kv"},
				Why: "every key-value head has its own scales, from 1/3 to 3 times one another",
				Shapes: []bench.Shape{
					shape("odd", 4, phases[phase]...), shape("nano", 8, phases[phase]...), shape("kv16", 4, phases[phase]...),
				},
				Layout: map[string]bench.Layout{"k_scales": {Lead: 1, Tail: 3}, "v_scales": {Lead: 2, Tail: 1}},
				Change: scaledByHead,
			},
			bench.Scenario{
				ID: "not-causal-" + phase, Phase: phase,
				Why:    "no causality, and a window to both sides, in every phase",
				Shapes: []bench.Shape{shape("odd", 4, phases[phase]...)},
				Change: bench.Set(bench.Attrs{"causal": false, "window_left": 6.0, "window_right": 1.0}),
			},
			bench.Scenario{
				ID: "beyond-fp16-" + phase, Phase: phase, Contracts: []string{"fp32", "bf16", "bf16-p-bf16"},
				Why:    "one channel of the keys is a thousand times the others: |<q, k>| is beyond 65,504, fp16's largest",
				Shapes: []bench.Shape{shape("odd", 4, phases[phase]...)},
				Change: beyondHalf,
			})
	}
	return out
}

// softCapped caps scores that reach the cap.
func softCapped(_ bench.Gen, p *bench.Problem) error {
	p.Attrs["logit_softcap"] = 50.0
	p.Change("q", func(_ int, v float64) float64 { return 16 * v })
	return nil
}

// scaledByHead gives every key-value head scales of its own. The scales of all heads stay in the call and mean nothing.
func scaledByHead(_ bench.Gen, p *bench.Problem) error {
	k, ok := p.Operands["k_cache"]
	if !ok || k.DType != bench.E4M3 {
		return fmt.Errorf("scales by head belong to a cache in %s", bench.E4M3)
	}
	p.Attrs["kv_scales"] = "head"
	n := k.Shape[2]
	for name, scale := range map[string]string{"k_scales": "k_scale", "v_scales": "v_scale"} {
		v := make([]float64, n)
		for i := range v {
			v[i] = p.Attrs.Num(scale) * math.Pow(3, 2*float64((i+1)%n)/float64(n)-0.5)
		}
		p.Operands[name] = bench.Floats(bench.F32, v, n)
	}
	return nil
}

// beyondHalf has scores before the scale that fp16 does not hold, and softmax weights that are not 0 all the same: the
// channel has nearly one value in all keys.
func beyondHalf(g bench.Gen, p *bench.Problem) error {
	d := g.Shape.Dim("dim")
	p.Change("k_cache", func(i int, v float64) float64 {
		if i%d == 5 {
			return 1024
		}
		return v
	})
	p.Change("q", func(i int, v float64) float64 {
		if i%d == 5 {
			return 96
		}
		return v
	})
	return nil
}
