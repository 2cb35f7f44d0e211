package checkpoint

import (
	"slices"

	"github.com/assay-suite/assay/safetensors"
)

// matchStorage holds shapes and dtypes against the config, and dtypes against the majority of the class.
func (p *patient) matchStorage() {
	for _, t := range p.tensors {
		w := t.want
		if w == nil {
			continue
		}
		shape := t.info.Shape
		if t.weight != nil && !t.weight.Plain() {
			shape = []int{t.weight.Total(), t.weight.Cols}
		} else if !slices.Contains(allowed(w.Role), t.info.DType) {
			p.add(Certain, KindDType, []string{t.stored}, "%s is stored as %s; this tensor is %s in every known form of the "+
				"model: the header was relabelled or the conversion went wrong", t.stored, t.info.DType, list(allowed(w.Role)))
			continue
		} else if (t.info.DType == safetensors.U8 || t.info.DType == safetensors.I8) && w.Role == Expert && len(shape) == 2 {
			shape = []int{shape[0], 2 * shape[1]}
		}
		if !slices.Equal(w.Shape, shape) {
			key := ""
			if at := slices.Index(w.Shape, p.config.Hidden); at >= 0 && at < len(shape) && shape[at] != w.Shape[at] {
				key = " (hidden_size)"
			}
			p.add(Certain, KindShape, []string{t.stored}, "%s has shape %v (%s); config.json calls for %v%s: correct "+
				"config.json or convert the checkpoint again", t.stored, t.info.Shape, t.info.DType, w.Shape, key)
		}
	}
	p.minorities()
}

// minorities reports dtypes that at most a third of a class of at least four have. Of the same width as the
// common one it is a relabelled header; of another it may be a layer left out of quantisation on purpose.
func (p *patient) minorities() {
	classes := map[string]map[safetensors.DType]int{}
	for _, t := range p.tensors {
		if classes[t.class] == nil {
			classes[t.class] = map[safetensors.DType]int{}
		}
		classes[t.class][t.info.DType]++
	}
	for _, t := range p.tensors {
		counts, total := classes[t.class], 0
		if len(counts) < 2 {
			continue
		}
		common := t.info.DType
		for d, n := range counts {
			total += n
			if n > counts[common] {
				common = d
			}
		}
		if total < 4 || 3*counts[t.info.DType] > total {
			continue
		}
		severity, why := Note, "left out of the conversion on purpose, or an interrupted one"
		if t.info.DType.Bits() == common.Bits() && !p.ownScheme(t) {
			severity, why = Certain, "of the same width, so that its header was relabelled: convert it again"
		}
		p.add(severity, KindDTypeMinority, []string{t.stored}, "%s is stored as %s, but %d of the %d tensors of its kind "+
			"as %s: %s", t.stored, t.info.DType, counts[common], total, common, why)
	}
}

// ownScheme tells a weight that is decoded by what the checkpoint declares of this very module: one layer may be of
// another scheme than its peers, and two schemes may store bytes.
func (p *patient) ownScheme(t *tensor) bool {
	of := t
	if t.of != nil {
		of = t.of
	}
	return of.weight != nil && !of.weight.Plain() && p.plan.Targets(of.weight.Module)
}
