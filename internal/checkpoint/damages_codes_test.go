package checkpoint_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/checkpoint"
	"github.com/assay-suite/assay/internal/quant"
)

// codeDamages are those of scales, zero points and what the config says of them.
func codeDamages() []harm {
	missing := []string{checkpoint.KindMissing, checkpoint.KindScaleMissing}
	scale := func(name string, kinds []string, do func(s *stored, rng *rand.Rand) bool) harm {
		return harm{name, kinds, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, isScales)
			if s == nil {
				return "", false
			}
			return s.name, do(s, rng)
		}}
	}
	return []harm{
		scale("scale-missing", missing, func(s *stored, _ *rand.Rand) bool { s.name += "_gone"; return true }),
		scale("scale-nan", []string{checkpoint.KindScaleValue}, func(s *stored, rng *rand.Rand) bool {
			switch s.dtype {
			case "F8_E8M0", "U8":
				s.raw = bytes.Clone(s.raw)
				s.raw[rng.IntN(len(s.raw))] = 255
				return !strings.HasSuffix(s.name, ".absmax")
			case "F8_E4M3":
				s.raw = bytes.Clone(s.raw)
				s.raw[rng.IntN(len(s.raw))] = 0x7f
				return true
			}
			at := rng.IntN(len(s.raw) / 4)
			return s.floats(func(i int, v float64) float64 {
				if i == at {
					return math.NaN()
				}
				return v
			})
		}),
		scale("scale-negative", []string{checkpoint.KindScaleSign}, func(s *stored, rng *rand.Rand) bool {
			at := rng.IntN(len(s.raw) / 4)
			mlx := strings.HasSuffix(s.name, ".scales") && s.dtype == "BF16" // MLX scales take either sign
			return s.dtype != "F8_E8M0" && !mlx && s.floats(func(i int, v float64) float64 {
				if i == at {
					return -v
				}
				return v
			})
		}),
		scale("scale-zero", []string{checkpoint.KindScaleSign}, func(s *stored, rng *rand.Rand) bool {
			at := rng.IntN(len(s.raw) / 4)
			return s.dtype != "F8_E8M0" && s.floats(func(i int, v float64) float64 {
				if i == at {
					return 0
				}
				return v
			})
		}),
		scale("scale-short", []string{checkpoint.KindScaleShape, checkpoint.KindDType}, func(s *stored, _ *rand.Rand) bool {
			last := len(s.shape) - 1
			if last < 0 || s.shape[last] < 2 {
				return false
			}
			size := len(s.raw) / s.shape[last]
			s.shape = slices.Clone(s.shape)
			s.shape[last]--
			s.raw = s.raw[:len(s.raw)-size]
			return true
		}),
		scale("scale-x64", []string{checkpoint.KindMagnitude, checkpoint.KindScaleInverted}, func(s *stored, _ *rand.Rand,
		) bool {
			return s.floats(func(_ int, v float64) float64 { return 64 * v })
		}),
		{"all-scales-inverted", []string{checkpoint.KindScaleInverted, checkpoint.KindRange}, func(f *folder, _ *rand.Rand,
		) (string, bool) {
			n := 0
			for _, s := range f.tensors {
				if isScales(s) && s.dtype != "F16" && s.floats(func(_ int, v float64) float64 { return 1 / v }) {
					n++
				}
			}
			return "", n > 0
		}},
		{"global-is-a-divisor", []string{checkpoint.KindScaleInverted, checkpoint.KindRange}, func(f *folder, _ *rand.Rand,
		) (string, bool) {
			n := 0
			for _, s := range f.tensors {
				if part(s) == quant.Global && s.floats(func(_ int, v float64) float64 { return 1 / v }) {
					n++
				}
			}
			return "", n > 0
		}},
		{"zeros-off-by-one", []string{checkpoint.KindZeroPoint}, func(f *folder, _ *rand.Rand) (string, bool) {
			n := 0
			for _, s := range f.tensors {
				if strings.HasSuffix(s.name, ".qzeros") && f.config["quantization_config"].(map[string]any)["bits"] == 4.0 {
					s.raw = bytes.Clone(s.raw)
					for i, b := range s.raw {
						s.raw[i] = b&0xf0 + (b+1)&15 + min(b>>4, 14)<<4 + 16 - b&0xf0
					}
					n++
				}
			}
			return "", n > 0
		}},
		{"weight-shape-lies", []string{checkpoint.KindDeclared}, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, func(s *stored) bool { return part(s) == quant.Shape })
			if s == nil {
				return "", false
			}
			s.raw = bytes.Clone(s.raw)
			binary.LittleEndian.PutUint64(s.raw[8:], 77)
			return s.name, true
		}},
		{"left-out-and-quantised", []string{checkpoint.KindDeclared}, func(f *folder, rng *rand.Rand) (string, bool) {
			if f.method() == "" || f.method() == "mxfp4" {
				return "", false
			}
			s := f.pick(rng, func(s *stored) bool {
				return isCodes(s) && s.dtype != "BF16" && strings.Contains(s.name, "_proj")
			})
			if s == nil {
				return "", false
			}
			q := f.config["quantization_config"].(map[string]any)
			module, _ := quant.Split(s.name)
			key := "modules_to_not_convert"
			if f.method() == "compressed-tensors" || f.method() == "modelopt" {
				key = "ignore"
			}
			q[key] = []any{module}
			return s.name, true
		}},
		{"plain-among-quantised", []string{checkpoint.KindDeclared}, func(f *folder, rng *rand.Rand) (string, bool) {
			if f.method() == "" || f.method() == "mxfp4" || f.method() == "w4afp8" {
				return "", false
			}
			s := f.pick(rng, func(s *stored) bool {
				return isCodes(s) && s.dtype != "BF16" && strings.Contains(s.name, "q_proj")
			})
			if s == nil {
				return "", false
			}
			module, _ := quant.Split(s.name)
			f.drop(func(x *stored) bool { return strings.HasPrefix(x.name, module+".") && x.name != module+".bias" })
			f.tensors = append(f.tensors, bf16(rng, module, trained(rng, gHeads*gDim, gH), gHeads*gDim, gH)...)
			return module + ".weight", true
		}},
		{"input-scale-missing", missing, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, func(s *stored) bool { return part(s) == quant.Input || part(s) == quant.InputScale })
			if s == nil {
				return "", false
			}
			f.drop(func(x *stored) bool { return x == s })
			return s.name, true
		}},
		{"slice-zero", []string{checkpoint.KindZero}, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, func(s *stored) bool { return len(s.shape) >= 3 && s.shape[0] == gE })
			if s == nil {
				return "", false
			}
			s.raw = bytes.Clone(s.raw)
			n := len(s.raw) / gE
			e := rng.IntN(gE)
			clear(s.raw[e*n : (e+1)*n])
			return s.name, part(s) == quant.Codes
		}},
		{"slice-repeated", []string{checkpoint.KindDuplicate}, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, func(s *stored) bool { return len(s.shape) >= 3 && s.shape[0] == gE })
			if s == nil {
				return "", false
			}
			s.raw = bytes.Clone(s.raw)
			n := len(s.raw) / gE
			copy(s.raw[2*n:3*n], s.raw[n:2*n])
			return s.name, part(s) == quant.Codes
		}},
		{"rows-repeated", []string{checkpoint.KindDuplicate}, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, func(s *stored) bool { return isCodes(s) && len(s.raw) >= 32768 })
			if s == nil {
				return "", false
			}
			s.raw = bytes.Clone(s.raw)
			copy(s.raw[16384:16384+8192], s.raw[:8192])
			return s.name, true
		}},
		{"stretch-of-another", []string{checkpoint.KindDuplicate}, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, func(s *stored) bool { return isCodes(s) && len(s.raw) >= 16384 })
			if s == nil {
				return "", false
			}
			o := f.pick(rng, func(x *stored) bool { return x != s && isCodes(x) && len(x.raw) >= 16384 })
			if o == nil {
				return "", false
			}
			s.raw = bytes.Clone(s.raw)
			copy(s.raw[4096:4096+8192], o.raw[256:])
			return s.name, true
		}},
	}
}
