package oracle

import (
	"fmt"

	"github.com/assay-suite/assay/numerics/format"
)

// BytePages is a cache as an engine holds it: pages of bytes in a layout (format.PageV4, PageV32,
// PageIndexFP8, ...), reached through page tables.
type BytePages struct {
	Layout format.Layout
	Pages  [][]byte
}

// NewBytePages returns pages that are all filled with one byte. 0xff makes every unwritten e4m3, e8m0,
// bf16 and fp32 element a NaN, so that nothing stale can be read unnoticed.
func NewBytePages(l format.Layout, pages int, fill byte) BytePages {
	b := BytePages{Layout: l, Pages: make([][]byte, pages)}
	for p := range b.Pages {
		b.Pages[p] = make([]byte, l.Size)
		for i := range b.Pages[p] {
			b.Pages[p][i] = fill
		}
	}
	return b
}

// locate is the page and the token in it of logical token j.
func (b BytePages) locate(table []int, j int) (page, token int, err error) {
	at, err := PageSlot(table, b.Layout.Tokens, j)
	if err != nil {
		return 0, 0, err
	}
	page, token = at/b.Layout.Tokens, at%b.Layout.Tokens
	if page >= len(b.Pages) {
		return 0, 0, fmt.Errorf("page table: token %d needs page %d; the cache has %d", j, page, len(b.Pages))
	}
	return page, token, nil
}

// Write quantises x [n, Width] by the recipe and stores it as the tokens first, first+1, ... of the
// sequence with this table. Values are rounded to fp32 first, which a recipe's arithmetic is in. Bytes of
// other tokens and of the padding keep what they hold. A failure may leave the earlier tokens written.
//
// It fails on a token without page and on a recipe that does not fit the layout.
func (b BytePages) Write(table []int, first int, x Mat, r format.Recipe) error {
	row := make([]float32, x.Cols)
	for i := range x.Rows {
		page, token, err := b.locate(table, first+i)
		if err != nil {
			return err
		}
		for d, v := range x.Row(i) {
			row[d] = float32(v)
		}
		if err := b.Layout.Encode(b.Pages[page], token, row, r); err != nil {
			return fmt.Errorf("token %d: %w", first+i, err)
		}
	}
	return nil
}

// Read dequantises the tokens first .. first+n-1 into [n, Width], exactly.
func (b BytePages) Read(table []int, first, n int) (Mat, error) {
	out := NewMat(n, b.Layout.Width())
	for i := range n {
		page, token, err := b.locate(table, first+i)
		if err != nil {
			return Mat{}, err
		}
		row, err := b.Layout.Decode(b.Pages[page], token)
		if err != nil {
			return Mat{}, fmt.Errorf("token %d: %w", first+i, err)
		}
		copy(out.Row(i), row)
	}
	return out, nil
}
