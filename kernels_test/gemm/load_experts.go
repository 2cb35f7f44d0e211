package gemm

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// rowsOf lists the rows of each expert.
func rowsOf(expert []int, experts int) [][]int {
	out := make([][]int, experts)
	for m, e := range expert {
		if e >= 0 {
			out[e] = append(out[e], m)
		}
	}
	return out
}

// pick takes rows out of a matrix.
func pick(data []float32, width int, rows []int) []float32 {
	out := make([]float32, 0, width*len(rows))
	for _, r := range rows {
		out = append(out, data[r*width:(r+1)*width]...)
	}
	return out
}

func loadGrouped(a bench.Args, l loading) []product {
	x, w, sw := a.In("x"), a.In("w"), bench.Float32s(a.In("w_scale").Data)
	k, experts, n := x.Dim(1), w.Dim(0), w.Dim(1)
	groups := up(k, 128)
	codes, sx := bench.Float32s(x.Data), bench.Float32s(a.In("x_scale").Data)
	rows := rowsOf(a.In("expert").Ints(), experts)
	weights := l.weights(rows)
	var out []product
	for e, mine := range rows {
		own := weights[e]
		out = append(out, product{
			x:     matrix{len(mine), k, 128, pick(codes, k, mine), pick(sx, groups, mine)},
			w:     matrix{n, k, 128, bench.Float32s(w.Row(own)), l.blocks(sw, l.begin(own, n), n, groups)},
			alpha: 1, at: func(i int) int { return mine[i] },
		})
	}
	return out
}

func loadGroupedN(a bench.Args, l loading) []product {
	x, w := a.In("x"), a.In("w")
	k, experts, n := 2*x.Dim(1), w.Dim(0), w.Dim(1)
	codes, sx := l.unpack(x.Data), bench.Float32s(a.In("x_scale").Data)
	rows := rowsOf(a.In("expert").Ints(), experts)
	weights := l.weights(rows)
	var out []product
	for e, mine := range rows {
		own := weights[e]
		sw, first := l.wTiles(a.In("w_scale"), own, n)
		out = append(out, product{
			x:     matrix{len(mine), k, 16, pick(codes, k, mine), pick(sx, k/16, mine)},
			w:     matrix{n, k, 16, l.unpack(w.Row(own)), l.tiled(sw, first, n, k/16)},
			alpha: float32(l.alpha(a.In("alpha").Data, own)), at: func(i int) int { return mine[i] },
		})
	}
	return out
}

// loadMasked has the last expert first.
func loadMasked(a bench.Args, l loading) []product {
	x, w, sw := a.In("x"), a.In("w"), bench.Float32s(a.In("w_scale").Data)
	experts, most, k, n := x.Dim(0), x.Dim(1), x.Dim(2), w.Dim(1)
	groups := up(k, 128)
	codes, sx := bench.Float32s(x.Data), bench.Float32s(a.In("x_scale").Data)
	var out []product
	for e, count := range slices.Backward(a.In("masked_m").Ints()) {
		lo := e * most
		hi := lo + l.held(count, most, e, experts)
		out = append(out, product{
			x:     matrix{hi - lo, k, 128, codes[lo*k : hi*k], sx[lo*groups : hi*groups]},
			w:     matrix{n, k, 128, bench.Float32s(w.Row(e)), l.blocks(sw, l.begin(e, n), n, groups)},
			alpha: 1, at: from(lo),
		})
	}
	return out
}
