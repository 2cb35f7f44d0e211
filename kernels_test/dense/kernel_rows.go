package dense

import (
	"encoding/binary"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// rowWriter is the kernel of mla_kv_write, as steps: how a row is quantised and where it is stored.
type rowWriter struct {
	token    func(i, n int) int                            // the i-th token to be written
	row      func(slot, rows, page int) (row int, ok bool) // where a slot lies; false: nowhere
	measured func(latent []float64, group int) []float64   // the values that a group's scale is taken from
	floor    float32                                       // of the largest magnitude
	scale    func(amax float32) float32                    // of a group with that magnitude
	power    func(scale float32) float32                   // as ue8m0
	divide   func(x, scale float32) float32
	rounding format.Rounding
	stored   func(scale float32) float32 // the factor to read with
	at       func(group int) int         // which group's place its scale takes
	bytes    binary.ByteOrder            // of a scale

	scales, rope int // bytes before the scales, before the rotated part
}

func newRowWriter() rowWriter {
	return rowWriter{
		token:    inOrder,
		row:      ownRow,
		measured: group,
		floor:    1e-4,
		scale:    func(amax float32) float32 { return amax / 448 },
		power:    nextPower,
		divide:   func(x, scale float32) float32 { return x / scale },
		rounding: format.RN,
		stored:   func(scale float32) float32 { return scale },
		at:       func(group int) int { return group },
		bytes:    binary.LittleEndian,
		scales:   scaleAt,
		rope:     ropeAt,
	}
}

func (w rowWriter) write(a bench.Args) (bench.Results, error) {
	latent, rope, slots, page := a.In("latent"), a.In("k_pe"), a.In("slot_mapping").Ints(), a.Int("page_size")
	out := a.Fresh("kv_cache")
	for i := range slots {
		t := w.token(i, len(slots))
		if row, ok := w.row(slots[t], len(out)/rowBytes, page); ok {
			for c, b := range w.encode(latent.Row(t), rope.Row(t), a.Flag("ue8m0_scales")) {
				out[row*rowBytes+c] = float64(b)
			}
		}
	}
	return bench.Results{"kv_cache": out}, nil
}

// encode is one token's bytes.
func (w rowWriter) encode(latent, rope []float64, ue8m0 bool) []byte {
	out := make([]byte, rowBytes)
	for g := range latentBlocks {
		var amax float32
		for _, v := range w.measured(latent, g) {
			amax = max(amax, float32(math.Abs(v)))
		}
		s := w.scale(max(amax, w.floor))
		if ue8m0 {
			s = w.power(s)
		}
		for c, v := range group(latent, g) {
			y := float64(w.divide(float32(v), s))
			out[g*latentBlock+c] = byte(format.E4M3FN.Encode(y, w.rounding, format.Saturate))
		}
		w.bytes.PutUint32(out[w.scales+4*w.at(g):], math.Float32bits(w.stored(s)))
	}
	for c, v := range rope {
		binary.LittleEndian.PutUint16(out[w.rope+2*c:], format.EncodeBF16(float32(v)))
	}
	return out
}

// group is a block of values that share a scale.
func group(latent []float64, g int) []float64 { return latent[g*latentBlock : (g+1)*latentBlock] }

// nextPower is the smallest power of two that is no smaller.
func nextPower(s float32) float32 {
	bits := math.Float32bits(s)
	exponent := bits >> 23
	if bits&(1<<23-1) != 0 {
		exponent++
	}
	return math.Float32frombits(exponent << 23)
}
