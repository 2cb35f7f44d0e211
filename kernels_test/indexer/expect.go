package indexer

import (
	"math"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

const logitsDerivation = "dot products, products with weights and scales and the sum over heads in the contract's " +
	"arithmetic, in any order; a dot product that is certainly negative is an exact 0"

// expectRagged: oracle.IndexerLogitsRagged, and budget for every key that is seen.
func expectRagged(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	q, k, w := p.In("q").Mat(), p.In("k").Mat(), p.In("weights").Mat()
	start, end := p.In("start").Ints(), p.In("end").Ints()
	var ks []float64
	if _, ok := p.Operands["ks"]; ok {
		ks = stands(p.In("ks").Data, p.Unread["ks"])
	}
	k.Data = stands(k.Data, p.Unread["k"])
	want, err := oracle.IndexerLogitsRagged(q, k, w, ks, start, end)
	if err != nil {
		return nil, err
	}
	column := func(_, j int) int { return j }
	if width := p.Attrs.Int("max_seqlen_k"); width > 0 {
		if want, err = oracle.CompactRagged(want, start, end, width); err != nil {
			return nil, err
		}
		column = func(t, j int) int { return j - start[t] }
	}
	e := expected(p, want)
	fp8 := ks != nil
	for t := range start {
		for j := start[t]; j < end[t]; j++ {
			scale := 1.0
			if fp8 {
				scale = ks[j]
			}
			at := t*want.Cols + column(t, j)
			e.Bound[at] = budget(c.Contract.Name, fp8, q.Row(t), k.Row(j), scale, w.Row(t))
			if e.Free != nil {
				e.Free[at] = false
			}
		}
	}
	return []bench.Expected{e}, nil
}

// stands replaces what is not read by 1, so that nothing there can concern the oracle.
func stands(v []float64, unread func(int) bool) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		if out[i] = x; unread(i) {
			out[i] = 1
		}
	}
	return out
}

// expected has a bound of 0 for what is not seen (-inf), or leaves it free.
func expected(p bench.Problem, want oracle.Mat) bench.Expected {
	e := bench.Expected{
		Name: "logits", Shape: []int{want.Rows, want.Cols}, Axes: []string{"query", "key"}, Want: want.Data,
		Bound: make([]float64, len(want.Data)), Derivation: logitsDerivation,
	}
	if !p.Attrs.Flag("clean_logits") {
		e.Free = make([]bool, len(want.Data))
		for i := range e.Free {
			e.Free[i] = true
		}
	}
	return e
}

// codes are a pool's keys as a kernel's arithmetic sees them: without the fp32 scale of fp8 pages, with that of fp4
// pages.
func codes(p bench.Problem) (keys oracle.Paged, scale []float64, err error) {
	page, dim, name := p.Attrs.Int("page_size"), p.In("q").Dim(3), p.Attrs.Word("page_format")
	layout, err := pageLayout(name, page, dim)
	if err != nil {
		return oracle.Paged{}, nil, err
	}
	pool := p.In("pages")
	raw := make([][]byte, pool.Dim(0))
	for i := range raw {
		raw[i] = bench.Tensor{Data: pool.Row(i)}.Bytes()
	}
	if keys, err = oracle.DecodePages(layout, raw); err != nil || name != "fp8" {
		return keys, nil, err
	}
	for _, bytes := range raw {
		parts, err := layout.Unpack(bytes)
		if err != nil {
			return keys, nil, err
		}
		for i := range page {
			b := parts["scale"][4*i:]
			scale = append(scale, float64(math.Float32frombits(uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24)))
		}
	}
	for i := range keys.Rows.Data {
		keys.Rows.Data[i] /= scale[i/dim] // exact: the product of a code and its scale is
	}
	return keys, scale, nil
}

// expectPaged judges every logit, and of a result of production size a sample and all classes.
func expectPaged(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	if c.Shape.Dim("large") == 1 {
		return sampled(bench.Gen{Rand: suite.Rand(c.RowID() + "/sample"), Shape: c.Shape, Contract: c.Contract}, c, p)
	}
	return expectSmall(c, p)
}

// expectSmall: oracle.IndexerLogitsPaged on the decoded pool.
func expectSmall(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	in, err := pagedInput(p)
	if err != nil {
		return nil, err
	}
	want, err := oracle.IndexerLogitsPaged(in)
	if err != nil {
		return nil, err
	}
	e := expected(p, want)
	fp8 := in.KeyScale != nil
	t := 0
	for b, lengths := range in.Lengths {
		for _, n := range lengths {
			for j := range n {
				at, err := oracle.PageSlot(in.Table[b], p.Attrs.Int("page_size"), j)
				if err != nil {
					return nil, err
				}
				scale := 1.0
				if fp8 {
					scale = in.KeyScale[at]
				}
				i := t*want.Cols + j
				e.Bound[i] = budget(c.Contract.Name, fp8, in.Q.Row(t), in.Keys.Rows.Row(at), scale, in.W.Row(t))
				if e.Free != nil {
					e.Free[i] = false
				}
			}
			t++
		}
	}
	return []bench.Expected{e}, nil
}

func pagedInput(p bench.Problem) (oracle.PagedIndexer, error) {
	keys, scale, err := codes(p)
	q, lens, table := p.In("q"), p.In("context_lens"), p.In("block_table")
	in := oracle.PagedIndexer{
		Q: oracle.Mat{Rows: q.Dim(0) * q.Dim(1), Cols: q.Dim(2) * q.Dim(3), Data: q.Data}, W: p.In("weights").Mat(),
		Keys: keys, KeyScale: scale, Width: p.Outputs["logits"].Shape[1],
	}
	for b := range lens.Dim(0) {
		in.Lengths = append(in.Lengths, bench.Tensor{Data: lens.Row(b)}.Ints())
		in.Table = append(in.Table, bench.Tensor{Data: table.Row(b)}.Ints())
	}
	return in, err
}
