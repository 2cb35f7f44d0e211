package totals

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-suite/assay/internal/stat"
)

// Form is a way of asking.
type Form string

// The forms, in the order in which they are printed. Short and Long are asked once, whole, and without others beside
// them; Cold is that of a prompt that is asked again; Other is what a model may be unable to do, such as counting.
const (
	Short      Form = "short"
	Long       Form = "long"
	Cold       Form = "cold"
	Warm       Form = "warm"
	Streamed   Form = "streamed"
	Concurrent Form = "concurrent"
	Tools      Form = "tools"
	Turns      Form = "turns"
	Other      Form = "other"
)

func forms() []Form {
	return []Form{Short, Long, Cold, Warm, Streamed, Concurrent, Tools, Turns, Other}
}

// ShortTokens is the longest prompt that is short: a model that declines by 60 % at 8,192 tokens loses 3 % there.
const ShortTokens = 256

// needles is the task of most questions: to give back a code that stands once in the prompt.
const needles = "needle"

// Answer is one answer with what may explain it.
type Answer struct {
	Form     Form
	Task     string  // what is asked for; answers are compared with others of their task only
	Tokens   int     // of the prompt, as planned
	Distance float64 // of the needle from the end, as a share of the prompt; 1 where it has none
	Measured bool
	Wrong    bool

	Order    int    // which request of the run; 0: not known
	Conn     string // its connection; empty: not known
	Reported int    // prompt_tokens; 0: not known
}

// Alone is the form of a question that is asked once, whole and with nothing beside it.
func Alone(tokens int) Form {
	if tokens <= ShortTokens {
		return Short
	}
	return Long
}

// base tells whether an answer belongs to those that the other forms are held against.
func (a Answer) base() bool {
	return a.Measured && (a.Form == Short || a.Form == Long || a.Form == Cold)
}

// judged tells whether an answer counts: tools, chats and counting are a matter of the model's training as well.
func (a Answer) judged() bool {
	return a.Measured && a.Form != Tools && a.Form != Turns && a.Form != Other
}

// stratum is where answers can be compared: one task, a factor of two of lengths, a third of the prompt.
type stratum struct {
	task   string
	octave int
	third  int
}

func (a Answer) stratum() stratum {
	return stratum{
		a.Task, int(math.Round(math.Log2(float64(max(a.Tokens, 1))))), min(2, int(3*a.Distance)),
	}
}

// spots are the answers of the base as FitDecline takes them.
func spots(answers []Answer) []stat.Spot {
	type sum struct {
		tokens, distance float64
		n, wrong         int
	}
	by := map[stratum]*sum{}
	for _, a := range answers {
		if !a.base() {
			continue
		}
		key := a.stratum()
		key.task = ""
		s := by[key]
		if s == nil {
			s = &sum{}
			by[key] = s
		}
		s.tokens, s.distance, s.n = s.tokens+float64(max(a.Tokens, 1)), s.distance+a.Distance, s.n+1
		if a.Wrong {
			s.wrong++
		}
	}
	var out []stat.Spot
	for _, s := range by {
		n := float64(s.n)
		out = append(out, stat.Spot{Length: s.tokens / n, Distance: s.distance / n, N: s.n, Wrong: s.wrong})
	}
	slices.SortFunc(out, func(a, b stat.Spot) int {
		return cmp.Or(cmp.Compare(a.Length, b.Length), cmp.Compare(a.Distance, b.Distance))
	})
	return out
}
