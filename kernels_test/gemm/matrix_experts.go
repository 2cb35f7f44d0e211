package gemm

import "github.com/assay-suite/assay/kernels_test/bench"

func loadGrouped(a bench.Args, q quirks) []product {
	x, w, sw := a.In("x"), a.In("w"), floats(a.In("w_scale").Data)
	k, experts, n := x.Dim(1), w.Dim(0), w.Dim(1)
	groups := (k + 127) / 128
	codes, sx := floats(x.Data), floats(a.In("x_scale").Data)
	rows := rowsOf(a.In("expert").Ints(), experts)
	number := numbering(rows, q)
	var out []product
	for e, mine := range rows {
		at := number[e]
		first := at * ((n + 127) / 128)
		switch {
		case q.flatExperts:
			first = at * n / 128
		case q.firstScale:
			first = 0
		}
		out = append(out, product{
			x:     matrix{len(mine), k, 128, pick(codes, k, mine), pick(sx, groups, mine)},
			w:     matrix{n, k, 128, floats(w.Row(at)), blockScales(sw, first, n, groups, q)},
			alpha: 1, at: func(i int) int { return mine[i] },
		})
	}
	return out
}

func loadGroupedN(a bench.Args, q quirks) []product {
	x, w, sw, alpha := a.In("x"), a.In("w"), a.In("w_scale"), a.In("alpha")
	k, experts, n := 2*x.Dim(1), w.Dim(0), w.Dim(1)
	groups := k / 16
	codes, sx := unpack(x.Data, q), floats(a.In("x_scale").Data)
	rows := rowsOf(a.In("expert").Ints(), experts)
	number := numbering(rows, q)
	var out []product
	for e, mine := range rows {
		at := number[e]
		p := product{
			x:     matrix{len(mine), k, 16, pick(codes, k, mine), pick(sx, groups, mine)},
			w:     matrix{rows: n, k: k, group: 16, code: unpack(w.Row(at), q)},
			alpha: float32(alpha.Data[at]), at: func(i int) int { return mine[i] },
		}
		switch {
		case q.flatExperts:
			p.w.scale = rowScales(floats(sw.Data), at*n, n, groups, false)
		case q.firstScale:
			p.w.scale = rowScales(floats(sw.Row(0)), 0, n, groups, false)
		default:
			p.w.scale = rowScales(floats(sw.Row(at)), 0, n, groups, q.linearScales)
		}
		if q.noAlpha {
			p.alpha = float32(alpha.Data[0])
		}
		out = append(out, p)
	}
	return out
}

func loadMasked(a bench.Args, q quirks) []product {
	x, w, sx, sw := a.In("x"), a.In("w"), a.In("x_scale"), floats(a.In("w_scale").Data)
	experts, most, k, n := x.Dim(0), x.Dim(1), x.Dim(2), w.Dim(1)
	groups := (k + 127) / 128
	counts := a.In("masked_m").Ints()
	var out []product
	for e, count := range counts {
		first := e * ((n + 127) / 128)
		switch {
		case q.flatExperts:
			first = e * n / 128
		case q.firstScale:
			first = 0
		}
		p := product{
			x:     matrix{count, k, 128, floats(x.Row(e))[:count*k], floats(sx.Row(e))[:count*groups]},
			w:     matrix{n, k, 128, floats(w.Row(e)), blockScales(sw, first, n, groups, q)},
			alpha: 1, at: from(e * most),
		}
		if q.tile64 && most < 64 { // one tile of 64 rows for each expert, stored whole: the last experts first
			last := min(e*most+64, experts*most)
			all, scales := floats(x.Data), floats(sx.Data)
			p.x = matrix{last - e*most, k, 128, all[e*most*k : last*k], scales[e*most*groups : last*groups]}
			out = append([]product{p}, out...)
			continue
		}
		out = append(out, p)
	}
	return out
}

// loaders read the operands of an operator.
var loaders = map[string]func(bench.Args, quirks) []product{
	opDense: loadDense, opBF16: loadDense, opFP8: loadDense, opBlock: loadBlock, opBatched: loadBatched,
	opMXFP4: loadMXFP4, opNVFP4: loadNVFP4,
	opGrouped: loadGrouped, opGroupedN: loadGroupedN, opMasked: loadMasked,
}
