package sparse

import (
	"encoding/binary"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// twin makes a twin of an edit that says whether it changed anything and whether it could be made.
func twin(class, name string, edit func(g bench.Gen, p *bench.Problem) (bool, error)) bench.Twin {
	return bench.Twin{Class: class, Name: name, Apply: func(g bench.Gen, p *bench.Problem) bool {
		changed, err := edit(g, p)
		return changed && err == nil
	}}
}

func attentionTwins() []bench.Twin {
	return []bench.Twin{
		bench.Dense(),
		bench.Fixed("log-base", "log-sum-exps to the base e", bench.Attrs{baseWord: "e"}),
		bench.Fixed("log-base", "log-sum-exps to the base 2", bench.Attrs{baseWord: wordTwo}),
		bench.Fixed("split", "one part", bench.Attrs{splitsWord: 1.0}),
		twin("split", "two parts of at least one row each", twoParts),
		twin("split", "the log-sum-exp asked for", askLSE),
		bench.Fixed("empty-row", "-inf for empty rows", bench.Attrs{emptyWord: "-inf"}),
		bench.Fixed("empty-row", "+inf for empty rows", bench.Attrs{emptyWord: emptyPlus}),
		twin("empty-row", "a row in every lane", filled),
		twin("paging", "pages in order", inOrder),
		twin("paging", "one page size", onePageSize),
		twin("paging", "no page tables", unpaged),
		twin("scale-layout", "one scale in all groups", equalScales),
		twin("scale", "scales of 1", unitScales),
		twin("encoding", "rows of bf16 in place of bytes", asRows),
		twin("eps", "no group below the floor of its scale", aboveFloor),
		twin("scale-layout", "groups of one size", oneSize),
		bench.Fixed("variant", "rows as they are stored", bench.Attrs{"kv_rounding": "none"}),
		twin("mask-edge", "a lane without row behind the last one", maskedEdge),
		twin("tile", "lists of at most 8 entries", shortLists),
		twin("tile", "lists filled up to whole tiles", wholeTiles),
		twin("scale", "a softmax scale of 1", unitScale),
		bench.Lacking("scale", "no sink", "attn_sink"),
		twin("layout", "all channels are the value", func(_ bench.Gen, p *bench.Problem) (bool, error) {
			q, o := p.Operands["q"].Shape, p.Outputs["o"]
			changed := o.Shape[2] != q[2]
			p.Attrs["d_v"], p.Outputs["o"] = float64(q[2]), bench.Out(o.DType, q...)
			return changed, nil
		}),
		twin("selection", "no row twice in a list", distinct),
		twin("selection", "the main list alone", withoutExtra),
		twin("accumulation", "scores of one product each", oneProduct),
		twin("log-base", "equal scores", func(_ bench.Gen, p *bench.Problem) (bool, error) {
			p.Change("q", func(int, float64) float64 { return 0 })
			return true, nil
		}),
		twin("accumulation", "one row in each list", oneRow),
	}
}

func askLSE(_ bench.Gen, p *bench.Problem) (bool, error) {
	if _, has := p.Outputs["lse"]; has {
		return false, nil
	}
	o := p.Outputs["o"].Shape
	p.Outputs["lse"] = bench.Out(bench.F32, o[0], o[1])
	return true, nil
}

// twoParts is a launch in two parts where there was one: a list of a single entry gets a lane without row.
func twoParts(_ bench.Gen, p *bench.Problem) (bool, error) {
	changed := p.Attrs.Num(splitsWord) == 1
	p.Attrs[splitsWord] = 2.0
	return changed, nil
}

// filled puts the nearest row of a list into lanes that have none, and gives a list of length 0 its first lane.
func filled(_ bench.Gen, p *bench.Problem) (bool, error) {
	changed := false
	for _, prefix := range prefixes(*p) {
		p.Change(prefix+"topk_length", func(_ int, v float64) float64 {
			changed = changed || v == 0
			return max(v, 1)
		})
		lists, err := listed(*p, prefix)
		if err != nil {
			lists = nil // a stale lane that reaches nowhere counts now
		}
		if err := editLists(p, prefix, func(t, lane, _, v int) int {
			if lists == nil || lists[t][lane] < 0 {
				changed = true
				return 0
			}
			return v
		}); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// inOrder relabels pages so that tables count upwards.
func inOrder(_ bench.Gen, p *bench.Problem) (bool, error) {
	if _, paged := p.Operands["block_table"]; !paged {
		return false, nil
	}
	for _, prefix := range prefixes(*p) {
		table := p.Operands[prefix+"block_table"]
		unread := p.Unread[prefix+"block_table"]
		pages := p.Operands[prefix+"kv"].Shape[0]
		order := make([]int, 0, pages)
		seen := map[int]bool{}
		place := func(v int) {
			if !seen[v] {
				seen[v] = true
				order = append(order, v)
			}
		}
		for i, v := range table.Values {
			if !unread(i) {
				place(int(v))
			}
		}
		for v := range pages {
			place(v)
		}
		to := make([]int, pages)
		for at, v := range order {
			to[v] = at
		}
		one := *p
		if err := relabelOne(&one, prefix, to); err != nil {
			return false, err
		}
	}
	return true, seal(p)
}

func relabelOne(p *bench.Problem, prefix string, to []int) error {
	kv, table := p.Operands[prefix+"kv"], p.Operands[prefix+"block_table"]
	step := len(kv.Values) / kv.Shape[0]
	moved := make([]float64, len(kv.Values))
	for i, at := range to {
		copy(moved[at*step:(at+1)*step], kv.Values[i*step:(i+1)*step])
	}
	kv.Values = moved
	p.Operands[prefix+"kv"] = kv
	for i, v := range table.Values {
		table.Values[i] = float64(to[int(v)])
	}
	return nil
}

// unpaged replaces positions by the rows that tables lead to.
func unpaged(_ bench.Gen, p *bench.Problem) (bool, error) {
	if _, paged := p.Operands["block_table"]; !paged {
		return false, nil
	}
	for _, prefix := range prefixes(*p) {
		lists, err := listed(*p, prefix)
		if err != nil {
			return false, err
		}
		o := p.Operands[prefix+"indices"]
		for i := range o.Values {
			if t, lane := i/o.Shape[1], i%o.Shape[1]; lane < len(lists[t]) {
				o.Values[i] = float64(lists[t][lane])
			}
		}
		p.Drop(prefix + "block_table")
		if kv := p.Operands[prefix+"kv"]; p.Attrs.Word("kv_layout") == "rows" {
			kv.Shape = []int{kv.Shape[0] * kv.Shape[1], kv.Shape[2]}
			p.Operands[prefix+"kv"], p.Attrs[prefix+"page_size"] = kv, 0.0
			p.Layout[prefix+"kv"] = bench.Layout{}
		}
	}
	p.Drop("request")
	return true, seal(p)
}

// onePageSize cuts the extra cache into pages of the main one's size, where it is in real values: each request's rows,
// as its table leads to them, in pages of its own.
func onePageSize(_ bench.Gen, p *bench.Problem) (bool, error) {
	size, other := p.Attrs.Int("page_size"), p.Attrs.Int("extra_page_size")
	table, has := p.Operands["extra_block_table"]
	if !has || size == other || p.Attrs.Word("kv_layout") != "rows" {
		return false, nil
	}
	kv := p.Operands["extra_kv"]
	width, tokens := kv.Shape[2], table.Shape[1]*other
	pages := (tokens + size - 1) / size
	small := bench.Operand{
		DType:  kv.DType,
		Shape:  []int{table.Shape[0] * pages, size, width},
		Values: make([]float64, table.Shape[0]*pages*size*width),
	}
	var ids []int
	for b := range table.Shape[0] {
		for j := range tokens {
			at := int(table.Values[b*table.Shape[1]+j/other])*other + j%other
			copy(small.Values[(b*pages*size+j)*width:], kv.Values[at*width:(at+1)*width])
		}
		for i := range pages {
			ids = append(ids, b*pages+i)
		}
	}
	p.Operands["extra_kv"], p.Operands["extra_block_table"] = small, bench.Ints(ids, table.Shape[0], pages)
	p.Attrs["extra_page_size"] = float64(size)
	return true, seal(p)
}

// setScales rewrites the scales of pages of bytes.
func setScales(value func(v float64) float64) func(bench.Gen, *bench.Problem) (bool, error) {
	return func(_ bench.Gen, p *bench.Problem) (bool, error) {
		if p.Attrs.Word("kv_layout") == "rows" {
			return false, nil
		}
		for _, prefix := range prefixes(*p) {
			kv := p.Operands[prefix+"kv"]
			l, err := layoutOf(p.Attrs.Word("kv_layout"), p.Attrs.Int(prefix+"page_size"))
			if err != nil {
				return false, err
			}
			for _, f := range l.Fields {
				if f.Name != "scale" {
					continue
				}
				for i := range kv.Shape[0] * l.Tokens * f.Count {
					at := i/(l.Tokens*f.Count)*l.Size + f.At + i/f.Count%l.Tokens*f.Stride + i%f.Count*f.Format.Width()/8
					if f.Format.Name == format.E8M0.Name {
						kv.Values[at] = 127 + math.Log2(value(0.5))
						continue
					}
					for b, x := range binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(value(0.5)))) {
						kv.Values[at+b] = float64(x)
					}
				}
			}
		}
		return true, nil
	}
}

func equalScales(g bench.Gen, p *bench.Problem) (bool, error) {
	return setScales(func(v float64) float64 { return v })(g, p)
}

func unitScales(g bench.Gen, p *bench.Problem) (bool, error) {
	return setScales(func(float64) float64 { return 1 })(g, p)
}

// asRows stores what pages of bytes mean.
func asRows(_ bench.Gen, p *bench.Problem) (bool, error) {
	if p.Attrs.Word("kv_layout") == "rows" {
		return false, nil
	}
	for _, prefix := range prefixes(*p) {
		m, err := decoded(*p, prefix)
		if err != nil {
			return false, err
		}
		page := p.Attrs.Int(prefix + "page_size")
		p.Operands[prefix+"kv"] = bench.Floats(bench.BF16, m.Data, m.Rows/page, page, m.Cols)
	}
	p.Attrs["kv_layout"] = "rows"
	return true, seal(p)
}
