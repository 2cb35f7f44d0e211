package bench

import (
	"context"
	"fmt"
)

// Shrink looks for a smaller shape at which a candidate is still rejected: every dimension in turn is tried at 1, 2, a
// half and one less, until nothing gets smaller or the tries are used up. The seed stays the case's. It returns the
// smallest bench with its report; the given ones where nothing smaller fails.
func Shrink(ctx context.Context, b *Bench, r Report, under Candidate, tries int) (*Bench, Report) {
	best, worst := b, r
	for again := true; again && tries > 0; {
		again = false
		for _, dim := range best.Case.Shape.names() {
			n := best.Case.Shape.Dim(dim)
			for _, smaller := range []int{1, 2, n / 2, n - 1} {
				if smaller < 1 || smaller >= n || tries <= 0 || ctx.Err() != nil {
					continue
				}
				tries--
				c := best.Case
				c.Shape = c.Shape.With(c.Shape.Name, dim, smaller)
				next, report, err := attempt(ctx, c, under)
				if err == nil && !report.Accepted() {
					best, worst, again = next, report, true
					break
				}
			}
		}
	}
	return best, worst
}

// attempt judges a case whose shape its tables never promised to draw: a generator that fails, or panics, at it has no
// such shape.
func attempt(ctx context.Context, c Case, under Candidate) (b *Bench, r Report, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("case %q cannot be drawn at %v: %v", c.ID, c.Shape.Dims, p)
		}
	}()
	if b, err = New(c); err != nil {
		return nil, r, err
	}
	r, err = b.Judge(ctx, under)
	return b, r, err
}
