package topk

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// gen draws the inputs of T queries over S keys, k slots a query, in pages of a power of two.
type gen struct {
	bench.Gen
	rows, width, k, page, requests int
}

func genOf(g bench.Gen) gen {
	return gen{
		g, g.Shape.Dim("rows"), g.Shape.Dim("width"), g.Shape.Dim("k"), g.Shape.Dim("page"), g.Shape.Dim("requests"),
	}
}

// shapes are a model's top-k at numbers of queries.
func shapes(model string, k, width, page int, rows ...int) []bench.Shape {
	var out []bench.Shape
	for _, t := range rows {
		out = append(out, bench.S(fmt.Sprintf("%s-s%d-t%d", model, width, t), map[string]int{
			"rows": t, "width": width, "k": k, "page": page, "requests": 3,
		}))
	}
	return out
}

// nano is nano-v4's selection: 64 of the 256 compressed keys that 1,024 tokens have, and some more.
func nano(rows ...int) []bench.Shape { return shapes("nano", 64, 300, 16, rows...) }

// flash is V4-Flash's: 512, of a few thousand tokens.
func flash(rows ...int) []bench.Shape { return shapes("flash", 512, 1300, 64, rows...) }

// v32 is DeepSeek-V3.2's: 2,048, not compressed.
func v32(rows ...int) []bench.Shape { return shapes("v32", 2048, 4500, 64, rows...) }

// tiny has fewer keys than any tile.
func tiny(rows ...int) []bench.Shape { return shapes("tiny", 3, 7, 2, rows...) }

// long is V3.2's selection over a row of that many keys.
func long(width int, rows ...int) []bench.Shape { return shapes("v32", 2048, width, 64, rows...) }

func join(s ...[]bench.Shape) []bench.Shape {
	var out []bench.Shape
	for _, v := range s {
		out = append(out, v...)
	}
	return out
}
