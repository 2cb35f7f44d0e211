package outsider

import (
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"strings"
)

var otherSchemes = []scheme{
	{name: "bnb-nf4", encode: nf4(false), finish: func(b *build) { bnb(b, 4, false) }},
	{name: "bnb-nf4-double", encode: nf4(true), finish: func(b *build) { bnb(b, 4, true) }},
	{name: "mlx-4bit", covers: mlxCovers, encode: mlx(4, 64), finish: mlxConfig(4, 64)},
	{name: "mlx-8bit", covers: mlxCovers, encode: mlx(8, 64), finish: mlxConfig(8, 64)},
}

// nf4Levels are the sixteen levels of NormalFloat4 (QLoRA, appendix E).
var nf4Levels = [16]float32{
	-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
	-0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
	0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1,
}

func nearest(levels []float32, x float32) byte {
	i := sort.Search(len(levels), func(i int) bool { return levels[i] >= x })
	if i == len(levels) || (i > 0 && x-levels[i-1] < levels[i]-x) {
		i--
	}
	return byte(i)
}

// dynamicMap is the 8-bit map of bitsandbytes (Dettmers 2015): decades of exponents with ever finer fractions.
var dynamicMap = func() []float32 {
	v := []float32{0, 1}
	for i := range 7 {
		n := 1<<i + 1
		for k := range n - 1 {
			at := func(k int) float64 { return 0.1 + 0.9*float64(k)/float64(n-1) }
			x := float32(math.Pow(10, float64(i-6)) * (at(k) + at(k+1)) / 2)
			v = append(v, x, -x)
		}
	}
	slices.Sort(v)
	return v
}()

func nf4(double bool) func(b *build, w *weight, m []float32) {
	return func(b *build, w *weight, m []float32) {
		const g = 64
		codes, scales := make([]byte, len(m)), make([]float32, len(m)/g)
		for i := range scales {
			s := max(absmax(m[i*g:i*g+g]), 1e-12)
			for j := i * g; j < i*g+g; j++ {
				codes[j] = nearest(nf4Levels[:], m[j]/s)
			}
			scales[i] = s
		}
		bytes := make([]byte, len(m)/2) // the first code in the high half
		for i := range bytes {
			bytes[i] = codes[2*i]<<4 | codes[2*i+1]
		}
		w.group = g
		state := object{"quant_type": "nf4", "blocksize": g, "dtype": "bfloat16", "shape": []any{w.rows, w.cols}}
		b.part(w, "codes", ".weight", "U8", bytes, len(bytes), 1)
		if double {
			var mean float64
			for _, s := range scales {
				mean += float64(s) / float64(len(scales))
			}
			var nested []float32
			quantised := make([]byte, len(scales))
			for at := 0; at < len(scales); at += 256 {
				run := slices.Clone(scales[at:min(at+256, len(scales))])
				for i := range run {
					run[i] -= float32(mean)
				}
				n := max(absmax(run), 1e-12)
				for i, x := range run {
					quantised[at+i] = nearest(dynamicMap, x/n)
				}
				nested = append(nested, n)
			}
			state["nested_blocksize"], state["nested_dtype"], state["nested_offset"] = 256, "float32", mean
			b.part(w, "absmax", ".weight.absmax", "U8", quantised, len(scales))
			b.part(w, "nested", ".weight.nested_absmax", "F32", store("F32", nested), len(nested))
			b.add(w.module+".weight.nested_quant_map", "F32", store("F32", dynamicMap), 256)
		} else {
			b.part(w, "scale", ".weight.absmax", "F32", store("F32", scales), len(scales))
		}
		b.add(w.module+".weight.quant_map", "F32", store("F32", nf4Levels[:]), 16)
		js := []byte(strings.Join(strings.Fields(string(encoded(state))), " "))
		b.part(w, "state", ".weight.quant_state.bitsandbytes__nf4", "U8", js, len(js))
	}
}

func bnb(b *build, bits int, double bool) {
	var skip any
	if names, _ := b.leftOut(); len(names) > 1 || (bits == 8 && len(names) > 0) {
		skip = names
	}
	b.declare(object{
		"quant_method": "bitsandbytes", "_load_in_4bit": bits == 4, "_load_in_8bit": bits == 8,
		"load_in_4bit": bits == 4, "load_in_8bit": bits == 8, "bnb_4bit_compute_dtype": "bfloat16",
		"bnb_4bit_quant_storage": "uint8", "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": double,
		"llm_int8_enable_fp32_cpu_offload": false, "llm_int8_has_fp16_weight": false, "llm_int8_skip_modules": skip,
		"llm_int8_threshold": 6.0,
	})
}

// mlxCovers: mlx-lm quantises the embedding and the head as well.
func mlxCovers(w *weight) bool {
	return linears(w) || w.role == "head" || w.role == "embed" || w.role == "router"
}

// mlx: w = scale·code + bias in runs of g, words along the row.
func mlx(bits, g int) func(b *build, w *weight, m []float32) {
	return func(b *build, w *weight, m []float32) {
		top := float32(int(1)<<bits - 1)
		codes, scales, biases := make([]byte, len(m)), make([]float32, len(m)/g), make([]float32, len(m)/g)
		for i := range scales {
			run := m[i*g : i*g+g]
			lo, hi := slices.Min(run), slices.Max(run)
			s, start := rounded("BF16", max(hi-lo, 1e-7)/top), lo
			if -lo < hi { // from the end that is larger in magnitude
				s, start = -s, hi
			}
			if q := float32(math.RoundToEven(float64(start / s))); q != 0 {
				s = rounded("BF16", start/q)
			}
			start = rounded("BF16", start)
			for j, x := range run {
				codes[i*g+j] = byte(max(0, min(top, float32(math.RoundToEven(float64((x-start)/s))))))
			}
			scales[i], biases[i] = s, start
		}
		w.group = g
		b.part(w, "codes", ".weight", "U32", words(codes, bits), w.rows, w.cols*bits/32)
		b.part(w, "scale", ".scales", "BF16", store("BF16", scales), w.rows, w.cols/g)
		b.part(w, "offset", ".biases", "BF16", store("BF16", biases), w.rows, w.cols/g)
	}
}

func mlxConfig(bits, g int) func(b *build) {
	return func(b *build) {
		b.metadata["format"] = "mlx"
		b.config["quantization"] = object{"group_size": g, "bits": bits}
		b.config["quantization_config"] = object{"group_size": g, "bits": bits}
	}
}

// ctWeights is compressed-tensors' description of how weights are quantised; group is nil or a size.
func ctWeights(bits int, kind, strategy string, group any, sym bool) object {
	return object{
		"num_bits": bits, "type": kind, "strategy": strategy, "group_size": group, "symmetric": sym, "dynamic": false,
		"actorder": nil, "block_structure": nil, "observer": "minmax", "observer_kwargs": object{},
	}
}

func ctInputs(bits int, kind, strategy string, group any, dynamic bool) object {
	o := ctWeights(bits, kind, strategy, group, true)
	o["dynamic"] = dynamic
	if dynamic {
		o["observer"] = nil
	}
	return o
}

func ct(b *build, format string, weights, inputs object) {
	names, patterns := b.leftOut()
	var in any
	if inputs != nil {
		in = inputs
	}
	b.declare(object{
		"quant_method": "compressed-tensors", "format": format, "quantization_status": "compressed",
		"global_compression_ratio": nil, "kv_cache_scheme": nil, "ignore": pick(b.r, names, patterns),
		"version": "0.12.2", "sparsity_config": object{}, "transform_config": object{},
		"config_groups": object{"group_0": object{
			"targets": []any{"Linear"}, "weights": weights, "input_activations": in, "output_activations": nil,
			"format": format,
		}},
	})
}

// modelopt declares in a file of its own, and newer ones in config.json as well.
func modelopt(b *build, algo, cache string, group int) {
	names, _ := b.leftOut()
	var exclude []any
	last, tower, rest := b.kinds()
	for _, p := range last {
		exclude = append(exclude, "*."+p)
	}
	for _, p := range tower {
		exclude = append(exclude, "*"+p+"*")
	}
	for _, n := range rest {
		exclude = append(exclude, n)
	}
	if b.r.IntN(2) == 0 {
		exclude = names
	}
	q := object{"quant_algo": algo, "kv_cache_quant_algo": nil, "exclude_modules": exclude}
	if cache != "" {
		q["kv_cache_quant_algo"] = cache
	}
	if group > 0 {
		q["group_size"] = group
	}
	b.files["hf_quant_config.json"] = encoded(object{
		"producer": object{"name": "modelopt", "version": "0.39.0"}, "quantization": q,
	})
	b.fields["hf"] = "yes"
	if b.r.IntN(2) == 0 {
		b.declare(object{
			"quant_method": "modelopt", "quant_algo": algo, "ignore": exclude,
			"producer": object{"name": "modelopt", "version": "0.39.0"},
		})
	}
}

func quarkSpec(dtype, scheme string, group any, dynamic bool) object {
	o := object{
		"dtype": dtype, "qscheme": scheme, "group_size": group, "ch_axis": -1, "is_dynamic": dynamic,
		"round_method": "half_even", "scale_type": "float", "symmetric": true, "observer_cls": "PerBlockMXObserver",
	}
	if dtype == "fp4" {
		o["scale_format"], o["scale_calculation_mode"], o["symmetric"] = "e8m0", "even", nil
	}
	return o
}

func quark(b *build, weights, inputs object) {
	names, _ := b.leftOut()
	b.declare(object{
		"quant_method": "quark", "quant_mode": "eager_mode", "version": "0.10", "algo_config": nil,
		"global_quant_config": object{
			"weight": weights, "input_tensors": inputs, "output_tensors": nil, "bias": nil, "target_device": nil,
		},
		"exclude": names, "layer_quant_config": object{}, "layer_type_quant_config": object{},
		"kv_cache_quant_config": object{}, "softmax_quant_spec": nil,
		"export": object{"weight_format": "real_quantized", "pack_method": "reorder", "kv_cache_group": []any{}},
	})
}

func int64s(v ...int64) []byte {
	var out []byte
	for _, x := range v {
		out = binary.LittleEndian.AppendUint64(out, uint64(x))
	}
	return out
}

// turnedWords transposes [rows, cols] of 32-bit words.
func turnedWords(data []byte, rows, cols int) []byte {
	v := make([][4]byte, rows*cols)
	for i := range v {
		v[i] = [4]byte(data[4*i:])
	}
	out := make([]byte, 0, len(data))
	for _, w := range turned(v, rows, cols) {
		out = append(out, w[:]...)
	}
	return out
}

func lastOf(name string) string { return name[strings.LastIndex(name, ".")+1:] }

func has(s, sub string) bool { return strings.Contains(s, sub) }

func hasSuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(x string) bool { return strings.HasSuffix(s, x) })
}
