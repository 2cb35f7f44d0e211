package bench

import "context"

// rounds is how often a call that poison has moved, and its poisoned twin, are run again before poison is blamed. A
// kernel of two equally likely results stays alike in all of them with a chance of 4^-rounds; one that reads what it
// must not gives the same two answers in each.
const rounds = 8

// varies tells whether the plain call or one of the poisoned ones that differ from it gives other bits when it is run
// again: then the order of its sums moves them, and the poison need not. One rerun would not tell: a small call in
// random order has few results, and meets the same one twice.
func (b *Bench) varies(ctx context.Context, c Candidate, got map[string][]float64, poisoned []map[string][]float64) (
	bool, error,
) {
	for range rounds {
		if again, err := b.reruns(ctx, c, got); again || err != nil {
			return again, err
		}
		for i, call := range b.poisoned {
			if !b.differ(got, poisoned[i]) {
				continue
			}
			reply, _, err := run(ctx, c, call)
			if err != nil {
				return false, err
			}
			if b.differ(poisoned[i], values(reply)) {
				return true, nil
			}
		}
	}
	return false, nil
}
