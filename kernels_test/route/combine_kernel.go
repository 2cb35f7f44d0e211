package route

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// slot is a row of expert_out and its weight.
type slot struct {
	row    int
	weight float32
}

// combiner is the sum over experts in fp32 as steps, in the order in which they run.
type combiner struct {
	arrange func(slots []slot)
	begin   func(shared float32) float32
	term    func(weight, x, f float32) float32 // f: routed scaling factor
	add     func(acc, term float32) float32
	end     func(acc, f, shared float32) float32
	sum     func(k combiner, slots []slot, x []float32, f, shared float32) float64 // the four steps before
}

// correctCombiner is the operator as it should be: the factor multiplies the routed sum.
func correctCombiner() combiner {
	return combiner{
		arrange: func([]slot) {},
		begin:   func(float32) float32 { return 0 },
		term:    func(weight, x, _ float32) float32 { return float32(weight * x) },
		add:     func(acc, term float32) float32 { return acc + term },
		end:     func(acc, f, shared float32) float32 { return float32(acc*f) + shared },
		sum: func(k combiner, slots []slot, x []float32, f, shared float32) float64 {
			acc := k.begin(shared)
			for i, s := range slots {
				acc = k.add(acc, k.term(s.weight, x[i], f))
			}
			return float64(k.end(acc, f, shared))
		},
	}
}

func (k combiner) run(a bench.Args) (bench.Results, error) {
	x, w, rows, shared := a.In("expert_out"), a.In("topk_weights"), a.In("src2dst"), a.In("shared_out").Data
	tokens, width := w.Dim(0), x.Dim(1)
	f := float32(a.Num("routed_scaling"))
	y := make([]float64, tokens*width)
	for t := range tokens {
		var slots []slot
		for i, row := range rows.Row(t) {
			if row >= 0 {
				slots = append(slots, slot{int(row), float32(w.Row(t)[i])})
			}
		}
		k.arrange(slots)
		terms := make([]float32, len(slots))
		for d := range width {
			for i, s := range slots {
				terms[i] = float32(x.Data[s.row*width+d])
			}
			var extra float32
			if shared != nil {
				extra = float32(shared[t*width+d])
			}
			y[t*width+d] = k.sum(k, slots, terms, f, extra)
		}
	}
	return bench.Results{"y": y}, nil
}

// Options that a contract allows.

func backward(k *combiner) { k.arrange = slices.Reverse[[]slot] }

func factorOnWeights(k *combiner) {
	k.term = func(weight, x, f float32) float32 { return float32(weight*f) * x }
	k.end = func(acc, _, shared float32) float32 { return acc + shared }
}

func factorOnTerms(k *combiner) {
	k.term = func(weight, x, f float32) float32 { return float32(weight*x) * f }
	k.end = func(acc, _, shared float32) float32 { return acc + shared }
}

func sharedFirst(k *combiner) {
	factorOnWeights(k)
	k.begin = func(shared float32) float32 { return shared }
	k.end = func(acc, _, _ float32) float32 { return acc }
}

func combineInFloat64(k *combiner) {
	k.sum = func(_ combiner, slots []slot, x []float32, f, shared float32) float64 {
		total := 0.0
		for i, s := range slots {
			total += float64(s.weight) * float64(x[i])
		}
		return float64(f)*total + float64(shared)
	}
}
