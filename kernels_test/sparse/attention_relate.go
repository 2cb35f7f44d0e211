package sparse

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// byQuery are the operands that have one step for each query.
func byQuery() []string {
	return []string{"q", "indices", "topk_length", "extra_indices", "extra_topk_length", "request"}
}

// some is a problem with some of its queries, in a given order.
func some(p bench.Problem, queries []int) (bench.Problem, error) {
	out := p.Clone()
	for _, name := range byQuery() {
		o, ok := p.Operands[name]
		if !ok {
			continue
		}
		part := slice(o, 0, 0)
		for _, t := range queries {
			part.Values = append(part.Values, slice(o, t, t+1).Values...)
		}
		part.Shape[0] = len(queries)
		out.Operands[name] = part
	}
	out.Outputs = sliced(p.Outputs, len(queries))
	return out, seal(&out)
}

// inParts is a call for each group of queries.
func inParts(groups func(n int) [][]int) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
		r := bench.Relation{Join: stacked}
		for _, queries := range groups(p.Operands["q"].Shape[0]) {
			part, err := some(p, queries)
			if err != nil {
				return r, err
			}
			r.Parts = append(r.Parts, part)
		}
		return r, nil
	}
}

func oneByOne(n int) [][]int {
	var out [][]int
	for t := range n {
		out = append(out, []int{t})
	}
	return out
}

// chunks cuts queries at uneven places.
func chunks(n int) [][]int {
	var out [][]int
	for from, size := 0, 1; from < n; from, size = from+size, size+1 {
		var part []int
		for t := from; t < min(from+size, n); t++ {
			part = append(part, t)
		}
		out = append(out, part)
	}
	return out
}

// permuted is the batch in reverse.
func permuted(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	n := p.Operands["q"].Shape[0]
	order := make([]int, n)
	for i := range order {
		order[i] = n - 1 - i
	}
	part, err := some(p, order)
	return bench.Relation{Parts: []bench.Problem{part}, Join: func(parts []bench.Results) (bench.Results, error) {
		out := bench.Results{}
		for name, v := range parts[0] {
			step := len(v) / n
			for i := n - 1; i >= 0; i-- {
				out[name] = append(out[name], v[i*step:(i+1)*step]...)
			}
		}
		return out, nil
	}}, err
}

// whole is the problem changed in a way that the result does not depend on.
func whole(exact bool, change func(g bench.Gen, p *bench.Problem) error) func(bench.Gen, bench.Problem) (bench.Relation,
	error) {
	return func(g bench.Gen, p bench.Problem) (bench.Relation, error) {
		err := change(g, &p)
		return bench.Relation{Parts: []bench.Problem{p}, Join: first, Exact: exact}, err
	}
}

// regathered is each chunk with a cache of its own that holds the rows of its lists alone, as a chunked prefill gathers
// them.
func regathered(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	r := bench.Relation{Join: stacked}
	for _, queries := range chunks(p.Operands["q"].Shape[0]) {
		part, err := some(p, queries)
		if err != nil {
			return r, err
		}
		for _, prefix := range prefixes(part) {
			if err := regather(&part, prefix); err != nil {
				return r, err
			}
		}
		r.Parts = append(r.Parts, part)
	}
	return r, nil
}

func regather(p *bench.Problem, prefix string) error {
	lists, err := listed(*p, prefix)
	if err != nil {
		return err
	}
	var rows []int
	for _, list := range lists {
		for _, at := range list {
			if at >= 0 {
				rows = append(rows, at)
			}
		}
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	kv := p.Operands[prefix+"kv"]
	small := slice(kv, 0, 1) // an unread row first, so that no row keeps its number
	for _, at := range rows {
		small.Values = append(small.Values, slice(kv, at, at+1).Values...)
	}
	small.Shape[0] = len(rows) + 1
	p.Operands[prefix+"kv"] = small
	o, lanes := p.Operands[prefix+"indices"], p.Operands[prefix+"indices"].Shape[1]
	for i := range o.Values {
		t, lane := i/lanes, i%lanes
		if o.Values[i] = -1; lane < len(lists[t]) && lists[t][lane] >= 0 {
			at, _ := slices.BinarySearch(rows, lists[t][lane])
			o.Values[i] = float64(at + 1)
		}
	}
	return seal(p)
}

// relabel moves pages: page i of each cache becomes page to(i, pages).
func relabel(to func(g bench.Gen, pages int) []int) func(g bench.Gen, p *bench.Problem) error {
	return func(g bench.Gen, p *bench.Problem) error {
		for _, prefix := range prefixes(*p) {
			kv, table := p.Operands[prefix+"kv"], p.Operands[prefix+"block_table"]
			if table.Shape == nil {
				return errFlat
			}
			order := to(g, kv.Shape[0])
			step := len(kv.Values) / kv.Shape[0]
			moved := make([]float64, len(kv.Values))
			for i, at := range order {
				copy(moved[at*step:(at+1)*step], kv.Values[i*step:(i+1)*step])
			}
			kv.Values = moved
			p.Operands[prefix+"kv"] = kv
			for i, v := range table.Values {
				table.Values[i] = float64(order[int(v)])
			}
		}
		return seal(p)
	}
}

// errFlat says that a cache has no pages to move: a twin has taken its tables away.
var errFlat = errors.New("the cache has no page table")

// shuffled moves every page.
func shuffled(g bench.Gen, pages int) []int { return g.Perm(pages) }

// reorder turns the entries of every list around, within the list.
func reorder(_ bench.Gen, p *bench.Problem) error {
	for _, prefix := range prefixes(*p) {
		before := slices.Clone(p.Operands[prefix+"indices"].Values)
		lanes := p.Operands[prefix+"indices"].Shape[1]
		if err := editLists(p, prefix, func(t, lane, n, _ int) int { return int(before[t*lanes+n-1-lane]) }); err != nil {
			return err
		}
	}
	return nil
}

// sharePages lets the second request use the first one's leading pages: a prefix that both have.
func sharePages(_ bench.Gen, p *bench.Problem) error {
	for _, prefix := range prefixes(*p) {
		o := p.Operands[prefix+"block_table"]
		for i := range 2 {
			o.Values[o.Shape[1]+i] = o.Values[i]
		}
	}
	return seal(p)
}

// unshare gives the second request copies of the pages that it shares, in two pages that nobody else has.
func unshare(_ bench.Gen, p *bench.Problem) error {
	for _, prefix := range prefixes(*p) {
		table, kv := p.Operands[prefix+"block_table"], p.Operands[prefix+"kv"]
		if table.Shape == nil {
			return errFlat
		}
		step := len(kv.Values) / kv.Shape[0]
		for i := range 2 {
			from := int(table.Values[i])
			kv.Values = append(kv.Values, kv.Values[from*step:(from+1)*step]...)
			table.Values[table.Shape[1]+i] = float64(kv.Shape[0])
			kv.Shape = append([]int{kv.Shape[0] + 1}, kv.Shape[1:]...)
		}
		p.Operands[prefix+"kv"] = kv
	}
	return seal(p)
}

func relatedScenarios() []bench.Scenario {
	nano, pages := sized("nano", nil), paged("nano", dims{"context": 30})
	every := map[string]bench.Layout{
		"q": {Lead: 3, Gap: 64, Inner: 8, Tail: 900}, "kv": {Lead: 5, Gap: 16, Tail: 300}, "extra_kv": {
			Lead: 2,
			Gap:  24,
			Tail: 300,
		},
		"indices": {Lead: 1, Gap: 3, Tail: 200}, "extra_indices": {Lead: 4, Gap: 1, Tail: 200},
		"topk_length": {Lead: 2, Tail: 3}, "extra_topk_length": {Lead: 1, Tail: 5}, "attn_sink": {Lead: 2, Tail: 2},
	}
	strided := func(name string, layout map[string]bench.Layout, phase string, s bench.Shape) bench.Scenario {
		return bench.Scenario{
			ID:        "strides-" + name,
			Why:       "sliced out of a wider buffer, as dense: " + name,
			Phase:     phase,
			Contracts: twoContracts(),
			Shapes:    []bench.Shape{s},
			Layout:    layout,
			Relate: whole(false, func(_ bench.Gen, p *bench.Problem) error {
				p.Layout = map[string]bench.Layout{}
				return nil
			}),
		}
	}
	related := func(id, why, phase string, contracts []string,
		relate func(bench.Gen, bench.Problem) (bench.Relation, error), s ...bench.Shape,
	) bench.Scenario {
		return bench.Scenario{ID: id, Why: why, Phase: phase, Contracts: contracts, Shapes: s, Relate: relate}
	}
	var residues []bench.Shape
	for _, n := range []int{0, 13, 14, 15, 16, 17} {
		residues = append(residues, sized(slug("context-%d", n), dims{"requests": 1, "context": n, "extend": 6}))
	}
	prefix := related("shared-prefix", "a prefix in shared pages is a prefix in pages of one's own", "decode",
		twoContracts(), whole(true, unshare), paged("nano", dims{
			"requests": 2,
			"context":  30,
			"window":   30,
		}))
	prefix.Change = sharePages
	alone := related("alone", "each query alone, out of wider buffers", "prefill", twoContracts(), inParts(oneByOne), nano,
		sized("split", dims{"splits": 3}))
	alone.Layout = map[string]bench.Layout{"q": every["q"], "kv": every["kv"], "indices": every["indices"]}
	batch := related("batch", "requests of a decode batch, each alone, out of wider buffers", "decode", twoContracts(),
		inParts(oneByOne), pages)
	batch.Layout = map[string]bench.Layout{
		"kv":                {Lead: 5, Gap: 32, Inner: 16, Tail: 300},
		"block_table":       {Lead: 3, Gap: 2, Tail: 40},
		"extra_block_table": {Lead: 1, Gap: 5, Tail: 90},
	}
	scenarios := []bench.Scenario{
		strided("heads-outermost", map[string]bench.Layout{"q": {Lead: 4, Gap: 64, Tail: 900, Swap: true}}, "prefill", nano),
		strided("all", every, "prefill", sized("split", dims{"splits": 2})),
		strided("pages", map[string]bench.Layout{
			"kv":                {Lead: 5, Gap: 32, Inner: 16, Tail: 300},
			"extra_kv":          {Lead: 2, Gap: 8, Tail: 300},
			"block_table":       {Lead: 3, Gap: 2, Tail: 40},
			"extra_block_table": {Lead: 1, Gap: 5, Tail: 90},
			"request":           {Lead: 2, Tail: 2},
		}, "decode", pages),
		related("chunked", "chunks of a prefill, each with rows gathered anew, are the prefill at once", "prefill",
			twoContracts(), regathered, residues...),
		alone,
		related("permuted", "the batch in reverse", "prefill", twoContracts(), permuted, nano),
		related("reordered", "the lists in reverse", "prefill", twoContracts(), whole(false, reorder), nano),
		related("parts", "num_splits does not matter", "prefill", twoContracts(),
			whole(false, func(_ bench.Gen, p *bench.Problem) error {
				p.Attrs[splitsWord] = 1.0
				return nil
			}), sized("n5", dims{"splits": 5})),
		related("verify", "a verify step of four tokens is four decode steps", "decode", pagedContracts(), inParts(oneByOne),
			paged("m4", dims{
				"requests": 2,
				"extend":   4,
				"context":  13,
			})),
		related("moved", "pages moved elsewhere between two steps", "decode", pagedContracts(),
			whole(true, relabel(shuffled)), pages),
		batch,
		prefix,
	}
	for _, name := range slices.Sorted(maps.Keys(every)) {
		k := strided(strings.ReplaceAll(name, "_", "-"), map[string]bench.Layout{name: every[name]}, "prefill", nano)
		k.Contracts = onlyFP32()
		scenarios = append(scenarios, k)
	}
	return scenarios
}
