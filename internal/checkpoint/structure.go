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
	p.config.settle(p.tensors)
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
		p.wholeBlocks(main)
		p.ends(main)
	}
	p.shapes()
	p.vocabularies()
	p.leftOut()
	p.undeclared()
	p.unlisted()
	p.rope()
	p.chat()
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
	few := len(numbers) < 2 || len(numbers) == 2 && !text(st.prefix) // one layer alone: layerCount
	if last > 100_000 || few || !st.layered() {
		return
	}
	var missing []string
	for n := range last {
		if st.layers[n] == nil {
			missing = append(missing, fmt.Sprintf("%s.%d", st.prefix, n))
		}
	}
	if len(missing) > 0 && 2*len(missing) <= last {
		p.add(Certain, KindLayerCount, missing, "%s has layers up to %d, and %s is not there; fetch or convert the rest",
			st.prefix, last, strings.Join(missing[:min(8, len(missing))], ", "))
	}
}

// layered tells layers, which hold modules, from the numbered modules of a sequence, which skips those without weights.
func (st *stack) layered() bool {
	for _, names := range st.layers {
		for rest := range names {
			if strings.Contains(rest, ".") {
				return true
			}
		}
	}
	return false
}

func (p *patient) layerCount(st *stack) {
	if p.config == nil || p.config.Layers <= 0 || p.config.TwoStacks {
		return
	}
	last := slices.Max(slices.Collect(maps.Keys(st.layers)))
	if first := slices.Min(slices.Collect(maps.Keys(st.layers))); first > 0 && len(st.layers) == 1 {
		p.add(Certain, KindLayerCount, nil, "config.json calls for %d layers (num_hidden_layers), and %s has number %d "+
			"alone; "+
			"fetch or convert the rest", p.config.Layers, st.prefix, first)
		return
	}
	if at := st.firstAhead(); at >= 0 && at != p.config.Layers {
		p.add(Certain, KindLayerCount, nil, "config.json calls for %d layers (num_hidden_layers), and %s.%d predicts ahead "+
			"(it "+
			"has eh_proj or enorm), which the first behind the last layer does; correct "+
			"config.json", p.config.Layers, st.prefix, at)
		return
	}
	switch want, more := p.config.Layers, max(p.config.MTP, 0); {
	case last+1 < want:
		p.add(Certain, KindLayerCount, nil, "config.json calls for %d layers (num_hidden_layers), %s ends at %d; fetch or "+
			"convert the rest, or correct config.json", want, st.prefix, last)
	case last+1 > want+more:
		p.add(Certain, KindLayerCount, nil, "config.json calls for %d layers (num_hidden_layers) and %d that predict ahead, "+
			"%s has %d: engines leave the last ones out; correct config.json", want, more, st.prefix, last+1)
	}
}

// firstAhead is the first layer that predicts a further token, as DeepSeek V3, GLM and others store it behind the
// last; -1 without one.
func (st *stack) firstAhead() int {
	first := -1
	for n, names := range st.layers {
		_, a := names["eh_proj.weight"]
		_, b := names["enorm.weight"]
		if (a || b) && (first < 0 || n < first) {
			first = n
		}
	}
	return first
}

// blocks sorts the tensors of a stack by the module that holds theirs ("self_attn", "mlp.experts.*", "" for norms),
// then by layer: class of the rest of the name to one tensor of it.
func (st *stack) blocks() map[string]map[int]map[string]*tensor {
	out := map[string]map[int]map[string]*tensor{}
	for n, names := range st.layers {
		for rest, t := range names {
			class := Class(rest)
			module := ownerOf(class)
			at := ""
			if i := strings.LastIndexByte(module, '.'); i >= 0 {
				at = module[:i]
			}
			if out[at] == nil {
				out[at] = map[int]map[string]*tensor{}
			}
			if out[at][n] == nil {
				out[at][n] = map[string]*tensor{}
			}
			out[at][n][class] = t
		}
	}
	return out
}

// peersOf reports tensors that a block of one layer lacks and all other blocks of its build have, and experts likewise.
// Blocks of several builds (dense and sparse, attention and recurrence) are told apart by what they are made of.
func (p *patient) peersOf(st *stack) {
	for n := range st.layers {
		p.expertsOf(st, n)
	}
	for _, layers := range st.blocks() {
		p.peersIn(st, layers)
	}
	p.sets(st)
	whole := map[int]map[string]*tensor{} // a block that is a single tensor can be lost as a whole
	for n, names := range st.layers {
		whole[n] = map[string]*tensor{}
		for rest, t := range names {
			whole[n][Class(rest)] = t
		}
	}
	p.peersIn(st, whole)
}

func (p *patient) peersIn(st *stack, block map[int]map[string]*tensor) {
	builds := map[string][]int{}
	signatures := map[string][]string{}
	for _, n := range slices.Sorted(maps.Keys(block)) {
		s := slices.Sorted(maps.Keys(block[n]))
		key := strings.Join(s, "\n")
		builds[key], signatures[key] = append(builds[key], n), s
	}
	for key, layers := range builds {
		if len(layers) > max(1, len(block)/8) {
			continue // too common for a loss
		}
		for other, peers := range builds {
			lacks, more := difference(signatures[other], signatures[key])
			if (len(peers) < 2 || len(peers) <= len(layers)) && !allCore(lacks) {
				continue
			}
			if more > 0 || len(lacks) == 0 || modules(lacks) > 2 || !lost(lacks, signatures[key]) {
				continue
			}
			for _, n := range layers {
				if st.lessThan(n, peers[0]) {
					continue
				}
				for _, class := range lacks {
					name := p.likePeer(st, n, peers[0], class)
					if p.missed[Canonical(name)] {
						continue
					}
					p.missed[Canonical(name)] = true
					p.add(Likely, KindMissing, []string{name}, "%s is not there, and %d other layers of its build have one; fetch or "+
						"convert the checkpoint again", name, len(peers))
				}
			}
			break
		}
	}
}

// lost tells tensors of which a sibling is still there: another build has none of either.
func lost(lacks, has []string) bool {
	for _, name := range lacks {
		module := ownerOf(name)
		i := strings.LastIndexByte(module, '.')
		if i >= 0 && !slices.ContainsFunc(has, func(h string) bool { return strings.HasPrefix(h, module[:i+1]) }) {
			return false
		}
	}
	return true
}

// modules counts the modules that tensors belong to.
func modules(names []string) int {
	set := map[string]bool{}
	for _, n := range names {
		module := ownerOf(n)
		set[module] = true
	}
	return len(set)
}

// ownerOf is the module of a tensor, biases and tables included.
func ownerOf(name string) string {
	for _, s := range []string{".bias", ".tid2eid", ".e_score_correction_bias"} {
		if stem, ok := strings.CutSuffix(name, s); ok {
			return stem
		}
	}
	module, _ := quant.Split(name)
	return module
}

// coreModules are those that every block of their kind has, so that one peer is enough to miss them.
var coreModules = map[string]bool{
	"q_proj": true, "k_proj": true, "v_proj": true, "o_proj": true, "qkv_proj": true, "gate_proj": true, "up_proj": true,
	"down_proj": true, "gate_up_proj": true, "input_layernorm": true, "post_attention_layernorm": true, "q_norm": true,
	"k_norm": true, "q_a_proj": true, "q_a_layernorm": true, "q_b_proj": true, "kv_a_proj_with_mqa": true,
	"kv_a_layernorm": true, "kv_b_proj": true, "pre_feedforward_layernorm": true, "post_feedforward_layernorm": true,
	"w1": true, "w2": true, "w3": true, "fc1": true, "fc2": true, "dense": true, "in_proj": true, "out_proj": true,
}

func allCore(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool {
		module := ownerOf(n)
		return !coreModules[module[strings.LastIndexByte(module, '.')+1:]]
	})
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
		if last > 100_000 {
			p.add(Certain, KindExpertCount, nil, "%s.%d.%s has an expert %d; no model has as many: the names are not those of "+
				"its "+
				"experts", st.prefix, n, at, last)
			continue
		}
		for e := range last + 1 {
			names := list[e]
			if names == nil {
				lost := fmt.Sprintf("%s.%d.%s.%d", st.prefix, n, at, e)
				p.add(Certain, KindExpertCount, []string{lost}, "%s is not there, and %s.%d.%s has experts up to %d; fetch or "+
					"convert the rest", lost, st.prefix, n, at, last)
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
			var names []string
			for e := last + 1; e < min(want, last+1+maxListed); e++ {
				names = append(names, fmt.Sprintf("%s.%d.%s.%d", st.prefix, n, at, e))
			}
			p.add(Certain, KindExpertCount, names, "config.json calls for %d routed experts, %s.%d.%s has %d; correct "+
				"config.json "+
				"or fetch the rest", want, st.prefix, n, at, last+1)
		}
	}
}
