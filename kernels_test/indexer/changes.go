package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// redrawn gives the pool other keys: f gets request, key, channel and returns the channel's value.
func redrawn(f func(g bench.Gen, b, j, d int) float64) bench.Change {
	return func(g bench.Gen, p *bench.Problem) error {
		if _, ragged := p.Operands["k"]; ragged {
			dim := p.In("k").Dim(1)
			v := make([]float64, len(p.Operands["k"].Values))
			for i := range v {
				v[i] = f(g, 0, i/dim, i%dim)
			}
			if _, fp8 := p.Operands["ks"]; !fp8 {
				p.Operands["k"] = bench.Floats(bench.BF16, v, len(v)/dim, dim)
				return nil
			}
			codes, scales := quantiseRows(v, dim, bench.E4M3)
			p.Operands["k"], p.Operands["ks"] = bench.Floats(bench.E4M3, codes, len(v)/dim, dim),
				bench.Floats(bench.F32, scales, len(scales))
			return nil
		}
		table, dim := p.In("block_table"), p.In("q").Dim(3)
		var keys []oracle.Mat
		var rows oracle.PageTable
		for b, n := range longestOf(*p) {
			m := oracle.NewMat(n, dim)
			for i := range m.Data {
				m.Data[i] = f(g, b, i/dim, i%dim)
			}
			keys, rows = append(keys, m), append(rows, bench.Tensor{Data: table.Row(b)}.Ints())
		}
		err := writePages(g, p, rows, keys, p.In("pages").Dim(0), dim)
		sealPaged(p)
		return err
	}
}

// coherent makes every query and key positive, so that errors of one sign add up.
func coherent(g bench.Gen, p *bench.Problem) error {
	p.Change("q", func(_ int, v float64) float64 { return math.Abs(v) })
	return redrawn(func(g bench.Gen, _, _, _ int) float64 { return 0.5 + g.Float64() })(g, p)
}

// opposed makes every dot product negative: nothing survives relu.
func opposed(g bench.Gen, p *bench.Problem) error {
	p.Change("q", func(_ int, v float64) float64 { return math.Abs(v) })
	return redrawn(func(g bench.Gen, _, _, _ int) float64 { return -0.5 - g.Float64() })(g, p)
}

// indexCoded lets key j of request b be a multiple of what the query has in common, by a step for every j: a logit
// tells which key it came from.
func indexCoded(g bench.Gen, p *bench.Problem) error {
	dim := p.In("q").Shape[len(p.In("q").Shape)-1]
	p.Change("q", func(i int, _ float64) float64 { return 2 * direction(i%dim) })
	return redrawn(func(_ bench.Gen, b, j, d int) float64 {
		return direction(d) * (1 + float64(j)/16 + float64(b)/3)
	})(g, p)
}

// outlierChannel multiplies one channel of the keys by 1000 and takes it out of some queries.
func outlierChannel(g bench.Gen, p *bench.Problem) error {
	return redrawn(func(g bench.Gen, _, _, d int) float64 {
		v := g.NormFloat64() + 0.5*direction(d)
		if d == 5 {
			v *= 1000
		}
		return v
	})(g, p)
}

// subnormal makes queries small: multiples of 2^-9 below the normal numbers of e4m3, of 2^-100 for bf16.
func subnormal(_ bench.Gen, p *bench.Problem) error {
	unit := 0x1p-9
	if p.Operands["q"].DType == bench.BF16 {
		unit = 0x1p-100
	}
	p.Change("q", func(i int, v float64) float64 { return unit * float64((i*5)%8) * sign(v) })
	return nil
}

// spread gives keys sizes between 2^-20 and 2^10, so that every scale is far from its neighbours'.
func spread(g bench.Gen, p *bench.Problem) error {
	return redrawn(func(g bench.Gen, _, j, d int) float64 {
		return (g.NormFloat64() + 0.5*direction(d)) * math.Ldexp(1, (j*7)%31-20)
	})(g, p)
}

// powers gives fp8 keys amax 448·2^-k, so that scales are powers of two.
func powers(g bench.Gen, p *bench.Problem) error {
	return redrawn(func(g bench.Gen, _, j, d int) float64 {
		if d == 3 {
			return math.Ldexp(448, -4-j%5)
		}
		return math.Ldexp(g.NormFloat64()+0.5*direction(d), 2-j%5)
	})(g, p)
}

// needle lets one key of every edge of a page fit the query, all others not at all.
func needle(g bench.Gen, p *bench.Problem) error {
	page := max(p.Attrs.Int("page_size"), 4)
	dim := p.In("q").Shape[len(p.In("q").Shape)-1]
	p.Change("q", func(i int, v float64) float64 { return math.Abs(v) * direction(i%dim) })
	return redrawn(func(g bench.Gen, _, j, d int) float64 {
		if r := j % page; r == 0 || r == page-1 {
			return 2 * direction(d) * (0.5 + g.Float64())
		}
		return -0.1 * direction(d)
	})(g, p)
}

// The head weights of a problem.
var (
	nonNegative = bench.Each(func(_ int, v float64) float64 { return math.Abs(v) }, "weights")
	negative    = bench.Each(func(_ int, v float64) float64 { return -math.Abs(v) }, "weights")
	someZero    = bench.Each(func(i int, v float64) float64 {
		if i%3 == 1 {
			return 0
		}
		return v
	}, "weights")
)

// shared lets every request begin with the first full pages of request 0.
func shared(_ bench.Gen, p *bench.Problem) error {
	page, width := p.Attrs.Int("page_size"), p.In("block_table").Dim(1)
	longest := longestOf(*p)
	p.Change("block_table", func(i int, v float64) float64 {
		b, at := i/width, i%width
		if (at+1)*page <= min(longest[0], longest[b]) && at < 2 {
			return p.Operands["block_table"].Values[at]
		}
		return v
	})
	sealPaged(p)
	return nil
}

// uneven gives every query of a request a context of its own, in no order.
func uneven(g bench.Gen, p *bench.Problem) error {
	longest, n := longestOf(*p), p.In("context_lens").Dim(1)
	p.Change("context_lens", func(i int, _ float64) float64 {
		if i%n == (i/n)%n {
			return float64(longest[i/n])
		}
		return float64(g.IntN(longest[i/n] + 1))
	})
	sealPaged(p)
	return nil
}

// ranges gives every query of the ragged form a window of its own: empty ones, the first key, the last, all.
func ranges(g bench.Gen, p *bench.Problem) error {
	s := p.In("k").Dim(0)
	for t := range p.In("q").Dim(0) {
		lo := g.IntN(s)
		hi := lo + g.IntN(s-lo+1)
		switch t % 5 {
		case 0:
			hi = lo
		case 1:
			lo, hi = 0, 1
		case 2:
			lo, hi = s-1, s
		}
		p.Operands["start"].Values[t], p.Operands["end"].Values[t] = float64(lo), float64(hi)
	}
	sealRagged(p)
	return nil
}
