package bench

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/assay-suite/assay/internal/candidate"
	"github.com/assay-suite/assay/numerics/format"
)

// Dtypes of storages, by their safetensors names. Values are carried as float64, which holds every value of each
// exactly; I64 values stay below 2^53.
const (
	F32    = "F32"
	BF16   = "BF16"
	F16    = "F16"
	E4M3   = "F8_E4M3"
	E8M0   = "F8_E8M0"
	U8     = "U8"
	I32    = "I32"
	I64    = "I64"
	PreNaN = "nan" // prefill of floating-point outputs: the pattern of candidate.NaN
)

// integer tells whether a dtype holds whole numbers.
func integer(dtype string) bool { return dtype == U8 || dtype == I32 || dtype == I64 }

// Round is v as a dtype stores it: to nearest even, saturating where the format has no infinity. Integers are
// truncated. A NaN keeps its payload in F32.
func Round(dtype string, v float64) float64 { return rounding(dtype)(v) }

// rounding is Round for one dtype, for loops over many values.
func rounding(dtype string) func(float64) float64 {
	switch {
	case dtype == F32:
		return func(v float64) float64 { return float64(float32(v)) }
	case integer(dtype):
		return math.Trunc
	}
	if f, known := roundings[dtype]; known {
		return f
	}
	return func(v float64) float64 { return v }
}

// roundings are those of the dtypes that package format knows, F32 aside, by name. A NaN keeps its payload.
var roundings = func() map[string]func(float64) float64 {
	out := map[string]func(float64) float64{}
	for _, dtype := range []string{
		BF16, F16, E4M3, E8M0, "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F6_E2M3", "F6_E3M2", "F4",
	} {
		if f, err := format.ByDType(dtype); err == nil {
			r := f.Nearest(overflow(dtype))
			out[dtype] = func(v float64) float64 {
				if math.IsNaN(v) {
					return v
				}
				return r.Round(v)
			}
		}
	}
	return out
}()

// overflow is what a dtype's conversion does beyond its range: formats without infinity saturate.
func overflow(dtype string) format.Saturation {
	if dtype == BF16 || dtype == F16 {
		return format.Overflow
	}
	return format.Saturate
}

// RoundAll rounds in place and returns its argument.
func RoundAll(dtype string, v []float64) []float64 {
	round := rounding(dtype)
	for i, x := range v {
		v[i] = round(x)
	}
	return v
}

// prefilled is what an output's elements hold before the call, as a value.
func prefilled(dtype, prefill string) float64 {
	bits, err := candidate.Output{DType: dtype, Shape: []int{1}, Prefill: prefill}.Bits()
	if err != nil {
		return math.NaN()
	}
	return fromBits(dtype, bits)
}

func fromBits(dtype string, bits uint64) float64 {
	switch dtype {
	case F32:
		return float64(math.Float32frombits(uint32(bits)))
	case BF16:
		return float64(math.Float32frombits(uint32(bits) << 16))
	case U8:
		return float64(uint8(bits))
	case I32:
		return float64(int32(uint32(bits)))
	case I64:
		return float64(int64(bits))
	}
	f, err := format.ByDType(dtype)
	if err != nil {
		return math.NaN()
	}
	return f.Decode(uint32(bits))
}

// encode writes values as the bytes of a dtype, little-endian.
func encode(dtype string, v []float64) ([]byte, error) {
	var out []byte
	switch dtype {
	case F32:
		out = make([]byte, 0, 4*len(v))
		for _, x := range v {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(x)))
		}
	case BF16:
		out = make([]byte, 0, 2*len(v))
		for _, x := range v {
			out = binary.LittleEndian.AppendUint16(out, uint16(bf16Bits(x)))
		}
	case U8:
		out = make([]byte, len(v))
		for i, x := range v {
			out[i] = byte(int64(x))
		}
	case I32:
		out = make([]byte, 0, 4*len(v))
		for _, x := range v {
			out = binary.LittleEndian.AppendUint32(out, uint32(int32(int64(x))))
		}
	case I64:
		out = make([]byte, 0, 8*len(v))
		for _, x := range v {
			out = binary.LittleEndian.AppendUint64(out, uint64(int64(x)))
		}
	default:
		f, err := format.ByDType(dtype)
		if err != nil {
			return nil, fmt.Errorf("a storage of dtype %q cannot be written: %w", dtype, err)
		}
		codes := make([]uint32, len(v))
		for i, x := range v {
			codes[i] = f.Encode(x, format.RN, overflow(dtype))
		}
		return format.PackCodes(f, codes)
	}
	return out, nil
}

// bf16Bits keeps a NaN a NaN with the high part of its payload.
func bf16Bits(x float64) uint32 {
	if math.IsNaN(x) {
		return math.Float32bits(float32(x)) >> 16
	}
	return uint32(format.EncodeBF16(float32(x)))
}

// decode reads the bytes of a dtype as values.
func decode(dtype string, raw []byte) ([]float64, error) {
	width := map[string]int{F32: 4, BF16: 2, U8: 1, I32: 4, I64: 8}[dtype]
	if width == 0 {
		f, err := format.ByDType(dtype)
		if err != nil {
			return nil, fmt.Errorf("a storage of dtype %q cannot be read: %w", dtype, err)
		}
		return format.DecodeBytes(f, raw)
	}
	if len(raw)%width != 0 {
		return nil, fmt.Errorf("%d bytes are no whole number of %s elements of %d bytes", len(raw), dtype, width)
	}
	out := make([]float64, len(raw)/width)
	for i := range out {
		var bits uint64
		for b := range width {
			bits |= uint64(raw[i*width+b]) << (8 * b)
		}
		out[i] = fromBits(dtype, bits)
	}
	return out, nil
}

// poisons are the two kinds of values that stand where a kernel may not read: NaN shows in whatever is computed from
// it, a product with a mask of 0 too; infinities and the largest values show in code that drops NaN (a maximum, a
// clamp). Bytes have 0x7f (an e4m3 NaN and a bf16 NaN) and 0xff; integers their ends, which no page table can follow.
func poison(dtype string, kind int) func() float64 {
	at := 0
	cycle := func(v ...float64) func() float64 {
		return func() float64 { at++; return v[at%len(v)] }
	}
	switch {
	case dtype == U8 && kind == 0:
		return cycle(0xff)
	case dtype == U8:
		return cycle(0x7f, 0x7e, 0xfe)
	case dtype == I32:
		return cycle([2]float64{math.MaxInt32, math.MinInt32}[kind])
	case dtype == I64:
		return cycle([2]float64{1 << 52, -(1 << 52)}[kind])
	case kind == 0:
		return cycle(math.NaN())
	}
	f, err := format.ByDType(dtype)
	if dtype == F32 || err != nil {
		return cycle(math.Inf(1), math.MaxFloat32, math.Inf(-1), -math.MaxFloat32)
	}
	if dtype == BF16 || dtype == F16 {
		return cycle(math.Inf(1), f.Max(), math.Inf(-1), -f.Max())
	}
	if dtype == E8M0 {
		return cycle(f.Max())
	}
	return cycle(f.Max(), -f.Max())
}
