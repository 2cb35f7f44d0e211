package recall

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Shape is where in the context needles are lost, as a region: an interval of one of the axes, or of one of the first
// two in prompts of some length and more.
type Shape struct {
	Axis     Axis
	Lo, Hi   int // lost where the axis is above Lo and at most Hi; Lo 0 or Hi 0: no such edge
	LoTo     int // the edge Lo lies between Lo and this: the smallest value asked for inside
	HiTo     int // the edge Hi lies between Hi and this: the smallest value asked for beyond
	From     int // in prompts of this many tokens and more; 0: of all
	Lost, In int // within
	Out, Of  int // lost outside, and asked there
	Text     string
}

// Axis is what a shape is an interval of, in tokens.
type Axis string

// The axes.
const (
	FromEnd   Axis = "from-end"   // tokens from the needle to the end of the prompt
	FromStart Axis = "from-start" // tokens before the needle
	Length    Axis = "length"     // of the prompt
)

const (
	shapeLost   = 0.60 // share that is lost within a shape
	shapeOut    = 0.10 // share that may be lost outside
	shapeLeast  = 3    // lost needles that a shape is made of
	shapeNats   = 3.0  // of log-likelihood over a uniform loss, beyond the price of the edges
	shapeRivals = 1.5  // nats within which another axis explains the same
)

// spot is one question as a shape sees it.
type spot struct {
	at   map[Axis]int
	lost bool
}

// ShapeOf finds the region that explains the lost needles best, by the likelihood of one share lost within and another
// outside, and a price of log n for each edge (twice that of the Bayesian information criterion, as edges are searched
// for). ok is false where fewer than three are lost or no region is that clear. Needles that the golden lacks as well
// are left out; so are several copies, warm and concurrent questions.
func ShapeOf(obs []Observation, g *Golden) (s Shape, ok bool) {
	spots := spotsOf(obs, g)
	lost := 0
	for _, p := range spots {
		if p.lost {
			lost++
		}
	}
	if lost < shapeLeast || lost == len(spots) {
		return s, false
	}
	null := likelihood(lost, len(spots))
	price := math.Log(float64(len(spots)))
	var found []scored
	consider := func(axis Axis, within []spot, from int, edges float64) {
		for _, r := range intervals(axis, within) {
			r.From, r.Out, r.Of = from, lost-r.Lost, len(spots)-r.In
			if r.Lost < shapeLeast || float64(r.Lost) < shapeLost*float64(r.In) || float64(r.Out) > shapeOut*float64(r.Of) ||
				r.Of == 0 {
				continue
			}
			n := edges
			if r.Lo > 0 {
				n++
			}
			if r.HiTo > 0 {
				n++
			}
			gain := likelihood(r.Lost, r.In) + likelihood(r.Out, r.Of) - null - n*price
			found = append(found, scored{r, gain})
		}
	}
	for _, axis := range []Axis{FromEnd, FromStart, Length} {
		consider(axis, spots, 0, 0)
	}
	lengths := valuesOn(Length, spots)
	for _, from := range lengths[min(1, len(lengths)):] {
		var longer []spot
		for _, p := range spots {
			if p.at[Length] >= from {
				longer = append(longer, p)
			}
		}
		consider(FromEnd, longer, from, 1)
		consider(FromStart, longer, from, 1)
	}
	if len(found) == 0 {
		return s, false
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.gain, a.gain) })
	if found[0].gain < shapeNats {
		return s, false
	}
	best := found[0]
	s = best.Shape
	s.Text = s.words()
	for _, other := range found[1:] {
		if best.gain-other.gain < shapeRivals && other.Axis != s.Axis && (other.From > 0) == (s.From > 0) {
			s.Text += "; or, which these questions cannot tell from it, " + other.words()
			break
		}
	}
	return s, true
}

type scored struct {
	Shape
	gain float64
}

func spotsOf(obs []Observation, g *Golden) []spot {
	var out []spot
	for _, o := range obs {
		c := o.Cell
		if !o.Measured || c.Copies > 1 || c.Burst > 0 || c.Arm == "warm" {
			continue
		}
		if g != nil {
			if was, ok := g.Cells[c.ID]; ok && was.Prompt == o.PromptSHA && !was.Hit {
				continue
			}
		}
		tokens := c.Tokens
		if o.Tokens.Known {
			tokens = o.Tokens.N
		}
		before, fromEnd := o.Before, o.FromEnd
		if before+fromEnd == 0 { // of a run that was continued
			before = int(c.Depth * float64(tokens))
			fromEnd = tokens - before
		}
		out = append(out, spot{map[Axis]int{FromEnd: max(1, fromEnd), FromStart: max(1, before), Length: c.Tokens}, !o.Hit})
	}
	return out
}

// likelihood is the largest log-likelihood of k of n, by the share itself.
func likelihood(k, n int) float64 {
	if k == 0 || k == n {
		return 0
	}
	p := float64(k) / float64(n)
	return float64(k)*math.Log(p) + float64(n-k)*math.Log(1-p)
}

func valuesOn(axis Axis, spots []spot) []int {
	var all []int
	for _, p := range spots {
		all = append(all, p.at[axis])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// intervals lists every interval of an axis between values that were asked for, but the whole of it, with what is lost
// within.
func intervals(axis Axis, spots []spot) []Shape {
	values := valuesOn(axis, spots)
	asked, lost := make([]int, len(values)+1), make([]int, len(values)+1) // sums up to a value
	for i, v := range values {
		asked[i+1], lost[i+1] = asked[i], lost[i]
		for _, p := range spots {
			if p.at[axis] == v {
				asked[i+1]++
				if p.lost {
					lost[i+1]++
				}
			}
		}
	}
	var out []Shape
	for a := range values {
		for b := a; b < len(values); b++ {
			s := Shape{Axis: axis, Lost: lost[b+1] - lost[a], In: asked[b+1] - asked[a], LoTo: values[a], Hi: values[b]}
			if a > 0 {
				s.Lo = values[a-1]
			}
			if b+1 < len(values) {
				s.HiTo = values[b+1]
			}
			if a > 0 || b+1 < len(values) {
				out = append(out, s)
			}
		}
	}
	return out
}

// words describes a shape in a sentence, its edges between what was found and what was lost.
func (s Shape) words() string {
	edge := func(found, lost int) string { return fmt.Sprintf("between %d and %d", found, lost) }
	low, high := s.Lo > 0, s.HiTo > 0
	var what string
	switch {
	case s.Axis == Length && s.LoTo == s.Hi && high:
		what = fmt.Sprintf("lost at one length: prompts of %d tokens", s.Hi)
	case s.Axis == Length && low && high:
		what = fmt.Sprintf("lost at some lengths: prompts of %d to %d tokens", s.LoTo, s.Hi)
	case s.Axis == Length && low:
		what = fmt.Sprintf("lost from a length on: prompts of %d tokens and more", s.LoTo)
	case s.Axis == Length:
		what = fmt.Sprintf("lost up to a length: prompts of %d tokens and fewer", s.Hi)
	case s.Axis == FromEnd && low && high:
		what = fmt.Sprintf("lost at a band: needles %d to %d tokens before the end of the prompt", s.LoTo, s.Hi)
	case s.Axis == FromEnd && low:
		what = "lost beyond a distance: needles farther from the end of the prompt than " + edge(s.Lo, s.LoTo) + " tokens"
	case s.Axis == FromEnd:
		what = "lost before a distance: needles nearer to the end of the prompt than " + edge(s.Hi, s.HiTo) + " tokens"
	case low && high:
		what = fmt.Sprintf("lost at a band: needles %d to %d tokens after the start of the prompt", s.LoTo, s.Hi)
	case low:
		what = "lost from a position on: needles farther from the start of the prompt than " + edge(s.Lo, s.LoTo) + " tokens"
	default:
		what = "lost at the start: needles nearer to the start of the prompt than " + edge(s.Hi, s.HiTo) + " tokens"
	}
	if s.From > 0 {
		what += fmt.Sprintf(", in prompts of %d tokens and more", s.From)
	}
	return fmt.Sprintf("%s (%d of %d lost, %d of %d elsewhere)", what, s.Lost, s.In, s.Out, s.Of)
}
