package format

// HalfSteps returns, for every element, half the distance to the neighbouring representable values
// under its stored scale: below towards -Inf, above towards +Inf, both [Rows, Cols]. A fp32 weight w
// that was rounded to nearest under that scale, ties either way, lies in [v-below, v+above] around
// the dequantised v.
//
// At the largest element the half step outwards repeats the last gap (e2m1: 6 covers up to 7; e4m3:
// 448 up to 464): a weight that saturated by no more than that is still "nearest"; one further out
// was clipped, and falls outside. At a power of two the two sides differ.
func (b Block) HalfSteps(q Quantised) (below, above []float64, err error) {
	below, scales, err := b.parts(q)
	if err != nil {
		return nil, nil, err
	}
	above = make([]float64, len(below))
	gaps := make(map[float64][2]float64, 256)
	for i, v := range below {
		g, ok := gaps[v]
		if !ok {
			g[0], g[1] = b.Element.Gaps(v)
			if v == v { // NaN is never found again, it would only fill the map
				gaps[v] = g
			}
		}
		below[i], above[i] = g[0]/2, g[1]/2
	}
	b.scaleRows(q, below, scales)
	b.scaleRows(q, above, scales)
	for i, x := range below {
		if x < 0 { // a negative block scale mirrors the element
			below[i], above[i] = -above[i], -x
		}
	}
	return below, above, nil
}
