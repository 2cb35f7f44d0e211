package checkpoint

import (
	"encoding/binary"
	"math"

	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// result is what the class scan learnt about one tensor.
type result struct {
	scanned          bool
	nans, infs       int
	firstNaN         int64 // element; valid when nans or infs is not 0
	differs, nonzero bool  // some element differs from the first; some element is not zero
	huge             int   // elements of 2^16 and more, fp32 and bf16 only
	firstHuge        int64 //
	hugeValue        float64
	badScales        int // elements of a scale that are negative or zero
	firstBad         int64
	badValue         float64
	blocks           int // fp4 only: blocks, those with a top code, those all zero
	top, zero        int
	maxCode          uint8  // e4m3 block scales only
	first            uint64 // the first element in every lane: the value of a scalar
	holes            []hole // runs of zero bytes, in order
	zeroWords, words int    // words that were looked at for them
	marks            []landmark
}

// merge adds what another part of the same tensor showed.
func (r *result) merge(o result) {
	r.scanned = r.scanned || o.scanned
	if o.nans+o.infs > 0 && (r.nans+r.infs == 0 || o.firstNaN < r.firstNaN) {
		r.firstNaN = o.firstNaN
	}
	if o.badScales > 0 && (r.badScales == 0 || o.firstBad < r.firstBad) {
		r.firstBad, r.badValue = o.firstBad, o.badValue
	}
	if o.huge > 0 && (r.huge == 0 || o.firstHuge < r.firstHuge) {
		r.firstHuge, r.hugeValue = o.firstHuge, o.hugeValue
	}
	r.huge += o.huge
	r.nans, r.infs, r.badScales = r.nans+o.nans, r.infs+o.infs, r.badScales+o.badScales
	r.differs, r.nonzero = r.differs || o.differs, r.nonzero || o.nonzero
	r.blocks, r.top, r.zero = r.blocks+o.blocks, r.top+o.top, r.zero+o.zero
	r.maxCode, r.first = max(r.maxCode, o.maxCode), o.first
	r.zeroWords, r.words = r.zeroWords+o.zeroWords, r.words+o.words
	r.holes, r.marks = append(r.holes, o.holes...), append(r.marks, o.marks...)
}

// job says how one tensor is scanned.
type job struct {
	t      *tensor
	lanes  lanes
	scale  bool   // values must be positive
	signed bool   // or at least not zero
	codes  scheme // mxfp4, nvfp4: count blocks with a top code
	fp4    bool   // two e2m1 codes a byte: each nibble has a sign
	tops   bool   // e4m3 block scales: find the largest
	first  uint64 // the first element in every lane
	holes  bool   // look for runs of zero bytes
	stride int    // every how many bytes
	marks  int    // look for landmarks of this many bits; 0 for none
	decode format.Format
	known  bool // decode is usable
}

func newJob(t *tensor) job {
	j := job{t: t, lanes: lanesOf(t.info.DType)}
	if t.info.DType == safetensors.F8E4M3NUZ || t.info.DType == safetensors.F8E5M2NUZ || t.info.DType == safetensors.C64 {
		j.lanes.mask = 0 // compared only: no known checkpoint stores these
	}
	f, err := format.ByDType(string(t.info.DType))
	j.decode, j.known = f, err == nil
	if t.info.DType == safetensors.U8 && t.part == quant.Scale && t.of != nil && t.of.weight != nil &&
		(t.of.weight.Layout == quant.MXFP4 || t.of.weight.Layout == quant.MXFP8) { // e8m0 that had no dtype
		j.lanes, j.decode, j.known = lanesOf(safetensors.F8E8M0), format.E8M0, true
	}
	return j
}

// piece scans b, which starts at byte off of the tensor, a multiple of 64 bytes.
func (j *job) piece(r *result, off int64, b []byte) {
	r.scanned, r.first = true, j.first
	if j.marks > 0 {
		r.marks = landmarks(r.marks, b, off, j.marks)
	}
	if j.holes {
		runs, zeros := zeroRuns(r.holes, b, off, j.stride, int(min(holeLeast, j.t.smallestHole())))
		r.holes, r.zeroWords, r.words = runs, r.zeroWords+zeros, r.words+(len(b)+j.stride-1)/j.stride
	}
	if whole := len(b) &^ 7; whole < len(b) {
		tail := [8]byte{}
		binary.LittleEndian.PutUint64(tail[:], j.first) // the padding repeats the first element: no new class
		copy(tail[:], b[whole:])
		j.words(r, off, b[:whole])
		j.words(r, off+int64(whole), tail[:])
		return
	}
	j.words(r, off, b)
}

func (j *job) words(r *result, off int64, b []byte) {
	if len(b) == 0 {
		return
	}
	l := j.lanes
	if !r.differs || !r.nonzero {
		noSign := ^uint64(0)
		if l.sign {
			noSign = ^l.top
		} else if j.fp4 {
			noSign = 0x7777777777777777
		}
		d, n := varied(b, j.first, noSign)
		r.differs, r.nonzero = r.differs || d, r.nonzero || n
	}
	if l.mask != 0 && special(b, l) != 0 {
		j.count(r, off, b)
	}
	if j.scale && l.sign && notPositive(b, l) {
		j.countScales(r, off, b)
	}
	switch j.codes {
	case nvfp4:
		top, zero := topsNVFP4(b)
		r.blocks, r.top, r.zero = r.blocks+len(b)/8, r.top+top, r.zero+zero
	case mxfp4:
		top, zero := topsMXFP4(b)
		r.blocks, r.top, r.zero = r.blocks+len(b)/16, r.top+top, r.zero+zero
	}
	if j.tops {
		r.maxCode = maxCode(b, r.maxCode)
	}
}

// each decodes the elements of b, the slow way, for pieces in which something was found.
func (j *job) each(off int64, b []byte, see func(element int64, v float64)) {
	if !j.known {
		return
	}
	w := j.lanes.width
	last := j.t.info.Size
	for i := 0; i+w <= len(b) && off+int64(i) < last; i += w {
		var code uint32
		switch w {
		case 1:
			code = uint32(b[i])
		case 2:
			code = uint32(binary.LittleEndian.Uint16(b[i:]))
		case 4:
			code = binary.LittleEndian.Uint32(b[i:])
		default:
			return
		}
		see((off+int64(i))/int64(w), j.decode.Decode(code))
	}
}

func (j *job) count(r *result, off int64, b []byte) {
	if !j.known { // F64, C64: the class is known, the element is not looked up
		r.nans, r.firstNaN = r.nans+1, off/int64(j.lanes.width)
		return
	}
	j.each(off, b, func(i int64, v float64) {
		nan, inf := math.IsNaN(v), math.IsInf(v, 0)
		if !nan && !inf {
			if math.Abs(v) >= 1<<(hugeExponent-127) {
				if r.huge == 0 {
					r.firstHuge, r.hugeValue = i, v
				}
				r.huge++
			}
			return
		}
		if r.nans+r.infs == 0 {
			r.firstNaN = i
		}
		if nan {
			r.nans++
		} else {
			r.infs++
		}
	})
}

func (j *job) countScales(r *result, off int64, b []byte) {
	j.each(off, b, func(i int64, v float64) {
		if v > 0 || j.signed && v < 0 || math.IsNaN(v) {
			return
		}
		if r.badScales == 0 {
			r.firstBad, r.badValue = i, v
		}
		r.badScales++
	})
}
