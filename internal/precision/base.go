package precision

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-suite/assay/internal/suite"
)

// baseStrip is about how many values of a tensor are compared at a time.
const baseStrip = 1 << 19

// baseJobs has a step for every class of tensors that both checkpoints have as numbers: the same name in every layer and expert.
func (m *meter) baseJobs() []job {
	base := newSource(m.o.Base)
	classes := map[string][]string{}
	var order []string
	missing := 0
	for _, canon := range m.names {
		rows, cols, ok := m.shape(canon)
		if !ok || isScale(canon) || m.integer(canon) {
			continue
		}
		br, bc, there := base.shape(canon)
		if !there || br != rows || bc != cols || base.integer(canon) {
			missing++
			continue
		}
		class := classOf(canon)
		if classes[class] == nil {
			order = append(order, class)
		}
		classes[class] = append(classes[class], canon)
	}
	if missing > 0 {
		m.note("%d tensors have no counterpart of the same shape in the base", missing)
	}
	var out []job
	for _, class := range order {
		var cost float64
		for _, canon := range classes[class] {
			rows, cols, _ := m.shape(canon)
			cost += float64(rows) * float64(cols)
		}
		out = append(out, job{"base/" + class, cost, func(ctx context.Context) ([]Row, error) {
			return m.compareClass(ctx, base, class, classes[class])
		}})
	}
	return out
}

// classOf replaces the numbers of layers and experts.
func classOf(canon string) string {
	parts := strings.Split(canon, ".")
	for i, p := range parts {
		if _, err := strconv.Atoi(p); err == nil {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, ".")
}

func isScale(canon string) bool {
	for _, s := range []string{".scale", ".weight_scale", ".weight_scale_2", ".input_scale"} {
		if strings.HasSuffix(canon, s) {
			return true
		}
	}
	return false
}

// integer tells a tensor that holds no numbers to round: a table, a mask, or bytes that nothing scales.
func (s *source) integer(canon string) bool {
	info, _ := s.ckpt.Tensor(s.places[canon].stored)
	_, err := elementFormat(info.DType, s.scaleName(canon) != "")
	return err != nil
}

// compareClass is the relative error of a class of tensors, dequantised, against the base's.
func (m *meter) compareClass(ctx context.Context, base *source, class string, names []string) ([]Row, error) {
	var each []float64
	var num, den float64
	worst := ""
	for _, canon := range names {
		d2, w2, err := m.distance(ctx, base, canon)
		if err != nil {
			return nil, err
		}
		num, den = num+d2, den+w2
		rel := zeroed(math.Sqrt(d2 / w2))
		if worst == "" || !(rel <= slices.Max(each)) {
			worst = canon
		}
		each = append(each, rel)
	}
	m.bytes += base.bytes
	base.bytes = 0
	slices.Sort(each)
	n := suite.Numbers{
		"rel-l2": zeroed(math.Sqrt(num / den)), "worst-rel-l2": each[len(each)-1], "median-rel-l2": each[len(each)/2], "tensors": float64(len(each)),
	}
	if n["worst-rel-l2"] == 0 {
		return nil, nil // stored alike: nothing to list
	}
	return []Row{{Tensor: class, Kind: Base, Path: "dequantised", Layer: -1, Numbers: n, Note: "worst " + worst}}, nil
}

// distance is ||v − w||² and ||w||² of one tensor, strip by strip.
func (m *meter) distance(ctx context.Context, base *source, canon string) (d2, w2 float64, err error) {
	rows, cols, _ := m.shape(canon)
	step := max(1, baseStrip/max(1, cols))
	for from := 0; from < rows; from += step {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		to := min(from+step, rows)
		v, err := m.rows(canon, from, to)
		if err != nil {
			return 0, 0, err
		}
		w, err := base.rows(canon, from, to)
		if err != nil {
			return 0, 0, fmt.Errorf("base: %w", err)
		}
		for i, x := range w.Data {
			d := v.Data[i] - x
			d2, w2 = d2+d*d, w2+x*x
		}
	}
	return d2, w2, nil
}
