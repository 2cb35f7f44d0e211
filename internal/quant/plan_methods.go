package quant

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// quantFile is quantization_config, all methods' keys in one: none means two things.
type quantFile struct {
	Method         string   `json:"quant_method"`
	Ignore         []string `json:"ignore"`                 // compressed-tensors, ModelOpt
	NotConvert     []string `json:"modules_to_not_convert"` // transformers' methods
	ExcludeModules []string `json:"exclude_modules"`        // ModelOpt
	ExcludeLayers  []string `json:"ignored_layers"`         //
	Exclude        []string `json:"exclude"`                // Quark
	SkipModules    []string `json:"llm_int8_skip_modules"`  // bitsandbytes

	Activation string `json:"activation_scheme"`
	BlockSize  []int  `json:"weight_block_size"`
	Fmt        string `json:"fmt"`

	Format string                `json:"format"` // compressed-tensors
	Groups map[string]groupFile  `json:"config_groups"`
	Algo   string                `json:"quant_algo"` // ModelOpt
	Layers map[string]layerFile  `json:"quantized_layers"`
	Global *quarkFile            `json:"global_quant_config"` // Quark
	Each   map[string]*quarkFile `json:"layer_quant_config"`

	Bits      int             `json:"bits"`
	WBit      int             `json:"w_bit"`
	Group     int             `json:"group_size"`
	QGroup    int             `json:"q_group_size"`
	ActOrder  bool            `json:"desc_act"`
	Sym       *bool           `json:"sym"`
	ZeroPoint *bool           `json:"zero_point"`
	CkptForm  string          `json:"checkpoint_format"`
	Version   string          `json:"version"`
	Dynamic   json.RawMessage `json:"dynamic"`        // GPTQModel: modules of their own settings
	Packing   string          `json:"packing_format"` // AutoRound
	Backend   string          `json:"backend"`
	Extra     map[string]struct {
		Bits  int `json:"bits"`
		Group int `json:"group_size"`
	} `json:"extra_config"`

	In4 bool `json:"load_in_4bit"`
	In8 bool `json:"load_in_8bit"`
}

type groupFile struct {
	Targets []string  `json:"targets"`
	Format  string    `json:"format"`
	Weights *argsFile `json:"weights"`
	Input   *argsFile `json:"input_activations"`
}

type argsFile struct {
	Bits      int             `json:"num_bits"`
	Type      string          `json:"type"`
	Strategy  string          `json:"strategy"`
	Group     int             `json:"group_size"`
	Block     json.RawMessage `json:"block_structure"`
	Symmetric *bool           `json:"symmetric"`
	Dynamic   json.RawMessage `json:"dynamic"` // a bool, or "local"
	ActOrder  json.RawMessage `json:"actorder"`
}

type layerFile struct {
	Algo  string `json:"quant_algo"`
	Group int    `json:"group_size"`
}

// fp8 is block fp8 (DeepSeek, Qwen) or fp8 with a scale per tensor or row. V4's experts are MXFP4 beside it.
func (p *Plan) fp8(f quantFile, c configFile) error {
	params := Params{Layout: FP8, StaticInput: f.Activation == "static", E4M3: f.Fmt == "e4m3"}
	if p.Method == "fbgemm_fp8" {
		params.Strategy = "channel"
	}
	if len(f.BlockSize) > 0 {
		if len(f.BlockSize) != 2 || f.BlockSize[0] <= 0 || f.BlockSize[1] <= 0 {
			return fmt.Errorf("config.json: weight_block_size is %v; it is two positive numbers, rows and columns", f.BlockSize)
		}
		params.Strategy, params.Block = "block", [2]int{f.BlockSize[0], f.BlockSize[1]}
	}
	if c.ExpertDType == "fp4" || c.ModelType == "deepseek_v4" {
		p.Guess = true
	}
	p.groups = append(p.groups, group{params: params, all: true})
	return nil
}

// compressed reads config_groups. Source: vllm-project/compressed-tensors quantization/quant_config.py, quant_args.py.
func (p *Plan) compressed(f quantFile) error {
	for name, g := range f.Groups {
		if g.Weights == nil {
			continue // activations or caches only
		}
		form := g.Format
		if form == "" {
			form = f.Format
		}
		params, err := g.Weights.params(form)
		if err != nil {
			return fmt.Errorf("config.json: config_groups.%s: %w", name, err)
		}
		if params.Layout == None_ {
			p.Method = "compressed-tensors " + form
			p.refuse("this version has no decoder for it")
			continue
		}
		if g.Input != nil {
			params.StaticInput = string(g.Input.Dynamic) == "false" || string(g.Input.Dynamic) == ""
		}
		entry := group{params: params}
		for _, t := range g.Targets {
			if !strings.HasPrefix(t, "re:") && !strings.Contains(t, ".") && t != "lm_head" {
				entry.all = true // the name of a class of modules: Linear
				continue
			}
			list, unread := patterns([]string{t})
			entry.targets, p.Unread = append(entry.targets, list...), append(p.Unread, unread...)
		}
		p.groups = append(p.groups, entry)
	}
	return nil
}

func (a argsFile) params(form string) (Params, error) {
	p := Params{Bits: a.Bits, Group: a.Group, Strategy: a.Strategy, Symmetric: a.Symmetric == nil || *a.Symmetric}
	if p.Bits == 0 {
		p.Bits = 8
	}
	if s := string(a.ActOrder); s != "" && s != "null" && s != "false" {
		p.ActOrder = true
	}
	if len(a.Block) > 0 && string(a.Block) != "null" {
		block, err := blockOf(a.Block)
		if err != nil {
			return p, err
		}
		p.Block = block
	} else if a.Strategy == "block" {
		return p, errors.New("strategy is block and there is no block_structure; it is [rows, columns]")
	}
	float := a.Type == "float"
	switch {
	case strings.Contains(form, "marlin") || strings.Contains(form, "sparse") || strings.Contains(form, "mxfp6"):
		p.Layout = None_
	case strings.HasPrefix(form, "nvfp4"), float && a.Bits == 4 && a.Group != 32:
		p.Layout, p.Group, p.Divide = NVFP4, 16, true
	case strings.HasPrefix(form, "mxfp4"), float && a.Bits == 4:
		p.Layout, p.Group = MXFP4, 32
	case strings.HasPrefix(form, "mxfp8"), float && a.Bits == 8 && a.Group == 32:
		p.Layout, p.Group = MXFP8, 32
	case float && p.Bits == 8:
		p.Layout = FP8
	case float:
		p.Layout = None_
	default:
		p.Layout = Int
	}
	return p, nil
}

// blockOf reads [128, 128] or "128x128".
func blockOf(raw json.RawMessage) (b [2]int, err error) {
	var list []int
	if json.Unmarshal(raw, &list) != nil || len(list) != 2 {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return b, fmt.Errorf("block_structure is %s; it is [rows, columns] or \"128x128\"", raw)
		}
		list = []int{0, 0}
		if _, err := fmt.Sscanf(text, "%dx%d", &list[0], &list[1]); err != nil {
			return b, fmt.Errorf("block_structure is %q; it is [rows, columns] or \"128x128\"", text)
		}
	}
	if list[0] <= 0 || list[1] <= 0 {
		return b, fmt.Errorf("block_structure is %v; both are positive", list)
	}
	return [2]int{list[0], list[1]}, nil
}

// gptq: the zero points of checkpoint_format "gptq" (v1) are stored less one, those of "gptq_v2" as they are.
// Source: ModelCloud/GPTQModel, utils/model.py convert_gptq_v1_to_v2_format.
func (p *Plan) gptq(f quantFile) error {
	params := Params{
		Layout: GPTQ, Bits: f.Bits, Group: f.Group, ActOrder: f.ActOrder,
		Symmetric: f.Sym == nil || *f.Sym, SaidSymmetric: f.Sym != nil && *f.Sym, ZeroLess: 1,
	}
	switch f.CkptForm {
	case "", "gptq":
	case "gptq_v2":
		params.ZeroLess = 0
	default:
		p.refuse("its checkpoint_format is " + f.CkptForm + ", the order of a kernel")
		return nil
	}
	switch f.Bits {
	case 2, 3, 4, 8:
	default:
		return fmt.Errorf("config.json: quantization_config.bits is %d; GPTQ stores 2, 3, 4 or 8", f.Bits)
	}
	p.dynamic(f.Dynamic, params)
	p.groups = append(p.groups, group{params: params, all: true})
	return nil
}

// dynamic reads GPTQModel's settings of single modules: "-:regex" leaves them out, "+:regex" or a bare one overrides
// bits and group size.
func (p *Plan) dynamic(raw json.RawMessage, params Params) {
	var rules map[string]json.RawMessage
	if json.Unmarshal(raw, &rules) != nil {
		return
	}
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		list, unread := patterns([]string{"re:" + strings.TrimPrefix(strings.TrimPrefix(rule, "-:"), "+:")})
		p.Unread = append(p.Unread, unread...)
		if strings.HasPrefix(rule, "-:") {
			p.skip = append(p.skip, list...)
			continue
		}
		own := params
		set := struct {
			Bits  *int `json:"bits"`
			Group *int `json:"group_size"`
		}{&own.Bits, &own.Group}
		if json.Unmarshal(rules[rule], &set) == nil {
			p.groups = append(p.groups, group{params: own, targets: list})
		}
	}
}

// autoRound packs as GPTQ or AWQ do and names which; modules of 16 bits in extra_config are left out, others have
// settings of their own. Source: intel/auto-round, packing_format and extra_config.
func (p *Plan) autoRound(f quantFile) error {
	form := strings.ToLower(f.Packing + " " + f.Backend)
	var err error
	switch {
	case strings.Contains(form, "awq"):
		f.Version = "gemm"
		err = p.awq(f)
	case strings.Contains(form, "gptq"):
		f.Sym = nil // of its own, stored or not
		err = p.gptq(f)
	default:
		p.refuse("its packing_format is \"" + f.Packing + "\", and only those of GPTQ and AWQ are laid out here")
		return nil
	}
	if err != nil || len(p.groups) == 0 {
		return err
	}
	p.bits = map[string]Params{}
	for module, own := range f.Extra {
		if own.Bits >= 16 {
			p.skip = append(p.skip, pattern{text: module})
			continue
		}
		params := p.groups[len(p.groups)-1].params
		if own.Bits > 0 {
			params.Bits = own.Bits
		}
		if own.Group != 0 {
			params.Group = own.Group
		}
		p.bits[module] = params
	}
	return nil
}

func (p *Plan) awq(f quantFile) error {
	bits, size := max(f.Bits, f.WBit), f.Group
	if size == 0 {
		size = f.QGroup
	}
	if bits != 4 && bits != 0 {
		return fmt.Errorf("%s: bits is %d; AWQ stores 4", p.Source, bits)
	}
	version := strings.ToLower(f.Version)
	if version != "" && version != "gemm" || bits != 4 {
		p.refuse(fmt.Sprintf("its version is %q with %d bits, and only gemm with 4 is laid out here", f.Version, bits))
		return nil
	}
	p.groups = append(p.groups, group{params: Params{
		Layout: AWQ, Bits: bits, Group: size, Symmetric: f.ZeroPoint != nil && !*f.ZeroPoint,
	}, all: true})
	return nil
}

func (p *Plan) bitsAndBytes(f quantFile, raw json.RawMessage) error {
	switch {
	case f.In4:
		p.Method = "bitsandbytes"
		p.groups = append(p.groups, group{params: Params{Layout: BnB4, Bits: 4}, all: true})
	case f.In8:
		p.Method = "bitsandbytes"
		p.groups = append(p.groups, group{params: Params{Layout: BnB8, Bits: 8, Strategy: "channel"}, all: true})
	case p.Method == "" && f.Bits > 0 && f.Group > 0: // mlx-lm writes the same object under both keys
		return p.mlx(raw)
	case p.Method == "" && f.Algo != "":
		return p.modelOpt(f)
	case p.Method == "":
		p.refuse("it names no quant_method")
	}
	return nil
}
