package sparse

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// draft is a sparse attention problem in the making: requests with their last tokens as queries.
type draft struct {
	bench.Gen
	heads, dim, dv, rope int
	window, topK, ratio  int
	layout               string
	lengths, extends     []int
	request, position    []int // of each query
	main, extra          pool
	lists, extraLists    [][]int // logical
}

// pool is a cache: where the logical rows of each request lie.
type pool struct {
	page, rows, width int
	table             oracle.PageTable // nil for a flat cache
	base              []int            // first row of each request in a flat cache
}

// named is what an index operand says for logical row j.
func (p pool) named(b, j int) int {
	if p.table == nil {
		return p.base[b] + j
	}
	return j
}

// spareLanes stand behind the lists: the operands are wider than any list.
const spareLanes = 3

func drawAttention(g bench.Gen) (bench.Problem, error) {
	d := draft{
		Gen:    g,
		heads:  g.Shape.Dim("heads"),
		dim:    g.Shape.Dim("dim"),
		window: g.Shape.Dim("window"),
		topK:   g.Shape.Dim("top_k"),
		ratio:  g.Shape.Dim("ratio"),
		layout: "rows",
	}
	d.dv, d.rope = d.dim, d.dim/4
	if n := g.Shape.Dim("rope"); n > 0 {
		d.rope = n
	}
	switch g.Contract.Name {
	case v4Pages:
		d.layout, d.dim, d.dv, d.rope = "v4-kv", 512, 512, 64
	case v32Pages:
		d.layout, d.dim, d.dv, d.rope = "v32-kv", 576, 512, 64
	}
	if n := g.Shape.Dim("d_v"); n > 0 && d.layout == "rows" {
		d.dv = n
	}
	for b := range g.Shape.Dim("requests") {
		extend := g.Shape.Dim("extend")
		longer := 5 * b // than the first request
		if g.Shape.Dim("alike") > 0 {
			longer = 0
		}
		d.lengths, d.extends = append(d.lengths, g.Shape.Dim("context")+longer+extend), append(d.extends, extend)
		for i := range extend {
			d.request, d.position = append(d.request, b), append(d.position, d.lengths[b]-extend+i)
		}
	}
	if g.Shape.Dim("packed") > 0 {
		return d.packed()
	}
	var short []int
	for _, n := range d.lengths {
		short = append(short, n/max(d.ratio, 1))
	}
	var err error
	if d.main, err = d.pool(d.lengths, g.Shape.Dim("page")); err != nil {
		return bench.Problem{}, err
	}
	if d.extra, err = d.pool(short, g.Shape.Dim("extra_page")); err != nil {
		return bench.Problem{}, err
	}
	for _, p := range d.position {
		if d.window == 0 { // one list, which selects from all rows: V3.2
			d.lists = append(d.lists, d.pick(p+1, d.topK))
		} else {
			d.lists = append(d.lists, oracle.CausalRows([]int{p}, 0, d.window)[0])
		}
		d.extraLists = append(d.extraLists, d.pick(oracle.Visible(p, max(d.ratio, 1)), d.topK))
	}
	p := bench.Problem{
		Operands: map[string]bench.Operand{},
		Layout:   map[string]bench.Layout{},
		Unread:   map[string]func(int) bool{},
	}
	d.common(&p)
	d.put(&p, "", d.main, d.lists, max(d.window, d.topK*(1-min(d.window, 1)))+spareLanes)
	if d.ratio > 0 {
		d.put(&p, "extra_", d.extra, d.extraLists, d.topK+spareLanes)
	}
	if d.main.table != nil {
		p.Operands["request"] = bench.Ints(d.request, len(d.request))
	}
	return p, seal(&p)
}

// pick selects up to k of the first n rows in no order; a list of some length has a masked entry in it.
func (d *draft) pick(n, k int) []int {
	rows := d.Perm(n)
	rows = rows[:min(n, k)]
	if len(rows) > 2 && len(rows) < k && d.IntN(2) == 0 {
		rows[d.IntN(len(rows))] = -1
	}
	return rows
}

// pool lays out the rows of requests: one behind the other with a gap, or in shuffled pages among others.
func (d *draft) pool(lengths []int, page int) (pool, error) {
	p := pool{page: page, rows: d.Shape.Dim("first")}
	switch first := p.rows; {
	case first > 0 && d.layout != "rows":
		return p, fmt.Errorf("a cache of %s is not drawn beyond %d rows: its pages have hundreds of bytes", d.layout, first)
	case first > 1<<16 && d.Contract.Name != flashMLA:
		return p, fmt.Errorf("a cache beyond %d rows is drawn in bf16 only, so that a worker gets 256 MiB at most", first)
	}
	if page == 0 {
		for _, n := range lengths {
			p.base = append(p.base, p.rows+2)
			p.rows += n + 2
		}
		p.rows += 3
		return p, nil
	}
	pages, most := 3+d.Shape.Dim("spare"), 0
	for _, n := range lengths {
		pages += (n + page - 1) / page
		most = max(most, (n+page-1)/page)
	}
	p.width = most + 2
	if n := d.Shape.Dim("shared"); n > 0 {
		p.rows, p.table = n*page, shared(lengths, page, n)
		return p, nil
	}
	free := d.Perm(pages)
	if first := d.Shape.Dim("first"); first > 0 {
		for i := range free {
			free[i] += first
		}
		pages += first
	}
	p.rows = pages * page
	table, err := oracle.BuildPageTable(lengths, page, free, 0)
	if err != nil {
		return p, fmt.Errorf("pages of %v rows: %w", lengths, err)
	}
	p.table = table
	return p, nil
}

// shared are tables of long sequences over few pages, which stand in them again and again.
func shared(lengths []int, page, pages int) oracle.PageTable {
	table := make(oracle.PageTable, len(lengths))
	for b, n := range lengths {
		for i := range (n + page - 1) / page {
			table[b] = append(table[b], (b+i)%pages)
		}
	}
	return table
}

// common are the operands and attributes that do not depend on where rows lie.
func (d *draft) common(p *bench.Problem) {
	t, dtype := len(d.request), dtypeOf(d.Contract)
	base, empty := lseWords(d.Contract)
	rounding := "none"
	if d.Contract.Name == v4Later {
		rounding = "fp8"
	}
	p.Attrs = bench.Attrs{
		"softmax_scale": float64(float32(1.3 / math.Sqrt(float64(d.dim)))), "d_v": float64(d.dv),
		"num_splits": float64(max(d.Shape.Dim("splits"), 1)),
		"lse_base":   base, "empty_lse": empty, "page_size": float64(d.Shape.Dim("page")), "extra_page_size": 0.0,
		"kv_layout": d.layout, "kv_rounding": rounding, "rope_dims": float64(d.rope),
	}
	p.Operands["q"] = bench.Floats(dtype, d.Normal(t*d.heads*d.dim, 1.1), t, d.heads, d.dim)
	p.Operands["attn_sink"] = bench.Floats(bench.F32, d.Normal(d.heads, 1.5), d.heads)
	p.Outputs = map[string]bench.Output{
		"o": bench.Out(dtype, t, d.heads, d.dv), "lse": bench.Out(bench.F32, t, d.heads),
		"max_logits": bench.Out(bench.F32, t, d.heads),
	}
}

// put adds a cache with its lists: stale entries, which name rows that exist, behind every list and every table.
func (d *draft) put(p *bench.Problem, prefix string, c pool, lists [][]int, lanes int) {
	t := len(lists)
	indices, lengths := make([]int, 0, t*lanes), make([]int, t)
	for i, list := range lists {
		b := d.request[i]
		lengths[i] = len(list)
		for _, j := range list {
			if j >= 0 {
				j = c.named(b, j)
			}
			indices = append(indices, j)
		}
		for len(indices) < (i+1)*lanes {
			rows := d.lengths[b]
			if prefix != "" {
				rows /= d.ratio
			}
			indices = append(indices, c.named(b, d.IntN(max(rows, 1))))
		}
	}
	p.Operands[prefix+"indices"] = bench.Ints(indices, t, lanes)
	p.Operands[prefix+"topk_length"] = bench.Ints(lengths, t)
	if c.table != nil {
		p.Attrs[prefix+"page_size"] = float64(c.page)
		table := make([]int, 0, len(c.table)*c.width)
		for _, row := range c.table {
			table = append(table, row...)
			for range c.width - len(row) {
				table = append(table, d.IntN(c.rows/c.page))
			}
		}
		p.Operands[prefix+"block_table"] = bench.Ints(table, len(c.table), c.width)
	}
	p.Operands[prefix+"kv"] = d.values(c)
}

// values are a cache's rows: every one of them plausible, listed or not.
func (d *draft) values(c pool) bench.Operand {
	switch {
	case d.layout != "rows":
		return d.bytes(c)
	case c.table != nil:
		return bench.Floats(dtypeOf(d.Contract), d.Normal(c.rows*d.dim, 0.9), c.rows/c.page, c.page, d.dim)
	}
	return bench.Floats(dtypeOf(d.Contract), d.Normal(c.rows*d.dim, 0.9), c.rows, d.dim)
}

// packed is the extend phase: window and compressed rows of each request gathered into one cache, lists as extend_rows
// builds them.
func (d *draft) packed() (bench.Problem, error) {
	const align = 8
	var requests []oracle.ExtendRequest
	var selected [][]int
	c := pool{}
	for b, n := range d.lengths {
		gathered := min(n, d.extends[b]+d.window-1)
		requests = append(requests, oracle.ExtendRequest{
			SeqLen:         n,
			Extend:         d.extends[b],
			WindowBase:     c.rows,
			CompressedBase: c.rows + gathered,
		})
		c.rows += gathered + n/d.ratio + 1
	}
	for _, p := range d.position {
		selected = append(selected, d.pick(oracle.Visible(p, d.ratio), d.topK))
	}
	rows, err := oracle.ExtendRows(requests, selected, d.topK, d.ratio, d.window, align)
	if err != nil {
		return bench.Problem{}, fmt.Errorf("lists of a chunk: %w", err)
	}
	p := bench.Problem{
		Operands: map[string]bench.Operand{},
		Layout:   map[string]bench.Layout{},
		Unread:   map[string]func(int) bool{},
	}
	d.common(&p)
	var flat, lengths []int
	for t, row := range rows {
		flat = append(flat, row...)
		lengths = append(lengths, min(oracle.Visible(d.position[t], d.ratio), d.topK)+min(d.position[t]+1, d.window))
	}
	p.Operands["indices"], p.Operands["topk_length"] = bench.Ints(flat, len(rows), len(rows[0])),
		bench.Ints(lengths, len(rows))
	p.Operands["kv"] = d.values(c)
	return p, seal(&p)
}
