package route

import "github.com/assay-suite/assay/kernels_test/bench"

// hashOptions are what a gate by token id does otherwise, besides what gateOptions do to the weights; all but the order
// are faults.
type hashOptions struct {
	gate gateOptions

	byIndex, nextRow, shortID, transposed, chooses, uniform, misaligned, firstRepeated bool
}

// row of the table for token t.
func (o hashOptions) row(table bench.Tensor, ids []int, t int) []int {
	id, k := ids[t], table.Dim(1)
	switch {
	case o.byIndex:
		id = t
	case o.nextRow:
		id = (id + 1) % table.Dim(0)
	case o.shortID:
		id = int(uint16(id))
	}
	out := make([]int, k)
	for i := range out {
		at := id*k + i
		if o.transposed {
			at = i*table.Dim(0) + id
		}
		out[i] = int(table.Data[at])
	}
	return out
}

// hashWith is the operator in fp32.
func hashWith(sum bench.Summing, o hashOptions) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		logits, ids, table := a.In("logits"), a.In("token_ids").Ints(), a.In("tid2eid")
		k := table.Dim(1)
		outIDs, weights := a.Fresh("topk_ids"), a.Fresh("topk_weights")
		for t := range logits.Dim(0) {
			s := o.gate.scores(logits.Row(t), a.Word("scoring_func"), sum)
			chosen := o.row(table, ids, t)
			if o.chooses {
				chosen = o.gate.top(s, k)
			}
			if o.firstRepeated {
				chosen[k-1] = chosen[0]
			}
			if o.gate.descending {
				for i := range k / 2 {
					chosen[i], chosen[k-1-i] = chosen[k-1-i], chosen[i]
				}
			}
			w := o.gate.weigh(s, chosen, a.Attrs, sum)
			for i, e := range chosen {
				at := i
				if o.misaligned {
					at = (i + 1) % k
				}
				if outIDs[t*k+i], weights[t*k+i] = float64(e), float64(w[at]); o.uniform {
					weights[t*k+i] = a.Num("routed_scaling") / float64(k)
				}
			}
		}
		return bench.Results{"topk_ids": outIDs, "topk_weights": weights}, nil
	}
}

// combineOptions are what a sum over experts does otherwise: the first line is allowed, the rest are faults.
type combineOptions struct {
	factorOnWeights, factorOnTerms, sharedFirst, backward, exact bool

	sharedDivided, sharedScaled, noShared, sharedTwice                bool
	twice, noFactor, inverted, weightSquared                          bool
	missingAsRowZero, missingAsLast, renormalised, noWeights          bool
	identity, shifted, misaligned, lastSlotLost, narrow, roundedTerms bool
}

// combineWith is the operator in fp32.
func combineWith(o combineOptions) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		x, w, rows, shared := a.In("expert_out"), a.In("topk_weights"), a.In("src2dst"), a.In("shared_out").Data
		tokens, width := w.Dim(0), x.Dim(1)
		f := float32(a.Num("routed_scaling"))
		y := make([]float64, tokens*width)
		for t := range tokens {
			slots := o.slots(rows.Row(t), w.Row(t), t, x.Dim(0))
			for d := range width {
				var extra float32
				if shared != nil {
					extra = float32(shared[t*width+d])
				}
				y[t*width+d] = o.sum(slots, x, d, f, extra)
			}
		}
		return bench.Results{"y": y}, nil
	}
}

// slot is a row and its weight.
type slot struct {
	row    int
	weight float32
}

// slots of a token, those without row left out.
func (o combineOptions) slots(rows, weights []float64, t, m int) []slot {
	var out []slot
	total := float32(0)
	for i := range rows {
		if o.lastSlotLost && i > 0 && i == len(rows)-1 {
			continue
		}
		at := i
		if o.misaligned {
			at = (i + 1) % len(rows)
		}
		s := slot{int(rows[i]), float32(weights[at])}
		switch {
		case o.identity:
			s.row = t*len(rows) + i
		case o.shifted && s.row >= 0:
			s.row = (s.row + 1) % m
		case s.row < 0 && o.missingAsRowZero:
			s.row = 0
		case s.row < 0 && o.missingAsLast:
			s.row = m - 1
		}
		if o.noWeights {
			s.weight = 1
		}
		if s.row >= 0 {
			out = append(out, s)
			total += s.weight
		}
	}
	if o.renormalised {
		for i := range out {
			out[i].weight /= total
		}
	}
	return out
}

// sum is one output.
func (o combineOptions) sum(slots []slot, x bench.Tensor, d int, f, shared float32) float64 {
	width := x.Dim(1)
	value := func(i int) float32 { return float32(x.Data[slots[i].row*width+d]) }
	if o.exact {
		total := 0.0
		for i, s := range slots {
			total += float64(s.weight) * float64(value(i))
		}
		return float64(f)*total + float64(shared)
	}
	switch {
	case o.twice:
		f *= f
	case o.noFactor:
		f = 1
	case o.inverted:
		f = 1 / f
	}
	switch {
	case o.sharedDivided:
		shared /= f
	case o.sharedScaled:
		shared *= f
	case o.noShared:
		shared = 0
	case o.sharedTwice:
		shared += shared
	}
	var acc float32
	if o.sharedFirst {
		acc = shared
	}
	inTerms := o.factorOnWeights || o.factorOnTerms || o.sharedFirst
	for n := range slots {
		i := n
		if o.backward {
			i = len(slots) - 1 - n
		}
		term := slots[i].weight
		if o.factorOnWeights || o.sharedFirst {
			term *= f
		}
		if term = float32(term * value(i)); o.factorOnTerms {
			term *= f
		}
		if o.weightSquared {
			term *= slots[i].weight
		}
		if o.roundedTerms {
			term = bench.AsBF16(term)
		}
		if acc += term; o.narrow {
			acc = bench.AsBF16(acc)
		}
	}
	if !inTerms {
		acc = float32(acc * f)
	}
	if !o.sharedFirst {
		acc += shared
	}
	return float64(acc)
}
