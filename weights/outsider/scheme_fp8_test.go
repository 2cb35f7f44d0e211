package outsider

import (
	"math"
	"strings"
)

var fp8Schemes = []scheme{
	// DeepSeek V3 and R1, Kimi K2: fp32 scales, no list of what is left out
	{
		name: "fp8-block", covers: withMTP, ragged: true, encode: fp8Block("F32", ".weight_scale_inv", false),
		finish: blocks(nil),
	},
	// Qwen3-FP8: BF16 scales and a full list
	{
		name: "fp8-block-bf16", ragged: true, encode: fp8Block("BF16", ".weight_scale_inv", false),
		finish: func(b *build) { blocks(allNames(b))(b) },
	},
	// DeepSeek V3.1, V3.2: scales are powers of two, stored as fp32
	{
		name: "fp8-block-ue8m0", covers: withMTP, ragged: true, encode: fp8Block("F32", ".weight_scale_inv", true),
		finish: func(b *build) {
			blocks(nil)(b)
			b.config["quantization_config"].(object)["scale_fmt"] = "ue8m0"
		},
	},
	// the same with scales of one byte
	{
		name: "fp8-block-e8m0", covers: withMTP, ragged: true, encode: fp8Block("F8_E8M0", ".weight_scale_inv", true),
		finish: func(b *build) {
			blocks(nil)(b)
			b.config["quantization_config"].(object)["scale_fmt"] = "ue8m0"
		},
	},
	{
		name: "ct-fp8-block", ragged: true, encode: fp8Block("BF16", ".weight_scale", false),
		finish: func(b *build) {
			w := ctWeights(8, "float", "block", nil, true)
			w["block_structure"] = []any{128, 128}
			ct(b, "float-quantized", w, ctInputs(8, "float", "group", 128, true))
		},
	},
	{
		name: "ct-fp8-channel", ragged: true, encode: fp8Channel("BF16", ".weight_scale", true),
		finish: func(b *build) {
			ct(b, "float-quantized", ctWeights(8, "float", "channel", nil, true), ctInputs(8, "float", "token", nil, true))
		},
	},
	{
		name: "ct-fp8-tensor", ragged: true, encode: fp8Tensor("BF16", 1),
		finish: func(b *build) {
			ct(b, "float-quantized", ctWeights(8, "float", "tensor", nil, true), ctInputs(8, "float", "tensor", nil, false))
		},
	},
	// AutoFP8: quant_method fp8 without blocks, scalars
	{
		name: "autofp8", ragged: true, encode: fp8Tensor("F32", 0),
		finish: func(b *build) {
			names, patterns := b.leftOut()
			b.declare(object{
				"quant_method": "fp8", "activation_scheme": "static",
				"ignored_layers": pick(b.r, names, append([]any{}, patterns...)),
			})
		},
	},
	{
		name: "modelopt-fp8", ragged: true, encode: func(b *build, w *weight, m []float32) {
			fp8Tensor("F32", 0)(b, w, m)
			if w.role == "k" || w.role == "v" { // scales of the cache
				b.add(w.module+"."+w.role+"_scale", "F32", store("F32", []float32{b.calibrated(0.01, 0.2)}))
			}
		},
		finish: func(b *build) { modelopt(b, "FP8", "FP8", 0) },
	},
	{
		name: "quark-fp8", ragged: true, encode: fp8Channel("F32", ".weight_scale", false),
		finish: func(b *build) {
			quark(b, quarkSpec("fp8_e4m3", "per_channel", nil, false), quarkSpec("fp8_e4m3", "per_token", nil, true))
		},
	},
	{
		name: "torchao-fp8", ragged: true, encode: func(b *build, w *weight, m []float32) {
			scales, codes := channelCodes(m, w, "F32")
			torchao(b, w, "Float8Tensor", tensor{dtype: "F8_E4M3", data: codes}, scales)
		},
		finish: func(b *build) {
			torchaoConfig(b, object{
				"_type": "Float8DynamicActivationFloat8WeightConfig", "_version": 2,
				"_data": object{
					"activation_dtype": object{"_data": "float8_e4m3fn", "_type": "torch.dtype"},
					"weight_dtype":     object{"_data": "float8_e4m3fn", "_type": "torch.dtype"},
					"granularity": []any{
						object{"_data": object{}, "_type": "PerRow"}, object{"_data": object{}, "_type": "PerRow"},
					},
				},
			})
		},
	},
	{
		name: "ct-mxfp8", encode: mxfp8,
		finish: func(b *build) {
			w := ctWeights(8, "float", "group", 32, true)
			w["scale_dtype"] = "torch.uint8"
			ct(b, "mxfp8-quantized", w, ctInputs(8, "float", "group", 32, true))
		},
	},
	{name: "modelopt-mxfp8", encode: mxfp8, finish: func(b *build) { modelopt(b, "MXFP8", "", 32) }},
}

func allNames(b *build) []any {
	names, _ := b.leftOut()
	for _, t := range b.tensors { // as Qwen's lists have them: norms too
		if len(t.shape) == 1 && hasSuffix(t.name, "norm.weight") {
			names = append(names, strings.TrimSuffix(t.name, ".weight"))
		}
	}
	return names
}

func blocks(names []any) func(b *build) {
	return func(b *build) {
		q := object{
			"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8",
			"weight_block_size": []any{128, 128},
		}
		if names != nil {
			q["modules_to_not_convert"] = names
		}
		b.declare(q)
	}
}

func fp8Block(dtype, suffix string, power bool) func(b *build, w *weight, m []float32) {
	return func(b *build, w *weight, m []float32) {
		const n = 128
		h, v := (w.rows+n-1)/n, (w.cols+n-1)/n
		codes, scales := make([]byte, len(m)), make([]float32, h*v)
		for bi := range h {
			for bj := range v {
				var a float32
				each := func(f func(i int)) {
					for i := bi * n; i < min(w.rows, bi*n+n); i++ {
						for j := bj * n; j < min(w.cols, bj*n+n); j++ {
							f(i*w.cols + j)
						}
					}
				}
				each(func(i int) { a = max(a, float32(math.Abs(float64(m[i])))) })
				s := max(a, 1e-12) / 448
				if power {
					s = float32(math.Exp2(math.Ceil(math.Log2(float64(s)))))
				}
				s = rounded(dtype, s)
				each(func(i int) { codes[i] = e4m3(m[i] / s) })
				scales[bi*v+bj] = s
			}
		}
		w.group = n
		b.part(w, "codes", ".weight", "F8_E4M3", codes, w.rows, w.cols)
		b.part(w, "scale", suffix, dtype, store(dtype, scales), h, v)
	}
}

func channelCodes(m []float32, w *weight, dtype string) (scales []float32, codes []byte) {
	for i := range w.rows {
		row := m[i*w.cols : (i+1)*w.cols]
		s := rounded(dtype, max(absmax(row), 1e-12)/448)
		for _, x := range row {
			codes = append(codes, e4m3(x/s))
		}
		scales = append(scales, s)
	}
	return scales, codes
}

func fp8Channel(dtype, suffix string, column bool) func(b *build, w *weight, m []float32) {
	return func(b *build, w *weight, m []float32) {
		scales, codes := channelCodes(m, w, dtype)
		b.part(w, "codes", ".weight", "F8_E4M3", codes, w.rows, w.cols)
		shape := []int{w.rows, 1}
		if !column {
			shape = shape[:1]
		}
		b.part(w, "scale", suffix, dtype, store(dtype, scales), shape...)
	}
}

func fp8Tensor(dtype string, dims int) func(b *build, w *weight, m []float32) {
	return func(b *build, w *weight, m []float32) {
		s := rounded(dtype, absmax(m)/448)
		codes := make([]byte, len(m))
		for i, x := range m {
			codes[i] = e4m3(x / s)
		}
		shape := []int{1}[:dims]
		b.part(w, "codes", ".weight", "F8_E4M3", codes, w.rows, w.cols)
		b.part(w, "scale", ".weight_scale", dtype, store(dtype, []float32{s}), shape...)
		b.part(w, "input", ".input_scale", dtype, store(dtype, []float32{b.calibrated(0.005, 0.2)}), shape...)
	}
}

// mxfp8: runs of 32 with a power of two as their scale (OCP MX 1.0), in a byte.
func mxfp8(b *build, w *weight, m []float32) {
	codes, scales := make([]byte, len(m)), make([]byte, len(m)/32)
	for g := range scales {
		run := m[g*32 : g*32+32]
		e := max(-127, math.Floor(math.Log2(math.Max(float64(absmax(run)), 1e-38)))-8)
		s := float32(math.Exp2(e))
		for i, x := range run {
			codes[g*32+i] = e4m3(x / s)
		}
		scales[g] = byte(e + 127)
	}
	w.group = 32
	b.part(w, "codes", ".weight", "F8_E4M3", codes, w.rows, w.cols)
	b.part(w, "scale", ".weight_scale", "U8", scales, w.rows, w.cols/32)
}
