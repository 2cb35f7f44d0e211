package needle

import "slices"

const (
	// closing is how many units before the wanted length the search for a good fit begins: wide
	// enough that a handful of sentences (median 44 units) can be combined.
	closing = 240
	// candidates is how many sentences after the contiguous part that search may pick from.
	candidates = 48
	// lookahead is the text that the search wants to find beyond the prompt, in units.
	lookahead = 1500
)

// choose returns increasing sentence indices from start on whose units sum as close as possible to
// room without exceeding it: first contiguous text, then, for the last closing units, the subset of
// the next candidates that fits best. A colliding word is kept out of that subset where it can be.
func (b Builder) choose(start, room int, name string) []int {
	h := b.Haystack
	var out []int
	i := start
	for i < len(h.units) && room-h.units[i] >= closing {
		out = append(out, i)
		room -= h.units[i]
		i++
	}
	var pool []int
	for ; i < len(h.units) && len(pool) < candidates; i++ {
		if h.units[i] <= room && !b.confuses(h.Sentences[i], name) {
			pool = append(pool, i)
		}
	}
	return append(out, bestSubset(pool, h.units, room)...)
}

func (b Builder) confuses(sentence, name string) bool {
	return b.Bucket != nil && Collides(name, sentence, b.Bucket)
}

// bestSubset solves subset sum over pool (ascending indices into units) for the largest sum that is
// at most room, preferring early sentences: a sum is recorded by the first sentences that reach it.
func bestSubset(pool, units []int, room int) []int {
	if room < 1 {
		return nil
	}
	from := make([]int, room+1) // which pool element completed this sum; -1 none
	for s := range from {
		from[s] = -1
	}
	reached := make([]bool, room+1)
	reached[0] = true
	for k, i := range pool {
		for s := room; s >= units[i]; s-- {
			if !reached[s] && reached[s-units[i]] {
				reached[s], from[s] = true, k
			}
		}
	}
	s := room
	for !reached[s] {
		s--
	}
	var out []int
	for s > 0 {
		i := pool[from[s]]
		out = append(out, i)
		s -= units[i]
	}
	slices.Reverse(out)
	return out
}
