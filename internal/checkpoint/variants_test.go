package checkpoint_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
	"github.com/assay-suite/assay/numerics/format"
)

// Other correct ways to store the same model. None of them may raise more than a note.
func TestSoundVariantsRaiseNothing(t *testing.T) {
	for name, change := range map[string]struct {
		folder string
		do     func(f *folder)
		notes  string // the only kind of note that is right to give
	}{
		"nvfp4-cast-from-mxfp4": {"nano-v4-mxfp4", castToNVFP4, ""},
		"fp8-with-fp32-scales":  {"nano-v4-mxfp4", fp32Scales, ""},
		"one-layer-left-in-bf16": {
			"nano-v4-mxfp4", func(f *folder) { inBF16(f, "layers.3.ffn.experts.") }, checkpoint.KindDTypeMinority,
		},
		"codes-as-int8":            {"nano-v4-mxfp4", codesAsInt8, ""},
		"tied-embedding":           {"nano-v4", func(f *folder) { f.get("head.weight").raw = f.get("embed.weight").raw }, ""},
		"table-in-int32":           {"nano-v4-nvfp4", tableInt32, ""},
		"scalars-of-shape-one":     {"nano-v4-nvfp4", scalarsOfShapeOne, ""},
		"original-keys-in-config":  {"nano-v4-mxfp4", originalConfig, ""},
		"input-scales-that-differ": {"nano-v4-nvfp4", spreadInputs, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, change.folder)
			change.do(f)
			r := examine(t, f)
			for _, x := range r.Findings {
				if x.Severity > checkpoint.Note || x.Kind != change.notes {
					t.Errorf("%s %q", x, x.Tensors)
				}
			}
			if r.Expected != r.Tensors {
				t.Errorf("%d tensors, expected %d", r.Tensors, r.Expected)
			}
		})
	}
}

// castToNVFP4 is ModelOpt's lossless cast: global scale 2^(kmax-8), block scale 2^(k-(kmax-8)), kmax the
// largest exponent of gate and up together, or of down (modelopt/torch/quantization/qtensor/nvfp4_tensor.py).
func castToNVFP4(f *folder) {
	largest := map[string]byte{}
	key := func(name string) string { return strings.Replace(strings.TrimSuffix(name, ".scale"), ".w3", ".w1", 1) }
	for _, s := range f.tensors {
		if strings.Contains(s.name, ".experts.") && strings.HasSuffix(s.name, ".scale") {
			for _, c := range s.raw {
				largest[key(s.name)] = max(largest[key(s.name)], c)
			}
		}
	}
	for _, s := range f.tensors {
		if !strings.Contains(s.name, ".experts.") || !strings.HasSuffix(s.name, ".scale") {
			continue
		}
		top := largest[key(s.name)]
		raw := make([]byte, 0, 2*len(s.raw))
		for _, c := range s.raw {
			code := byte(int(c)-int(top)+8+7) << 3 // 2^m is (m+7)<<3 in e4m3
			raw = append(raw, code, code)
		}
		stem := strings.TrimSuffix(s.name, ".scale")
		s.name, s.dtype, s.raw, s.shape = stem+".weight_scale", "F8_E4M3", raw, []int{s.shape[0], 2 * s.shape[1]}
		global := float32(math.Ldexp(1, int(top)-127-8))
		f.tensors = append(f.tensors, scalarOf(stem+".weight_scale_2", global), scalarOf(stem+".input_scale", 0.003))
	}
}

func scalarOf(name string, v float32) *stored {
	return &stored{name, "F32", []int{}, binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)), shard1}
}

// fp32Scales stores the scales of fp8 weights as V3.2 does.
func fp32Scales(f *folder) {
	for _, s := range f.tensors {
		if strings.Contains(s.name, ".experts.") || s.dtype != "F8_E8M0" {
			continue
		}
		var raw []byte
		for _, c := range s.raw {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(format.E8M0.Decode(uint32(c)))))
		}
		s.name, s.dtype, s.raw = strings.TrimSuffix(s.name, ".scale")+".weight_scale_inv", "F32", raw
	}
}

// inBF16 dequantises the MXFP4 weights below a prefix; 2 + 8 bits are exact in bf16.
func inBF16(f *folder, prefix string) {
	for _, s := range append([]*stored(nil), f.tensors...) {
		stem, ok := strings.CutSuffix(s.name, ".weight")
		if !ok || !strings.HasPrefix(s.name, prefix) || s.dtype != "U8" {
			continue
		}
		v, err := format.MXFP4.Decode(format.Quantised{
			Rows:   s.shape[0],
			Cols:   2 * s.shape[1],
			Codes:  s.raw,
			Scales: f.get(stem + ".scale").raw,
		})
		require.NoError(f.t, err)
		s.dtype, s.shape, s.raw = "BF16", []int{s.shape[0], 2 * s.shape[1]}, nil
		for _, x := range v {
			s.raw = binary.LittleEndian.AppendUint16(s.raw, uint16(format.BF16.Encode(x, format.RN, format.Overflow)))
		}
		f.remove(stem + ".scale")
	}
}

func codesAsInt8(f *folder) {
	for _, s := range f.tensors {
		if s.dtype == "U8" {
			s.dtype = "I8"
		}
	}
}

func tableInt32(f *folder) {
	s := f.get("layers.0.ffn.gate.tid2eid")
	var raw []byte
	for i := 0; i < len(s.raw); i += 8 {
		raw = append(raw, s.raw[i:i+4]...)
	}
	s.dtype, s.raw = "I32", raw
}

func scalarsOfShapeOne(f *folder) {
	for _, s := range f.tensors {
		if len(s.shape) == 0 {
			s.shape = []int{1}
		}
	}
}

// originalConfig says the same in the keys of the original release.
func originalConfig(f *folder) {
	for _, k := range []string{"layer_types", "compress_rates", "mlp_layer_types"} {
		delete(f.config, k)
	}
	f.config["compress_ratios"] = []int{0, 4, 32, 4}
	f.config["num_hash_layers"] = 1
}

// spreadInputs gives every expert an input scale of its own, shared by gate and up.
func spreadInputs(f *folder) {
	for i, s := range f.tensors {
		if stem, ok := strings.CutSuffix(s.name, ".w1.input_scale"); ok {
			v := float32(math.Exp2(float64(i%7)-3)) * 0.003
			s.setFloat32s([]float32{v})
			f.get(stem + ".w3.input_scale").setFloat32s([]float32{v})
			f.get(stem + ".w2.input_scale").setFloat32s([]float32{v * float32(1+i%3)})
		}
	}
}
