package probe

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// indexerKey is where SGLang's native route puts the selections: base64 of int32, little endian, of the shape
// [prompt and answer - 1, layers, top-k], -1 for no entry.
const indexerKey = `"indexer_topk"`

// maxSelections bounds what is kept of one answer, in entries.
const maxSelections = 64 << 20

// readSelections finds the selections in an answer of /generate and keeps the last keep entries, or all when keep is
// below 0: an answer holds hundreds of kilobytes a token. It returns how many there were.
func readSelections(r io.Reader, keep int) (kept []int32, total int, err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if err := seek(in, indexerKey); err != nil {
		return nil, 0, err
	}
	dec := base64.NewDecoder(base64.StdEncoding, &quotedReader{in: in})
	// A ring where only the end is wanted.
	var word [4]byte
	for {
		if _, err := io.ReadFull(dec, word[:]); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, 0, fmt.Errorf("indexer_topk: after %d entries: %w", total, err)
		}
		v := int32(binary.LittleEndian.Uint32(word[:]))
		switch {
		case keep < 0 || len(kept) < keep:
			if len(kept) >= maxSelections {
				return nil, 0, fmt.Errorf("indexer_topk: more than %d entries", maxSelections)
			}
			kept = append(kept, v)
		case keep > 0:
			kept[total%keep] = v
		}
		total++
	}
	if keep > 0 && total > keep { // unroll the ring
		at := total % keep
		kept = append(append([]int32{}, kept[at:]...), kept[:at]...)
	}
	return kept, total, nil
}

// seek reads up to a key of the JSON text, which no string of it can hold unescaped, and behind the quote that opens
// its value.
func seek(in *bufio.Reader, key string) error {
	matched, escaped := 0, false
	for {
		c, err := in.ReadByte()
		if err != nil {
			return fmt.Errorf("the answer has no indexer_topk: start the server with --enable-return-indexer-topk: %w",
				noEOF(err))
		}
		switch {
		case c == key[matched] && (matched > 0 || !escaped):
			matched++
		case c == key[0] && !escaped:
			matched = 1
		default:
			matched = 0
		}
		escaped = c == '\\' && !escaped
		if matched < len(key) {
			continue
		}
		for {
			c, err := in.ReadByte()
			switch {
			case err != nil:
				return fmt.Errorf("indexer_topk: %w", noEOF(err))
			case c == '"':
				return nil
			case c != ':' && c != ' ' && c != '\n' && c != '\t' && c != '\r':
				return errors.New("indexer_topk is no text of base64")
			}
		}
	}
}

// quotedReader is the text up to the closing quote, escapes of slashes undone.
type quotedReader struct {
	in   *bufio.Reader
	done bool
}

func (q *quotedReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && !q.done {
		c, err := q.in.ReadByte()
		if err != nil {
			return n, noEOF(err)
		}
		switch c {
		case '"':
			q.done = true
		case '\\':
		default:
			p[n] = c
			n++
		}
	}
	if n == 0 && q.done {
		return 0, io.EOF
	}
	return n, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// layout is what a short prompt proved about the selections.
type layout struct {
	layers, topk int
	unit         int // tokens an entry
}

// prove reads the layout off the selections of a prompt so short that every layer selects all: the last row then names
// 0 ... m once in each layer. rows is the number of rows. It fails where that does not hold.
func prove(all []int32, rows int) (layout, error) {
	if rows < 2 || len(all)%rows != 0 || len(all) == 0 {
		return layout{}, fmt.Errorf("%d selections in %d rows: no whole number a row", len(all), rows)
	}
	row := all[len(all)-len(all)/rows:]
	var l layout
	for _, v := range row {
		if v == 0 {
			l.layers++
		}
	}
	if l.layers == 0 || len(row)%l.layers != 0 {
		return layout{}, fmt.Errorf("the last row of %d entries names the first one %d times: not all is selected", len(row),
			l.layers)
	}
	l.topk = len(row) / l.layers
	most := int32(-1)
	for i := range l.layers {
		seen := map[int32]bool{}
		high := int32(-1)
		for _, v := range row[i*l.topk : (i+1)*l.topk] {
			if v < 0 {
				continue
			}
			if seen[v] {
				return layout{}, fmt.Errorf("layer %d selects entry %d twice", i, v)
			}
			seen[v] = true
			high = max(high, v)
		}
		if len(seen) != int(high)+1 {
			return layout{}, fmt.Errorf("layer %d selects %d of %d entries of a short prompt: units are unproven", i, len(seen),
				high+1)
		}
		if i > 0 && high != most {
			return layout{}, fmt.Errorf("layers select %d and %d entries of one short prompt: units are unproven", most+1,
				high+1)
		}
		most = high
	}
	entries := int(most) + 1
	for unit := 1; unit <= 256; unit *= 2 { // whole blocks, the last one begun or not
		if n := rows / unit; entries == n || entries == (rows+unit-1)/unit || unit == 1 && entries == rows+1 {
			l.unit = unit
			return l, nil
		}
	}
	return layout{}, fmt.Errorf("%d entries for %d rows: no unit of 1 to 256 tokens fits", entries, rows)
}

// member counts, for each layer, the rows whose selection has an entry of the tokens from a up to b.
func (l layout) member(rows []int32, a, b int) (hits []int, n int) {
	hits = make([]int, l.layers)
	size := l.layers * l.topk
	for ; len(rows) >= size; rows = rows[size:] {
		n++
		for i := range l.layers {
			for _, v := range rows[i*l.topk : (i+1)*l.topk] {
				if v >= 0 && int(v) >= a/l.unit && int(v) <= (b-1)/l.unit {
					hits[i]++
					break
				}
			}
		}
	}
	return hits, n
}
