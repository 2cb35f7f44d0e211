package oracle

import "math"

// SinkhornStart is the matrix that the steps of a Sinkhorn normalisation begin with.
type SinkhornStart int

const (
	// StartSoftmax is the softmax of every row, plus eps (V4, TileKernels).
	StartSoftmax SinkhornStart = iota
	// StartExp is exp(B), the largest entry of the matrix taken out first, which no step can see without
	// eps (the paper; in log space TransformerEngine).
	StartExp
	// StartRowExp is exp(B - row maximum), not divided by its sum, plus eps (met in Megatron-LM).
	StartRowExp
	// StartSigmoid is sigmoid(B), plus eps (the first Hugging Face revision).
	StartSigmoid
)

// SinkhornVariant is one published way from logits to a nearly doubly stochastic matrix. The variants
// share a limit as iterations grow and eps goes to 0, but for StartSigmoid: it solves another problem.
// At 10 or 20 iterations and eps 1e-6 they differ, so that a kernel can only be judged against the one
// it declares.
type SinkhornVariant struct {
	Name       string
	Start      SinkhornStart
	Iterations int
	Eps        float64 // added to the start (but not to StartExp) and to every divisor
	RowsLast   bool    // an iteration is a column step, then a row step; without it the matrix ends on a column step
}

// SinkhornVariants are the published ones, V4's release first.
//
//	v4           softmax + eps, 20 column steps with 19 row steps between (V4 inference/kernel.py; FlashInfer has 20
//	             and eps too)
//	tilekernels  the same with 10 (TileKernels tests and defaults)
//	log          exp(B), 20 times a column and a row step, no eps (TransformerEngine in log space; the
//	             order of arXiv 2512.24880, equation 8)
func SinkhornVariants() []SinkhornVariant {
	return []SinkhornVariant{
		{Name: "v4", Iterations: 20, Eps: 1e-6},
		{Name: "tilekernels", Iterations: 10, Eps: 1e-6},
		{Name: "log", Start: StartExp, Iterations: 20, RowsLast: true},
	}
}

// Apply normalises b [n·n] (row-major) in place. Without eps the steps are taken in log space, where
// logits of any size neither overflow nor vanish.
func (v SinkhornVariant) Apply(b []float64, n int) {
	if v.Eps == 0 {
		v.applyLog(b, n)
		return
	}
	top := math.Inf(-1)
	for _, x := range b {
		top = math.Max(top, x)
	}
	for j := range n {
		row := b[j*n : (j+1)*n]
		switch v.Start {
		case StartSoftmax:
			softmax(row)
		case StartExp:
			for k := range row {
				row[k] = math.Exp(row[k] - top)
			}
		case StartRowExp:
			best := math.Inf(-1)
			for _, x := range row {
				best = math.Max(best, x)
			}
			for k := range row {
				row[k] = math.Exp(row[k] - best)
			}
		case StartSigmoid:
			for k := range row {
				row[k] = sigmoid(row[k])
			}
		}
		if v.Start != StartExp {
			for k := range row {
				row[k] += v.Eps
			}
		}
	}
	for i := range v.Iterations {
		if i > 0 && !v.RowsLast {
			rowStep(b, n, v.Eps)
		}
		columnStep(b, n, v.Eps)
		if v.RowsLast {
			rowStep(b, n, v.Eps)
		}
	}
}

// applyLog takes every step as a subtraction of a log-sum-exp.
func (v SinkhornVariant) applyLog(b []float64, n int) {
	line := make([]float64, n)
	step := func(first, stride int) {
		for i := range line {
			line[i] = b[first+i*stride]
		}
		total := LogSumExp(line, LSEForm{})
		for i := range line {
			b[first+i*stride] -= total
		}
	}
	rows := func() {
		for j := range n {
			step(j*n, 1)
		}
	}
	switch v.Start {
	case StartSoftmax:
		rows()
	case StartSigmoid:
		for i, x := range b {
			b[i] = math.Min(x, 0) - math.Log1p(math.Exp(-math.Abs(x)))
		}
	case StartExp, StartRowExp: // a factor for the matrix leaves no trace; one for a row is undone by no column step
		if v.Start == StartRowExp {
			for j := range n {
				row := b[j*n : (j+1)*n]
				best := math.Inf(-1)
				for _, x := range row {
					best = math.Max(best, x)
				}
				for k := range row {
					row[k] -= best
				}
			}
		}
	}
	for i := range v.Iterations {
		if i > 0 && !v.RowsLast {
			rows()
		}
		for k := range n {
			step(k, n)
		}
		if v.RowsLast {
			rows()
		}
	}
	for i, x := range b {
		b[i] = math.Exp(x)
	}
}
