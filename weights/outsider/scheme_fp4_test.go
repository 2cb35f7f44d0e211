package outsider

import "math"

var fp4Schemes = []scheme{
	{
		name: "ct-nvfp4", encode: nvfp4(false),
		finish: func(b *build) {
			w := ctWeights(4, "float", "tensor_group", 16, true)
			in := ctInputs(4, "float", "tensor_group", 16, true)
			in["dynamic"] = "local"
			ct(b, "nvfp4-pack-quantized", w, in)
		},
	},
	{name: "modelopt-nvfp4", encode: nvfp4(true), finish: func(b *build) { modelopt(b, "NVFP4", "FP8", 16) }},
	{
		name: "ct-mxfp4", encode: mxfp4(".weight_packed"),
		finish: func(b *build) {
			w := ctWeights(4, "float", "group", 32, true)
			w["scale_dtype"] = "torch.uint8"
			ct(b, "mxfp4-pack-quantized", w, nil)
		},
	},
	{
		name: "quark-mxfp4", encode: mxfp4(".weight"),
		finish: func(b *build) {
			quark(b, quarkSpec("fp4", "per_group", 32, false), quarkSpec("fp4", "per_group", 32, true))
		},
	},
	// gpt-oss: experts only, fused, in a place of their own; its family adds them
	{
		name: "gptoss-mxfp4", covers: func(*weight) bool { return false }, encode: func(*build, *weight, []float32) {},
		finish: func(b *build) {
			b.declare(object{"quant_method": "mxfp4", "modules_to_not_convert": []any{
				"model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head",
			}})
		},
	},
}

// nvfp4: runs of 16 with an e4m3 scale, and a factor of the tensor: ModelOpt's multiplies, compressed-tensors' divides.
func nvfp4(modelopt bool) func(b *build, w *weight, m []float32) {
	return func(b *build, w *weight, m []float32) {
		factor := max(absmax(m), 1e-12) / (448 * 6)
		codes, scales := make([]byte, len(m)), make([]byte, len(m)/16)
		for g := range scales {
			run := m[g*16 : g*16+16]
			c := e4m3(max(absmax(run)/6/factor, 0x1p-9))
			s := fromE4M3(c) * factor
			for i, x := range run {
				codes[g*16+i] = e2m1(x / s)
			}
			scales[g] = c
		}
		w.group = 16
		act := b.calibrated(1, 60) / (448 * 6)
		if modelopt {
			b.part(w, "codes", ".weight", "U8", pairs4(codes), w.rows, w.cols/2)
			b.part(w, "scale", ".weight_scale", "F8_E4M3", scales, w.rows, w.cols/16)
			b.part(w, "global", ".weight_scale_2", "F32", store("F32", []float32{factor}))
			b.part(w, "input", ".input_scale", "F32", store("F32", []float32{act}))
			return
		}
		b.part(w, "codes", ".weight_packed", "U8", pairs4(codes), w.rows, w.cols/2)
		b.part(w, "scale", ".weight_scale", "F8_E4M3", scales, w.rows, w.cols/16)
		b.part(w, "global", ".weight_global_scale", "F32", store("F32", []float32{1 / factor}), 1)
		b.part(w, "input", ".input_global_scale", "F32", store("F32", []float32{1 / act}), 1)
	}
}

// mxfp4Runs quantises runs of 32: the exponent of the largest value less that of 6 (OCP MX 1.0).
func mxfp4Runs(m []float32) (codes, scales []byte) {
	codes, scales = make([]byte, len(m)), make([]byte, len(m)/32)
	for g := range scales {
		run := m[g*32 : g*32+32]
		e := max(-127, math.Floor(math.Log2(math.Max(float64(absmax(run)), 1e-38)))-2)
		s := float32(math.Exp2(e))
		for i, x := range run {
			codes[g*32+i] = e2m1(x / s)
		}
		scales[g] = byte(e + 127)
	}
	return codes, scales
}

func mxfp4(suffix string) func(b *build, w *weight, m []float32) {
	return func(b *build, w *weight, m []float32) {
		codes, scales := mxfp4Runs(m)
		w.group = 32
		b.part(w, "codes", suffix, "U8", pairs4(codes), w.rows, w.cols/2)
		b.part(w, "scale", ".weight_scale", "U8", scales, w.rows, w.cols/32)
	}
}

// blocksAndScales adds a stack of experts as gpt-oss stores it: [E, rows, cols/32, 16] and [E, rows, cols/32].
func (b *build) blocksAndScales(name, role string, layer, experts, rows, cols int) {
	w := &weight{
		module: name, role: role, layer: layer, expert: -1, slices: experts, rows: rows, cols: cols, linear: true,
		quantised: true, group: 32, parts: map[string]string{},
	}
	w.rms = b.rms(role, layer)
	b.weights = append(b.weights, w)
	var blocks, scales []byte
	for range experts {
		c, s := mxfp4Runs(b.matrix(w))
		blocks, scales = append(blocks, pairs4(c)...), append(scales, s...)
	}
	b.part(w, "codes", "_blocks", "U8", blocks, experts, rows, cols/32, 16)
	b.part(w, "scale", "_scales", "U8", scales, experts, rows, cols/32)
}
