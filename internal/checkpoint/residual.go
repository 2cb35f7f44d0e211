package checkpoint

import (
	"math"
	"slices"
	"strings"
)

// The residual stream has channels that are larger than others in every layer, and weights adapt to that: the norms
// of the columns of what reads the stream go together across layers and projections, and so do the norms of the rows
// of what writes it. A square matrix that is transposed goes with the profile on its other side.

// residualLeast is how much better one side of a matrix must follow the profile than the other, in standard errors of
// the difference of Fisher's z.
const residualLeast = 6

// readers of the residual stream, by the last part of their module's name; what writes to it ends otherwise.
var (
	readers = []string{
		"q_proj", "k_proj", "v_proj", "gate_proj", "up_proj", "gate_up_proj", "qkv_proj", "w1", "w3", "in_proj",
		"c_fc", "q_a_proj", "kv_a_proj_with_mqa", "wq_a", "wkv_a", "wkv", "query_key_value", "in_proj_qkvz", "in_proj_qkv",
	}
	writers = []string{"o_proj", "down_proj", "out_proj", "w2", "dense", "c_proj"}
)

// sideways reports square matrices of which the other side follows the residual stream.
func (p *patient) sideways() error {
	if p.config == nil || p.config.Hidden < 64 {
		return nil
	}
	profile, err := p.residual(p.config.Hidden)
	if err != nil || profile == nil {
		return err
	}
	type entry struct {
		w weight
		d float64
	}
	classes := map[string][]entry{}
	for _, t := range p.tensors {
		w, ok := p.weightIn(t)
		if !ok || t.weight.Slices > 1 || w.rows != w.cols || w.rows != p.config.Hidden || p.blamed[t] || !t.scan.differs ||
			roleOf(t) != roleLinear {
			continue
		}
		m, err := w.corner(min(breadth, w.rows), min(breadth, w.cols))
		if err != nil {
			return err
		}
		n := min(m.rows, m.cols, len(profile))
		square := matrix{n, n, slicePart(m, n)}
		rows, cols := rowNorms(square), columnNorms(square)
		if w.w.InputMajor {
			rows, cols = cols, rows
		}
		in, out := pearson(cols, profile[:n]), pearson(rows, profile[:n])
		classes[t.class] = append(classes[t.class], entry{w, (fisher(in) - fisher(out)) * math.Sqrt(float64(n-3)/2)})
	}
	for _, list := range classes {
		for i, e := range list {
			var others []float64
			for k, o := range list {
				if k != i {
					others = append(others, o.d)
				}
			}
			usual := usualSide(e.w.w.Module)
			if len(others) >= 2 {
				usual = median(others)
			}
			if math.Abs(usual) < residualLeast || math.Abs(e.d) < residualLeast || usual*e.d > 0 {
				continue
			}
			p.blamed[e.w.t] = true
			p.add(Likely, KindTransposed, []string{e.w.t.stored}, "%s looks transposed: the residual stream's large and small "+
				"channels show on its other side (z = %.1f, where weights of its kind have %.1f); store [outputs, inputs]",
				e.w.t.stored, e.d, usual)
		}
	}
	return nil
}

// usualSide is the sign that a projection has by its name, as a z that counts; 0 for one that is not known.
func usualSide(module string) float64 {
	last := module[strings.LastIndexByte(module, '.')+1:]
	switch {
	case slices.Contains(readers, last):
		return residualLeast
	case slices.Contains(writers, last):
		return -residualLeast
	}
	return 0
}

// streamSide is the dimension of a projection, outputs first, that is the width of the residual stream; -1 for one that
// is not known.
func streamSide(module string) int {
	switch side := usualSide(module); {
	case side > 0:
		return 1
	case side < 0:
		return 0
	}
	return -1
}

// residual is the mean profile of the channels, as logarithms, of weights that read the stream and are not square; nil
// where fewer than three do, or where they do not agree.
func (p *patient) residual(width int) ([]float64, error) {
	const most, rows = 24, 128
	var list [][]float64
	n := min(width, breadth)
	for _, t := range p.tensors {
		w, ok := p.weightIn(t)
		if !ok || len(list) >= most || t.weight.Slices > 1 || w.rows == w.cols || roleOf(t) != roleLinear ||
			usualSide(w.w.Module) <= 0 || w.w.InputMajor && w.rows != width || !w.w.InputMajor && w.cols != width {
			continue
		}
		var norms []float64
		if w.w.InputMajor {
			m, err := w.corner(n, rows)
			if err != nil {
				return nil, err
			}
			norms = rowNorms(m)[:n]
		} else {
			m, err := w.corner(min(rows, w.rows), n)
			if err != nil {
				return nil, err
			}
			norms = columnNorms(m)[:n]
		}
		list = append(list, norms)
	}
	if len(list) < 3 {
		return nil, nil
	}
	mean, agree := make([]float64, n), 0.0
	for _, v := range list {
		for i, x := range v {
			mean[i] += x / float64(len(list))
		}
	}
	for _, v := range list {
		agree += pearson(v, mean) / float64(len(list))
	}
	if agree < 0.4+1/math.Sqrt(float64(len(list))) { // each is a part of the mean
		return nil, nil
	}
	return mean, nil
}
