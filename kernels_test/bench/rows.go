package bench

// Take keeps rows of the first dimension, in the order given.
func (o Operand) Take(rows []int) Operand {
	t := o.Tensor()
	out := Operand{DType: o.DType, Shape: append([]int{len(rows)}, o.Shape[1:]...), Values: []float64{}}
	for _, i := range rows {
		out.Values = append(out.Values, t.Row(i)...)
	}
	return out
}

// Take keeps rows of operands' first dimension.
func (p *Problem) Take(rows []int, operands ...string) {
	for _, name := range operands {
		if o, ok := p.Operands[name]; ok {
			p.Operands[name] = o.Take(rows)
		}
	}
}

// Resize gives an output another shape.
func (p *Problem) Resize(output string, shape ...int) {
	o := p.Outputs[output]
	o.Shape = shape
	p.Outputs[output] = o
}

// Span lists lo to hi-1.
func Span(lo, hi int) []int {
	out := make([]int, max(hi-lo, 0))
	for i := range out {
		out[i] = lo + i
	}
	return out
}

// Float32s reads values as fp32 numbers.
func Float32s(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}
