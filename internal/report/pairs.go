package report

import (
	"fmt"
	"slices"
	"strings"
)

// Pairs are the same prompts asked in two ways: cold and warm, alone and together.
type Pairs struct {
	Title         string // "cold and warm"
	First, Second string // "cold", "warm"
	Rows          []Pair
	Note          string // what it means, in a sentence
}

// Pair is one prompt with both answers.
type Pair struct {
	Case          string
	First, Second Side
	Proof         string // what shows that the second was what it should be: "1,920 of 2,048 tokens cached"
	Proven        bool
}

// Side is one answer of a pair.
type Side struct {
	Class string // answer class slug
	State State
}

// PairCount is the two-by-two table of pairs.
type PairCount struct {
	Both, OnlyFirst, OnlySecond, Neither int
	Unmeasured                           int // one side at least
	Proven                               int
}

// Count counts. A side is found when its state is Exact.
func (p Pairs) Count() PairCount {
	var n PairCount
	for _, r := range p.Rows {
		if r.Proven {
			n.Proven++
		}
		a, b := r.First.State.Known(), r.Second.State.Known()
		switch {
		case a == Unmeasured || b == Unmeasured:
			n.Unmeasured++
		case a == Exact && b == Exact:
			n.Both++
		case a == Exact:
			n.OnlyFirst++
		case b == Exact:
			n.OnlySecond++
		default:
			n.Neither++
		}
	}
	return n
}

// Text is the count in one line.
func (p Pairs) Text() string {
	n, first, second := p.Count(), axisName(p.First, "first"), axisName(p.Second, "second")
	s := fmt.Sprintf("%s pairs, %d proven: both found %d · only %s %d · only %s %d · neither %d",
		thousands(len(p.Rows)), n.Proven, n.Both, first, n.OnlyFirst, second, n.OnlySecond, n.Neither)
	if n.Unmeasured > 0 {
		s += fmt.Sprintf(" · unmeasured %d", n.Unmeasured)
	}
	return s
}

// Ordered lists the pairs whose sides differ first.
func (p Pairs) Ordered() []Pair {
	out := slices.Clone(p.Rows)
	slices.SortStableFunc(out, func(a, b Pair) int {
		return strings.Compare(a.rank(), b.rank())
	})
	return out
}

func (p Pair) rank() string {
	if p.First.State.Known() != p.Second.State.Known() {
		return "0"
	}
	return "1"
}
