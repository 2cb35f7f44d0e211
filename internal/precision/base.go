package precision

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/assay-suite/assay/internal/checkpoint"
	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics/format"
)

// baseStrip is about how many values of a tensor are compared at a time.
const baseStrip = 1 << 19

// baseJobs has a step for every class of tensors that both checkpoints have as numbers: the same name in every layer
// and expert.
func (m *meter) baseJobs() ([]job, error) {
	base, err := newSource(m.o.Base, nil)
	if err != nil {
		return nil, err
	}
	classes := map[string][]string{}
	var order []string
	missing := 0
	for _, canon := range m.names {
		rows, cols, ok := m.shape(canon)
		if !ok || m.isScale(canon) || m.integer(canon) {
			continue
		}
		br, bc, there := base.shape(canon)
		if !there || br != rows || bc != cols || base.integer(canon) {
			missing++
			continue
		}
		class := checkpoint.Class(canon)
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
	return out, nil
}

// isScale tells a tensor that decodes another one.
func (s *source) isScale(canon string) bool {
	_, part := quant.Split(s.places[canon].stored)
	return part != quant.Codes
}

// integer tells a tensor that holds no numbers to round: a table, a mask, or bytes that nothing scales.
func (s *source) integer(canon string) bool {
	if w, err := s.find(canon); w != nil || err != nil {
		return err != nil
	}
	info, _ := s.ckpt.Tensor(s.places[canon].stored)
	_, err := format.ByDType(string(info.DType))
	return err != nil || len(info.Shape) > 1
}

// compareClass is the relative error of a class of tensors, dequantised, against the base's. Tensors are independent:
// each processor takes one, with some strips of it in memory.
func (m *meter) compareClass(ctx context.Context, base *source, class string, names []string) ([]Row, error) {
	d2, w2, errs := make([]float64, len(names)), make([]float64, len(names)), make([]error, len(names))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(names), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			v, w := m.view(), base.view()
			for {
				i := int(next.Add(1)) - 1
				if i >= len(names) {
					return
				}
				if d2[i], w2[i], errs[i] = distance(ctx, v, w, names[i]); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var each []float64
	var num, den float64
	worst := 0
	for i := range names {
		num, den = num+d2[i], den+w2[i]
		each = append(each, zeroed(math.Sqrt(d2[i]/w2[i])))
		if each[i] > each[worst] {
			worst = i
		}
	}
	m.bytes.Add(base.bytes.Swap(0))
	if each[worst] == 0 {
		return nil, nil // stored alike: nothing to list
	}
	note := "worst " + names[worst]
	slices.Sort(each)
	return []Row{{Tensor: class, Kind: Base, Path: "dequantised", Layer: -1, Note: note, Numbers: suite.Numbers{
		"rel-l2": zeroed(math.Sqrt(num / den)), "worst-rel-l2": each[len(each)-1], "median-rel-l2": each[len(each)/2],
		"tensors": float64(len(each)),
	}}}, nil
}

// distance is ||v − w||² and ||w||² of one tensor, strip by strip.
func distance(ctx context.Context, have, base *source, canon string) (d2, w2 float64, err error) {
	rows, cols, _ := have.shape(canon)
	step := max(1, baseStrip/max(1, cols))
	for from := 0; from < rows; from += step {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		to := min(from+step, rows)
		v, err := have.rows(canon, from, to)
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

// zeroed makes 0/0 of an all-zero vector 0.
func zeroed(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
