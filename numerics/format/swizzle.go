package format

import "fmt"

// Block scales as cuBLAS and CUTLASS read them: tiles of 128 rows x 4 scale columns, 512 bytes each,
// row-block major, then column-block (ModelOpt export/diffusers_utils.py). Checkpoints store scales
// unswizzled.
const (
	tileRows, tileCols = 128, 4
	tileBytes          = tileRows * tileCols
)

// SwizzledShape is [rows, cols] padded to whole tiles: rows to 128, columns to 4.
func SwizzledShape(rows, cols int) (int, int) {
	return (rows + tileRows - 1) / tileRows * tileRows, (cols + tileCols - 1) / tileCols * tileCols
}

// SwizzledOffset is the byte of scale [row, col] of a matrix with cols scale columns: in tile
// (row/128)*ceil(cols/4) + col/4, at (row%32)*16 + (row%128/32)*4 + col%4.
func SwizzledOffset(row, col, cols int) int {
	tile := row/tileRows*((cols+tileCols-1)/tileCols) + col/tileCols
	return tile*tileBytes + row%32*16 + row%tileRows/32*4 + col%tileCols
}

// Swizzle tiles one-byte scales [rows, cols]. pad fills the rows and columns that tiles add: a
// kernel multiplies them with zeros, so anything but NaN will do; 0 is usual.
func Swizzle(scales []byte, rows, cols int, pad byte) ([]byte, error) {
	if rows < 0 || cols < 0 || cols > 0 && len(scales)/cols != rows || len(scales) != rows*cols {
		return nil, fmt.Errorf("swizzle: %d scales do not fill shape [%d, %d]", len(scales), rows, cols)
	}
	pr, pc := SwizzledShape(rows, cols)
	out := make([]byte, pr*pc)
	if pad != 0 {
		for i := range out {
			out[i] = pad
		}
	}
	for r := range rows {
		for c := range cols {
			out[SwizzledOffset(r, c, cols)] = scales[r*cols+c]
		}
	}
	return out, nil
}

// Unswizzle is the inverse of Swizzle; it does not read the padding.
func Unswizzle(tiles []byte, rows, cols int) ([]byte, error) {
	pr, pc := SwizzledShape(rows, cols)
	if rows < 0 || cols < 0 || pc > 0 && len(tiles)/pc != pr || len(tiles) != pr*pc {
		return nil, fmt.Errorf("unswizzle: %d bytes are not the tiles of shape [%d, %d], want %d x %d", len(tiles), rows,
			cols, pr, pc)
	}
	out := make([]byte, rows*cols)
	for r := range rows {
		for c := range cols {
			out[r*cols+c] = tiles[SwizzledOffset(r, c, cols)]
		}
	}
	return out, nil
}
