package checkpoint

import (
	"io"
	"strings"

	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/safetensors"
)

// scheme sorts layouts by the statistics that know them.
type scheme int

const (
	unscaled scheme = iota // a float dtype, no scales
	blockFP8               // e4m3 with scales
	otherFP8               // whatever else has scales
	mxfp4                  // e2m1 pairs, an e8m0 scale for each 32 along K
	nvfp4                  // e2m1 pairs, an e4m3 scale for each 16 along K, an fp32 factor
)

// coded is a weight with scales beside it.
type coded struct {
	weight               *tensor
	w                    *quant.Weight // nil when it cannot be decoded; faults say why
	faults               []quant.Fault
	scheme               scheme
	rows, cols           int
	scale, global, input *tensor
}

// shelf looks tensors up by stored name, in whatever shard.
type shelf map[string]*tensor

func (s shelf) Tensor(name string) (safetensors.Info, bool) {
	t := s[name]
	if t == nil || t.info == nil {
		return safetensors.Info{}, false
	}
	return *t.info, true
}

func (s shelf) Section(name string) (*io.SectionReader, error) { return s[name].file.Section(name) }

// assemble pairs codes with what decodes them, by the plan that the checkpoint declares.
func (p *patient) assemble() {
	p.shelf = make(shelf, len(p.tensors))
	for _, t := range p.tensors {
		p.shelf[t.stored] = t
	}
	for _, f := range p.files {
		p.plan.Headers(f.Metadata())
	}
	for _, t := range p.tensors {
		w, faults := p.plan.Find(p.shelf, t.stored)
		t.weight, t.faults = w, faults
		if w == nil {
			continue
		}
		for part, name := range w.Parts() {
			if part != quant.Codes {
				p.shelf[name].part, p.shelf[name].of = part, t
			}
		}
	}
	for _, t := range p.tensors { // parts of what could not be decoded
		module, part := quant.Split(t.stored)
		if t.part != quant.None || part == quant.Codes {
			continue
		}
		for _, suffix := range []string{".weight", ".weight_packed", ".qweight", "_blocks", "._weight_qdata", ""} {
			if of := p.shelf[module+suffix]; of != nil && of != t && (suffix != "" || len(of.info.Shape) > 1) {
				t.part, t.of = part, of
				break
			}
		}
	}
}

// quantised lists the weights with scales, readable or not.
func (p *patient) quantised() []*coded {
	var out []*coded
	for _, t := range p.tensors {
		if q := p.codedOf(t); q != nil {
			out = append(out, q)
		}
	}
	return out
}

// codedOf gives the scales beside a weight, nil for one that has none and needs none.
func (p *patient) codedOf(t *tensor) *coded {
	if t.info == nil || t.part != quant.None || t.weight == nil && len(t.faults) == 0 ||
		t.weight != nil && t.weight.Plain() && len(t.faults) == 0 {
		return nil
	}
	q := &coded{weight: t, w: t.weight, faults: t.faults, scheme: otherFP8}
	if w := t.weight; w != nil {
		q.rows, q.cols = w.Total(), w.Cols
		part := func(x quant.Part) *tensor { return p.shelf[w.Part(x)] }
		q.scale, q.global, q.input = part(quant.Scale), part(quant.Global), part(quant.Input)
		switch w.Layout {
		case quant.FP8, quant.MXFP8:
			q.scheme = blockFP8
		case quant.MXFP4:
			q.scheme = mxfp4
		case quant.NVFP4:
			q.scheme = nvfp4
		}
	}
	return q
}

// allowed lists the dtypes that a role has in the known forms of the two DeepSeek families.
func allowed(r Role) []safetensors.DType {
	switch r {
	case Linear:
		return []safetensors.DType{safetensors.BF16, safetensors.F32, safetensors.F16, safetensors.F8E4M3}
	case Expert:
		return []safetensors.DType{
			safetensors.BF16, safetensors.F32, safetensors.F16, safetensors.F8E4M3, safetensors.U8, safetensors.I8,
			safetensors.F4,
		}
	case Table:
		return []safetensors.DType{safetensors.I64, safetensors.I32}
	}
	return []safetensors.DType{safetensors.BF16, safetensors.F32, safetensors.F16}
}

// isFloat tells a dtype that is stored without scales.
func isFloat(d safetensors.DType) bool {
	return d == safetensors.BF16 || d == safetensors.F32 || d == safetensors.F16 || d == safetensors.F64
}

func list(d []safetensors.DType) string {
	var words []string
	for _, x := range d {
		words = append(words, string(x))
	}
	return strings.Join(words, " or ")
}
