package checkpoint

import (
	"errors"
	"io"
	"math"

	"github.com/assay-suite/assay/numerics/format"
)

// unlike is how far, in powers of two, a weight may be from its peers at least: the first layers of trained models are
// smaller by a factor of three and more in some projections. Scales are what conversions get wrong, so that a weight
// with scales is allowed less than one without.
func unlike(w weight) float64 {
	if w.q == nil {
		return 3
	}
	return 2.5
}

// mention is from where on a weight of the DeepSeek families is worth a look: their layers are known to vary least.
func (p *patient) mention(w weight) float64 {
	if p.config != nil && p.config.Family != "" && w.q != nil {
		return 0.75
	}
	return unlike(w)
}

// alone is how far, in powers of two, a weight without peers may be from the other kinds of weights. Kinds differ by
// up to a factor of eight in sound checkpoints.
const alone = 5

// magnitudes reports weights, and input scales, whose size is far from that of their peers: the
// same tensor in other layers, or the same part of other experts.
func (p *patient) magnitudes(all []*profile) error {
	sizes := map[*tensor]float64{}
	p.sizes = sizes
	for _, e := range all {
		for i, w := range []weight{e.w1, e.w2, e.w3} {
			sizes[w.t] = e.size[i]
		}
	}
	list := map[string][]weight{}
	var classes []string
	for _, t := range p.tensors {
		w, ok := p.weightIn(t)
		if !ok || w.q == nil && roleOf(t) != roleLinear || !t.scan.nonzero {
			continue
		}
		if _, have := sizes[t]; !have {
			m, err := w.corner(channels, breadth)
			if err != nil {
				return err
			}
			sizes[t] = logRMS(m)
		}
		if list[t.class] == nil {
			classes = append(classes, t.class)
		}
		list[t.class] = append(list[t.class], w)
	}
	values := func(class string) (out []float64) {
		for _, w := range list[class] {
			out = append(out, sizes[w.t])
		}
		return out
	}
	var pooled []float64
	for _, class := range classes {
		v := values(class)
		m := median(v)
		for _, x := range v {
			pooled = append(pooled, x-m)
		}
	}
	var usual []float64 // of each class
	for _, class := range classes {
		usual = append(usual, median(values(class)))
	}
	for _, class := range classes {
		v := values(class)
		if d := v[0] - median(usual); len(v) == 1 && len(usual) >= 5 && math.Abs(d) > math.Max(alone, 8*spread(usual)) {
			p.magnitude(list[class][0], d, "against the other weights, of which none is of its kind", spread(usual))
		}
		if len(v) == 2 {
			p.unequal(list[class], v, sizes, spread(pooled))
		}
		if len(v) < 3 {
			continue
		}
		width := spread(pooled)
		if len(v) >= 8 {
			width = spread(v)
		}
		for i, w := range list[class] {
			if d := v[i] - median(v); math.Abs(d) > math.Max(p.mention(w), 8*width) {
				p.magnitude(w, d, "against the same tensor elsewhere", width)
			}
		}
	}
	p.inputs()
	return nil
}

// unequal judges the two weights of a class of two: of sizes too far apart, the one that is further from all others.
func (p *patient) unequal(two []weight, v []float64, sizes map[*tensor]float64, width float64) {
	if math.Abs(v[0]-v[1]) < math.Max(2.5, 8*width) {
		return
	}
	var all []float64
	for _, s := range sizes {
		all = append(all, s)
	}
	m, at := median(all), 0
	if math.Abs(v[1]-m) > math.Abs(v[0]-m) {
		at = 1
	}
	p.magnitude(two[at], v[at]-v[1-at], "against the same tensor in the other layer", width)
}

// magnitude reports a weight that is 2^d times the size of its peers, once, and says what explains it.
func (p *patient) magnitude(w weight, d float64, peers string, width float64) {
	if p.blamed[w.t] {
		return
	}
	p.blamed[w.t] = true
	name := w.t.stored
	if at, by := p.inverse(w, d); at != "" {
		p.add(Likely, KindScaleInverted, []string{at}, "%s holds the inverse of the scale: %s is 2^%.1f times too large "+
			"%s, which is the square of the stored scale (2^%.1f); store what the codes are multiplied by", at, name, d, peers,
			by)
		return
	}
	why := "its scale is wrong"
	if w.q != nil && w.q.scale != nil {
		why = w.q.scale.stored + " is wrong"
	}
	if n := math.Round(d); n != 0 && math.Abs(d-n) < 0.15 {
		why = "a scale was taken twice, or a power of two of it"
	}
	names := []string{name}
	if w.q != nil && w.q.global != nil {
		names = append(names, w.q.global.stored)
	} else if w.q != nil && w.q.scale != nil {
		names = append(names, w.q.scale.stored)
	}
	severity := Likely
	if math.Abs(d) < unlike(w) {
		severity = Look
	}
	p.add(severity, KindMagnitude, names, "%s is 2^%.2f times the usual size %s (spread among the sound ones 2^%.2f): "+
		"%s; compare with a base checkpoint or convert it again", name, d, peers, width, why)
}

// inverse tells whether a stored scale s instead of 1/s explains a factor 2^d: then d = 2 log2 s.
func (p *patient) inverse(w weight, d float64) (name string, log float64) {
	if w.q == nil || math.Abs(d) < 4 {
		return "", 0
	}
	if v, ok := w.q.global.scalar(); ok {
		by := math.Log2(v)
		if w.w.Declared().Divide {
			by = -by
		}
		if math.Abs(d-2*by) < math.Max(1.5, math.Abs(d)/8) {
			return w.q.global.stored, by
		}
	}
	if w.q.scale == nil {
		return "", 0
	}
	f, err := format.ByDType(string(w.q.scale.info.DType))
	if err != nil {
		return "", 0
	}
	n := min(w.q.scale.info.Size, 1<<16)
	raw := make([]byte, n)
	section, err := w.q.scale.file.Section(w.q.scale.stored)
	if err != nil {
		return "", 0
	}
	if _, err := section.ReadAt(raw, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", 0
	}
	s, err := format.DecodeBytes(f, raw)
	if err != nil || len(s) == 0 {
		return "", 0
	}
	mean := 0.0
	for _, v := range s {
		mean += math.Log2(math.Abs(v)+tiny) / float64(len(s))
	}
	if math.Abs(d-2*mean) < 2 {
		return w.q.scale.stored, mean
	}
	return "", 0
}

// inputs reports input scales that are far from those of the same part in other experts.
func (p *patient) inputs() {
	classes := map[string][]*tensor{}
	for _, t := range p.tensors {
		if _, bit := weightOf(t.canon); bit == hasInput {
			if v, ok := t.scalar(); ok && v > 0 {
				classes[t.class] = append(classes[t.class], t)
			}
		}
	}
	for _, list := range classes {
		var logs []float64
		for _, t := range list {
			v, _ := t.scalar()
			logs = append(logs, math.Log2(v))
		}
		m, width := median(logs), spread(logs)
		for i, t := range list {
			if d := logs[i] - m; len(list) >= 8 && math.Abs(d) > math.Max(4, 8*width) {
				kind, why := KindMagnitude, "calibrate it again"
				if math.Abs(logs[i]+m) < 2 {
					kind, why = KindScaleInverted, "it is the inverse of what its peers hold: store amax / (6 * 448)"
				}
				p.add(Likely, kind, []string{t.stored}, "%s is 2^%.1f, of its peers 2^%.1f; %s", t.stored, logs[i], m, why)
			}
		}
	}
}
