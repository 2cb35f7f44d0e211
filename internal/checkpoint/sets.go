package checkpoint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// projectionSets are modules that stand together in a block, where any block of the checkpoint has all of them.
var projectionSets = [][]string{
	{"gate_proj", "up_proj", "down_proj"}, {"w1", "w2", "w3"}, {"q_proj", "k_proj", "v_proj", "o_proj"},
}

// sets reports a block that has all but one of a set, however few layers are built like it: the dense first layer of
// a model with experts has no peer, and its experts are built alike.
func (p *patient) sets(st *stack) {
	blocks := st.blocks()
	has := func(names map[string]*tensor, last string) bool {
		for class := range names {
			if module := ownerOf(class); module == last || strings.HasSuffix(module, "."+last) {
				return true
			}
		}
		return false
	}
	for _, set := range projectionSets {
		complete, partial := 0, map[string]string{} // what to the block and layer lacks
		for at, layers := range blocks {
			for n, names := range layers {
				var lacks []string
				for _, last := range set {
					if !has(names, last) {
						lacks = append(lacks, last)
					}
				}
				switch len(lacks) {
				case 0:
					complete++
				case 1:
					partial[fmt.Sprintf("%s.%d.%s", st.prefix, n, at)] = lacks[0]
				}
			}
		}
		if complete < 2 || len(partial) > 1 || strings.Contains(strings.Join(slices.Collect(maps.Keys(partial)), ""), "*") {
			continue // a kind of block that has no such module, or experts, which are counted one by one
		}
		for at, last := range partial {
			name := at + "." + last + ".weight"
			if p.missed[Canonical(name)] {
				continue
			}
			p.missed[Canonical(name)] = true
			p.add(Likely, KindMissing, []string{name}, "%s is not there, and %d other blocks of the checkpoint have one "+
				"beside the "+
				"same modules; fetch or convert the checkpoint again", name, complete)
		}
	}
}
