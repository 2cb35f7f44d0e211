package checkpoint

import "strings"

// leftOut reports weights that are stored plain although the plan calls for their scheme and their peers have it.
func (p *patient) leftOut() {
	if !p.plan.Declared || len(p.plan.Unread) > 0 { // a list that was not understood may leave them out
		return
	}
	coded, plain := map[string]int{}, map[string][]*tensor{}
	for _, t := range p.tensors {
		if t.weight == nil {
			continue
		}
		module := Class(t.weight.Module)
		if t.weight.Plain() {
			plain[module] = append(plain[module], t)
		} else {
			coded[module]++
		}
	}
	for module, list := range plain {
		for _, t := range list {
			if p.ahead(t) || coded[module] < len(list) {
				continue // layers that predict ahead are often kept as they were trained
			}
			_, said, skipped := p.plan.For(t.weight.Module)
			severity := Certain
			if coded[module] <= 2*len(list) {
				severity = Likely
			}
			if coded[module] > 0 && said && skipped == "" {
				p.add(severity, KindDeclared, []string{t.stored}, "%s is stored as %s, and %s has it quantised like the %d "+
					"others of its kind: engines look for its scales; quantise it, or list it among the modules that are left out",
					t.stored, t.info.DType, p.plan.Source, coded[module])
			}
		}
	}
}

// linearRouters are families whose router is a Linear to transformers and to engines; in DeepSeek's relatives it is a
// bare parameter, which no list needs to name.
var linearRouters = map[string]bool{
	"qwen2_moe": true, "qwen3_moe": true, "qwen3_next": true, "mixtral": true, "olmoe": true, "phimoe": true,
}

// unlisted reports kinds of linear layers that are stored plain throughout and that no list leaves out, where the
// method quantises every linear layer that is not listed: vLLM looks for the scales (NVIDIA/Model-Optimizer#1858, of
// routers). fp8, GPTQ and AWQ leave more alone by themselves.
func (p *patient) unlisted() {
	if !p.plan.Declared || p.plan.Refused != "" || !p.plan.Lists() || len(p.plan.Unread) > 0 ||
		p.plan.Method != "compressed-tensors" && p.plan.Method != "modelopt" {
		return
	}
	coded := map[string]bool{}
	for _, t := range p.tensors {
		if t.weight != nil && !t.weight.Plain() {
			coded[Class(t.weight.Module)] = true
		}
	}
	for _, t := range p.tensors {
		if t.weight == nil || !t.weight.Plain() || p.ahead(t) || len(t.info.Shape) != 2 || !text(t.stored) && !routed2(t) {
			continue
		}
		module := t.weight.Module
		last, severity := module[strings.LastIndexByte(module, '.')+1:], Likely
		switch role := roleOf(t); {
		case role == roleRouter:
			if p.config == nil || !linearRouters[p.config.Shapes] {
				severity = Look
			}
		case role != roleLinear || !strings.Contains(last, "_proj") || coded[Class(module)],
			t.info.Shape[0]%8 > 0, t.info.Shape[1]%32 > 0: // of a shape that schemes cannot hold
			continue
		}
		if _, said, skipped := p.plan.For(module); said && skipped == "" {
			p.add(severity, KindDeclared, []string{t.stored}, "%s is stored as %s, and %s has every linear layer quantised "+
				"and does not list %s among those that are left out: engines look for its scales; list it", t.stored,
				t.info.DType, p.plan.Source, module)
		}
	}
}

// ahead tells a layer behind the last one that config.json counts.
func (p *patient) ahead(t *tensor) bool {
	if t.mtp {
		return true
	}
	if p.config == nil || p.config.Layers <= 0 {
		return false
	}
	for s := range strings.SplitSeq(t.stored, ".") {
		if n, ok := number(s); ok {
			return n >= p.config.Layers
		}
	}
	return false
}

// undeclared reports quantised weights of which config.json says nothing, and a declaration that no weight follows.
func (p *patient) undeclared() {
	if p.config == nil {
		return
	}
	var coded []string
	plain := 0
	for _, t := range p.tensors {
		switch {
		case t.weight != nil && !t.weight.Plain() || len(t.faults) > 0:
			coded = append(coded, t.stored)
		case roleOf(t) == roleLinear:
			plain++
		}
	}
	layouts := p.plan.Layouts()
	switch {
	case !p.plan.Declared && len(coded) > 0:
		p.add(Certain, KindDeclared, coded, "config.json declares no quantisation, and %d weights are quantised, "+
			"%s the first: engines load codes as values; write quantization_config as its converter does",
			len(coded), coded[0])
	case p.plan.Declared && p.plan.Refused == "" && len(coded) == 0 && plain > 0 && len(layouts) > 0 && !p.onLoad():
		p.add(Certain, KindDeclared, nil, "%s declares that weights are stored as %s, and none of the %d is: engines look "+
			"for "+
			"codes and scales; remove the declaration, or fetch the quantised checkpoint", p.plan.Source,
			strings.Join(layouts, ", "), plain)
	}
}

// onLoad tells methods that may be declared for weights which are quantised when they are loaded.
func (p *patient) onLoad() bool { return p.plan.Method == "bitsandbytes" || p.plan.Method == "torchao" }
