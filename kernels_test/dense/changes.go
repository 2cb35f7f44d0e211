package dense

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// everyRequest gives each request its own values by key, in all channels of v: f(request, key).
func everyRequest(f func(g bench.Gen, b, j int) float64) bench.Change {
	return func(g bench.Gen, p *bench.Problem) error {
		lens := lengths(*p)
		for b, n := range lens {
			js, request := make([][]int, 1), []int{b}
			for j := range n {
				js[0] = append(js[0], j)
			}
			rows, err := physical(*p, js, request)
			if err != nil {
				return err
			}
			for _, name := range []string{"v", "v_cache", "ckv_cache"} {
				o, ok := p.Operands[name]
				if !ok {
					continue
				}
				scale := 1.0
				if o.DType == bench.E4M3 {
					scale = p.Attrs.Num("v_scale")
				}
				total := o.Shape[0]
				if name != "v" {
					total *= o.Shape[1]
				}
				width := len(o.Values) / total
				for j, row := range rows[0] {
					v := f(g, b, j)
					for c := range width {
						o.Values[row*width+c] = bench.Round(o.DType, (v+0.01*float64(c%7))/scale)
					}
				}
			}
		}
		return nil
	}
}

// indexCoded: uniform scores (q = 0) over values that encode the key, so that a result says which keys were in the
// mean.
func indexCoded() bench.Change {
	return bench.All(bench.Times(0, "q", "q_nope", "q_pe"), everyRequest(func(_ bench.Gen, b, j int) float64 {
		return float64((j*37+b*11)%64) / 8
	}))
}

// needles: one value in a row of small ones, at the places where masks, pages and tiles end.
func needles(at ...int) bench.Change {
	return everyRequest(func(g bench.Gen, _, j int) float64 {
		if slices.Contains(at, j) {
			return 6 + float64(j%5)
		}
		return 0.05 * g.NormFloat64()
	})
}

const (
	m1 = "M1 huggingface/transformers#39408"
	m4 = "M4 huggingface/transformers#41184"
	m6 = "M6 zml/zml#763"
)
