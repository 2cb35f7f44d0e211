package oracle

import "math"

// LSEForm is how an attention kernel reports the log-sum-exp of a row. The zero value is the natural
// logarithm with -Inf for a row without keys.
//
// FlashMLA returns natural logarithms (its README says base 2 for prefill; tests/ref.py and the kernel
// do not), +Inf for a row without keys, and passes base 2 with -Inf between its split and combine
// kernels. FlashInfer returns base 2.
type LSEForm struct {
	Base2        bool // log2(sum e^z) in place of ln(sum e^z)
	EmptyPlusInf bool // a row without keys is +Inf in place of -Inf
}

// LogSumExp is ln(sum_i e^z_i), or log2 of the same sum, in the given form: the largest z is taken
// out first, so it neither overflows nor underflows. z are scaled scores in natural units. Scores of
// -Inf are masked; a row of nothing else is a row without keys. NaN
// gives NaN, and so does a score of +Inf (Inf - Inf, as in every kernel).
func LogSumExp(z []float64, form LSEForm) float64 {
	top := math.Inf(-1)
	for _, v := range z {
		top = math.Max(top, v)
	}
	if math.IsInf(top, -1) {
		return form.report(top)
	}
	sum := 0.0
	for _, v := range z {
		sum += math.Exp(v - top)
	}
	return form.report(top + math.Log(sum))
}

// report turns a natural log-sum-exp, -Inf for a row without keys, into the form.
func (f LSEForm) report(lse float64) float64 {
	switch {
	case math.IsInf(lse, -1) && f.EmptyPlusInf:
		return math.Inf(1)
	case f.Base2:
		return lse * math.Log2E
	}
	return lse
}

// natural is the inverse of report.
func (f LSEForm) natural(lse float64) float64 {
	switch {
	case math.IsInf(lse, 1) && f.EmptyPlusInf:
		return math.Inf(-1)
	case f.Base2:
		return lse * math.Ln2
	}
	return lse
}
