package checkpoint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-suite/assay/internal/quant"
)

// stack is a run of numbered layers below one prefix: "model.layers", "backbone.layers", "vision_tower.blocks".
type stack struct {
	prefix string
	layers map[int]map[string]*tensor // number to the rest of each name
}

// stacks sorts tensors into layers by the first number in their names.
func (p *patient) stacks() []*stack {
	byPrefix := map[string]*stack{}
	for _, t := range p.tensors {
		parts := strings.Split(t.stored, ".")
		for i, s := range parts {
			n, err := strconv.Atoi(s)
			if err != nil || i == 0 {
				continue
			}
			prefix := strings.Join(parts[:i], ".")
			st := byPrefix[prefix]
			if st == nil {
				st = &stack{prefix: prefix, layers: map[int]map[string]*tensor{}}
				byPrefix[prefix] = st
			}
			if st.layers[n] == nil {
				st.layers[n] = map[string]*tensor{}
			}
			st.layers[n][strings.Join(parts[i+1:], ".")] = t
			break
		}
	}
	out := slices.Collect(maps.Values(byPrefix))
	slices.SortFunc(out, func(a, b *stack) int { return strings.Compare(a.prefix, b.prefix) })
	return out
}

// structure holds layers and experts against their peers and against the config, for families without a list of names.
func (p *patient) structure() {
	if len(p.lost) > 0 {
		return // what is not there has been said
	}
	var main *stack
	for _, st := range p.stacks() {
		p.gaps(st)
		p.peersOf(st)
		if text(st.prefix) && (main == nil || len(st.layers) > len(main.layers)) {
			main = st
		}
	}
	if main != nil {
		p.layerCount(main)
	}
	p.shapes()
	p.vocabularies()
	p.leftOut()
}

// text tells the stack of the language model from encoders of images and sound, and from layers that predict ahead.
func text(prefix string) bool {
	for _, s := range []string{"vision", "visual", "audio", "mtp", "encoder", "experts", "tower", "projector", "merger"} {
		if strings.Contains(prefix, s) {
			return false
		}
	}
	return true
}

// gaps reports numbers that are missing from a stack.
func (p *patient) gaps(st *stack) {
	numbers := slices.Sorted(maps.Keys(st.layers))
	last := numbers[len(numbers)-1]
	if last > 100_000 || len(numbers) < 2 {
		return
	}
	var missing []string
	for n := range last {
		if st.layers[n] == nil {
			missing = append(missing, fmt.Sprint(n))
		}
	}
	if len(missing) > 0 && 2*len(missing) <= last {
		p.add(Certain, KindLayerCount, nil, "%s has layers up to %d, and none is numbered %s; fetch or convert the rest",
			st.prefix, last, strings.Join(missing[:min(8, len(missing))], ", "))
	}
}

func (p *patient) layerCount(st *stack) {
	if p.config == nil || p.config.Layers <= 0 {
		return
	}
	last := slices.Max(slices.Collect(maps.Keys(st.layers)))
	switch want, more := p.config.Layers, max(p.config.MTP, 0); {
	case last+1 < want:
		p.add(Certain, KindLayerCount, nil, "config.json calls for %d layers (num_hidden_layers), %s ends at %d; fetch or "+
			"convert the rest, or correct config.json", want, st.prefix, last)
	case last+1 > want+more:
		p.add(Certain, KindLayerCount, nil, "config.json calls for %d layers (num_hidden_layers) and %d that predict ahead, "+
			"%s has %d: engines leave the last ones out; correct config.json", want, more, st.prefix, last+1)
	}
}

// signature is what a layer is made of, without the numbers of experts.
func signature(names map[string]*tensor) []string {
	set := map[string]bool{}
	for n := range names {
		set[Class(n)] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// peersOf reports tensors that one layer lacks and all others of its build have, and experts likewise. Layers of
// several builds (dense and sparse, attention and recurrence) are told apart by what they are made of.
func (p *patient) peersOf(st *stack) {
	builds := map[string][]int{}
	signatures := map[string][]string{}
	for _, n := range slices.Sorted(maps.Keys(st.layers)) {
		s := signature(st.layers[n])
		key := strings.Join(s, "\n")
		builds[key], signatures[key] = append(builds[key], n), s
		p.expertsOf(st, n)
	}
	for key, layers := range builds {
		if len(layers) > max(1, len(st.layers)/8) {
			continue // too common for a loss
		}
		for other, peers := range builds {
			lacks, more := difference(signatures[other], signatures[key])
			if (len(peers) < 2 || len(peers) <= len(layers)) && !allCore(lacks) {
				continue
			}
			if more > 0 || len(lacks) == 0 || len(lacks) > 4 || !lost(lacks, signatures[key]) {
				continue
			}
			for _, n := range layers {
				for _, rest := range lacks {
					name := p.likePeer(st, n, peers[0], rest)
					p.add(Likely, KindMissing, []string{name}, "%s is not there, and %d other layers of its build have one; fetch or "+
						"convert the checkpoint again", name, len(peers))
				}
			}
			break
		}
	}
}

// allCore tells tensors that every layer of their kind has, so that one peer is enough to miss them.
func allCore(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool {
		module, _ := quant.Split(strings.TrimSuffix(n, ".bias"))
		switch module[strings.LastIndexByte(module, '.')+1:] {
		case "q_proj", "k_proj", "v_proj", "o_proj", "qkv_proj", "gate_proj", "up_proj", "down_proj", "gate_up_proj",
			"input_layernorm", "post_attention_layernorm", "q_norm", "k_norm":
			return false
		}
		return true
	})
}

// lost tells tensors that went missing from a build of which the layer lacks a part: what stood beside each is still
// there.
func lost(lacks, has []string) bool {
	for _, name := range lacks {
		module, _ := quant.Split(strings.TrimSuffix(name, ".bias"))
		i := strings.LastIndexByte(module, '.')
		if i >= 0 && !slices.ContainsFunc(has, func(h string) bool { return strings.HasPrefix(h, module[:i+1]) }) {
			return false
		}
	}
	return true
}

// likePeer spells the tensor that layer n lacks, as its peer has it.
func (p *patient) likePeer(st *stack, n, peer int, class string) string {
	for _, rest := range slices.Sorted(maps.Keys(st.layers[peer])) {
		if Class(rest) == class {
			return fmt.Sprintf("%s.%d.%s", st.prefix, n, rest)
		}
	}
	return fmt.Sprintf("%s.%d.%s", st.prefix, n, class)
}

// difference gives what a has and b lacks, and how much b has besides.
func difference(a, b []string) (lacks []string, more int) {
	for _, x := range a {
		if _, ok := slices.BinarySearch(b, x); !ok {
			lacks = append(lacks, x)
		}
	}
	return lacks, len(b) - (len(a) - len(lacks))
}

// expertsOf reports experts of a layer that lack what the others have, and a number that the config does not call for.
func (p *patient) expertsOf(st *stack, n int) {
	experts := map[string]map[int][]string{} // "mlp.experts" to number to what it has
	for rest := range st.layers[n] {
		parts := strings.Split(rest, ".")
		for i, s := range parts {
			if e, err := strconv.Atoi(s); err == nil && i > 0 {
				at := strings.Join(parts[:i], ".")
				if experts[at] == nil {
					experts[at] = map[int][]string{}
				}
				experts[at][e] = append(experts[at][e], strings.Join(parts[i+1:], "."))
				break
			}
		}
	}
	for at, list := range experts {
		if len(list) < 2 || !strings.Contains(at, "expert") {
			continue
		}
		has := map[string]int{}
		last := 0
		for e, names := range list {
			last = max(last, e)
			for _, name := range names {
				has[name]++
			}
		}
		for e := range last + 1 {
			names := list[e]
			if names == nil {
				p.add(Certain, KindExpertCount, nil, "%s.%d.%s has experts up to %d, and none is numbered %d; fetch or convert "+
					"the rest", st.prefix, n, at, last, e)
				continue
			}
			for name, count := range has {
				if count*4 < len(list)*3 || slices.Contains(names, name) {
					continue
				}
				lost := fmt.Sprintf("%s.%d.%s.%d.%s", st.prefix, n, at, e, name)
				if p.missed[Canonical(lost)] {
					continue
				}
				p.add(Likely, KindMissing, []string{lost}, "%s is not there, and %d of the %d experts of its layer have one; "+
					"fetch "+
					"or convert the checkpoint again", lost, count, len(list))
			}
		}
		if want := p.config.allExperts(); want > 0 && last+1 != want && text(st.prefix) {
			p.add(Certain, KindExpertCount, nil, "config.json calls for %d routed experts, %s.%d.%s has %d; correct "+
				"config.json "+
				"or fetch the rest", want, st.prefix, n, at, last+1)
		}
	}
}

// leftOut reports weights that are stored plain although the plan calls for their scheme and their peers have it.
func (p *patient) leftOut() {
	if !p.plan.Declared {
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
			_, said, skipped := p.plan.For(t.weight.Module)
			if coded[module] > 2*len(list) && said && skipped == "" {
				p.add(Certain, KindDeclared, []string{t.stored}, "%s is stored as %s, and %s has it quantised like the %d "+
					"others of "+
					"its kind: engines look for its scales; quantise it, or list it among the modules that are left out", t.stored,
					t.info.DType, p.plan.Source, coded[module])
			}
		}
	}
}
