package outsider

import "math"

var intSchemes = []scheme{
	{
		name: "ct-int8", ragged: true, encode: func(b *build, w *weight, m []float32) {
			codes, scales := int8Rows(m, w, "BF16", 127.5)
			b.part(w, "codes", ".weight", "I8", codes, w.rows, w.cols)
			b.part(w, "scale", ".weight_scale", "BF16", store("BF16", scales), w.rows, 1)
		},
		finish: func(b *build) {
			ct(b, "int-quantized", ctWeights(8, "int", "channel", nil, true), ctInputs(8, "int", "token", nil, true))
		},
	},
	{
		name: "bnb-int8", ragged: true, dtype: "F16", encode: func(b *build, w *weight, m []float32) {
			codes, scales := int8Rows(m, w, "F32", 127)
			for i := range scales {
				scales[i] *= 127
			}
			b.part(w, "codes", ".weight", "I8", codes, w.rows, w.cols)
			b.part(w, "scale", ".SCB", "F32", store("F32", scales), w.rows)
			b.add(w.module+".weight_format", "U8", []byte{0})
		},
		finish: func(b *build) { bnb(b, 8, false) },
	},
	{
		name: "torchao-int8", ragged: true, encode: func(b *build, w *weight, m []float32) {
			codes, scales := int8Rows(m, w, "F32", 127.5)
			torchao(b, w, "Int8Tensor", tensor{dtype: "I8", data: codes}, scales)
		},
		finish: func(b *build) {
			torchaoConfig(b, object{
				"_type": "Int8WeightOnlyConfig", "_version": 2,
				"_data": object{"granularity": object{"_data": object{"dim": -1}, "_type": "PerRow"}, "set_inductor_config": true},
			})
		},
	},
	// tencent's DeepSeek-R1-W4AFP8: experts in pairs of two's complement nibbles, the rest in blocks of fp8
	{
		name: "w4afp8", covers: withMTP, encode: func(b *build, w *weight, m []float32) {
			if w.expert < 0 {
				fp8Block("F32", ".weight_scale_inv", false)(b, w, m)
				return
			}
			codes, scales, _ := grouped(m, 128, 4, true, "BF16")
			for i := range codes {
				codes[i] ^= 8 // offset to two's complement
			}
			w.group = 128
			b.part(w, "codes", ".weight", "I8", pairs4(codes), w.rows, w.cols/2)
			b.part(w, "scale", ".weight_scale_inv", "BF16", store("BF16", scales), w.rows, w.cols/128)
			b.part(w, "input", ".input_scale", "BF16", store("BF16", []float32{b.calibrated(0.005, 0.1)}), 1)
		},
		finish: func(b *build) { b.declare(object{"quant_method": "w4afp8"}) },
	},
}

func int8Rows(m []float32, w *weight, dtype string, half float32) (codes []byte, scales []float32) {
	for i := range w.rows {
		row := m[i*w.cols : (i+1)*w.cols]
		s := rounded(dtype, max(absmax(row), 1e-9)/half)
		for _, x := range row {
			codes = append(codes, byte(int8(max(-128, min(127, math.RoundToEven(float64(x/s)))))))
		}
		scales = append(scales, s)
	}
	return codes, scales
}

// torchao flattens a tensor subclass into its parts and says of what class it was in the file's metadata.
func torchao(b *build, w *weight, class string, codes tensor, scales []float32) {
	b.part(w, "codes", "._weight_qdata", codes.dtype, codes.data, w.rows, w.cols)
	b.part(w, "scale", "._weight_scale", "F32", store("F32", scales), w.rows, 1)
	attributes := object{
		"block_size": []any{1, w.cols}, "act_quant_kwargs": nil,
		"dtype": object{"_type": "torch.dtype", "_data": "bfloat16"},
	}
	if class == "Float8Tensor" {
		attributes["mm_config"] = object{"_type": "Float8MMConfig", "_data": object{
			"emulate": false, "use_fast_accum": true, "pad_inner_dim": false,
		}}
		attributes["kernel_preference"] = object{"_type": "KernelPreference", "_data": "AUTO"}
	}
	b.metadata[w.module+".weight"] = string(encoded(object{
		"_type": class, "_data": attributes, "_tensor_data_names": []any{"qdata", "scale"},
	}))
}

func torchaoConfig(b *build, kind object) {
	skip, _ := b.leftOut()
	b.declare(object{
		"quant_method": "torchao", "quant_type": object{"default": kind}, "quant_type_kwargs": object{},
		"modules_to_not_convert": skip, "include_input_output_embeddings": false, "untie_embedding_weights": false,
	})
	names := []any{}
	for _, t := range b.tensors {
		if _, ok := b.metadata[t.name]; !ok && !hasSuffix(t.name, "._weight_qdata", "._weight_scale") {
			b.metadata[t.name] = `{"_type": "Tensor"}`
		}
	}
	for n := range b.metadata {
		if n != "format" {
			names = append(names, n)
		}
	}
	b.metadata["tensor_names"] = string(encoded(names))
}
