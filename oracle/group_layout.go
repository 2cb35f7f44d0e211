package oracle

import "fmt"

// GroupLayout lays the rows of G experts one after the other, each expert's start a multiple of
// align (DeepGEMM's contiguous grouped layout; 128 there). It returns the expert of every row, -1 for
// the padding, and the first row of every expert. It fails on an align below 1 and a negative count.
func GroupLayout(counts []int, align int) (expert, first []int, err error) {
	if align < 1 {
		return nil, nil, fmt.Errorf("group layout: align is %d; it must be 1 or more", align)
	}
	for e, n := range counts {
		if n < 0 {
			return nil, nil, fmt.Errorf("group layout: expert %d has %d rows", e, n)
		}
		first = append(first, len(expert))
		for i := range (n + align - 1) / align * align {
			if i < n {
				expert = append(expert, e)
			} else {
				expert = append(expert, -1)
			}
		}
	}
	return expert, first, nil
}
