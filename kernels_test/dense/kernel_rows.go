package dense

import (
	"encoding/binary"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// rowing is how a row is quantised and stored, and what faulty kernels do otherwise.
type rowing struct {
	reciprocal, reverse bool // products with 1/448 and 1/scale; last token first

	nextScale, inverseScale, oneScale, noFloor, ropeFirst, pageLost, noPadding, bigEndian, truncate, floorScale bool
}

// writeRows is the kernel of mla_kv_write.
func writeRows(w rowing) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		latent, rope, slot, page := a.In("latent"), a.In("k_pe"), a.In("slot_mapping").Ints(), a.Int("page_size")
		out := a.Fresh("kv_cache")
		rows := len(out) / rowBytes
		for i := range slot {
			t := i
			if w.reverse {
				t = len(slot) - 1 - i
			}
			at := slot[t]
			switch {
			case at < 0 && w.noPadding:
				at = rows - 1
			case at < 0:
				continue
			}
			if w.pageLost {
				at %= page
			}
			for c, b := range w.row(latent.Row(t), rope.Row(t), a.Flag("ue8m0_scales")) {
				out[at*rowBytes+c] = float64(b)
			}
		}
		return bench.Results{"kv_cache": out}, nil
	}
}

// row is one token's bytes.
func (w rowing) row(latent, rope []float64, ue8m0 bool) []byte {
	out := make([]byte, rowBytes)
	scales, ropes := scaleAt, ropeAt
	if w.ropeFirst {
		scales, ropes = latentWidth+2*ropeWidth, latentWidth
	}
	for g := range latentBlocks {
		block := latent[g*latentBlock : (g+1)*latentBlock]
		s := w.scale(block, ue8m0)
		if w.oneScale {
			s = w.scale(latent, ue8m0)
		}
		for c, v := range block {
			y := float32(v) / s
			if w.reciprocal {
				y = float32(v) * (1 / s)
			}
			rounding := format.RN
			if w.truncate {
				rounding = format.RZ
			}
			out[g*latentBlock+c] = byte(format.E4M3FN.Encode(float64(y), rounding, format.Saturate))
		}
		if w.inverseScale {
			s = 1 / s
		}
		where := scales + 4*g
		if w.nextScale {
			where = scales + 4*((g+1)%latentBlocks)
		}
		if w.bigEndian {
			binary.BigEndian.PutUint32(out[where:], math.Float32bits(s))
		} else {
			binary.LittleEndian.PutUint32(out[where:], math.Float32bits(s))
		}
	}
	for c, v := range rope {
		binary.LittleEndian.PutUint16(out[ropes+2*c:], format.EncodeBF16(float32(v)))
	}
	return out
}

func (w rowing) scale(block []float64, ue8m0 bool) float32 {
	var amax float32
	for _, v := range block {
		amax = max(amax, float32(math.Abs(v)))
	}
	if !w.noFloor {
		amax = max(amax, 1e-4)
	}
	s := amax / 448
	if w.reciprocal {
		s = amax * float32(1.0/448)
	}
	if !ue8m0 {
		return s
	}
	bits := math.Float32bits(s)
	exponent := bits >> 23
	if bits&(1<<23-1) != 0 && !w.floorScale {
		exponent++
	}
	return math.Float32frombits(exponent << 23)
}

// rowWriterPlants are faults of the row writer.
func rowWriterPlants() []bench.Plant {
	plant := func(name, class, effect string, w rowing, contracts ...string) bench.Plant {
		return bench.Plant{
			Name:     name,
			Effect:   effect,
			Origin:   "a cache write's usual slips",
			Class:    class,
			On:       []string{"mla_kv_write"},
			Declared: contracts,
			Build: replaced(func(string) map[string]bench.Kernel {
				return map[string]bench.Kernel{"mla_kv_write": writeRows(w)}
			}),
		}
	}
	return []bench.Plant{
		plant("row-scale-of-next-group", "scale-layout", "scales are stored one group further", rowing{nextScale: true}),
		plant("row-scale-inverted", "scale", "the divisor is stored in place of the factor", rowing{inverseScale: true}),
		plant("row-one-scale", "scale-layout", "all groups of a row share one scale", rowing{oneScale: true}),
		plant("row-floor-missing", "eps", "a group of zeros has scale 0, and 0/0 as its codes", rowing{noFloor: true}),
		plant("row-rope-first", "layout", "the rotated part is stored before the scales", rowing{ropeFirst: true}),
		plant("row-page-lost", "paging", "the page of a slot is dropped", rowing{pageLost: true}),
		plant("row-padding-stored", "paging", "a padding token is stored in the last slot", rowing{noPadding: true}),
		plant("row-big-endian", "encoding", "scales are stored with their bytes reversed", rowing{bigEndian: true}),
		plant("row-truncated", "encoding", "codes are rounded towards zero", rowing{truncate: true}),
		plant("row-scale-floored", "encoding", "scales are rounded down to a power of two", rowing{floorScale: true},
			"v32-fp8-ue8m0"),
	}
}
