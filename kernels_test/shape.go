package kernels

import "fmt"

// Shape is the size of a hyper-connection: T tokens, n streams of C channels, K = n·C.
type Shape struct {
	Model                  string
	Tokens, Streams, Width int
}

// K is the length of the mixing GEMM.
func (s Shape) K() int { return s.Streams * s.Width }

// Slug is the shape's segment in a case ID.
func (s Shape) Slug() string { return fmt.Sprintf("%s-t%d", s.Model, s.Tokens) }

// nano is nano-v4's hyper-connection: n = 4, C = 128.
func nano(tokens ...int) []Shape { return shapes("nano", 4, 128, tokens) }

// flash is V4-Flash's: n = 4, C = 4096.
func flash(tokens ...int) []Shape { return shapes("flash", 4, 4096, tokens) }

// twoStreams has hc_mult 2, so that a 4 written into a kernel shows.
func twoStreams(tokens ...int) []Shape { return shapes("two-streams", 2, 128, tokens) }

func shapes(model string, streams, width int, tokens []int) []Shape {
	var out []Shape
	for _, t := range tokens {
		out = append(out, Shape{model, t, streams, width})
	}
	return out
}
