package inflate

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/assay-suite/assay/internal/spelling"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// Format says in which names and number formats a folder is written.
type Format struct {
	Name string
	HF   bool // Hugging Face's names and config; else the release's, which vLLM and SGLang read
	what string
	as   [7]storage // by role
}

// storage is how the tensors of a role are stored.
type storage int

const (
	f64 storage = iota
	f32
	bf16
	blockFP8 // 128 x 128, powers of two as fp32
	e8m0FP8  // the same with e8m0 scales
	mxfp4
	nvfp4
	i64
)

// Formats are the formats that can be written. roles: plain, exact, linear, grouped, expert, together, table.
func Formats() []Format {
	return []Format{
		{"hf-fp32", true, "transformers, all fp32", [7]storage{f32, f32, f32, f32, f32, f32, i64}},
		{"hf-bf16", true, "transformers, bf16", [7]storage{bf16, f32, bf16, bf16, bf16, bf16, i64}},
		{"fp8", false, "fp8 in blocks of 128 x 128", [7]storage{bf16, f32, blockFP8, blockFP8, blockFP8, blockFP8, i64}},
		{"mixed", false, "bf16, and wo_a in fp8, as vLLM demands", [7]storage{bf16, f32, bf16, blockFP8, bf16, bf16, i64}},
		{
			"mxfp4", false, "the release: experts in MXFP4, other matrices in fp8",
			[7]storage{bf16, f32, e8m0FP8, e8m0FP8, mxfp4, e8m0FP8, i64},
		},
		{
			"nvfp4", false, "ModelOpt: experts in NVFP4, other matrices in fp8",
			[7]storage{bf16, f32, e8m0FP8, e8m0FP8, nvfp4, e8m0FP8, i64},
		},
		{"hf-fp64", true, "for proofs: no engine reads it", [7]storage{f64, f64, f64, f64, f64, f64, i64}},
	}
}

// FormatByName finds a format.
func FormatByName(name string) (Format, error) {
	var known []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		known = append(known, f.Name)
	}
	return Format{}, fmt.Errorf("no format %q; use one of %s", name, strings.Join(known, ", "))
}

// recipes quantise as torch does, which fixtures/oracles recorded.
var recipes = map[storage]string{
	blockFP8: "torch-blockfp8", e8m0FP8: "torch-blockfp8", mxfp4: "torch-mxfp4", nvfp4: "torch-nvfp4",
}

// file is one stored tensor, and where its bytes come from: codes and scales of one tensor are written together.
type stored struct {
	safetensors.Tensor // without data
	suffix             string
}

// activation is the largest magnitude of an expert's input that NVFP4's input_scale allows for.
const activation = 64

// parts are the stored tensors of one tensor; name is as the folder spells it.
func (t tensor) parts(name string, s storage) []stored {
	one := func(name, suffix string, d safetensors.DType, shape ...int) stored {
		return stored{safetensors.Tensor{Name: name, DType: d, Shape: shape}, suffix}
	}
	stem := strings.TrimSuffix(name, "weight")
	rows, cols := t.shape[0], t.shape[len(t.shape)-1]
	up := func(n, by int) int { return (n + by - 1) / by }
	switch s {
	case f64:
		return []stored{one(name, "", safetensors.F64, t.shape...)}
	case f32:
		return []stored{one(name, "", safetensors.F32, t.shape...)}
	case bf16:
		return []stored{one(name, "", safetensors.BF16, t.shape...)}
	case i64:
		return []stored{one(name, "", safetensors.I64, t.shape...)}
	case blockFP8, e8m0FP8:
		scale := safetensors.F32
		if s == e8m0FP8 {
			scale = safetensors.F8E8M0
		}
		return []stored{
			one(name, "", safetensors.F8E4M3, t.shape...),
			one(stem+"scale", "scale", scale, up(rows, 128), up(cols, 128)),
		}
	case mxfp4:
		return []stored{
			one(name, "", safetensors.I8, rows, cols/2),
			one(stem+"scale", "scale", safetensors.F8E8M0, rows, up(cols, 32)),
		}
	default:
		return []stored{
			one(name, "", safetensors.U8, rows, cols/2),
			one(stem+"weight_scale", "scale", safetensors.F8E4M3, rows, up(cols, 16)),
			one(stem+"weight_scale_2", "factor", safetensors.F32),
			one(stem+"input_scale", "input", safetensors.F32),
		}
	}
}

// encode is the bytes of some rows: codes, and the scales of their blocks.
func encode(s storage, x []float64, cols int, amax float32) (codes, scales []byte, err error) {
	if s == f64 {
		for _, v := range x {
			codes = binary.LittleEndian.AppendUint64(codes, math.Float64bits(v))
		}
		return codes, nil, nil
	}
	narrow := make([]float32, len(x))
	for i, v := range x {
		narrow[i] = float32(v)
	}
	switch s {
	case f32:
		codes = make([]byte, 0, 4*len(x))
		for _, v := range narrow {
			codes = binary.LittleEndian.AppendUint32(codes, math.Float32bits(v))
		}
		return codes, nil, nil
	case bf16:
		codes, err = format.AppendEncoded(make([]byte, 0, 2*len(x)), format.BF16, narrow, format.RN, format.Overflow)
		return codes, nil, err
	}
	r, err := format.RecipeByName(recipes[s])
	if err != nil {
		return nil, nil, err
	}
	q, err := r.QuantiseShared(narrow, len(x)/cols, cols, amax)
	if err != nil {
		return nil, nil, err
	}
	if s == blockFP8 { // powers of two, as fp32
		for _, code := range q.Scales {
			scales = binary.LittleEndian.AppendUint32(scales, math.Float32bits(float32(math.Ldexp(1, int(code)-127))))
		}
		return q.Codes, scales, nil
	}
	return q.Codes, q.Scales, nil
}

// spell is a release name as the folder has it.
func (f Format) spell(name string) string {
	if f.HF {
		return spelling.HuggingFace(name)
	}
	return name
}
