package compressor

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

var twins = []bench.Twin{
	bench.Dense(),
	bench.Eager(),
	{
		Class: "accumulation",
		Name:  "values and biased gates that bf16 holds",
		Apply: func(b bench.Gen, p *bench.Problem) bool {
			quarters := func(v float64) float64 {
				if math.IsInf(v, 0) {
					return v
				}
				return math.RoundToEven(4*max(-8, min(8, v))) / 4
			}
			p.Each(func(_ int, v float64) float64 { return quarters(v) }, "ape", "gate", "state_gate")
			everywhere(genOf(b), p, "kv", func(_ token, v float64, _ bool) float64 { return bench.Round(bench.BF16, v) })
			return true
		},
	},
	{Class: "layout", Name: "a bias that is the same at every position", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		o := p.Operands["ape"]
		if o.Shape[0] < 2 {
			return false
		}
		p.Change("ape", func(i int, _ float64) float64 { return o.Values[i%o.Shape[1]] })
		return true
	}},
	{Class: "offset", Name: "no position bias", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		p.Change("ape", func(int, float64) float64 { return 0 })
		return true
	}},
	{Class: "batch", Name: "one sequence, the longest", Apply: oneSequence},
	{Class: "gate", Name: "equal gates of 0 and no bias", Apply: func(b bench.Gen, p *bench.Problem) bool {
		p.Change("ape", func(int, float64) float64 { return 0 })
		everywhere(genOf(b), p, "gate", func(token, float64, bool) float64 { return 0 })
		return true
	}},
	{Class: "empty-row", Name: "gates without -Inf", Apply: func(b bench.Gen, p *bench.Problem) bool {
		masked := false
		everywhere(genOf(b), p, "gate", func(_ token, v float64, _ bool) float64 {
			if math.IsInf(v, -1) {
				masked = true
				return -3
			}
			return v
		})
		return masked
	}},
}

// oneSequence keeps the sequence with the most new tokens.
func oneSequence(_ bench.Gen, p *bench.Problem) bool {
	cu := p.In("cu_seqlens").Ints()
	if len(cu) < 3 {
		return false
	}
	longest := 0
	for i := range cu[1:] {
		if cu[i+1]-cu[i] > cu[longest+1]-cu[longest] {
			longest = i
		}
	}
	*p = piece{[]int{longest}, []int{0}, []int{cu[longest+1] - cu[longest]}}.of(*p)
	return true
}

var stateTwins = []bench.Twin{
	{Class: "paging", Name: "states in the order of sequences", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		slots := p.In("slot").Ints()
		for _, name := range []string{"state_kv", "state_gate"} {
			o := p.Operands[name]
			size := len(o.Values) / o.Shape[0]
			v := make([]float64, len(o.Values))
			for i, s := range slots {
				copy(v[i*size:(i+1)*size], o.Values[s*size:(s+1)*size])
			}
			o.Values = v
			p.Operands[name] = o
		}
		p.Change("slot", func(i int, _ float64) float64 { return float64(i) })
		hide(p)
		return true
	}},
	{Class: "chunk-state", Name: "sequences that begin here", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		pool, cu := poolOf(p.Attrs), p.In("cu_seqlens").Ints()
		began, blocks := false, 0
		for i, s := range p.In("start").Ints() {
			began = began || s > 0
			blocks += (cu[i+1] - cu[i]) / pool.Ratio
		}
		p.Change("start", func(int, float64) float64 { return 0 })
		p.Outputs["c"] = bench.Out(p.Outputs["c"].DType, blocks, pool.Width)
		hide(p)
		return began
	}},
	{
		Class: "chunk-state",
		Name:  "pieces of whole blocks from whole blocks",
		Apply: func(_ bench.Gen, p *bench.Problem) bool {
			pool, cu := poolOf(p.Attrs), p.In("cu_seqlens").Ints()
			w := piece{}
			for i, s := range p.In("start").Ints() {
				n := cu[i+1] - cu[i]
				skip := min((pool.Ratio-s%pool.Ratio)%pool.Ratio, n)
				w.seq, w.from, w.to = append(w.seq, i), append(w.from, skip), append(w.to, skip+(n-skip)/pool.Ratio*pool.Ratio)
			}
			*p = w.of(*p)
			return true
		},
	},
}
