package checkpoint

import (
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/quant"
)

// matchNames holds the names against the config: every wanted tensor with the scales of its class, and
// nothing else. It gives the number of tensors that there should be.
func (p *patient) matchNames() int {
	wants := p.withoutAhead(p.config.Wants())
	lostLayers, lostExperts := p.extent(wants)
	expected := 0
	for i := range wants {
		w := &wants[i]
		counted := !w.mtp && (lostLayers[w.layer] || w.expert >= 0 && lostExperts[w.expert])
		t := p.require(w.Name, counted)
		if t != nil {
			t.want = w
		}
		expected++
		if w.Role != Linear && w.Role != Expert && (t == nil || t.info == nil || isFloat(t.info.DType)) {
			continue
		}
		if scheme := p.schemeFor(t, w.Name); scheme != 0 {
			stem := strings.TrimSuffix(w.Name, ".weight")
			for _, s := range siblingSuffix {
				if scheme&s.bit != 0 {
					expected++
					p.require(stem+s.suffix, counted)
				}
			}
		}
	}
	for _, t := range p.tensors {
		if !t.known {
			p.extra(t, lostLayers, lostExperts)
		}
	}
	return expected
}

// withoutAhead drops the layers that predict ahead where the checkpoint has none of their tensors: converters leave
// them out, and only speculative decoding needs them.
func (p *patient) withoutAhead(wants []Want) []Want {
	ahead := func(w Want) bool { return w.mtp || w.layer >= p.config.Layers }
	called := false
	for _, w := range wants {
		if ahead(w) {
			if called = true; p.byCanon[w.Name] != nil || p.excused(w.Name) {
				return wants
			}
		}
	}
	if called {
		p.add(Look, KindLayerCount, nil, "config.json calls for %d layers that predict ahead (num_nextn_predict_layers), "+
			"and the checkpoint has none of their tensors: speculative decoding with them is not possible; fetch them, or set "+
			"it to 0", p.config.MTP)
	}
	return slices.DeleteFunc(wants, ahead)
}

// schemeFor gives the scales that must stand beside a weight: those of its class, none where the weight is
// known to be stored in a float dtype.
func (p *patient) schemeFor(t *tensor, canon string) siblings {
	if t == nil {
		return p.schemes[p.newTensor(canon).class]
	}
	if t.info != nil && isFloat(t.info.DType) {
		return 0
	}
	return p.schemes[t.class]
}

// extent compares how many layers and experts there are with what the config says, and gives those on one
// side only, so that they are not reported tensor by tensor.
func (p *patient) extent(wants []Want) (layers, experts map[int]bool) {
	var have, want, haveE, wantE span
	for _, t := range p.tensors {
		if !t.mtp {
			have.see(t.layer)
			haveE.see(t.expert)
		}
	}
	if ix := p.index; ix != nil && len(p.lost) > 0 {
		for _, name := range ix.names {
			if t := p.newTensor(name); !t.mtp {
				have.see(t.layer)
				haveE.see(t.expert)
			}
		}
	}
	for i := range wants {
		if w := &wants[i]; !w.mtp {
			want.see(w.layer)
			wantE.see(w.expert)
		}
	}
	layers, experts = have.differ(want), haveE.differ(wantE)
	if len(layers) > 0 {
		p.add(Certain, KindLayerCount, nil, "config.json calls for %d layers (num_hidden_layers %d), the checkpoint has %d; "+
			"correct config.json or fetch the rest", want.count(), p.config.Layers, have.count())
	}
	if len(experts) > 0 {
		p.add(Certain, KindExpertCount, nil, "config.json calls for %d routed experts (n_routed_experts %d), the checkpoint "+
			"has %d; correct config.json or fetch the rest", wantE.count(), p.config.Experts, haveE.count())
	}
	return layers, experts
}

// span is a set of small numbers.
type span struct{ seen []bool }

func (s *span) see(i int) {
	if i < 0 || i > 100_000 {
		return
	}
	for len(s.seen) <= i {
		s.seen = append(s.seen, false)
	}
	s.seen[i] = true
}

func (s *span) has(i int) bool { return i < len(s.seen) && s.seen[i] }

func (s *span) count() int {
	n := 0
	for _, b := range s.seen {
		if b {
			n++
		}
	}
	return n
}

func (s *span) differ(o span) map[int]bool {
	out := map[int]bool{}
	for i := range max(len(s.seen), len(o.seen)) {
		if s.has(i) != o.has(i) {
			out[i] = true
		}
	}
	return out
}

// require looks up a tensor and reports one that is not there, unless its whole layer or its shard has been
// blamed.
func (p *patient) require(canon string, counted bool) *tensor {
	if t := p.byCanon[canon]; t != nil {
		t.known = true
		return t
	}
	if counted || p.excused(canon) {
		return nil
	}
	kind, fix := KindMissing, "fetch or convert the checkpoint again"
	switch {
	case strings.HasSuffix(canon, "ffn.gate.bias"):
		kind, fix = KindBiasMissing, "the layer is routed by score and selects with this bias; without it the wrong "+
			"experts are chosen"
	case strings.HasSuffix(canon, "ffn.gate.tid2eid"):
		kind, fix = KindTableMissing, "the layer is routed by token id through this table"
	default:
		if weight, bit := weightOf(canon); bit != 0 && p.byCanon[weight] != nil {
			kind, fix = KindScaleMissing, "its weight is stored like its peers, which have one; without it loaders use 1 or "+
				"memory left over"
		}
	}
	p.missed[canon] = true
	name := p.spelled(canon)
	p.add(Certain, kind, []string{name}, "%s is not there; %s", name, fix)
	return nil
}

// excused tells whether the index puts a tensor into a shard that could not be opened.
func (p *patient) excused(canon string) bool {
	if p.index == nil || len(p.lost) == 0 {
		return false
	}
	if p.lostNames == nil {
		p.lostNames = map[string]bool{}
		for _, name := range p.index.names {
			if p.lost[p.index.shardOf[name]] {
				p.lostNames[Canonical(name)] = true
			}
		}
	}
	return p.lostNames[canon]
}

// extra reports a tensor that the config does not call for.
func (p *patient) extra(t *tensor, layers, experts map[int]bool) {
	if !t.mtp && (layers[t.layer] || t.expert >= 0 && experts[t.expert]) {
		return
	}
	names := []string{t.stored}
	switch {
	case t.part == quant.Cache, strings.HasSuffix(t.stored, ".inv_freq"): // scales of a cache, frequencies
	case strings.HasSuffix(t.canon, "ffn.gate.bias"):
		p.add(Certain, KindBiasOnHash, names, "%s is there, but layer %d is routed by token id: a bias there is never used, "+
			"or the config's hash layers are wrong; remove it or correct config.json", t.stored, t.layer)
	case strings.HasSuffix(t.canon, "ffn.gate.tid2eid"):
		p.add(Certain, KindTableExtra, names, "%s is there, but by the config layer %d is routed by score; remove it or "+
			"correct the hash layers in config.json", t.stored, t.layer)
	default:
		p.add(Certain, KindExtra, names, "%s is not called for by config.json, nor by how its peers are stored; remove it, "+
			"or correct config.json", t.stored)
	}
}

// namesAlone does what can be done for names without a config: scales that most of a class has, and
// routing by table or bias.
func (p *patient) namesAlone() {
	for _, t := range p.tensors {
		scheme := p.schemeFor(t, t.canon)
		stem := strings.TrimSuffix(t.canon, ".weight")
		if scheme != 0 {
			for _, s := range siblingSuffix {
				if scheme&s.bit != 0 {
					p.require(stem+s.suffix, false)
				}
			}
		}
		stem, gate := strings.CutSuffix(t.canon, "ffn.gate.weight")
		if !gate {
			continue
		}
		bias, table := p.byCanon[stem+"ffn.gate.bias"], p.byCanon[stem+"ffn.gate.tid2eid"]
		switch {
		case bias != nil && table != nil:
			p.add(Certain, KindBiasOnHash, []string{bias.stored, table.stored},
				"%s and %s are both there; a layer is routed by score with a bias or by token id, not by both; remove one",
				bias.stored, table.stored)
		case bias == nil && table == nil && !p.excused(stem+"ffn.gate.bias") && !p.excused(stem+"ffn.gate.tid2eid") &&
			p.anyBias():
			p.missed[stem+"ffn.gate.bias"] = true
			p.add(Certain, KindBiasMissing, []string{stem + "ffn.gate.bias"},
				"layer %d has neither ffn.gate.bias nor ffn.gate.tid2eid, which its peers have; fetch or convert the checkpoint "+
					"again", t.layer)
		}
	}
}

func (p *patient) anyBias() bool {
	for _, t := range p.tensors {
		if strings.HasSuffix(t.class, ".ffn.gate.bias") {
			return true
		}
	}
	return false
}
