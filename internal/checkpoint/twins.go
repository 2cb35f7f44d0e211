package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
)

// twins reports feed-forward weights that hold the same bytes as another: an expert copied over another,
// gate copied into up. A sample of the bytes finds candidates, a full comparison decides.
func (p *patient) twins() error {
	seed := maphash.MakeSeed()
	groups := map[uint64][]*tensor{}
	for _, t := range p.tensors {
		named := t.weight != nil || strings.HasSuffix(t.canon, ".weight")
		if !strings.Contains(t.canon, ".ffn.") || !named || t.info.Size < 256 ||
			!t.scan.differs {
			continue
		}
		sum, err := sample(seed, t)
		if err != nil {
			return err
		}
		groups[sum] = append(groups[sum], t)
	}
	for _, g := range groups {
		for i := 1; i < len(g); i++ {
			for _, first := range g[:i] {
				if first.info.Size != g[i].info.Size {
					continue // a hash collision
				}
				same, err := equal(first, g[i])
				if err != nil {
					return err
				}
				if same {
					names := []string{first.stored, g[i].stored}
					slices.Sort(names)
					p.add(Certain, KindDuplicate, names, "%s and %s hold the same %d bytes: one was written over the other; fetch or "+
						"convert the checkpoint again", names[0], names[1], first.info.Size)
					break
				}
			}
		}
	}
	return nil
}

// sample hashes dtype, shape and up to 1 KiB each of beginning, middle and end.
func sample(seed maphash.Seed, t *tensor) (uint64, error) {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = fmt.Fprint(&h, t.info.DType, t.info.Shape) // a hash takes every write
	s, err := t.file.Section(t.stored)
	if err != nil {
		return 0, err
	}
	var buf [1024]byte
	for _, at := range []int64{0, t.info.Size / 2, max(0, t.info.Size-int64(len(buf)))} {
		n, err := s.ReadAt(buf[:min(int64(len(buf)), t.info.Size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("%s: byte %d cannot be read: %w", t.stored, at, err)
		}
		_, _ = h.Write(buf[:n])
	}
	return h.Sum64(), nil
}

func equal(a, b *tensor) (bool, error) {
	ra, err := a.file.Section(a.stored)
	if err != nil {
		return false, err
	}
	rb, err := b.file.Section(b.stored)
	if err != nil {
		return false, err
	}
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for left := a.info.Size; left > 0; { // b is of the same dtype and shape
		n := min(left, int64(len(x)))
		if _, err := io.ReadFull(ra, x[:n]); err != nil {
			return false, fmt.Errorf("%s cannot be read: %w", a.stored, err)
		}
		if _, err := io.ReadFull(rb, y[:n]); err != nil {
			return false, fmt.Errorf("%s cannot be read: %w", b.stored, err)
		}
		if !bytes.Equal(x[:n], y[:n]) {
			return false, nil
		}
		left -= n
	}
	return true, nil
}
