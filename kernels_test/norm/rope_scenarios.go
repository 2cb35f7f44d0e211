package norm

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// small heads are rotated in part.
func small(t ...int) []bench.Shape {
	var out []bench.Shape
	for _, n := range t {
		out = append(out, headsOf(n, 3, 40, 24, 4096))
	}
	return out
}

func headsOf(t, h, d, e, span int) bench.Shape {
	return bench.S(fmt.Sprintf("t%d-h%d-d%d-r%d", t, h, d, e), map[string]int{
		"tokens": t, "heads": h, "width": d, "rotary": e, "span": span,
	})
}

var (
	v4Head    = headsOf(4, 4, 512, 64, 65536)
	v32Rope   = headsOf(5, 4, 64, 64, 4096)
	indexHead = headsOf(5, 4, 128, 64, 4096)
	nanoHead  = headsOf(9, 4, 64, 16, 1024)
)

var (
	neox    = bench.Set(bench.Attrs{"pairing": "half"})
	leading = bench.Set(bench.Attrs{"rotary_offset": 0.0})
	inverse = bench.Set(bench.Attrs{"inverse": true})
)

var ropeScenarios = []bench.Scenario{
	{ID: "lengths", Why: "no token, one, and the edges of a tile of 64", Shapes: small(0, 1, 63, 64, 65)},
	{
		ID:     "v4",
		Why:    "V4's heads: the last 64 of 512 channels, interleaved, base 160000 of the compressed layers",
		Shapes: []bench.Shape{v4Head, nanoHead},
		Change: bench.Set(bench.Attrs{"rope_theta": 160000.0}),
	},
	{
		ID:     "v4-inverse",
		Why:    "V4's attention output, rotated back at the query's position",
		Shapes: []bench.Shape{v4Head, nanoHead},
		Change: inverse,
	},
	{ID: "mla", Why: "V3.2's rotated part: all 64 channels, interleaved", Shapes: []bench.Shape{v32Rope}},
	{
		ID:      "indexer",
		Why:     "V3.2's index heads: the first 64 of 128 channels, halves",
		Shapes:  []bench.Shape{indexHead},
		Change:  bench.All(neox, leading),
		Catches: []string{"P2 NVIDIA/TensorRT-LLM#16378"},
	},
	{ID: "half-trailing", Why: "halves among the last channels", Shapes: small(5), Change: neox},
	{ID: "half-inverse", Why: "halves, rotated back", Shapes: small(5), Change: bench.All(neox, inverse)},
	{ID: "interleaved-leading", Why: "neighbours among the first channels", Shapes: small(5), Change: leading},
	{
		ID:      "one-hot",
		Why:     "one channel of 1 a head at position 1: what goes where",
		Shapes:  []bench.Shape{headsOf(1, 4, 4, 4, 2), headsOf(1, 6, 6, 4, 2)},
		Change:  oneHot,
		Catches: []string{"P2 NVIDIA/TensorRT-LLM#16378"},
	},
	{
		ID:     "one-hot-half",
		Why:    "the same with halves",
		Shapes: []bench.Shape{headsOf(1, 4, 4, 4, 2)},
		Change: bench.All(neox, oneHot),
	},
	{
		ID:     "one-pair",
		Why:    "two rotated channels: both pairings are one",
		Shapes: []bench.Shape{headsOf(4, 3, 10, 2, 4096)},
	},
	{
		ID:     "one-position",
		Why:    "a batch of decode steps at one position",
		Shapes: small(6),
		Change: at(func(int) int { return 777 }),
	},
	{ID: "ascending", Why: "prefill from position 0", Shapes: small(70), Change: at(func(t int) int { return t })},
	{
		ID:     "extend",
		Why:    "a chunk in the middle of a sequence: positions do not begin at 0",
		Shapes: small(33),
		Change: at(func(t int) int { return 1857 + t }),
	},
	{
		ID: "million",
		Why: "the last positions of V4's context, where fp32 angles are off by hundredths of a radian and a narrower " +
			"table by whole rotations",
		Shapes: []bench.Shape{v4Head, v32Rope},
		Change: at(func(t int) int { return 1<<20 - 1 - 37*t }),
	},
	{
		ID:     "million-frequencies",
		Why:    "the same with given frequencies: the angle is one product",
		Shapes: []bench.Shape{v4Head, v32Rope},
		Change: bench.All(frequencies, at(func(t int) int { return 1<<20 - 1 - 37*t })),
	},
	{ID: "frequencies", Why: "given inverse frequencies that no base has", Shapes: small(5), Change: frequencies},
	{
		ID:     "frequencies-half",
		Why:    "the same for halves, rotated back",
		Shapes: []bench.Shape{indexHead},
		Change: bench.All(frequencies, neox, leading, inverse),
	},
	{
		ID:     "cache",
		Why:    "a given table of cosines and sines",
		Shapes: []bench.Shape{headsOf(6, 3, 40, 24, 90)},
		Change: cached,
	},
	{
		ID:     "cache-half",
		Why:    "a given table, halves among the first channels",
		Shapes: []bench.Shape{headsOf(6, 3, 40, 24, 90)},
		Change: bench.All(cached, neox, leading),
	},
	{
		ID:     "cache-inverse",
		Why:    "a given table, rotated back",
		Shapes: []bench.Shape{headsOf(6, 3, 40, 24, 90)},
		Change: bench.All(cached, inverse),
	},
	{
		ID:     "padded",
		Why:    "heads sliced out of wider ones, and positions out of a longer list",
		Shapes: small(5),
		Layout: map[string]bench.Layout{"x": {Lead: 3, Gap: 20, Inner: 8, Tail: 200}, "positions": {Lead: 2, Tail: 9}},
	},
	{
		ID:     "head-major",
		Why:    "heads stored outermost, as a transposed view has them",
		Shapes: small(5),
		Layout: map[string]bench.Layout{"x": {Lead: 1, Gap: 10, Inner: 4, Tail: 50, Swap: true}},
	},
	{
		ID:     "padded-frequencies",
		Why:    "frequencies sliced out of a longer list",
		Shapes: small(5),
		Change: frequencies,
		Layout: map[string]bench.Layout{"inv_freq": {Lead: 1, Tail: 6}},
	},
	{
		ID:     "padded-cache",
		Why:    "a table sliced out of a wider one",
		Shapes: []bench.Shape{headsOf(6, 3, 40, 24, 90)},
		Change: cached,
		Layout: map[string]bench.Layout{"cos_sin_cache": {Lead: 4, Gap: 8, Tail: 40}},
	},
	{
		ID:     "padded-cache-half",
		Why:    "the same for halves",
		Shapes: []bench.Shape{headsOf(6, 3, 40, 24, 70)},
		Change: bench.All(cached, neox),
		Layout: map[string]bench.Layout{"cos_sin_cache": {Lead: 4, Gap: 3, Tail: 40}},
	},
	{
		ID:     "small-base",
		Why:    "a base of 1.5: every pair rotates nearly as far as the first",
		Shapes: small(4),
		Change: bench.Set(bench.Attrs{"rope_theta": 1.5}),
	},
	{
		ID:     "large",
		Why:    "values near the end of what bf16 and fp32 share",
		Shapes: small(4),
		Change: bench.Times(1e30, "x"),
	},
	{
		ID:     "captured",
		Why:    "a graph captured at other positions: a decode step later in the sequence",
		Shapes: append(small(4), v32Rope),
		Change: bench.CapturedWith("positions", func(_ int, v float64) float64 { return float64(int(v) / 2) }),
	},
	{ID: "alone", Why: "a batch and every token alone", Shapes: small(7), Relate: inPieces(bench.Alone)},
	{ID: "chunks", Why: "a prompt and its chunks", Shapes: small(33), Relate: inPieces(bench.ChunksOf(8))},
	{ID: "backwards", Why: "the tokens in the opposite order", Shapes: small(7), Relate: inPieces(bench.Backwards)},
	{
		ID:     "contiguous",
		Why:    "a strided view and the same heads without gaps",
		Shapes: small(7),
		Layout: map[string]bench.Layout{"x": {Lead: 2, Gap: 16, Inner: 8, Tail: 80}},
		Relate: inPieces(bench.Contiguous),
	},
	{
		ID:     "production",
		Why:    "a chunk of V4-Flash's queries",
		Shapes: []bench.Shape{headsOf(8, 64, 512, 64, 1<<20)},
		Full:   true,
	},
	{
		ID:     "long",
		Why:    "tokens beyond every tile up to position 2^20, all heads that ship, and the widest",
		Shapes: []bench.Shape{headsOf(257, 1, 6, 4, 1<<20), headsOf(1, 128, 6, 4, 4096), headsOf(1, 1, 576, 64, 4096)},
		Change: at(func(t int) int { return 1<<20 - 3*t }),
	},
	{
		ID:     "long-half",
		Why:    "halves of a part of each head, in launches of many tokens and of all heads that ship",
		Shapes: []bench.Shape{headsOf(257, 2, 6, 4, 4096), headsOf(5, 128, 6, 4, 4096)},
		Change: neox,
	},
	{
		ID:     "long-frequencies",
		Why:    "128 rotated channels by given frequencies",
		Shapes: []bench.Shape{headsOf(2, 2, 128, 128, 4096)},
		Change: frequencies,
	},
	{
		ID:     "long-cache",
		Why:    "tables of as many positions and channels as ship",
		Shapes: []bench.Shape{headsOf(3, 2, 4, 2, 1<<17), headsOf(2, 2, 128, 128, 40)},
		Change: bench.All(at(func(t int) int { return []int{1<<17 - 1, 39, 1}[t%3] }), clipped, cached),
	},
}

// at sets the positions.
func at(position func(t int) int) bench.Change {
	return func(_ bench.Gen, p *bench.Problem) error {
		p.Change("positions", func(t int, _ float64) float64 { return float64(position(t)) })
		return nil
	}
}

// clipped keeps positions within the shape's span.
func clipped(g bench.Gen, p *bench.Problem) error {
	return bench.Each(func(_ int, v float64) float64 { return min(v, float64(g.Shape.Dim("span")-1)) }, "positions")(g, p)
}

// oneHot makes channel h of head h 1 and the rest 0, at position 1.
func oneHot(g bench.Gen, p *bench.Problem) error {
	d, h := g.Shape.Dim("width"), g.Shape.Dim("heads")
	p.Change("x", func(i int, _ float64) float64 {
		if i%d == i/d%h {
			return 1
		}
		return 0
	})
	return at(func(int) int { return 1 })(g, p)
}

// frequencies gives inverse frequencies in place of a base: falling, but no powers.
func frequencies(g bench.Gen, p *bench.Problem) error {
	n := p.Attrs.Int("rotary_dim") / 2
	f := make([]float64, n)
	for i := range f {
		f[i] = math.Pow(5000, -float64(i)/float64(max(n, 1))) * (0.6 + 0.3*g.Float64())
	}
	delete(p.Attrs, "rope_theta")
	p.Operands["inv_freq"] = bench.Floats(bench.F32, f, n)
	return nil
}

// cached gives a table in place of a base. Its amplitude is not 1, and what positions do not name is unread.
func cached(g bench.Gen, p *bench.Problem) error {
	n, m := p.Attrs.Int("rotary_dim")/2, g.Shape.Dim("span")+3
	table := make([]float64, 2*n*m)
	for row := range m {
		for i := range n {
			sin, cos := math.Sincos(float64(row) * math.Pow(700, -float64(i)/float64(max(n, 1))))
			table[row*2*n+i], table[row*2*n+n+i] = 1.1*cos, 1.1*sin
		}
	}
	delete(p.Attrs, "rope_theta")
	delete(p.Attrs, "angle")
	p.Operands["cos_sin_cache"] = bench.Floats(bench.F32, table, m, 2*n)
	p.Change("positions", func(t int, v float64) float64 {
		if t == 1 {
			return 0 // the table's first row is in use
		}
		return v
	})
	named := map[int]bool{}
	for _, at := range p.In("positions").Ints() {
		named[at] = true
	}
	p.Unread = map[string]func(int) bool{"cos_sin_cache": func(i int) bool { return !named[i/(2*n)] }}
	return nil
}
