package sparse

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

func extendRows() bench.Family {
	return bench.Family{
		Op: opExtendRows, Slug: "extend-rows",
		Claim:     "every list of a chunk MUST name the selected compressed rows, then the window, then -1, entry by entry",
		Doc:       extendRowsDoc(),
		Contracts: []numerics.Contract{{Name: "exact"}},
		Draw:      drawExtend, Expect: expectExtend, Twins: extendTwins(), Scenarios: append(extendScenarios(), longRows()),
	}
}

func drawExtend(g bench.Gen) (bench.Problem, error) {
	n, k, ratio, window, align := g.Shape.Dim("requests"), g.Shape.Dim("top_k"), g.Shape.Dim("ratio"),
		g.Shape.Dim("window"), g.Shape.Dim("align")
	var seq, extend, windowBase, compressedBase, selected []int
	rows, queries := 11, 0
	for b := range n {
		e := g.Shape.Dim("extend") + b%3
		s := g.Shape.Dim("context") + 5*b + e
		seq, extend = append(seq, s), append(extend, e)
		windowBase, compressedBase = append(windowBase, rows), append(compressedBase, rows+min(s, e+window-1))
		rows += min(s, e+window-1) + s/max(ratio, 1) + 3
		queries += e
		for p := s - e; p < s; p++ {
			visible := 0
			if ratio > 0 {
				visible = oracle.Visible(p, ratio)
			}
			picked := g.Perm(visible)[:min(visible, k)]
			if len(picked) > 2 && p%2 == 0 {
				picked[len(picked)-2] = -1
			}
			selected = append(selected, picked...)
			for range k + 2 - len(picked) { // stale, and plausible
				selected = append(selected, g.IntN(max(s/max(ratio, 1), 1)))
			}
		}
	}
	p := bench.Problem{
		Attrs: bench.Attrs{
			"top_k":       float64(k),
			"ratio":       float64(ratio),
			"window_size": float64(window),
			"align":       float64(align),
		},
		Operands: map[string]bench.Operand{
			"seq_len": bench.Ints(seq, n), "extend_len": bench.Ints(extend, n), "window_base": bench.Ints(windowBase, n),
			"compressed_base": bench.Ints(compressedBase, n), "selected": bench.Ints(selected, queries, k+2),
		},
		Layout: map[string]bench.Layout{}, Unread: map[string]func(int) bool{},
		Outputs: map[string]bench.Output{
			"indices": bench.OutI32(queries, (k+window+align-1)/align*align), "topk_length": bench.OutI32(queries),
		},
	}
	sealExtend(&p)
	return p, nil
}

// taken is how many selected rows each query takes, and its position.
func taken(p bench.Problem) (rows, position []int) {
	seq, extend := p.In("seq_len").Ints(), p.In("extend_len").Ints()
	for b := range seq {
		for at := seq[b] - extend[b]; at < seq[b]; at++ {
			n := 0
			if ratio := p.Attrs.Int("ratio"); ratio > 0 {
				n = min(oracle.Visible(at, ratio), p.Attrs.Int("top_k"))
			}
			rows, position = append(rows, n), append(position, at)
		}
	}
	return rows, position
}

// sealExtend leaves the selection's stale tail unread.
func sealExtend(p *bench.Problem) {
	n, _ := taken(*p)
	width := p.Operands["selected"].Shape[1]
	p.Unread["selected"] = func(i int) bool { return i%width >= n[i/width] }
}

func expectExtend(_ bench.Case, p bench.Problem) ([]bench.Expected, error) {
	selected := p.In("selected")
	logical := make([][]int, selected.Dim(0))
	for t := range logical {
		logical[t] = bench.Tensor{Data: selected.Row(t), Shape: []int{selected.Dim(1)}}.Ints()
	}
	var requests []oracle.ExtendRequest
	seq, extend := p.In("seq_len").Ints(), p.In("extend_len").Ints()
	windowBase, compressedBase := p.In("window_base").Ints(), p.In("compressed_base").Ints()
	for b := range seq {
		requests = append(requests, oracle.ExtendRequest{
			SeqLen:         seq[b],
			Extend:         extend[b],
			WindowBase:     windowBase[b],
			CompressedBase: compressedBase[b],
		})
	}
	window, width := p.Attrs.Int("window_size"), p.Outputs["indices"].Shape[1] // as wide as the call asks for
	rows, err := oracle.ExtendRows(requests, logical, p.Attrs.Int("top_k"), p.Attrs.Int("ratio"), window, width)
	if err != nil {
		return nil, fmt.Errorf("lists of a chunk: %w", err)
	}
	var want, lengths []float64
	n, position := taken(p)
	for t, row := range rows {
		for _, v := range row {
			want = append(want, float64(v))
		}
		lengths = append(lengths, float64(n[t]+min(position[t]+1, window)))
	}
	shape := p.Outputs["indices"].Shape
	return []bench.Expected{
		bench.Exactly("indices", want, []string{"query", "entry"}, shape...),
		bench.Exactly("topk_length", lengths, []string{"query"}, shape[0]),
	}, nil
}

func extendScenarios() []bench.Scenario {
	at := func(name string, requests, context, extend, k, ratio, window, align int) bench.Shape {
		return bench.S(name, map[string]int{
			"requests": requests, "context": context, "extend": extend, "top_k": k, "ratio": ratio, "window": window,
			"align": align,
		})
	}
	var residues, edges []bench.Shape
	for r := range 4 {
		residues = append(residues, at(slug("context-%d", 8+r), 2, 8+r, 3, 4, 4, 6, 4))
	}
	for _, n := range []int{0, 1, 6, 7, 8} {
		edges = append(edges, at(slug("context-%d", n), 2, n, 2, 4, 4, 8, 8))
	}
	return []bench.Scenario{
		{ID: "residues", Why: "a chunk that begins at every residue of the ratio", Phase: "extend", Shapes: residues},
		{
			ID:     "window-edges",
			Why:    "contexts shorter than the window, as long, and longer by one",
			Phase:  "extend",
			Shapes: edges,
		},
		{
			ID:    "sizes",
			Why:   "nano, V4's window with its two ratios, a layer of window only",
			Phase: "extend",
			Shapes: []bench.Shape{
				at("nano", 3, 61, 7, 16, 4, 32, 16), at("flash-c4", 2, 1021, 3, 64, 4, 128, 128),
				at("flash-c128", 2, 1021, 5, 16, 128, 128, 128), at("window-only", 3, 30, 4, 0, 0, 16, 8),
			},
		},
		{
			ID:     "one-token",
			Why:    "a chunk of one token is a decode step",
			Phase:  "extend",
			Shapes: []bench.Shape{at("nano", 4, 40, 1, 8, 4, 16, 8)},
		},
		{
			ID:     "idle-request",
			Why:    "a request without tokens in this chunk between others",
			Phase:  "extend",
			Shapes: []bench.Shape{at("nano", 3, 20, 0, 4, 4, 8, 8)},
		},
		{
			ID:     "strides",
			Why:    "every operand sliced out of a wider buffer",
			Phase:  "extend",
			Shapes: []bench.Shape{at("nano", 3, 21, 3, 4, 4, 8, 8)},
			Layout: map[string]bench.Layout{
				"seq_len": {Lead: 1, Tail: 2}, "extend_len": {Lead: 2, Tail: 1}, "window_base": {Lead: 1, Tail: 1},
				"compressed_base": {Lead: 3, Tail: 1}, "selected": {
					Lead: 2,
					Gap:  5,
					Tail: 90,
				},
			},
		},
		{
			ID:     "alone",
			Why:    "each request alone",
			Phase:  "extend",
			Shapes: []bench.Shape{at("nano", 3, 21, 3, 4, 4, 8, 8)},
			Relate: extendAlone,
		},
		{
			ID:     "chunks",
			Why:    "one token more for each chunk of one",
			Phase:  "extend",
			Shapes: []bench.Shape{at("nano", 1, 9, 6, 4, 4, 8, 8), at("from-start", 1, 0, 9, 4, 4, 4, 4)},
			Relate: extendTokens,
		},
	}
}

// extendAlone is every request in a call of its own.
func extendAlone(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	r := bench.Relation{Join: stacked, Exact: true}
	from := 0
	for b, n := range p.In("extend_len").Ints() {
		part := p.Clone()
		for _, name := range []string{"seq_len", "extend_len", "window_base", "compressed_base"} {
			part.Operands[name] = slice(p.Operands[name], b, b+1)
		}
		part.Operands["selected"] = slice(p.Operands["selected"], from, from+n)
		part.Outputs = sliced(p.Outputs, n)
		sealExtend(&part)
		r.Parts = append(r.Parts, part)
		from += n
	}
	return r, nil
}

// extendTokens is one request token by token: the rows that are gathered begin later, where they lie does not change.
func extendTokens(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	r := bench.Relation{Join: stacked, Exact: true}
	seq, n, window := p.In("seq_len").Ints()[0], p.In("extend_len").Ints()[0], p.Attrs.Int("window_size")
	gathered := func(s, e int) int { return s - min(s, e+window-1) }
	for i := range n {
		part := p.Clone()
		s := seq - n + i + 1
		part.Change("seq_len", func(int, float64) float64 { return float64(s) })
		part.Change("extend_len", func(int, float64) float64 { return 1 })
		part.Change("window_base", func(_ int, v float64) float64 { return v + float64(gathered(s, 1)-gathered(seq, n)) })
		part.Operands["selected"] = slice(p.Operands["selected"], i, i+1)
		part.Outputs = sliced(p.Outputs, 1)
		sealExtend(&part)
		r.Parts = append(r.Parts, part)
	}
	return r, nil
}
