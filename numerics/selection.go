package numerics

import (
	"fmt"
	"math"
	"slices"
)

// Selection is a top-k choice: the evidence of the selection gate.
type Selection struct {
	Scores []float64 // exact, or the kernel's own to ask whether the selection alone is right
	Eps    []float64 // bound of each score's error; nil for none
	Valid  []bool    // candidates that may be chosen; nil for all
	K      int
	Chosen []int
}

// Check returns why no rounding of the scores within Eps could have chosen this set, or "". A set T is explained by
// some admissible rounding exactly if
//
//	min_{i∈T}(s_i + ε_i) >= max_{j∉T}(s_j − ε_j)
//
// with |T| = min(K, valid), valid and free of duplicates: push the members up and the rest down; if that fails, nothing
// helps. With ε = 0 it is the exact tie rule, and tieBreak "lowest-index" or "highest-index" then settles ties. where
// is an offending position in Scores, -1 if none.
func (s Selection) Check(tieBreak string) (reason string, where int) {
	n := len(s.Scores)
	if s.Eps != nil && len(s.Eps) != n || s.Valid != nil && len(s.Valid) != n {
		return fmt.Sprintf("%d scores come with %d bounds and %d marks of validity", n, len(s.Eps), len(s.Valid)), -1
	}
	in := make([]bool, n)
	for _, i := range s.Chosen {
		switch {
		case i < 0 || i >= n:
			return fmt.Sprintf("index %d is outside of %d candidates", i, n), -1
		case !s.valid(i):
			return fmt.Sprintf("index %d is not a valid candidate", i), i
		case in[i]:
			return fmt.Sprintf("index %d is chosen twice", i), i
		}
		in[i] = true
	}
	valid := 0
	for i := range n {
		if s.valid(i) {
			valid++
		}
	}
	if want := min(s.K, valid); len(s.Chosen) != want {
		return fmt.Sprintf("%d indices are chosen, want %d of %d valid candidates", len(s.Chosen), want, valid), -1
	}
	low, lowAt, high, highAt := math.Inf(1), -1, math.Inf(-1), -1
	for i, v := range s.Scores {
		switch {
		case in[i] && (v+s.eps(i) < low || math.IsNaN(v)):
			low, lowAt = v+s.eps(i), i
		case !in[i] && s.valid(i) && v-s.eps(i) > high:
			high, highAt = v-s.eps(i), i
		}
	}
	if lowAt >= 0 && highAt >= 0 && !(low >= high) {
		return fmt.Sprintf("index %d (score %.9g) is chosen and %d (score %.9g) is not, and their bounds do not meet", lowAt,
			s.Scores[lowAt], highAt, s.Scores[highAt]), highAt
	}
	return s.checkTies(tieBreak, in, low)
}

// checkTies settles ties of a set that is exact otherwise: members and others can then only meet at the least member's
// score, low.
func (s Selection) checkTies(tieBreak string, in []bool, low float64) (string, int) {
	if tieBreak == "" || tieBreak == "any" || s.Eps != nil {
		return "", -1
	}
	early := tieBreak == "lowest-index" // members come first among equals
	// an earlier one that should have gone the other way, if a later one is on the wrong side
	at := -1
	for i, v := range s.Scores {
		switch {
		case v != low || !s.valid(i):
		case in[i] != early:
			if at < 0 {
				at = i
			}
		case at >= 0:
			return fmt.Sprintf("%d and %d have the same score, and the contract breaks ties by %s", at, i, tieBreak), at
		}
	}
	return "", -1
}

func (s Selection) valid(i int) bool { return s.Valid == nil || s.Valid[i] }

func (s Selection) eps(i int) float64 {
	if s.Eps == nil {
		return 0
	}
	return s.Eps[i]
}

// Loss describes how far a choice is from the exact one; it accepts and rejects nothing.
type Loss struct {
	Jaccard  float64 // of the chosen and the exact set
	LostMass float64 // softmax mass of candidates that the exact set has and the choice has not
	Regret   float64 // sum of the exact set's scores less the choice's
	Rank     int     // of the needle among the valid scores, from 1; 0 if it was not asked
	Margin   float64 // the needle's score above the best score outside the exact set, in units of their bounds together
}

// Measure returns the loss; needle is the index of a candidate of interest, or -1.
func (s Selection) Measure(needle int) Loss {
	var order []int
	for i := range s.Scores {
		if s.valid(i) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case s.Scores[a] > s.Scores[b]:
			return -1
		case s.Scores[a] < s.Scores[b]:
			return 1
		}
		return 0
	})
	k := min(max(s.K, 0), len(order))
	var l Loss
	var all, common float64
	for _, i := range order {
		all += math.Exp(s.Scores[i] - s.Scores[order[0]])
	}
	for _, i := range order[:k] {
		l.Regret += s.Scores[i]
		if slices.Contains(s.Chosen, i) {
			common++
		} else {
			l.LostMass += math.Exp(s.Scores[i]-s.Scores[order[0]]) / all
		}
	}
	for _, i := range s.Chosen {
		if i >= 0 && i < len(s.Scores) {
			l.Regret -= s.Scores[i]
		}
	}
	l.Jaccard = 1
	if union := float64(k+len(s.Chosen)) - common; union > 0 {
		l.Jaccard = common / union
	}
	if at := slices.Index(order, needle); at >= 0 {
		l.Rank = at + 1
		if k < len(order) {
			out := order[k]
			l.Margin = ratio(s.Scores[needle]-s.Scores[out], s.eps(needle)+s.eps(out))
		}
	}
	return l
}
