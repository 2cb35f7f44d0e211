package compressor

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// gen draws the inputs of B sequences, pooled by r tokens into W channels.
type gen struct {
	bench.Gen
	pool     oracle.Pooling
	requests int
	blocks   int // complete blocks of a typical sequence
}

func genOf(g bench.Gen) gen {
	return gen{
		g,
		oracle.Pooling{Ratio: g.Shape.Dim("ratio"), Width: g.Shape.Dim("width"), Overlap: g.Shape.Dim("overlap") == 1},
		g.Shape.Dim("requests"), g.Shape.Dim("blocks"),
	}
}

func shape(model string, ratio, width, overlap, blocks, requests int) bench.Shape {
	return bench.S(fmt.Sprintf("%s-r%d-w%d-b%d", model, ratio, width, requests), map[string]int{
		"ratio": ratio, "width": width, "overlap": overlap, "requests": requests, "blocks": blocks,
	})
}

// nano is nano-v4: ratio 4 with overlap for keys and for the indexer, 32 without.
func nano(requests ...int) []bench.Shape {
	var out []bench.Shape
	for _, b := range requests {
		out = append(out, shape("nano", 4, 64, 1, 5, b), shape("nano", 32, 64, 0, 2, b))
	}
	return out
}

// index is the indexer's compressor: V4-Flash's 128 channels and nano-v4's 32.
func index(requests int) []bench.Shape {
	return []bench.Shape{shape("flash-index", 4, 128, 1, 4, requests), shape("nano-index", 4, 32, 1, 6, requests)}
}

// flash is V4-Flash: 512 channels, ratio 4 with overlap, and ratio 128 without.
func flash(requests int) []bench.Shape { return []bench.Shape{shape("flash", 4, 512, 1, 2, requests)} }

func flash128(requests int) []bench.Shape {
	return []bench.Shape{shape("flash", 128, 512, 0, 1, requests)}
}

// narrow shapes have few channels, for rows with many sequences.
func narrow(requests int) []bench.Shape {
	return []bench.Shape{shape("narrow", 4, 6, 1, 3, requests), shape("narrow", 128, 3, 0, 1, requests)}
}

// odd shapes have ratios and widths that no model and no vector has, overlap with a ratio other than 4 and ratio 4
// without.
func odd(requests int) []bench.Shape {
	return []bench.Shape{
		shape("odd", 3, 7, 1, 4, requests), shape("plain", 4, 9, 0, 4, requests), shape("one", 1, 5, 1, 4, requests),
		shape("odd", 5, 11, 0, 3, requests),
	}
}

func join(s ...[]bench.Shape) []bench.Shape {
	var out []bench.Shape
	for _, v := range s {
		out = append(out, v...)
	}
	return out
}
