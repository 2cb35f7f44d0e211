package probe

import (
	"slices"

	"github.com/assay-suite/assay/fidelity/internal/ask"
)

// sizes is how much a budget asks of each probe.
type sizes struct {
	reps    int   // needles an arm
	lengths []int // of the sweep, rising
	longest int   // prompt
	long    int   // where nothing shows an edge
	clients []int // of the ladder
	rounds  int   // of each rung
}

// control is the length of the control questions: short enough for every window in use, with some filler.
const control = 192

func (o Options) sizes() sizes {
	window := o.Survey.Window.N
	if window == 0 {
		window = 32768
	}
	room := window - min(ask.AnswerTokens*ask.RetryFactor+64, window/4)
	var s sizes
	most := 32768
	switch o.Budget {
	case Smoke:
		s = sizes{reps: 3, long: 4096, clients: []int{1, 2, 4}, rounds: 2}
		most = 8192
	case Full:
		s = sizes{reps: 8, long: 16384, clients: []int{1, 2, 4}, rounds: 10}
	default:
		s = sizes{reps: 4, long: 8192, clients: []int{1, 2, 4}, rounds: 4}
	}
	if o.Disrupt {
		s.clients = append(s.clients, 8, 12, 16, 24, 32)
		if o.Budget == Full {
			s.clients = append(s.clients, 48, 64)
		}
	}
	s.longest = max(control, min(most, room, o.Haystack.Units()*9/10)) // a word is a token at least
	s.lengths = append(s.lengths, control)
	// Edges love powers of two: lengths short of them by more than a built prompt misses its length by are on one side.
	for n := 496; n < s.longest*31/32; n *= 2 {
		s.lengths = append(s.lengths, n)
		if o.Budget == Full {
			s.lengths = append(s.lengths, n*7/5)
		}
	}
	s.lengths = append(s.lengths, s.longest)
	if k := o.Known.TopK; k > 0 {
		edge := k * max(1, o.Known.Ratio)
		s.lengths = append(s.lengths, edge*3/4, edge*5/4)
	}
	if w := o.Known.Native; w > 0 {
		s.lengths = append(s.lengths, w*5/4)
	}
	s.lengths = slices.DeleteFunc(s.lengths, func(n int) bool {
		return n < control || n > max(s.longest, min(room, 5*o.Known.Native/4))
	})
	slices.Sort(s.lengths)
	s.lengths = slices.Compact(s.lengths)
	s.longest = s.lengths[len(s.lengths)-1]
	s.long = min(s.long, s.longest)
	return s
}

// over is a length beyond the edge that the sweep found, or the usual long one.
func (r *Runner) over() int {
	if r.edge == 0 {
		return r.s.long
	}
	return min(r.s.longest, max(r.edge*3/2, r.edge+256))
}

// under is a length for probes of something else than length: short of the edge.
func (r *Runner) under(want int) int {
	if r.edge > 0 {
		want = min(want, r.edge*3/4)
	}
	return max(control, min(want, r.s.longest))
}
