package checkpoint_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/assay-suite/assay/numerics/format"
)

// The schemes of sound folders, each an encoder written from the public description of the format; that the reader
// decodes what the libraries write is held apart, in internal/quant.

// encoder stores a matrix [rows, cols] of a module.
type encoder func(rng *rand.Rand, module string, w []float32, rows, cols int) []*stored

func raw32(v ...float32) []byte {
	var out []byte
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

func rawBF16(v []float32) []byte {
	var out []byte
	for _, x := range v {
		out = binary.LittleEndian.AppendUint16(out, format.EncodeBF16(x))
	}
	return out
}

func coded(f format.Format, v []float32) []byte {
	out, err := format.AppendEncoded(nil, f, v, format.RN, format.Saturate)
	if err != nil {
		panic(err) // a format of the test
	}
	return out
}

func words(v []uint32) []byte {
	var out []byte
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, x)
	}
	return out
}

func tensorOf(name, dtype string, raw []byte, shape ...int) *stored {
	return &stored{name, dtype, shape, raw, "model.safetensors"}
}

func bf16(_ *rand.Rand, m string, w []float32, rows, cols int) []*stored {
	return []*stored{tensorOf(m+".weight", "BF16", rawBF16(w), rows, cols)}
}

// blocked scales every br x bc block to the largest magnitude top and gives scaled values and scales.
func blocked(w []float32, rows, cols, br, bc int, top float32, scale func(float32) float32,
) (q, s []float32, sr, sc int) {
	sr, sc = (rows+br-1)/br, (cols+bc-1)/bc
	q, s = make([]float32, len(w)), make([]float32, sr*sc)
	for i := range sr {
		for j := range sc {
			m := float32(0)
			for r := i * br; r < min(rows, (i+1)*br); r++ {
				for c := j * bc; c < min(cols, (j+1)*bc); c++ {
					m = max(m, float32(math.Abs(float64(w[r*cols+c]))))
				}
			}
			s[i*sc+j] = scale(max(m, 1e-12) / top)
			for r := i * br; r < min(rows, (i+1)*br); r++ {
				for c := j * bc; c < min(cols, (j+1)*bc); c++ {
					q[r*cols+c] = w[r*cols+c] / s[i*sc+j]
				}
			}
		}
	}
	return q, s, sr, sc
}

func plainScale(s float32) float32 { return s }
func bf16Scale(s float32) float32  { return format.DecodeBF16(format.EncodeBF16(s)) }
func pow2Scale(s float32) float32  { return float32(math.Exp2(math.Ceil(math.Log2(float64(s))))) }

func e8m0(s []float32) []byte {
	out := make([]byte, len(s))
	for i, x := range s {
		out[i] = byte(math.Log2(float64(x)) + 127)
	}
	return out
}

// fp8 stores e4m3 with scales under suffix; blocks of 0 x 0 are the whole tensor, of 1 x 0 a row.
func fp8(br, bc int, suffix, dtype string) encoder {
	return func(_ *rand.Rand, m string, w []float32, rows, cols int) []*stored {
		r, c := br, bc
		if r == 0 {
			r = rows
		}
		if c == 0 {
			c = cols
		}
		scale := plainScale
		switch dtype {
		case "BF16":
			scale = bf16Scale
		case "F8_E8M0", "U8":
			scale = pow2Scale
		}
		q, s, sr, sc := blocked(w, rows, cols, r, c, 448, scale)
		raw := raw32(s...)
		switch dtype {
		case "BF16":
			raw = rawBF16(s)
		case "F8_E8M0", "U8":
			raw = e8m0(s)
		}
		shape := []int{sr, sc}
		if br == 0 {
			shape = []int{}
			if suffix == ".weight_scale" && dtype == "BF16" {
				shape = []int{1}
			}
		}
		return []*stored{
			tensorOf(m+".weight", "F8_E4M3", coded(format.E4M3FN, q), rows, cols), tensorOf(m+suffix, dtype, raw, shape...),
		}
	}
}

func withInput(e encoder) encoder {
	return func(rng *rand.Rand, m string, w []float32, rows, cols int) []*stored {
		return append(e(rng, m, w, rows, cols), tensorOf(m+".input_scale", "F32", raw32(0.0123+0.001*rng.Float32())))
	}
}

func mxfp4(codes, scale, scaleType string) encoder {
	return func(_ *rand.Rand, m string, w []float32, rows, cols int) []*stored {
		q, s, sr, sc := blocked(w, rows, cols, 1, 32, 6, pow2Scale)
		return []*stored{
			tensorOf(m+codes, "U8", coded(format.E2M1, q), rows, cols/2), tensorOf(m+scale, scaleType, e8m0(s), sr, sc),
		}
	}
}

// nvfp4 is ModelOpt's (the factor multiplies) or compressed-tensors' (it divides).
func nvfp4(divide bool) encoder {
	return func(_ *rand.Rand, m string, w []float32, rows, cols int) []*stored {
		top := float32(0)
		for _, x := range w {
			top = max(top, float32(math.Abs(float64(x))))
		}
		if strings.HasSuffix(m, "gate_proj") || strings.HasSuffix(m, "up_proj") || strings.HasSuffix(m, "w1") ||
			strings.HasSuffix(m, "w3") {
			top = 0.25 // gate and up are calibrated together
		}
		global := top / (6 * 448)
		q, s, sr, sc := blocked(w, rows, cols, 1, 16, 6, func(s float32) float32 {
			return float32(format.E4M3FN.RoundTo(float64(max(s/global, 1.0/512)), format.RN, format.Saturate)) * global
		})
		for i := range s {
			s[i] /= global
		}
		if divide {
			return []*stored{
				tensorOf(m+".weight_packed", "U8", coded(format.E2M1, q), rows, cols/2),
				tensorOf(m+".weight_scale", "F8_E4M3", coded(format.E4M3FN, s), sr, sc),
				tensorOf(m+".weight_global_scale", "F32", raw32(1/global), 1),
				tensorOf(m+".input_global_scale", "F32", raw32(448), 1),
			}
		}
		return []*stored{
			tensorOf(m+".weight", "U8", coded(format.E2M1, q), rows, cols/2),
			tensorOf(m+".weight_scale", "F8_E4M3", coded(format.E4M3FN, s), sr, sc),
			tensorOf(m+".weight_scale_2", "F32", raw32(global)),
			tensorOf(m+".input_scale", "F32", raw32(0.0021)),
		}
	}
}

// grouped quantises groups along a row to bits: codes, scales and zero points.
func grouped(w []float32, rows, cols, size, bits int, symmetric bool,
) (codes []uint32, scales []float32, zeros []uint32) {
	n, top := cols/size, float64(uint32(1)<<bits-1)
	codes, scales, zeros = make([]uint32, len(w)), make([]float32, rows*n), make([]uint32, rows*n)
	for r := range rows {
		for g := range n {
			lo, hi := 0.0, 0.0
			for c := g * size; c < (g+1)*size; c++ {
				lo, hi = math.Min(lo, float64(w[r*cols+c])), math.Max(hi, float64(w[r*cols+c]))
			}
			s, z := (hi-lo)/top, math.Round(-lo/((hi-lo)/top))
			if symmetric {
				s, z = math.Max(-lo, hi)/(top/2), math.Exp2(float64(bits-1))
			}
			s = format.FP16.Round(s)
			z = math.Max(1, z)
			scales[r*n+g], zeros[r*n+g] = float32(s), uint32(z)
			for c := g * size; c < (g+1)*size; c++ {
				codes[r*cols+c] = uint32(math.Max(0, math.Min(top, math.Round(float64(w[r*cols+c])/s)+z)))
			}
		}
	}
	return codes, scales, zeros
}

// packRow packs fields from the lowest bit up along the last dimension.
func packRow(v []uint32, cols, bits int) []uint32 {
	per := 32 / bits
	var out []uint32
	for at := 0; at < len(v); at += cols {
		for c := 0; c < cols; c += per {
			w := uint32(0)
			for i := range min(per, cols-c) {
				w |= v[at+c+i] << (bits * i)
			}
			out = append(out, w)
		}
	}
	return out
}

func transposed[T any](v []T, rows, cols int) []T {
	out := make([]T, len(v))
	for r := range rows {
		for c := range cols {
			out[c*rows+r] = v[r*cols+c]
		}
	}
	return out
}

func f16(v []float32) []byte { return coded(format.FP16, v) }

// w4a16 is compressed-tensors' pack-quantized.
func w4a16(symmetric bool) encoder {
	return func(_ *rand.Rand, m string, w []float32, rows, cols int) []*stored {
		codes, s, z := grouped(w, rows, cols, 32, 4, symmetric)
		n := cols / 32
		out := []*stored{
			tensorOf(m+".weight_packed", "I32", words(packRow(codes, cols, 4)), rows, cols/8),
			tensorOf(m+".weight_scale", "BF16", rawBF16(s), rows, n),
			tensorOf(m+".weight_shape", "I64", binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil,
				uint64(rows)), uint64(cols)), 2),
		}
		if !symmetric { // packed down the rows
			packed := transposed(packRow(transposed(z, rows, n), rows, 4), n, rows/8)
			out = append(out, tensorOf(m+".weight_zero_point", "I32", words(packed), rows/8, n))
		}
		return out
	}
}

func int8Rows(suffix string, top float32) encoder {
	return func(_ *rand.Rand, m string, w []float32, rows, cols int) []*stored {
		q, s, _, _ := blocked(w, rows, cols, 1, cols, 127, plainScale)
		raw := make([]byte, len(q))
		for i, x := range q {
			raw[i] = byte(int8(math.Round(float64(x))))
		}
		for i := range s {
			s[i] *= top
		}
		out := []*stored{tensorOf(m+".weight", "I8", raw, rows, cols)}
		if suffix == ".SCB" {
			return append(out, tensorOf(m+suffix, "F32", raw32(s...), rows), tensorOf(m+".weight_format", "U8", []byte{0}))
		}
		return append(out, tensorOf(m+suffix, "F32", raw32(s...), rows, 1))
	}
}

// gptq packs down the inputs; v1 stores the zero points less one. Act-order shuffles the inputs' groups.
func gptq(bits int, symmetric, v2, actOrder bool) encoder {
	return func(rng *rand.Rand, m string, w []float32, rows, cols int) []*stored {
		order := make([]int, cols)
		for i := range order {
			order[i] = i
		}
		if actOrder {
			rng.Shuffle(cols, func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		sorted := make([]float32, len(w))
		for r := range rows {
			for c := range cols {
				sorted[r*cols+c] = w[r*cols+order[c]]
			}
		}
		codes, s, z := grouped(sorted, rows, cols, 32, bits, symmetric)
		group, back := make([]uint32, cols), make([]uint32, len(codes))
		for c := range cols {
			group[order[c]] = uint32(c / 32)
			for r := range rows {
				back[r*cols+order[c]] = codes[r*cols+c]
			}
		}
		if !v2 {
			for i := range z {
				z[i]--
			}
		}
		n := cols / 32
		return []*stored{
			tensorOf(m+".qweight", "I32", words(transposed(packRow(back, cols, bits), rows, cols*bits/32)), cols*bits/32, rows),
			tensorOf(m+".qzeros", "I32", words(packRow(transposed(z, rows, n), rows, bits)), n, rows*bits/32),
			tensorOf(m+".scales", "F16", f16(transposed(s, rows, n)), n, rows),
			tensorOf(m+".g_idx", "I32", words(group), cols),
		}
	}
}

func awq(_ *rand.Rand, m string, w []float32, rows, cols int) []*stored {
	codes, s, z := grouped(w, rows, cols, 32, 4, false)
	n := cols / 32
	shuffle := func(v []uint32) []uint32 {
		out := slices.Clone(v)
		for at := 0; at < len(v); at += 8 {
			for i, c := range [8]int{0, 2, 4, 6, 1, 3, 5, 7} {
				out[at+i] = v[at+c]
			}
		}
		return out
	}
	return []*stored{
		tensorOf(m+".qweight", "I32", words(packRow(shuffle(transposed(codes, rows, cols)), rows, 4)), cols, rows/8),
		tensorOf(m+".qzeros", "I32", words(packRow(shuffle(transposed(z, rows, n)), rows, 4)), n, rows/8),
		tensorOf(m+".scales", "F16", f16(transposed(s, rows, n)), n, rows),
	}
}

var nf4Values = []float32{
	-1, -.6961928, -.52507305, -.39491749, -.28444138, -.18477343, -.09105004, 0,
	.0795803, .1609302, .2461123, .33791524, .44070983, .562617, .72295684, 1,
}

func nf4(_ *rand.Rand, m string, w []float32, rows, cols int) []*stored {
	q, s, _, _ := blocked(w, 1, rows*cols, 1, 64, 1, plainScale)
	raw := make([]byte, len(q)/2)
	for i, x := range q {
		best := 0
		for k, v := range nf4Values {
			if math.Abs(float64(v-x)) < math.Abs(float64(nf4Values[best]-x)) {
				best = k
			}
		}
		raw[i/2] |= byte(best << (4 * (1 - i%2)))
	}
	state, err := json.Marshal(map[string]any{
		"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": []int{rows, cols},
	})
	if err != nil {
		panic(err) // a map of the test
	}
	return []*stored{
		tensorOf(m+".weight", "U8", raw, len(raw), 1), tensorOf(m+".weight.absmax", "F32", raw32(s...), len(s)),
		tensorOf(m+".weight.quant_map", "F32", raw32(nf4Values...), 16),
		tensorOf(m+".weight.quant_state.bitsandbytes__nf4", "U8", state, len(state)),
	}
}

func mlx4(_ *rand.Rand, m string, w []float32, rows, cols int) []*stored {
	codes, s, z := grouped(w, rows, cols, 64, 4, false)
	b := make([]float32, len(s))
	for i := range b {
		b[i] = -s[i] * float32(z[i])
	}
	return []*stored{
		tensorOf(m+".weight", "U32", words(packRow(codes, cols, 4)), rows, cols/8),
		tensorOf(m+".scales", "BF16", rawBF16(s), rows, cols/64), tensorOf(m+".biases", "BF16", rawBF16(b), rows, cols/64),
	}
}

func int4Pairs(_ *rand.Rand, m string, w []float32, rows, cols int) []*stored {
	q, s, sr, sc := blocked(w, rows, cols, 1, 128, 7, bf16Scale)
	raw := make([]byte, len(q)/2)
	for i, x := range q {
		raw[i/2] |= byte(int8(math.Round(float64(x)))) & 15 << (4 * (i % 2))
	}
	return []*stored{
		tensorOf(m+".weight", "I8", raw, rows, cols/2), tensorOf(m+".weight_scale_inv", "BF16", rawBF16(s), sr, sc),
		tensorOf(m+".input_scale", "F32", raw32(0.013)),
	}
}

// ct is a quantization_config of compressed-tensors.
func ct(form, weights string) string {
	return fmt.Sprintf(`{"quant_method":"compressed-tensors","format":%q,
		"ignore":["lm_head","re:.*mlp.gate$","re:.*router$"],
		"config_groups":{"group_0":{"targets":["Linear"],"weights":{%s}}},"kv_cache_scheme":null}`, form, weights)
}

func half(code uint16) float64 { return format.FP16.Decode(uint32(code)) }
func coded16(v float64) []byte { return coded(format.FP16, []float32{float32(v)}) }
