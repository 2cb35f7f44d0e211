package quant

import (
	"encoding/json"
	"fmt"
	"strings"
)

// modelOpt reads what ModelOpt writes into config.json. Source: NVIDIA/Model-Optimizer export/convert_hf_config.py,
// quant_utils.py (names of algorithms), layer tensors under weight, weight_scale, weight_scale_2, input_scale.
func (p *Plan) modelOpt(f quantFile) error {
	p.Method = "modelopt"
	for module, l := range f.Layers {
		params, ok := algorithm(l.Algo, l.Group)
		if !ok {
			p.Guess = true
			continue
		}
		p.groups = append(p.groups, group{params: params, targets: []pattern{{text: module}}})
	}
	if len(f.Layers) > 0 || f.Algo == "MIXED_PRECISION" {
		p.Guess = true
		return nil
	}
	if f.Algo == "" && len(f.Groups) > 0 {
		for _, g := range f.Groups {
			if g.Weights == nil {
				continue
			}
			params, err := g.Weights.params(g.Format)
			if err != nil {
				return fmt.Errorf("config.json: config_groups: %w", err)
			}
			params.Divide = false
			p.groups = append(p.groups, group{params: params, all: true})
		}
		return nil
	}
	if f.Algo == "" {
		p.Guess = true
		return nil
	}
	params, ok := algorithm(f.Algo, f.Group)
	if !ok {
		p.Method = "modelopt " + f.Algo
		p.refuse("this version has no decoder for it")
		return nil
	}
	p.groups = append(p.groups, group{params: params, all: true})
	return nil
}

func algorithm(name string, size int) (Params, bool) {
	switch name {
	case "FP8":
		return Params{Layout: FP8, Strategy: "tensor", StaticInput: true}, true
	case "FP8_PER_CHANNEL_PER_TOKEN":
		return Params{Layout: FP8, Strategy: "channel"}, true
	case "FP8_PB_WO", "FP8_PB_REAL":
		return Params{Layout: FP8, Strategy: "block", Block: [2]int{128, 128}}, true
	case "NVFP4", "NVFP4_AWQ":
		return Params{Layout: NVFP4, Group: 16, StaticInput: true}, true
	case "W4A16_NVFP4", "W4A8_NVFP4_FP8":
		return Params{Layout: NVFP4, Group: 16}, true
	case "MXFP8":
		return Params{Layout: MXFP8, Group: 32}, true
	case "MXFP4", "W4A8_MXFP4_FP8":
		return Params{Layout: MXFP4, Group: 32}, true
	case "W8A8_SQ_PER_CHANNEL", "W8A16":
		return Params{Layout: Int, Bits: 8, Strategy: "channel", Symmetric: true}, true
	}
	_ = size
	return Params{}, false
}

// modelOptFile reads hf_quant_config.json.
func (p *Plan) modelOptFile(raw []byte) error {
	var f struct {
		Quantization quantFile `json:"quantization"`
	}
	if err := json.Unmarshal(PlainJSON(raw), &f); err != nil {
		return fmt.Errorf("hf_quant_config.json is not what ModelOpt writes: %w", err)
	}
	if !p.Declared {
		p.Declared = true
		p.ignore(f.Quantization.Ignore, f.Quantization.ExcludeModules)
	}
	return p.modelOpt(f.Quantization)
}

// Beside reads a file that stood for quantization_config before config.json had one: quantize_config.json of AutoGPTQ,
// quant_config.json of AutoAWQ.
func (p *Plan) Beside(name string, raw []byte) error {
	var f quantFile
	if err := json.Unmarshal(PlainJSON(raw), &f); err != nil {
		return fmt.Errorf("%s is not what its libraries write: %w", name, err)
	}
	p.Declared, p.Source = true, name
	p.Method = strings.ToLower(f.Method)
	p.ignore(f.NotConvert)
	if p.Method == "awq" || p.Method == "" && f.WBit > 0 {
		p.Method = "awq"
		return p.awq(f)
	}
	p.Method = "gptq"
	return p.gptq(f)
}

// quarkFile is one entry of Quark's configuration. Source: the exported config.json of amd-quark (torch/export).
type quarkFile struct {
	Weight json.RawMessage `json:"weight"`
	Input  json.RawMessage `json:"input_tensors"`
}

type quarkTensor struct {
	DType       string `json:"dtype"`
	Scheme      string `json:"qscheme"`
	Group       int    `json:"group_size"`
	Symmetric   *bool  `json:"symmetric"`
	ScaleFormat string `json:"scale_format"`
	Dynamic     *bool  `json:"is_dynamic"`
}

func (p *Plan) quark(f quantFile) error {
	add := func(q *quarkFile, targets []pattern, all bool) error {
		if q == nil || empty(q.Weight) {
			return nil
		}
		var w quarkTensor
		if err := json.Unmarshal(q.Weight, &w); err != nil { // a list: several quantisers for one weight
			p.Method = "quark with several quantisers for one weight"
			p.refuse("this version has no decoder for it")
			return nil //nolint:nilerr // another form of the setting, which is refused by name
		}
		params, ok := w.params()
		if !ok {
			p.Method = "quark " + w.DType
			p.refuse("this version has no decoder for it")
			return nil
		}
		var in quarkTensor
		if !empty(q.Input) && json.Unmarshal(q.Input, &in) == nil {
			params.StaticInput = in.Dynamic != nil && !*in.Dynamic
		}
		p.groups = append(p.groups, group{params: params, targets: targets, all: all})
		return nil
	}
	for name, q := range f.Each {
		targets, unread := patterns([]string{name})
		p.Unread = append(p.Unread, unread...)
		if err := add(q, targets, false); err != nil {
			return err
		}
	}
	return add(f.Global, nil, true)
}

func (w quarkTensor) params() (Params, bool) {
	p := Params{Symmetric: w.Symmetric == nil || *w.Symmetric, Group: w.Group}
	switch {
	case w.DType == "fp4" && w.ScaleFormat == "e8m0":
		p.Layout, p.Group = MXFP4, 32
	case w.DType == "fp8_e4m3" && w.ScaleFormat == "e8m0" && w.Group == 32:
		p.Layout = MXFP8
	case w.DType == "fp8_e4m3", w.DType == "fp8_e5m2":
		p.Layout = FP8
	case w.DType == "int8" && w.Group == 0:
		p.Layout, p.Bits = Int, 8
	default:
		return p, false
	}
	switch w.Scheme {
	case "per_tensor":
		p.Strategy = "tensor"
	case "per_channel":
		p.Strategy = "channel"
	case "per_group":
		p.Strategy = "group"
	}
	return p, true
}

// mlx reads "quantization" of mlx-lm: bits and group size, and modules of their own settings or false.
func (p *Plan) mlx(raw json.RawMessage) error {
	var all map[string]json.RawMessage
	var f struct {
		Bits, Group int
		Mode        string
	}
	type entry struct {
		Bits  int    `json:"bits"`
		Group int    `json:"group_size"`
		Mode  string `json:"mode"`
	}
	var top entry
	if json.Unmarshal(raw, &all) != nil || json.Unmarshal(raw, &top) != nil {
		return fmt.Errorf("config.json: quantization is not what mlx-lm writes: bits, group_size and modules")
	}
	f.Bits, f.Group, f.Mode = top.Bits, top.Group, top.Mode
	p.Declared, p.Method = true, "mlx"
	if f.Mode != "" && f.Mode != "affine" {
		p.Method = "mlx " + f.Mode
		p.refuse("only the affine mode is decoded here")
		return nil
	}
	p.bits = map[string]Params{}
	base := Params{Layout: MLX, Bits: f.Bits, Group: f.Group}
	for module, v := range all {
		if !strings.Contains(module, ".") && module != "lm_head" {
			continue
		}
		own := entry{Bits: f.Bits, Group: f.Group}
		if string(v) == "false" {
			p.skip = append(p.skip, pattern{text: module})
		} else if json.Unmarshal(v, &own) == nil {
			p.bits[module] = Params{Layout: MLX, Bits: own.Bits, Group: own.Group}
		}
	}
	// Embeddings are quantised too, so that a module without scales is no contradiction.
	p.groups, p.Guess = append(p.groups, group{params: base, all: true}), true
	return nil
}
