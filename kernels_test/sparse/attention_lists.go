package sparse

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// prefixes are those of the caches' operands.
func prefixes(p bench.Problem) []string {
	if _, ok := p.Operands["extra_kv"]; ok {
		return []string{"", "extra_"}
	}
	return []string{""}
}

// rowsOf is how many rows a cache has.
func rowsOf(p bench.Problem, prefix string) int {
	kv := p.Operands[prefix+"kv"]
	if page := p.Attrs.Int(prefix + "page_size"); page > 0 {
		return kv.Shape[0] * page
	}
	return kv.Shape[0]
}

// listed gives the physical rows that each query's list names, -1 for entries that are no row; only entries that count
// are there.
func listed(p bench.Problem, prefix string) ([][]int, error) {
	indices, lengths := p.In(prefix+"indices"), p.In(prefix+"topk_length").Ints()
	rows := rowsOf(p, prefix)
	logical := make([][]int, indices.Dim(0))
	for t := range logical {
		for _, v := range indices.Row(t)[:lengths[t]] {
			logical[t] = append(logical[t], int(v))
		}
	}
	table, paged := p.Operands[prefix+"block_table"]
	if !paged {
		for _, row := range logical {
			for i, at := range row {
				if at < 0 || at >= rows {
					row[i] = -1
				}
			}
		}
		return logical, nil
	}
	var pages oracle.PageTable
	for b := range table.Shape[0] {
		pages = append(pages, bench.Tensor{Shape: []int{table.Shape[1]}, Data: table.Tensor().Row(b)}.Ints())
	}
	size := p.Attrs.Int(prefix + "page_size")
	out, err := oracle.PagedRows(oracle.Paged{Rows: oracle.Mat{Rows: rows}, Size: size}, pages, p.In("request").Ints(),
		logical)
	if err != nil {
		return nil, fmt.Errorf("rows of %sindices: %w", prefix, err)
	}
	return out, nil
}

// seal marks what no kernel reads: lanes behind a list, rows that no list names, padding of pages, table entries behind
// the last page that a list of the request reaches. It follows every edit of lists.
func seal(p *bench.Problem) error {
	for _, prefix := range prefixes(*p) {
		lists, err := listed(*p, prefix)
		if err != nil {
			return err
		}
		lengths, lanes := p.In(prefix+"topk_length").Ints(), p.Operands[prefix+"indices"].Shape[1]
		p.Unread[prefix+"indices"] = func(i int) bool { return i%lanes >= lengths[i/lanes] }
		read := make([]bool, rowsOf(*p, prefix))
		for _, list := range lists {
			for _, r := range list {
				if r >= 0 {
					read[r] = true
				}
			}
		}
		if err := sealRows(p, prefix, read); err != nil {
			return err
		}
		delete(p.Unread, prefix+"block_table")
		if table, ok := p.Operands[prefix+"block_table"]; ok {
			p.Unread[prefix+"block_table"] = beyondTable(*p, prefix, table)
		}
	}
	return nil
}

func sealRows(p *bench.Problem, prefix string, read []bool) error {
	kv := p.Operands[prefix+"kv"]
	if word := p.Attrs.Word("kv_layout"); word != "rows" {
		l, err := layoutOf(word, p.Attrs.Int(prefix+"page_size"))
		if err != nil {
			return err
		}
		owners := owner(l)
		p.Unread[prefix+"kv"] = func(i int) bool {
			token := owners[i%l.Size]
			return token < 0 || !read[i/l.Size*l.Tokens+token]
		}
		return nil
	}
	width := kv.Shape[len(kv.Shape)-1]
	p.Unread[prefix+"kv"] = func(i int) bool { return !read[i/width] }
	return nil
}

func beyondTable(p bench.Problem, prefix string, table bench.Operand) func(i int) bool {
	size, width := p.Attrs.Int(prefix+"page_size"), table.Shape[1]
	last := make([]int, table.Shape[0])
	for b := range last {
		last[b] = -1
	}
	indices, lengths, request := p.In(prefix+"indices"), p.In(prefix+"topk_length").Ints(), p.In("request").Ints()
	for t, b := range request {
		for _, v := range indices.Row(t)[:lengths[t]] {
			if v >= 0 {
				last[b] = max(last[b], int(v)/size)
			}
		}
	}
	return func(i int) bool { return i%width > last[i/width] }
}

// decoded is a cache as real values, one row for each token, by the library's reading of pages.
func decoded(p bench.Problem, prefix string) (oracle.Mat, error) {
	kv, rows := p.In(prefix+"kv"), rowsOf(p, prefix)
	word := p.Attrs.Word("kv_layout")
	if word == "rows" {
		return oracle.Mat{Rows: rows, Cols: len(kv.Data) / max(rows, 1), Data: kv.Data}, nil
	}
	l, err := layoutOf(word, p.Attrs.Int(prefix+"page_size"))
	if err != nil {
		return oracle.Mat{}, err
	}
	pages := oracle.BytePages{Layout: l}
	identity := make([]int, kv.Dim(0))
	for i := range identity {
		pages.Pages = append(pages.Pages, bench.Tensor{Shape: []int{l.Size}, Data: kv.Row(i)}.Bytes())
		identity[i] = i
	}
	return pages.Read(identity, 0, rows)
}
