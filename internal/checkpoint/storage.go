package checkpoint

import (
	"slices"
	"strings"

	"github.com/assay-suite/assay/safetensors"
)

// scheme is how the values of a weight are stored.
type scheme int

const (
	unscaled scheme = iota // a float dtype, no scales
	blockFP8               // e4m3, a scale for each 128 x 128 block
	otherFP8               // e4m3 with a scale per tensor or row, as other architectures store it
	mxfp4                  // e2m1 pairs, an e8m0 scale for each 32 along K
	nvfp4                  // e2m1 pairs, an e4m3 scale for each 16 along K, an fp32 factor
)

// quant is a weight with the scales beside it. Rows and cols are in elements.
type quant struct {
	weight               *tensor
	scheme               scheme
	rows, cols           int
	scale, global, input *tensor // scale: block scales of any scheme
}

// quantised pairs weights with their scales.
func (p *patient) quantised() []*quant {
	var out []*quant
	for _, t := range p.tensors {
		if q := p.quantOf(t); q != nil {
			out = append(out, q)
		}
	}
	return out
}

func (p *patient) quantOf(t *tensor) *quant {
	stem, ok := strings.CutSuffix(t.canon, ".weight")
	if !ok || t.info == nil || len(t.info.Shape) != 2 {
		return nil
	}
	scale, block := p.byCanon[stem+".scale"], p.byCanon[stem+".weight_scale"]
	q := &quant{
		weight: t,
		rows:   t.info.Shape[0],
		cols:   t.info.Shape[1],
		global: p.byCanon[stem+".weight_scale_2"],
		input:  p.byCanon[stem+".input_scale"],
	}
	switch t.info.DType {
	case safetensors.F8E4M3:
		q.scheme, q.scale = blockFP8, scale
		if scale == nil {
			q.scheme, q.scale = otherFP8, block
		}
	case safetensors.U8, safetensors.I8, safetensors.F4:
		if t.info.DType != safetensors.F4 {
			q.cols *= 2
		}
		q.scheme, q.scale = mxfp4, scale
		if block != nil || q.global != nil {
			q.scheme, q.scale = nvfp4, block
		}
		if scale == nil && block == nil && q.global == nil && p.schemes[t.class] == 0 {
			return nil // bytes of another architecture: nothing says that they are codes
		}
	default:
		return nil
	}
	return q
}

// allowed lists the dtypes that a role has in the known forms of the two families.
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

// matchStorage holds shapes and dtypes against the config, and dtypes against the majority of the class.
func (p *patient) matchStorage() {
	for _, t := range p.tensors {
		w := t.want
		if w == nil {
			continue
		}
		if !slices.Contains(allowed(w.Role), t.info.DType) {
			p.add(Error, KindDType, []string{t.stored}, "%s is stored as %s; this tensor is %s in every known form of the "+
				"model: the header was relabelled or the conversion went wrong", t.stored, t.info.DType, list(allowed(w.Role)))
			continue
		}
		shape := slices.Clone(w.Shape)
		if (t.info.DType == safetensors.U8 || t.info.DType == safetensors.I8) && w.Role == Expert {
			shape[len(shape)-1] /= 2
		}
		if !slices.Equal(shape, t.info.Shape) {
			p.add(Error, KindShape, []string{t.stored}, "%s has shape %v (%s); config.json calls for %v: correct config.json "+
				"or convert the checkpoint again", t.stored, t.info.Shape, t.info.DType, shape)
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
		if t.info.DType.Bits() == common.Bits() {
			severity, why = Error, "of the same width, so that its header was relabelled: convert it again"
		}
		p.add(severity, KindDTypeMinority, []string{t.stored}, "%s is stored as %s, but %d of the %d tensors of its kind "+
			"as %s: %s", t.stored, t.info.DType, counts[common], total, common, why)
	}
}

func list(d []safetensors.DType) string {
	var words []string
	for _, x := range d {
		words = append(words, string(x))
	}
	return strings.Join(words, " or ")
}
