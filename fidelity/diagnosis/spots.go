package diagnosis

import (
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// spot is one answer to a question that was asked alone and cold, with what models look at.
type spot struct {
	tokens, before, fromEnd float64
	order                   int
	sort                    int // of the wrong answer
	wrong                   bool
	placed                  bool // where the fact stands is known
	exact                   bool // where it stands is known to some tokens
	verbatim                bool // asked for in the words of its own sentence
	arm                     string
}

// alone tells whether an arm asks for one fact, once, whole, cold and with nothing beside it, in the words that most
// questions have.
func askedAlone(a evidence.Answer) bool {
	switch a.Probe {
	case evidence.Sanity, evidence.Length, evidence.Depth, evidence.Distance, evidence.Shift, evidence.Alone,
		evidence.Soak, evidence.Sessions:
		return a.Arm != ""
	case evidence.Cue:
		return a.Arm == "short-verbatim" || a.Arm == "verbatim"
	case evidence.OverLimit:
		return strings.HasPrefix(a.Arm, "under-")
	case evidence.Warm:
		return a.Arm == "cold" || a.Arm == "cold-long" || a.Arm == "first-changed"
	case evidence.Fork:
		return a.Arm == "a1"
	case evidence.Evict:
		return a.Arm == "first"
	case evidence.Ladder:
		return strings.HasPrefix(a.Arm, "n1-") && strings.HasSuffix(a.Arm, "-short")
	case evidence.Aborts:
		return a.Arm == "before"
	case evidence.Flat:
		return a.Arm == "flat"
	case evidence.SelfNoise: // of the first requests of a run there are few others
		return true
	case evidence.Parity:
		return a.Arm == "whole"
	}
	return false
}

// trivial is the length below which a prompt holds no fact: what everybody knows may be right where facts are lost.
const trivial = 48

// spots are the answers of a run that models of place and time explain.
func spots(answers []evidence.Answer) []spot {
	var out []spot
	for _, a := range answers {
		if !a.Measured || !askedAlone(a) || a.Tokens < trivial {
			continue
		}
		s := spot{
			tokens: float64(a.Tokens), before: float64(a.Before), fromEnd: float64(a.FromEnd), order: a.Order,
			sort: sortOf(a.Class), wrong: !a.Right, placed: true,
			arm: a.Probe + "/" + a.Arm, verbatim: a.Probe == evidence.Cue, exact: a.Probe == evidence.Shift || a.Tokens <= 640,
		}
		if a.Before == 0 && a.FromEnd == 0 {
			s.fromEnd = s.tokens
			s.placed = a.Tokens <= shortest || a.Probe == evidence.Sessions
		}
		out = append(out, s)
	}
	return out
}

// sum counts some answers.
type sum struct {
	right, wrong float64
	sorts        [sorts]float64
}

func (s *sum) add(x spot) {
	if !x.wrong {
		s.right++
		return
	}
	s.wrong++
	s.sorts[x.sort]++
}

func (s *sum) plus(o sum) {
	s.right, s.wrong = s.right+o.right, s.wrong+o.wrong
	for i, n := range o.sorts {
		s.sorts[i] += n
	}
}

// parted is the log-likelihood of answers of which some are lost and the others spared.
func parted(in, outside sum, lost prior, as mix) float64 {
	return lost.log(in.wrong, in.right) + as.log(in.sorts) + spared.log(outside.wrong, outside.right) +
		anyMix.log(outside.sorts)
}

// How much of a region an answer belongs to.
const (
	outside = iota
	inside
	beside // too near its edge to tell: places are estimates, good to some per cent
)

// split parts answers by a region.
func split(all []spot, region func(x spot) bool, lost prior, as mix) float64 {
	return splitEdge(all, func(x spot) int {
		if region(x) {
			return inside
		}
		return outside
	}, lost, as)
}

func splitEdge(all []spot, region func(x spot) int, lost prior, as mix) float64 {
	var in, out, unsure sum
	for _, x := range all {
		switch region(x) {
		case inside:
			in.add(x)
		case outside:
			out.add(x)
		default:
			unsure.add(x)
		}
	}
	return parted(in, out, lost, as) + partly.log(unsure.wrong, unsure.right) + as.log(unsure.sorts)
}

// beyond places a distance against an edge.
func beyond(x, edge float64) int {
	switch {
	case edge == 0 || x > edge*1.04+4:
		return inside
	case x < edge*0.96-4:
		return outside
	}
	return beside
}

// both is the intersection of two regions.
func both(a, b int) int {
	switch {
	case a == outside || b == outside:
		return outside
	case a == inside && b == inside:
		return inside
	}
	return beside
}

// cued are answers of long prompts that only a selection of text by likeness explains in a way of its own: asked for in
// other words than the needle's, and with eight copies.
type cued struct{ others, copies sum }

func cues(answers []evidence.Answer) cued {
	var c cued
	for _, a := range answers {
		if !a.Measured {
			continue
		}
		x := spot{wrong: !a.Right, sort: sortOf(a.Class)}
		switch {
		case a.Probe == evidence.Cue && (a.Arm == "paraphrase" || a.Arm == "gap"):
			c.others.add(x)
		case a.Probe == evidence.Repeats && a.Arm == "spread-no-tail":
			c.copies.add(x)
		}
	}
	return c
}

var (
	freely = prior{{1, 1, 1}}
	rather = prior{{1, 1, 3}}
)

// free is their log-likelihood where a model says nothing of them.
func (c cued) free() float64 {
	return freely.log(c.others.wrong, c.others.right) + freely.log(c.copies.wrong, c.copies.right)
}

func (c cued) selection() float64 {
	return hit.log(c.others.wrong, c.others.right) + rather.log(c.copies.wrong, c.copies.right)
}

// lone pools the facts of short prompts that were asked once, cold and with nothing beside them.
func (r *reading) lone() group {
	return r.pool("short facts asked alone, cold", func(x spot) bool { return x.tokens <= 640 })
}

// loneLong is the same of prompts of some thousand tokens.
func (r *reading) loneLong() group {
	return r.pool("facts of long prompts asked alone, cold",
		func(x spot) bool { return x.tokens >= 2000 && x.tokens <= 12000 })
}

// exacting pools answers of many tokens each of which must be right, in short prompts.
func (r *reading) exacting() group {
	return r.all("answers of many tokens", evidence.Cue, func(a evidence.Arm) bool {
		return a.Name == "short-uuid" || a.Name == "short-path" || a.Name == "short-phrase"
	}).join(r.arms("", evidence.FirstToken, "late"))
}

func (r *reading) pool(what string, keep func(x spot) bool) group {
	g := group{what: what, arms: 1}
	for _, x := range r.alones {
		if keep(x) {
			g.runs++
			if !x.wrong {
				g.right++
			}
		}
	}
	return g
}

// hits pools what was asked behind a prefix that the server says it reused, for a quarter of the prompt at least and
// for some hundred tokens.
func (r *reading) hits() group {
	g := group{what: "behind a reused prefix", arms: 1, classes: map[string]int{}}
	badCompany := r.company().state != no
	for _, a := range r.Answers {
		switch {
		case !a.Measured || a.Arm == "" || a.Cached < 128 || 4*a.Cached < a.Tokens:
		case a.Probe == evidence.Turns, badCompany && inCompany(a):
		case a.Probe == evidence.Cue, a.Probe == evidence.Tools, a.Probe == evidence.LongAnswer, a.Arm == "meet",
			a.Probe == evidence.Evict:
		default:
			g.runs++
			g.classes[a.Class]++
			if a.Right {
				g.right++
			}
		}
	}
	return g
}
