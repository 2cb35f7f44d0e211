package outsider

import "slices"

var packedSchemes = []scheme{
	{name: "ct-w4a16", encode: packed(4, 128, true, false), finish: packedConfig(4, 128, true, nil)},
	{name: "ct-w4a16-asym", encode: packed(4, 128, false, false), finish: packedConfig(4, 128, false, nil)},
	{name: "ct-w4a16-actorder", encode: packed(4, 128, true, true), finish: packedConfig(4, 128, true, "group")},
	{name: "ct-w8a16", encode: packed(8, 128, true, false), finish: packedConfig(8, 128, true, nil)},
	// Kimi K2 Thinking: experts only, groups of 32
	{
		name: "ct-w4a16-experts", covers: expertsOnly, encode: packed(4, 32, true, false),
		finish: packedConfig(4, 32, true, nil),
	},
	{
		name: "gptq", dtype: "F16", encode: gptq(4, 128, true, false, false),
		finish: gptqConfig(4, 128, true, false, "gptq"),
	},
	{name: "gptq-asym", encode: gptq(4, 128, false, false, false), finish: gptqConfig(4, 128, false, false, "gptq")},
	{name: "gptq-actorder", encode: gptq(4, 128, true, true, false), finish: gptqConfig(4, 128, true, true, "gptq")},
	{name: "gptq-8bit", encode: gptq(8, 64, true, false, false), finish: gptqConfig(8, 64, true, false, "")},
	{name: "gptq-v2", encode: gptq(4, 128, false, false, true), finish: gptqConfig(4, 128, false, false, "gptq_v2")},
	{name: "awq", dtype: "F16", encode: awq(128), finish: func(b *build) {
		var skip any
		if names, _ := b.leftOut(); len(names) > 1 {
			skip = b.substrings()
		}
		b.declare(object{
			"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true, "version": "gemm",
			"modules_to_not_convert": skip,
		})
	}},
}

// substrings is what AutoAWQ compares: a short word unless a quantised module has it too.
func (b *build) substrings() []any {
	last, tower, rest := b.kinds()
	out := []any{}
	for _, s := range append(tower, last...) {
		if !slices.ContainsFunc(b.weights, func(w *weight) bool { return w.quantised && has(w.module, s) }) {
			out = append(out, s)
			continue
		}
		for _, n := range b.excluded {
			if lastOf(n) == s {
				rest = append(rest, n)
			}
		}
	}
	for _, n := range rest {
		if n != "lm_head" {
			out = append(out, n)
		}
	}
	return out
}

// packed is compressed-tensors' pack-quantized: codes with an offset of half the range, eight (four) to a word along
// the row; zero points packed down the rows.
func packed(bits, g int, sym, order bool) func(b *build, w *weight, m []float32) {
	return func(b *build, w *weight, m []float32) {
		var perm []int
		if order {
			perm = b.r.Perm(w.cols)
			m = gathered(m, w, perm)
		}
		codes, scales, zeros := grouped(m, g, bits, sym, "BF16")
		groups := w.cols / g
		w.group = g
		if order {
			back := make([]byte, len(codes))
			for i := range w.rows {
				for j, from := range perm {
					back[i*w.cols+from] = codes[i*w.cols+j]
				}
			}
			codes = back
		}
		b.part(w, "codes", ".weight_packed", "I32", words(codes, bits), w.rows, w.cols*bits/32)
		b.part(w, "scale", ".weight_scale", "BF16", store("BF16", scales), w.rows, groups)
		b.part(w, "shape", ".weight_shape", "I64", int64s(int64(w.rows), int64(w.cols)), 2)
		if !sym {
			z := words(turned(zeros, w.rows, groups), bits) // [groups, rows/8] words
			b.part(w, "zero", ".weight_zero_point", "I32", turnedWords(z, groups, w.rows*bits/32), w.rows*bits/32, groups)
		}
		if order {
			b.part(w, "gidx", ".weight_g_idx", "I32", groupIndex(perm, g), w.cols)
		}
	}
}

func packedConfig(bits, g int, sym bool, actorder any) func(b *build) {
	return func(b *build) {
		w := ctWeights(bits, "int", "group", g, sym)
		w["actorder"] = actorder
		ct(b, "pack-quantized", w, nil)
	}
}

func gathered(m []float32, w *weight, perm []int) []float32 {
	out := make([]float32, len(m))
	for i := range w.rows {
		for j, from := range perm {
			out[i*w.cols+j] = m[i*w.cols+from]
		}
	}
	return out
}

// groupIndex says of each column in which group it was quantised.
func groupIndex(perm []int, g int) []byte {
	idx := make([]int32, len(perm))
	for j, from := range perm {
		idx[from] = int32(j / g)
	}
	out := make([]byte, 0, 4*len(idx))
	for _, v := range idx {
		out = append(out, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return out
}

// gptq stores [in, out]: codes eight to a word down the inputs, zero points across the outputs and, before v2, less
// one.
func gptq(bits, g int, sym, order, v2 bool) func(b *build, w *weight, m []float32) {
	return func(b *build, w *weight, m []float32) {
		perm := make([]int, w.cols)
		for i := range perm {
			perm[i] = i
		}
		if order {
			perm = b.r.Perm(w.cols)
			m = gathered(m, w, perm)
		}
		codes, scales, zeros := grouped(m, g, bits, sym, "F16")
		back := make([]byte, len(codes))
		for i := range w.rows {
			for j, from := range perm {
				back[i*w.cols+from] = codes[i*w.cols+j]
			}
		}
		groups, per := w.cols/g, 32/bits
		if !v2 {
			for i := range zeros {
				zeros[i] = (zeros[i] - 1) & byte(1<<bits-1)
			}
		}
		w.group, w.rowsReversed = g, true
		q := turnedWords(words(back, bits), w.rows, w.cols/per)
		b.part(w, "codes", ".qweight", "I32", q, w.cols/per, w.rows)
		b.part(w, "zero", ".qzeros", "I32", words(turned(zeros, w.rows, groups), bits), groups, w.rows/per)
		b.part(w, "scale", ".scales", "F16", store("F16", turned(scales, w.rows, groups)), groups, w.rows)
		b.part(w, "gidx", ".g_idx", "I32", groupIndex(perm, g), w.cols)
	}
}

func gptqConfig(bits, g int, sym, order bool, format string) func(b *build) {
	return func(b *build) {
		q := object{
			"quant_method": "gptq", "bits": bits, "group_size": g, "desc_act": order, "sym": sym, "lm_head": false,
			"damp_percent": 0.01, "true_sequential": true, "static_groups": false,
		}
		if format != "" {
			q["checkpoint_format"] = format
			q["meta"] = object{"quantizer": []any{"gptqmodel:5.0.0"}, "damp_auto_increment": 0.0025, "mse": 0.0}
		} else {
			q["model_name_or_path"], q["model_file_base_name"] = nil, "model"
		}
		if names, _ := b.leftOut(); len(names) > 1 {
			dynamic := object{} // GPTQModel's way of leaving modules out
			last, tower, _ := b.kinds()
			for _, p := range last {
				dynamic[`-:.*\.`+p+"$"] = object{}
			}
			for _, p := range tower {
				dynamic["-:.*"+p+".*"] = object{}
			}
			q["dynamic"] = dynamic
		}
		b.declare(q)
	}
}

// awqOrder is the order of the eight outputs in a word of AWQ's gemm layout.
var awqOrder = [8]int{0, 2, 4, 6, 1, 3, 5, 7}

func interleaved(codes []byte) []byte {
	out := make([]byte, len(codes))
	for i := range codes {
		out[i] = codes[i&^7+awqOrder[i&7]]
	}
	return out
}

// awq stores [in, out], words across the outputs in an order of their own.
func awq(g int) func(b *build, w *weight, m []float32) {
	return func(b *build, w *weight, m []float32) {
		codes, scales, zeros := grouped(m, g, 4, false, "F16")
		groups := w.cols / g
		w.group, w.rowsReversed = g, true
		q := words(interleaved(turned(codes, w.rows, w.cols)), 4)
		b.part(w, "codes", ".qweight", "I32", q, w.cols, w.rows/8)
		b.part(w, "zero", ".qzeros", "I32", words(interleaved(turned(zeros, w.rows, groups)), 4), groups, w.rows/8)
		b.part(w, "scale", ".scales", "F16", store("F16", turned(scales, w.rows, groups)), groups, w.rows)
	}
}
