package checkpoint

import (
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/quant"
)

// vocabularyTensors are the embedding and the output head; those of a layer that predicts ahead are its own.
func (p *patient) vocabularyTensors() (embed, head *tensor) {
	for _, t := range p.tensors {
		if t.part != quant.None || t.stored != Class(t.stored) {
			continue
		}
		switch roleOf(t) {
		case roleEmbed:
			embed = t
		case roleHead:
			head = t
		}
	}
	return embed, head
}

// vocabularies holds embedding, head and tokenizer against each other and the config.
func (p *patient) vocabularies() {
	embed, head := p.vocabularyTensors()
	if p.config == nil || embed == nil {
		return
	}
	c := p.config
	for _, t := range []*tensor{embed, head} {
		if t == nil || c.draft() || c.Vocab <= 0 || len(t.elements()) != 2 {
			continue
		}
		if n := t.elements()[0]; n != c.Vocab && !(t == embed && strings.HasPrefix(c.Shapes, "mllama")) {
			p.add(Certain, KindConfigShape, []string{t.stored}, "%s has %d rows, and config.json calls for vocab_size %d; "+
				"correct "+
				"config.json or convert the tensor again", t.stored, n, c.Vocab)
		}
		if n := t.elements()[1]; c.Hidden > 0 && n != c.Hidden && c.fixesShapes() {
			p.add(Certain, KindConfigShape, []string{t.stored}, "%s has %d columns, and config.json calls for hidden_size %d",
				t.stored, n, c.Hidden)
		}
	}
	tied, said := c.tied()
	if said && !tied && head == nil && c.makesTokens() && !p.otherHead() {
		p.add(Certain, KindTied, []string{embed.stored}, "config.json says that embeddings are not tied "+
			"(tie_word_embeddings false), and there is no lm_head.weight: engines start it at random or refuse; fetch it, or "+
			"correct config.json")
	}
	p.special()
}

// special holds the ids of the tokenizer and of special tokens against the rows of the embedding.
func (p *patient) special() {
	embed, head := p.vocabularyTensors()
	if p.config == nil || embed == nil {
		return
	}
	if tied, _ := p.config.tied(); tied && head != nil && !p.alike(embed, head) {
		p.add(Likely, KindTied, []string{head.stored, embed.stored}, "config.json says that embeddings are tied "+
			"(tie_word_embeddings true), and %s differs from %s: engines use the embedding and ignore it; set "+
			"tie_word_embeddings to false, or remove it", head.stored, embed.stored)
	}
	rows := embed.elements()[0]
	p.tokenizer(embed, rows)
	for _, s := range p.config.special() {
		if s.ID >= rows {
			p.add(Certain, KindTokenizer, []string{embed.stored}, "config.json has %s %d, and %s has %d rows: correct the id, "+
				"or fetch the config of this model", s.Key, s.ID, embed.stored, rows)
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

// alike compares two tensors byte for byte, or by the values of a corner where they are stored otherwise; what cannot
// be read is taken as alike.
func (p *patient) alike(a, b *tensor) bool {
	if a.info.DType == b.info.DType && slices.Equal(a.info.Shape, b.info.Shape) {
		same, err := equal(a, b)
		return err != nil || same
	}
	v, okV := p.weightIn(a)
	w, okW := p.weightIn(b)
	if !okV || !okW || v.cols != w.cols || v.w.InputMajor || w.w.InputMajor {
		return true
	}
	x, errX := v.corner(64, 256)
	y, errY := w.corner(64, 256)
	if errX != nil || errY != nil || x.cols != y.cols {
		return true
	}
	var apart, all float64
	for i := range min(len(x.data), len(y.data)) {
		d := x.data[i] - y.data[i]
		apart, all = apart+d*d, all+x.data[i]*x.data[i]
	}
	return apart <= 0.25*all // four bits leave 0.02
}
