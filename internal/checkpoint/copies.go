package checkpoint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"slices"

	"github.com/assay-suite/assay/internal/quant"
)

// A stretch of a tensor that lies somewhere else as well: rows written twice, bytes of another tensor, an expert
// inside a fused tensor that is a copy. Places are sampled by content, so that the same bytes are sampled wherever
// they lie: a word is a landmark when the top bits of its product with an odd constant are zero, and a landmark is
// known by a hash of the 64 bytes that begin with it. Two landmarks with one hash are compared byte by byte.

// landmark is a sampled place of a tensor.
type landmark struct {
	hash uint64
	at   int64
}

const (
	markBytes   = 64
	markFactor  = 0x9e3779b97f4a7c15 // 2^64 / golden ratio, odd
	maxMarks    = 4 << 20            // of a checkpoint: 64 MiB
	leastMarks  = 3                  // bits: a landmark each 64 bytes
	leastCopy   = 512                // bytes that must agree
	commonMarks = 8                  // a hash at more places is a pattern, not a copy
)

// markBits is how many bits must be zero, so that a checkpoint of that size has at most maxMarks landmarks.
func markBits(size int64) int {
	n := leastMarks
	for size>>(3+n) > maxMarks {
		n++
	}
	return n
}

// landmarks appends those of b, which lies at off of its tensor.
func landmarks(marks []landmark, b []byte, off int64, zeros int) []landmark {
	shift := 64 - zeros
	for at := 0; at+markBytes <= len(b); at += 8 {
		w := binary.LittleEndian.Uint64(b[at:])
		if w*markFactor>>shift != 0 || w == 0 {
			continue
		}
		h, same := w, 0
		for k := 8; k < markBytes; k += 8 {
			x := binary.LittleEndian.Uint64(b[at+k:])
			if x == w {
				same++
			}
			hi, lo := bits.Mul64(h^x, markFactor)
			h = hi ^ lo
		}
		if same < 2 { // a constant or a pattern
			marks = append(marks, landmark{h, off + int64(at)})
		}
	}
	return marks
}

// copied is a stretch that two places share.
type copied struct {
	a, b     *tensor
	from, to int64 // where it begins in a and in b
	size     int64
}

// copies reports stretches that lie in two places.
func (p *patient) copies(ctx context.Context) error {
	type place struct {
		landmark
		t *tensor
		n int // of t, in the order of shards and bytes
	}
	var all []place
	again := p.repeated()
	for n, t := range p.tensors {
		for _, m := range t.scan.marks {
			if again.has(m.hash) {
				all = append(all, place{m, t, n})
			}
		}
		t.scan.marks = nil
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.n, b.n), cmp.Compare(a.at, b.at))
	})
	type pair struct {
		a, b  *tensor
		shift int64
	}
	seen := map[pair]bool{}
	var list []copied
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].hash == all[i].hash {
			j++
		}
		if n := j - i; n > 1 && n <= commonMarks && len(list) < maxPerKind {
			for k := i + 1; k < j; k++ {
				x, y := all[i], all[k]
				key := pair{x.t, y.t, y.at - x.at}
				if seen[key] || x.t != y.t && x.at == y.at && (vocabulary(x.t) && vocabulary(y.t) ||
					x.t.info.Size == y.t.info.Size && wholeTwin(x.t, y.t)) {
					continue // twins speaks of those, and a head may begin as its embedding
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				seen[key] = true
				c, err := extend(copied{a: x.t, b: y.t, from: x.at, to: y.at})
				if err != nil {
					return err
				}
				if c.size >= leastCopy && !untrained(c) {
					list = append(list, c)
				}
			}
		}
		i = j
	}
	p.copiesFound(list)
	return nil
}

// bitset is a set of hashes by their low bits: what it has may not have been put in, what it lacks was not.
type bitset []uint64

func (b bitset) has(h uint64) bool { return b[h>>6%uint64(len(b))]&(1<<(h&63)) != 0 }
func (b bitset) put(h uint64)      { b[h>>6%uint64(len(b))] |= 1 << (h & 63) }

// repeated is the landmarks that were seen twice: nearly none of a sound checkpoint, so that few are sorted.
func (p *patient) repeated() bitset {
	marks := 0
	for _, t := range p.tensors {
		marks += len(t.scan.marks)
	}
	size := min(1<<20, marks/4+1) // 16 bits a mark
	once, twice := make(bitset, size), make(bitset, size)
	for _, t := range p.tensors {
		for _, m := range t.scan.marks {
			if once.has(m.hash) {
				twice.put(m.hash)
			}
			once.put(m.hash)
		}
	}
	return twice
}

// wholeTwin tells two tensors that are the same from end to end; twins speaks of those.
func wholeTwin(a, b *tensor) bool {
	same, err := equal(a, b)
	return err == nil && same
}

func (p *patient) copiesFound(list []copied) {
	classes, members := map[string]map[*tensor]bool{}, map[string]int{}
	for _, t := range p.tensors {
		members[t.class]++
	}
	for _, c := range list {
		if classes[c.b.class] == nil {
			classes[c.b.class] = map[*tensor]bool{}
		}
		classes[c.b.class][c.b] = true
	}
	for _, c := range list {
		severity, why := Certain, "one was written over the other; fetch or convert the checkpoint again"
		if n := members[c.b.class]; n > 2 && 2*len(classes[c.b.class]) > n {
			severity, why = Look, "so it is in most tensors of this kind, as of heads that were repeated on purpose"
		}
		names := []string{c.b.stored}
		if c.a != c.b {
			names = append(names, c.a.stored)
		}
		if w := c.b.weight; w != nil && w.Slices > 1 && c.a == c.b {
			if size := c.b.info.Size / int64(w.Slices); c.size >= size && c.to%size == c.from%size {
				p.add(severity, KindDuplicate, names, "experts %d and %d of %s are the same %d bytes: %s", (c.from+size-1)/size,
					(c.to+size-1)/size,
					c.b.stored, size, why)
				continue
			}
		}
		p.add(severity, KindDuplicate, names, "%d bytes of %s from byte %d on are those of %s from byte %d on: %s", c.size,
			c.b.stored, c.to, c.a.stored, c.from, why)
	}
}

// extend finds how far two places agree, up to 1 MiB or so.
func extend(c copied) (copied, error) {
	const step, most = 64 << 10, 1 << 20
	x, y := make([]byte, step), make([]byte, step)
	ra, err := c.a.file.Section(c.a.stored)
	if err != nil {
		return c, err
	}
	rb, err := c.b.file.Section(c.b.stored)
	if err != nil {
		return c, err
	}
	read := func(a, b, n int64) error {
		if _, err := ra.ReadAt(x[:n], a); err != nil && !errors.Is(err, io.EOF) {
			return err //nolint:wrapcheck // names the file
		}
		_, err := rb.ReadAt(y[:n], b)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return err //nolint:wrapcheck // names the file
	}
	for c.size < most {
		n := min(step, c.a.info.Size-c.from-c.size, c.b.info.Size-c.to-c.size)
		if c.a == c.b { // a place does not overlap its copy
			n = min(n, c.to-c.from-c.size)
		}
		if n <= 0 {
			break
		}
		if err := read(c.from+c.size, c.to+c.size, n); err != nil {
			return c, err
		}
		k := int64(0)
		if bytes.Equal(x[:n], y[:n]) {
			k = n
		} else {
			for x[k] == y[k] {
				k++
			}
		}
		c.size += k
		if k < n {
			break
		}
	}
	for n := min(step, c.from, c.to); n > 0; n = min(step, c.from, c.to) {
		if err := read(c.from-n, c.to-n, n); err != nil {
			return c, err
		}
		k := n
		for k > 0 && x[k-1] == y[k-1] {
			k--
		}
		c.from, c.to, c.size = c.from-(n-k), c.to-(n-k), c.size+n-k
		if k > 0 || c.size > most {
			break
		}
	}
	if c.a == c.b {
		c.size = min(c.size, c.to-c.from)
	}
	return c, nil
}

// untrained tells rows of a vocabulary that were never trained: tokens that share one row, or a few.
func untrained(c copied) bool {
	if !vocabulary(c.a) || !vocabulary(c.b) {
		return false
	}
	row := c.b.rowBytes()
	if c.size < vocabularyRows*row {
		return true
	}
	s, err := c.b.file.Section(c.b.stored)
	if err != nil {
		return true
	}
	first, next := make([]byte, row), make([]byte, row)
	at := (c.to + row - 1) / row * row
	if _, err := s.ReadAt(first, at); err != nil {
		return true
	}
	for at += row; at+row <= c.to+c.size; at += row {
		if _, err := s.ReadAt(next, at); err != nil || bytes.Equal(first, next) {
			return true
		}
	}
	return false
}

// vocabularyRows is how many rows of a vocabulary a copied stretch must have: tokens that are added later begin as
// copies of single rows.
const vocabularyRows = 4

// canBeCopied tells tensors whose stretches are compared: codes and values of matrices.
func canBeCopied(t *tensor) bool {
	return t.info.Size >= 4*leastCopy && t.part == quant.None && t.weight != nil
}
