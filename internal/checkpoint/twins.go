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

// twins reports weights that hold the same bytes as another: an expert copied over another, gate copied into up, a
// layer written twice. A sample of the bytes finds candidates, a full comparison decides.
func (p *patient) twins() error {
	seed := maphash.MakeSeed()
	groups := map[uint64][]*tensor{}
	for _, t := range p.tensors {
		named := t.weight != nil || strings.HasSuffix(t.canon, ".weight") && strings.Contains(t.canon, ".ffn.")
		if !named || vocabulary(t) || t.info.Size < 256 || !t.scan.differs || len(t.info.Shape) < 2 {
			continue
		}
		sum, err := sample(seed, t)
		if err != nil {
			return err
		}
		groups[sum] = append(groups[sum], t)
	}
	var pairs [][2]*tensor
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
					pairs = append(pairs, [2]*tensor{first, g[i]})
					break
				}
			}
		}
	}
	p.twinsFound(pairs)
	return nil
}

// twinsFound reports pairs. Models that were made deeper hold several layers twice, whole: those are worth a look.
func (p *patient) twinsFound(pairs [][2]*tensor) {
	weights, alike := map[int]int{}, map[int]int{} // of a layer: weights, and those that an earlier layer has as well
	for _, t := range p.tensors {
		if t.weight != nil && len(t.info.Shape) >= 2 {
			weights[t.layer]++
		}
	}
	for _, pair := range pairs {
		if pair[0].layer != pair[1].layer {
			alike[max(pair[0].layer, pair[1].layer)]++
		}
	}
	repeated := 0
	for l, n := range alike {
		if n == weights[l] {
			repeated++
		}
	}
	members, again := map[string]int{}, map[string]int{} // of a class: tensors, and those that another of it holds as well
	for _, t := range p.tensors {
		members[t.class]++
	}
	for _, pair := range pairs {
		if pair[0].class == pair[1].class {
			again[pair[0].class]++
		}
	}
	for _, pair := range pairs {
		names := []string{pair[0].stored, pair[1].stored}
		slices.Sort(names)
		severity, why := Certain, "one was written over the other; fetch or convert the checkpoint again"
		if l := max(pair[0].layer, pair[1].layer); repeated > 1 && alike[l] == weights[l] {
			severity, why = Look, fmt.Sprintf("%d layers are repeated whole, as in a model that was made deeper", repeated)
		}
		if c := pair[0].class; c == pair[1].class && again[c] > 2 && 2*again[c] > members[c] {
			severity, why = Look, "so do most tensors of this kind, as masks do and parameters that are still as initialised"
		}
		p.add(severity, KindDuplicate, names, "%s and %s hold the same %d bytes: "+
			"%s", names[0], names[1], pair[0].info.Size, why)
	}
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
