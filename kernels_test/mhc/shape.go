package mhc

import (
	"fmt"

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

// problem is a bench.Problem whose operands are all F32.
type problem struct{ *bench.Problem }

// change edits a problem.
type change func(g gen, p problem) error

// edit makes a scenario's Change of a change.
func edit(c change) func(bench.Gen, *bench.Problem) error {
	return func(g bench.Gen, p *bench.Problem) error { return c(genOf(g), problem{p}) }
}

// drawn makes a family's Draw of a generator.
func drawn(draw func(gen) bench.Problem) func(bench.Gen) (bench.Problem, error) {
	return func(g bench.Gen) (bench.Problem, error) { return draw(genOf(g)), nil }
}

// change applies f to every value of an operand.
func (p problem) change(name string, f func(i int, v float32) float32) {
	p.Change(name, func(i int, v float64) float64 { return float64(f(i, float32(v))) })
}

// nano is nano-v4's hyper-connection: n = 4, C = 128.
func nano(tokens ...int) []bench.Shape { return shapes("nano", 4, 128, tokens) }

// flash is V4-Flash's: n = 4, C = 4096.
func flash(tokens ...int) []bench.Shape { return shapes("flash", 4, 4096, tokens) }

// twoStreams has hc_mult 2, so that a 4 written into a kernel shows.
func twoStreams(tokens ...int) []bench.Shape { return shapes("two-streams", 2, 128, tokens) }

func shapes(model string, streams, width int, tokens []int) []bench.Shape {
	var out []bench.Shape
	for _, t := range tokens {
		out = append(out, bench.S(fmt.Sprintf("%s-t%d", model, t), map[string]int{
			"tokens": t, "streams": streams, "width": width,
		}))
	}
	return out
}
