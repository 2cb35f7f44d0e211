package oracle

import "fmt"

// Paged is a cache of rows cut into pages: row t of page p is Rows.Row(p·Size+t).
type Paged struct {
	Rows Mat // [P·Size, D]
	Size int // tokens a page, any number from 1 (FlashMLA tests use 2, 53, 61, 69 and 576)
}

// NewPaged returns a zero cache of pages·size rows.
func NewPaged(pages, size, width int) Paged {
	return Paged{Rows: NewMat(pages*size, width), Size: size}
}

// PageTable names the physical pages of B sequences: entry i of row b holds tokens [i·size,
// (i+1)·size) of sequence b; -1 is no page. Rows may differ in length.
type PageTable [][]int

// PageSlot is the physical row of token j:
//
//	table[j div size] · size + j mod size
//
// It fails on a page size below 1, a token outside the table and an entry that is no page.
//
// Source: DeepGEMM fp8_paged_mqa_logits and FlashMLA's block tables (page·block_size + offset).
func PageSlot(table []int, size, j int) (int, error) {
	if size < 1 {
		return 0, fmt.Errorf("page table: the page size is %d; it must be 1 or more", size)
	}
	if j < 0 || j/size >= len(table) {
		return 0, fmt.Errorf("page table: token %d is outside of %d pages of %d tokens", j, len(table), size)
	}
	page := table[j/size]
	if page < 0 {
		return 0, fmt.Errorf("page table: token %d needs entry %d, which is %d and names no page", j, j/size, page)
	}
	return page*size + j%size, nil
}

// slot is PageSlot with the number of physical pages checked.
func (p Paged) slot(table []int, j int) (int, error) {
	at, err := PageSlot(table, p.Size, j)
	if err == nil && at >= p.Rows.Rows {
		err = fmt.Errorf("page table: token %d needs page %d; the cache has %d", j, at/p.Size, p.Rows.Rows/p.Size)
	}
	return at, err
}

// Write stores x [n, D] as the tokens first, first+1, ... of the sequence with this table. Nothing
// is written when one of them has no page.
func (p Paged) Write(table []int, first int, x Mat) error {
	slots := make([]int, x.Rows)
	for i := range slots {
		at, err := p.slot(table, first+i)
		if err != nil {
			return err
		}
		slots[i] = at
	}
	for i, at := range slots {
		copy(p.Rows.Row(at), x.Row(i))
	}
	return nil
}

// Read gathers the tokens first .. first+n-1 into a contiguous [n, D].
func (p Paged) Read(table []int, first, n int) (Mat, error) {
	out := NewMat(n, p.Rows.Cols)
	for i := range n {
		at, err := p.slot(table, first+i)
		if err != nil {
			return Mat{}, err
		}
		copy(out.Row(i), p.Rows.Row(at))
	}
	return out, nil
}

// BuildPageTable gives every sequence ceil(length/size) pages, taken from free in its order, entry
// by entry and sequence by sequence. With width > 0 rows are padded with -1 to width entries. A
// shuffled free list is the general case; 0, 1, 2, ... hides a table that is never read.
//
// It fails when free runs out, names a page twice or a negative one, and when a row exceeds width.
func BuildPageTable(lengths []int, size int, free []int, width int) (PageTable, error) {
	if size < 1 {
		return nil, fmt.Errorf("page table: the page size is %d; it must be 1 or more", size)
	}
	seen := make(map[int]bool, len(free))
	for _, page := range free {
		if page < 0 || seen[page] {
			return nil, fmt.Errorf("page table: the free list has page %d, which is negative or there twice", page)
		}
		seen[page] = true
	}
	table := make(PageTable, len(lengths))
	for b, n := range lengths {
		pages := (n + size - 1) / size
		if n < 0 || pages > len(free) || width > 0 && pages > width {
			return nil, fmt.Errorf("page table: sequence %d has %d tokens, %d pages of %d; %d are free and a row holds %d",
				b, n, pages, size, len(free), width)
		}
		table[b] = append(table[b], free[:pages]...)
		free = free[pages:]
		for len(table[b]) < width {
			table[b] = append(table[b], -1)
		}
	}
	return table, nil
}
