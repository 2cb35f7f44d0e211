package checkpoint

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/quant"
)

// hole is a run of zero bytes of a tensor: what a sparse file, a resumed download or an interrupted writer leaves.
type hole struct{ from, to int64 }

// Holes shorter than this are not reported: the larger of holeBytes and a hundredth of a small tensor, so that a page
// of a file is seen in any. No sound weight of a float or fp8 dtype has 256 zero bytes in a row, nor one of 4-bit
// codes 512 zero codes, unless it was pruned by rows.
const (
	holeBytes = 4096
	holeLeast = 256
	maxHoles  = 4096 // runs that are kept of a tensor
)

func smallestHole(size int64) int64 { return max(holeLeast, min(holeBytes, size/100)) }

// scaleHole is the shortest run in e8m0 scales, of which zero is 2^-127 and which no block that holds anything has.
const scaleHole = 16

func (t *tensor) smallestHole() int64 {
	if t.part == quant.Scale && t.info.DType.Bits() == 8 {
		return scaleHole
	}
	return smallestHole(t.info.Size)
}

// holeStride is how far apart the bytes are that are looked at: close enough that no run of smallestHole is stepped
// over.
func (t *tensor) holeStride() int { return int(max(8, min(1024, t.smallestHole()/2)) &^ 7) }

// zeroRuns appends the runs of zero bytes in b, which lies at off of its tensor. It looks at a word every stride bytes,
// and closer where that is zero, and counts those that are.
func zeroRuns(runs []hole, b []byte, off int64, stride, least int) (_ []hole, zeros int) {
	for at := 0; at+8 <= len(b); at += stride {
		if binary.LittleEndian.Uint64(b[at:]) != 0 {
			continue
		}
		from, to := at, at+8
		for from > 0 && b[from-1] == 0 {
			from--
		}
		for to < len(b) && b[to] == 0 {
			to++
		}
		edge := from == 0 || to == len(b)
		if to-from >= least || edge {
			next := hole{off + int64(from), off + int64(to)}
			if n := len(runs); n > 0 && runs[n-1].to == next.from {
				runs[n-1].to = next.to
			} else if n < maxHoles {
				runs = append(runs, next)
			}
		}
		last := max(at, (to-1)/stride*stride)
		zeros += 1 + (last-at)/stride
		at = last
	}
	return runs, zeros
}

// joined are the runs of a tensor in order, adjacent ones of different parts as one, without those too short to mean
// anything.
func (t *tensor) joined() []hole {
	runs := slices.Clone(t.scan.holes)
	slices.SortFunc(runs, func(a, b hole) int { return cmp.Compare(a.from, b.from) })
	var out []hole
	for _, h := range runs {
		if n := len(out); n > 0 && out[n-1].to == h.from {
			out[n-1].to = h.to
		} else {
			out = append(out, h)
		}
	}
	least := t.smallestHole()
	return slices.DeleteFunc(out, func(h hole) bool { return h.to-h.from < least })
}

// holed reports runs of zeros in weights.
func (p *patient) holed() {
	type found struct {
		t    *tensor
		runs []hole
		rows bool // all begin and end with a row
	}
	var list []found
	var sparse []*tensor // without a run that is long enough
	defer func() { p.thinned(sparse) }()
	classes, members := map[string]int{}, map[string]int{}
	for _, t := range p.tensors {
		if !canBeHoled(t) || !t.scan.nonzero {
			continue
		}
		members[t.class]++
		runs := t.joined()
		if len(runs) == 0 {
			sparse = append(sparse, t)
			continue
		}
		f := found{t, runs, true}
		row := t.rowBytes()
		for _, h := range runs {
			f.rows = f.rows && h.from%row == 0 && h.to%row == 0
		}
		if f.rows {
			classes[t.class]++
		}
		list = append(list, f)
	}
	for _, f := range list {
		t := f.t
		zero := int64(0)
		for _, h := range f.runs {
			zero += h.to - h.from
		}
		first, row := f.runs[0], t.rowBytes()
		where := fmt.Sprintf("%d of its %d bytes, in %d runs of which the first is bytes %d to %d", zero, t.info.Size,
			len(f.runs), first.from, first.to)
		names := []string{t.stored}
		switch {
		case p.padded():
			p.add(Note, KindHole, names, "%s is zero in %s, which the index declares as padding", t.stored, where)
		case vocabulary(t) && f.rows && p.untrainedRows(t, f.runs):
			p.add(Note, KindHole, names, "%s is zero in rows %d to %d, which may be ids that no text becomes", t.stored,
				first.from/row, first.to/row)
		case f.rows && roleOf(t) == roleOther && zero <= 2*row:
			p.add(Look, KindHole, names, "%s is zero in rows %d to %d, which may be a position that is not embedded", t.stored,
				first.from/row, first.to/row)
		case f.rows && p.emptyExperts(t, f.runs):
			p.add(Note, KindHole, names, "%s is zero in the rows of experts that hold nothing either (%s)", t.stored, where)
		case p.slices(t, f.runs):
		case !f.rows:
			p.add(Certain, KindHole, names, "%s is zero in %s: a hole that does not follow its rows of %d bytes, as an "+
				"interrupted download or a sparse file leaves; fetch or convert it again", t.stored, where, row)
		case 2*classes[t.class] > members[t.class] && members[t.class] > 2:
			p.add(Look, KindHole, names, "%s is zero in whole rows (%s), and so are %d of the %d tensors of its kind: pruned, "+
				"if that was meant", t.stored, where, classes[t.class], members[t.class])
		default:
			p.add(Likely, KindHole, names, "%s is zero in whole rows, %d to %d first (%s), and its peers are not: it was "+
				"filled "+
				"in part; fetch or convert it again", t.stored, first.from/row, first.to/row, where)
		}
	}
}

// canBeHoled tells tensors in which a run of zeros means something: values and codes of matrices, and their scales.
func canBeHoled(t *tensor) bool {
	if len(t.info.Shape) < 2 || strings.Contains(t.stored, "mask") || t.info.Size < 2*t.smallestHole() {
		return false
	}
	switch t.part {
	case quant.None:
		return t.weight != nil || !isTable(t) || len(t.faults) > 0
	case quant.Scale:
		return true
	}
	return false
}

// rowBytes is the size of a stored row.
func (t *tensor) rowBytes() int64 {
	s := t.info.Shape
	rows := 1
	last := len(s) - 1
	if len(s) == 4 && strings.HasSuffix(t.stored, "_blocks") {
		last = 2
	}
	for _, d := range s[:last] {
		rows *= d
	}
	return max(1, t.info.Size/int64(max(1, rows)))
}

// vocabulary tells an embedding or an output head.
func vocabulary(t *tensor) bool {
	r := roleOf(t)
	return r == roleEmbed || r == roleHead
}

// slices reports experts of a fused tensor that are zero as a whole.
func (p *patient) slices(t *tensor, runs []hole) bool {
	w := t.weight
	if w == nil || w.Slices < 2 {
		return false
	}
	size := t.info.Size / int64(w.Slices)
	var experts, unrouted []string
	for _, h := range runs {
		if h.from%size != 0 || h.to%size != 0 {
			return false
		}
		for e := h.from / size; e < h.to/size; e++ {
			if why := p.unrouted(t, int(e)); why != "" {
				unrouted = append(unrouted, fmt.Sprint(e))
			} else {
				experts = append(experts, fmt.Sprint(e))
			}
		}
	}
	if len(unrouted) > 0 {
		p.add(Note, KindZero, []string{t.stored}, "%s is zero in all values of expert %s, which no token reaches", t.stored,
			strings.Join(unrouted[:min(len(unrouted), 8)], ", "))
	}
	if len(experts) == 0 {
		return true
	}
	p.add(Certain, KindZero, []string{t.stored}, "%s is zero in all values of expert %s of %d: it was never filled; "+
		"fetch or "+
		"convert it again", t.stored, strings.Join(experts[:min(len(experts), 8)], ", "), w.Slices)
	return true
}

// padded tells a checkpoint whose index declares that tensors were filled up with zeros.
func (p *patient) padded() bool {
	if p.index != nil && p.index.padding {
		return true
	}
	for _, f := range p.files {
		if _, ok := f.Metadata()["assay.padding"]; ok {
			return true
		}
	}
	return false
}

// A weight of which columns were not filled has no long run, but many short ones.
const (
	thinLeast = 0.25 // of its words are zero
	thinUsual = 0.05 // of those of its peers at most
)

// thinned reports weights with many zero words where their peers have hardly any.
func (p *patient) thinned(list []*tensor) {
	shares := map[string][]float64{}
	var all []float64
	share := func(t *tensor) float64 { return float64(t.scan.zeroWords) / float64(max(1, t.scan.words)) }
	for _, t := range list {
		if t.part == quant.None && t.scan.words >= 64 && roleOf(t) == roleLinear {
			shares[t.class] = append(shares[t.class], share(t))
			all = append(all, share(t))
		}
	}
	for _, t := range list {
		peers := shares[t.class]
		if len(peers) == 0 || share(t) < thinLeast {
			continue
		}
		if len(peers) < 3 {
			peers = all
		}
		if usual := median(peers); len(peers) >= 3 && usual <= thinUsual {
			p.add(Likely, KindHole, []string{t.stored}, "%s is zero in %.0f %% of its words, in runs too short for a hole, and "+
				"its peers in %.1f %%: columns of it were not filled; fetch or convert it again", t.stored, 100*share(t), 100*usual)
		}
	}
}
