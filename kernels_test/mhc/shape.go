package mhc

import (
	"fmt"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// gen draws a hyper-connection's inputs: T tokens, n streams of C channels, K = n·C.
type gen struct {
	bench.Gen
	tokens, streams, width int
}

func genOf(g bench.Gen) gen {
	return gen{g, g.Shape.Dim("tokens"), g.Shape.Dim("streams"), g.Shape.Dim("width")}
}

// k is the length of the mixing GEMM.
func (g gen) k() int { return g.streams * g.width }

// edit makes a scenario's Change of one that sees the sizes.
func edit(c func(g gen, p *bench.Problem)) bench.Change {
	return func(g bench.Gen, p *bench.Problem) error {
		c(genOf(g), p)
		return nil
	}
}

// drawn makes a family's Draw of a generator.
func drawn(draw func(gen) bench.Problem) func(bench.Gen) (bench.Problem, error) {
	return func(g bench.Gen) (bench.Problem, error) { return draw(genOf(g)), nil }
}

// nano is nano-v4's hyper-connection: n = 4, C = 128.
func nano(tokens ...int) []bench.Shape { return shapes("nano", 4, 128, tokens) }

// flash is V4-Flash's: n = 4, C = 4096.
func flash(tokens ...int) []bench.Shape { return shapes("flash", 4, 4096, tokens) }

// twoStreams has hc_mult 2, so that a 4 written into a kernel shows.
func twoStreams(tokens ...int) []bench.Shape { return shapes("two-streams", 2, 128, tokens) }

// long are sizes with one dimension at a time beyond every tile: tokens, streams to 8, and the widths that ship.
var long = slices.Concat(
	shapes("long", 2, 16, []int{257}), shapes("eight-streams", 8, 32, []int{2}), shapes("wide", 2, 7168, []int{1}),
	shapes("wide-odd", 2, 2880, []int{1}),
)

const longWhy = "one dimension at a time beyond every tile, to the widths that ship, and eight streams"

func shapes(model string, streams, width int, tokens []int) []bench.Shape {
	var out []bench.Shape
	for _, t := range tokens {
		out = append(out, bench.S(fmt.Sprintf("%s-t%d", model, t), map[string]int{
			"tokens": t, "streams": streams, "width": width,
		}))
	}
	return out
}
