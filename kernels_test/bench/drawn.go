package bench

// Drawn draws a case's call, without an oracle, and reads its facet: for callers that time a kernel. A generator that
// panics at a size has no such case, which is an error.
func Drawn(c Case) (Call, Facet, error) {
	p, err := attemptProblem(c)
	if err != nil {
		return Call{}, Facet{}, err
	}
	phase := c.Scenario.Phase
	return p.Call(c.Family.Op, c.ID, phase), c.Family.Facets.facet(c.Family.Op, phase, p), nil
}

// Width is the size of an element of a dtype in bytes.
func Width(dtype string) int { return width(dtype) }
