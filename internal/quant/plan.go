package quant

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The layouts of a module's tensors. Each is one arm of the decoder.
const (
	Plain = "float"       // a float dtype, no scales
	FP8   = "fp8"         // e4m3 or e5m2, scale per tensor, row or block
	MXFP8 = "mxfp8"       // e4m3, e8m0 per 32
	MXFP4 = "mxfp4"       // e2m1, e8m0 per 32
	NVFP4 = "nvfp4"       // e2m1, e4m3 per 16, one factor
	Int   = "int"         // signed bytes, or fewer bits packed along a row
	Int4P = "int4-pairs"  // two's complement nibbles, low one first (W4AFP8)
	GPTQ  = "gptq"        //
	AWQ   = "awq"         //
	BnB4  = "bnb-4bit"    // nf4 and fp4
	BnB8  = "bnb-8bit"    //
	MLX   = "mlx"         //
	TorAO = "torchao"     // by the header's own description
	None_ = "unsupported" // declared, and not decoded here
)

// Params are what a checkpoint declares of a quantised module. Zero values are undeclared.
type Params struct {
	Layout    string
	Bits      int
	Group     int    // inputs that share a scale; -1 for a whole row
	Block     [2]int // rows and columns that share a scale
	Strategy  string // "tensor", "channel", "group", "block"
	Symmetric bool
	// SaidSymmetric tells a declaration from a default (GPTQ).
	SaidSymmetric bool
	ZeroLess      int  // what the stored zero point is less by: 1 in GPTQ v1
	Divide        bool // the factor divides (compressed-tensors) where ModelOpt's multiplies
	ActOrder      bool
	E4M3          bool // e5m2 is ruled out
	StaticInput   bool // activations have a stored scale
}

// group is one entry of config_groups or quantized_layers: what the modules that match are quantised to.
type group struct {
	params  Params
	targets []pattern
	all     bool // every linear layer
}

// Plan is how a checkpoint says that it is stored. The zero value declares nothing.
type Plan struct {
	Declared bool
	Method   string   // quant_method, or "modelopt", "mlx"
	Source   string   // where it was read
	Refused  string   // why weights of this method are not decoded; "" when they are
	Unread   []string // entries of lists that could not be understood
	Guess    bool     // modules that no entry covers are told from the tensors beside them
	groups   []group
	skip     []pattern
	bits     map[string]Params // MLX: modules of their own settings
	headers  map[string]string // torchao: descriptions in the headers
	assumed  Params            // of fp8 weights, where nothing is declared
}

// Assume says how fp8 weights are scaled in a family whose checkpoints need not declare it.
func (p *Plan) Assume(strategy string, block [2]int) {
	p.assumed = Params{Layout: FP8, Strategy: strategy, Block: block, E4M3: true}
}

// For gives what the plan declares of a module. skipped is the entry that leaves the module out, "" if none does.
func (p *Plan) For(module string) (params Params, said bool, skipped string) {
	if own, ok := p.bits[module]; ok {
		return own, true, ""
	}
	if entry, ok := anyMatches(p.skip, module); ok {
		return Params{}, false, entry
	}
	for _, g := range p.groups {
		if _, ok := anyMatches(g.targets, module); ok {
			return g.params, true, ""
		}
	}
	for _, g := range p.groups {
		if g.all {
			return g.params, true, ""
		}
	}
	return Params{}, false, ""
}

// Lists tells whether the plan leaves any module out by name.
func (p *Plan) Lists() bool { return len(p.skip) > 0 }

// Targets tells whether the plan names this very module, rather than every linear layer.
func (p *Plan) Targets(module string) bool {
	for _, g := range p.groups {
		if _, ok := anyMatches(g.targets, module); ok {
			return true
		}
	}
	return false
}

// configFile is what of config.json says how weights are stored.
type configFile struct {
	ModelType    string          `json:"model_type"`
	ExpertDType  string          `json:"expert_dtype"`
	Quantization json.RawMessage `json:"quantization_config"`
	Compression  json.RawMessage `json:"compression_config"` // before it was called quantization_config
	MLX          json.RawMessage `json:"quantization"`
	Text         *configFile     `json:"text_config"`
}

// ParsePlan reads config.json and hf_quant_config.json (ModelOpt), either of which may be nil. An error is a sentence;
// a method that is known by name only is not one: see Plan.Refused.
func ParsePlan(config, hfQuant []byte) (*Plan, error) {
	p := &Plan{}
	var c configFile
	if config != nil {
		if err := json.Unmarshal(PlainJSON(config), &c); err != nil {
			return p, fmt.Errorf("config.json is not a JSON object of a model's settings: %w", err)
		}
		if c.Text != nil && empty(c.Quantization) && empty(c.Compression) {
			c.Quantization, c.Compression = c.Text.Quantization, c.Text.Compression
		}
	}
	raw := c.Quantization
	if empty(raw) {
		raw = c.Compression
	}
	switch {
	case !empty(raw):
		p.Source = "quantization_config of config.json"
		if err := p.declared(raw, c); err != nil {
			return p, err
		}
	case !empty(c.MLX):
		p.Source = "quantization of config.json"
		if err := p.mlx(c.MLX); err != nil {
			return p, err
		}
	}
	if hfQuant != nil && (!p.Declared || p.Method == "modelopt" && len(p.groups) == 0) {
		p.Source = "hf_quant_config.json"
		if err := p.modelOptFile(hfQuant); err != nil {
			return p, err
		}
	}
	return p, nil
}

func empty(raw json.RawMessage) bool {
	s := strings.TrimSpace(string(raw))
	return s == "" || s == "null" || s == "{}"
}

// declared reads quantization_config by its method.
func (p *Plan) declared(raw json.RawMessage, c configFile) error {
	var named struct {
		Method string `json:"quant_method"`
	}
	if json.Unmarshal(raw, &named) == nil && refusals[strings.ToLower(named.Method)] != "" {
		p.Declared, p.Method = true, strings.ToLower(named.Method)
		p.refuse(refusals[p.Method]) // what else it says has forms of its own
		return nil
	}
	var f quantFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return fmt.Errorf("config.json: quantization_config is not what its libraries write: %w", err)
	}
	p.Declared, p.Method = true, strings.ToLower(f.Method)
	p.ignore(f.Ignore, f.NotConvert, f.ExcludeModules, f.ExcludeLayers, f.Exclude, f.SkipModules)
	switch p.Method {
	case "fp8", "deepgemm_fp8", "fbgemm_fp8":
		return p.fp8(f, c)
	case "compressed-tensors", "compressed_tensors", "sparseml":
		return p.compressed(f)
	case "gptq", "gptqmodel":
		return p.gptq(f)
	case "awq":
		return p.awq(f)
	case "auto-round", "intel/auto-round":
		return p.autoRound(f)
	case "bitsandbytes", "":
		return p.bitsAndBytes(f, raw)
	case "mxfp4":
		p.groups = append(p.groups, group{params: Params{Layout: MXFP4, Group: 32}, all: true})
	case "modelopt", "modelopt_fp4", "modelopt_fp8", "modelopt_mixed", "nvfp4", "modelopt_mxfp8", "mxfp8":
		return p.modelOpt(f)
	case "quark":
		return p.quark(f)
	case "w4afp8":
		p.groups = append(p.groups,
			group{params: Params{Layout: Int4P, Bits: 4, Group: 128, Symmetric: true}, targets: must("re:.*\\.experts(\\.|$)")},
			group{params: Params{Layout: FP8, Strategy: "block", Block: [2]int{128, 128}}, all: true})
		p.Guess = true
	case "torchao":
		p.groups = append(p.groups, group{params: Params{Layout: TorAO}, all: true})
	default:
		p.refuse(refusals[p.Method])
	}
	return nil
}

// refusals says of methods that are known by name why they are not decoded.
var refusals = map[string]string{
	"exl2": "EXL2 stores trellis-free variable-bit groups that only exllamav2 lays out",
	"exl3": "EXL3 stores a trellis that only exllamav3 lays out",
	"aqlm": "AQLM stores indices into learnt codebooks", "vptq": "VPTQ stores indices into learnt codebooks",
	"quip": "QuIP stores weights in a rotated basis", "higgs": "HIGGS stores weights in a rotated basis",
	"fp_quant": "FP-Quant stores weights in a rotated basis", "hqq": "HQQ packs its codes by a layout of each bit width",
	"spqr": "SpQR stores outliers apart", "bitnet": "BitNet packs four ternary weights to a byte",
	"eetq": "EETQ stores weights in the order of its kernel", "quanto": "Quanto packs its codes by tensor subclasses",
	"marlin": "Marlin stores weights in the order of its kernel", "gptq_marlin": "Marlin stores weights in its " +
		"kernel's order",
	"bitblas": "BitBLAS stores weights in the order of its kernel", "tpu_int8": "it is a run-time method",
}

func (p *Plan) refuse(why string) {
	if why == "" {
		why = "this version has no decoder for it"
	}
	name := p.Method
	if name == "" {
		name = "unnamed"
	}
	p.Refused = fmt.Sprintf("quantised by %q: %s", name, why)
	p.groups = append(p.groups, group{params: Params{Layout: None_}, all: true})
}

// ignore takes the lists of modules that stay as they are, whatever a method calls them.
func (p *Plan) ignore(lists ...[]string) {
	for _, l := range lists {
		list, unread := patterns(l)
		p.skip, p.Unread = append(p.skip, list...), append(p.Unread, unread...)
	}
}

func must(texts ...string) []pattern {
	list, _ := patterns(texts)
	return list
}

// Methods that a module's tensors may be told from when nothing is declared.
func (p *Plan) guesses() bool { return !p.Declared || p.Guess }

// Layouts lists the layouts that the plan declares, for a page.
func (p *Plan) Layouts() []string {
	var out []string
	for _, g := range p.groups {
		if !slices.Contains(out, g.params.Layout) {
			out = append(out, g.params.Layout)
		}
	}
	return out
}
