package checkpoint

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/quant"
)

// elements is the shape of a tensor before quantisation, outputs first.
func (t *tensor) elements() []int {
	w := t.weight
	switch {
	case w == nil:
		return t.info.Shape
	case w.InputMajor:
		return []int{w.Cols, w.Rows}
	case w.Plain():
		return t.info.Shape
	case w.Slices > 1:
		return []int{w.Slices, w.Rows, w.Cols}
	}
	return []int{w.Rows, w.Cols}
}

// shapes holds shapes against the peers in other layers and against what the config fixes.
func (p *patient) shapes() {
	classes := map[string][]*tensor{}
	for _, t := range p.tensors {
		if t.part == quant.None && (t.weight != nil || isFloat(t.info.DType)) {
			classes[p.kindIn(t)] = append(classes[p.kindIn(t)], t)
		}
	}
	for _, list := range classes {
		p.shapePeers(list)
	}
	p.projections()
	if !p.config.fixesShapes() {
		return
	}
	for _, t := range p.tensors {
		if t.part != quant.None || !text(t.stored) && !routed2(t) {
			continue
		}
		got := t.elements()
		if want, key := p.config.vectorOf(t.stored); want != nil && !slices.Equal(got, want) {
			kind, flipped := KindConfigShape, slices.Clone(got)
			if slices.Reverse(flipped); slices.Equal(flipped, want) {
				kind = KindTransposed
			}
			p.add(Certain, kind, []string{t.stored}, "%s is %v, and config.json calls for %v (%s); correct "+
				"config.json or convert the tensor again", t.stored, got, want, key)
			continue
		}
		if t.weight == nil || t.stored == Class(t.stored) {
			continue
		}
		want, key := p.config.shapeOf(t.weight.Module)
		if len(want) == 0 || len(got) != 2 || slices.Contains(want, [2]int{got[0], got[1]}) {
			continue
		}
		if want[0][0] == got[1] && want[0][1] == got[0] {
			p.add(Certain, KindTransposed, []string{t.stored}, "%s is %v, and config.json calls for %v: it is transposed; "+
				"store "+
				"[outputs, inputs]", t.stored, got, want[0])
			continue
		}
		if at := streamSide(t.weight.Module); at >= 0 && got[at] != want[0][at] && got[1-at] == want[0][1-at] {
			key = "hidden_size"
		}
		p.add(Certain, KindConfigShape, []string{t.stored}, "%s is %v, and config.json calls for %v (%s); correct "+
			"config.json or convert the tensor again", t.stored, got, want[0], key)
	}
}

// projections holds matrices of which the config does not fix both sides against the width of the residual stream,
// which is on one: recurrent layers, whose other side each family counts in its own way, and shared experts.
func (p *patient) projections() {
	if p.config == nil || p.config.Hidden <= 0 {
		return
	}
	h := p.config.Hidden
	for _, t := range p.tensors {
		got, shared := t.elements(), strings.Contains(t.stored, ".shared_expert")
		if t.part != quant.None || t.weight == nil || !text(t.stored) && !shared || len(got) != 2 || got[0] == got[1] {
			continue
		}
		last := t.weight.Module[strings.LastIndexByte(t.weight.Module, '.')+1:]
		in, out := strings.HasPrefix(last, "in_proj"), last == "out_proj"
		if shared && p.config.fixesShapes() {
			in, out = in || last == "gate_proj" || last == "up_proj", out || last == "down_proj"
		}
		if in && got[0] == h || out && got[1] == h {
			p.add(Likely, KindTransposed, []string{t.stored}, "%s is %v, and config.json has hidden_size %d on its other "+
				"side: it is transposed; store [outputs, inputs]", t.stored, got, h)
		}
	}
}

func routed2(t *tensor) bool { return strings.Contains(t.stored, ".experts.") }

// kindIn is a tensor's class, apart for layers of different types where the config lists them.
func (p *patient) kindIn(t *tensor) string {
	class := Class(t.stored)
	if p.config != nil && len(p.config.Types) > 0 {
		for s := range strings.SplitSeq(t.stored, ".") {
			if n, ok := number(s); ok {
				if n < len(p.config.Types) {
					return class + " " + p.config.Types[n]
				}
				break
			}
		}
	}
	return class
}

func number(s string) (int, bool) {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' || n > 1<<20 {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, s != ""
}

// shapePeers reports the one tensor of a class that has another shape than the rest.
func (p *patient) shapePeers(list []*tensor) {
	if len(list) < 3 {
		return
	}
	count := map[string][]*tensor{}
	key := func(s []int) string {
		raw, _ := json.Marshal(s) //nolint:errchkjson // a slice of int
		return string(raw)
	}
	for _, t := range list {
		k := key(t.elements())
		count[k] = append(count[k], t)
	}
	for k, few := range count {
		for other, many := range count {
			if k == other || len(few) > max(1, len(list)/16) || 4*len(many) < 3*(len(list)-1) {
				continue
			}
			for _, t := range few {
				got, want := t.elements(), many[0].elements()
				flipped := slices.Clone(got)
				slices.Reverse(flipped)
				sure := Likely
				if len(many) < 7 || p.config != nil && p.config.Unlike { // it may well be of another build
					sure = Look
				}
				severity, kind, what := sure, KindShape, "it is of another model, or a part of it is missing"
				if len(list) < 4 && !(len(got) == 2 && slices.Equal(flipped, want)) {
					continue
				}
				if len(got) == 2 && slices.Equal(flipped, want) {
					severity, kind, what = Certain, KindTransposed, "it is transposed; store it as its peers"
				}
				p.add(severity, kind, []string{t.stored}, "%s is %v, and %d of the %d tensors of its kind are %v: %s", t.stored,
					got,
					len(many), len(list), want, what)
			}
		}
	}
}
