package checkpoint

import (
	"bytes"
	"encoding/json"
	"io/fs"
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
	if p.config == nil || !plainAttention[p.config.Shapes] && !latentAttention[p.config.Shapes] {
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
		p.add(Certain, KindConfigShape, []string{t.stored}, "%s is %v, and config.json calls for %v (%s); correct "+
			"config.json or convert the tensor again", t.stored, got, want[0], key)
	}
}

// projections holds the input and output projections of recurrent layers, whose other side each family counts in its
// own way, against the width of the residual stream.
func (p *patient) projections() {
	if p.config == nil || p.config.Hidden <= 0 {
		return
	}
	h := p.config.Hidden
	for _, t := range p.tensors {
		got := t.elements()
		if t.part != quant.None || t.weight == nil || !text(t.stored) || len(got) != 2 || got[0] == got[1] {
			continue
		}
		last := t.weight.Module[strings.LastIndexByte(t.weight.Module, '.')+1:]
		in := strings.HasPrefix(last, "in_proj") && got[0] == h
		out := last == "out_proj" && got[1] == h
		if in || out {
			p.add(Likely, KindTransposed, []string{t.stored}, "%s is %v, and config.json has hidden_size %d on its other "+
				"side: it is "+
				"transposed; store [outputs, inputs]", t.stored, got, h)
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
				if len(many) < 7 { // few layers: it may well be of another build
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

// vocabularies holds embedding, head and tokenizer against each other and the config.
func (p *patient) vocabularies() {
	var embed, head *tensor
	for _, t := range p.tensors {
		if t.part != quant.None || t.stored != Class(t.stored) {
			continue // those of a layer that predicts ahead are its own
		}
		switch roleOf(t) {
		case roleEmbed:
			embed = t
		case roleHead:
			head = t
		}
	}
	if p.config == nil || embed == nil {
		return
	}
	c := p.config
	rows := embed.elements()[0]
	for _, t := range []*tensor{embed, head} {
		if t == nil || c.Vocab <= 0 || len(t.elements()) != 2 {
			continue
		}
		if n := t.elements()[0]; n != c.Vocab {
			p.add(Certain, KindConfigShape, []string{t.stored}, "%s has %d rows, and config.json calls for vocab_size %d; "+
				"correct "+
				"config.json or convert the tensor again", t.stored, n, c.Vocab)
		}
		if n := t.elements()[1]; c.Hidden > 0 && n != c.Hidden && (plainAttention[c.Shapes] || latentAttention[c.Shapes]) {
			p.add(Certain, KindConfigShape, []string{t.stored}, "%s has %d columns, and config.json calls for hidden_size %d",
				t.stored, n, c.Hidden)
		}
	}
	tied, said := c.tied()
	switch {
	case said && !tied && head == nil && !p.otherHead():
		p.add(Certain, KindTied, []string{embed.stored}, "config.json says that embeddings are not tied "+
			"(tie_word_embeddings false), and there is no lm_head.weight: engines start it at random or refuse; fetch it, or "+
			"correct config.json")
	case said && tied && head != nil && !p.alike(embed, head):
		p.add(Likely, KindTied, []string{head.stored, embed.stored}, "config.json says that embeddings are tied "+
			"(tie_word_embeddings true), and %s differs from %s: engines use the embedding and ignore it; set "+
			"tie_word_embeddings to false, or remove it", head.stored, embed.stored)
	}
	if n := p.tokens(); n > rows {
		p.add(Certain, KindTokenizer, []string{embed.stored}, "tokenizer.json has ids up to %d, and %s has %d rows: the "+
			"last "+
			"tokens read beyond it; fetch the tokenizer of this model", n-1, embed.stored, rows)
	}
	for _, s := range c.special() {
		if s.ID >= rows {
			p.add(Certain, KindTokenizer, []string{embed.stored}, "config.json has %s %d, and %s has %d rows: correct the id, "+
				"or "+
				"fetch the config of this model", s.Key, s.ID, embed.stored, rows)
		}
	}
}

// otherHead tells a head under a name that is not known.
func (p *patient) otherHead() bool {
	for _, t := range p.tensors {
		for _, s := range []string{"lm_head", "head.", "output.", "score.", "embed_out", "unembed"} {
			if strings.Contains(t.stored, s) && t.stored == Class(t.stored) {
				return true
			}
		}
	}
	return false
}

// alike compares two tensors byte for byte; what cannot be read is taken as alike.
func (p *patient) alike(a, b *tensor) bool {
	if a.info.DType != b.info.DType || !slices.Equal(a.info.Shape, b.info.Shape) {
		return a.weight == nil || b.weight == nil || a.weight.Layout != b.weight.Layout // stored otherwise: not compared
	}
	same, err := equal(a, b)
	return err != nil || same
}

// tokens is one more than the largest id of tokenizer.json; 0 where it is not there or not understood.
func (p *patient) tokens() int {
	if p.tokenCount != 0 {
		return max(0, p.tokenCount)
	}
	p.tokenCount = -1
	raw, err := fs.ReadFile(p.fsys, "tokenizer.json")
	if err != nil || len(raw) > 200<<20 {
		return 0
	}
	var f struct {
		Added []struct {
			ID int `json:"id"`
		} `json:"added_tokens"`
		Model struct {
			Vocab json.RawMessage `json:"vocab"`
		} `json:"model"`
	}
	if json.Unmarshal(raw, &f) != nil {
		return 0
	}
	top := -1
	for _, a := range f.Added {
		top = max(top, a.ID)
	}
	if v := bytes.TrimSpace(f.Model.Vocab); len(v) > 0 && v[0] == '{' {
		var ids map[string]int
		if json.Unmarshal(v, &ids) == nil {
			for _, id := range ids {
				top = max(top, id)
			}
		}
	} else if len(v) > 0 && v[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(v, &list) == nil {
			top = max(top, len(list)-1)
		}
	}
	p.tokenCount = top + 1
	return max(0, p.tokenCount)
}
