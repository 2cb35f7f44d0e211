package needle

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/assay-suite/assay/internal/stat"
)

// Alt is one alternative of a step: token text and natural log-probability.
type Alt struct {
	Text    string
	Logprob float64
}

// Step is one generated token with the alternatives that the server listed for its place (usually
// the top 20, the chosen one among them or not).
type Step struct {
	Alt
	Top []Alt
}

// Bound says how a margin is known.
type Bound string

// The bounds.
const (
	Measured Bound = "measured" // both sides stand in the list
	AtLeast  Bound = "at-least" // no rival in the list: the true margin is this or more
	AtMost   Bound = "at-most"  // the right digit is not in the list: the true margin is this or less
	Absent   Bound = "absent"   // not to be had; Nats is NaN
)

// Margin is the log-probability of a code's digit minus that of its best rival, in nats: positive
// when the right digit wins. Fault and noise show here long before a needle is lost.
type Margin struct {
	Nats  float64
	Bound Bound
	Step  int // index of the generated token that the digit stands in, -1 when absent
	// OffPath is set after a wrong digit: the model had its own mistake in context, so the margin
	// is not comparable with one of a right answer.
	OffPath bool
}

// Known reports whether the margin is a measured value on the right path, fit for pairing.
func (m Margin) Known() bool { return m.Bound == Measured && !m.OffPath }

// Margins returns one margin per digit of code for a generated answer.
//
// A token may hold one digit, several or the whole code ("4", "482", " 48213"). At digit j of a
// token the right side is the summed probability of all listed tokens that agree with the code up
// to j and on it, the rival the best listed token that agrees before j and not at j; tokens that
// left the code earlier, or end before j, decided nothing about j. With one digit per token this is
// log p(right) - max log p(other).
//
// The answer may have words before the code: it is read from where most of the code's digits
// follow one another, and without any digit from the first token, where something else won.
// Missing sides are bounded by the smallest listed log-probability and by the probability that the
// list leaves over; an unlisted right side is taken for one token.
func Margins(steps []Step, code string) []Margin {
	out := make([]Margin, len(code))
	for i := range out {
		out[i] = Margin{Nats: math.NaN(), Bound: Absent, Step: -1}
	}
	if len(steps) == 0 || code == "" || len(digitsOnly(code)) != len(code) {
		return out
	}
	pos, off := 0, false
	for t := codeStart(steps, code); t < len(steps) && pos < len(code); t++ {
		if pos > 0 && separator(steps[t].Text) {
			continue // "4 8 2 1 3" in a vocabulary with a blank token
		}
		own := leading(steps[t].Text)
		rest := code[pos:]
		n := max(1, min(len(own), len(rest)))
		for j := range n {
			m := margin(steps[t], func(text string) side { return digitSide(text, rest, j) })
			m.Step, m.OffPath = t, off
			out[pos+j] = m
			if j >= len(own) || own[j] != rest[j] {
				off = true
				break // later digits of a wrong token are no choice about the code
			}
		}
		if own == "" {
			break // no digit was written here: nothing later is aligned
		}
		if off && (len(own) != 1 || strings.Trim(steps[t].Text, blanks) != own) {
			break // a wrong token of several digits: alignment is lost
		}
		pos += n
	}
	return out
}

// codeStart finds the token at which the longest run of the code's digits begins; ties go to the
// first digit token, and an answer without digits starts at 0.
func codeStart(steps []Step, code string) int {
	best, at := -1, 0
	for s := range steps {
		if leading(steps[s].Text) == "" {
			continue
		}
		pos := 0
		for t := s; t < len(steps) && pos < len(code); t++ {
			if pos > 0 && separator(steps[t].Text) {
				continue
			}
			own := leading(steps[t].Text)
			if own == "" || !strings.HasPrefix(code[pos:], own) {
				break
			}
			pos += len(own)
		}
		if pos > best {
			best, at = pos, s
		}
	}
	return at
}

// listSlack covers the rounding of a list of probabilities: 20 x 2^-24 = 1.2e-6.
const listSlack = 1.2e-6

// side is where an alternative stands on a choice.
type side int

const (
	elsewhere side = iota // decided earlier, or not yet
	right
	rival
)

// digitSide is the side of a token text on digit j of rest.
func digitSide(text, rest string, j int) side {
	d := leading(text)
	switch {
	case j > 0 && (len(d) < j || d[:j] != rest[:j]):
		return elsewhere // left the code before j: that was decided at an earlier digit
	case len(d) > j && d[j] == rest[j]:
		return right
	case len(d) == j && j > 0:
		return elsewhere // ends before j: the next token decides
	}
	return rival
}

// margin is the margin of one choice at one step.
func margin(s Step, of func(text string) side) Margin {
	var good []float64
	best, lowest, listed := math.Inf(-1), math.Inf(1), 0.0
	alts := s.Top
	if !slices.ContainsFunc(alts, func(a Alt) bool { return a.Text == s.Text }) {
		alts = append([]Alt{s.Alt}, alts...) // sampled from below the list, or no list at all
	}
	for _, a := range s.Top {
		if !math.IsNaN(a.Logprob) && !math.IsInf(a.Logprob, 0) {
			lowest = math.Min(lowest, a.Logprob)
		}
	}
	for _, a := range alts {
		if math.IsNaN(a.Logprob) || math.IsInf(a.Logprob, 0) {
			continue
		}
		listed += math.Exp(a.Logprob)
		switch of(a.Text) {
		case right:
			good = append(good, a.Logprob)
		case rival:
			best = math.Max(best, a.Logprob)
		}
	}
	// What no list entry says: an unlisted token is no likelier than the least listed one, nor than
	// all that is left over. Listed probabilities come as fp32 logarithms, so that their sum is good
	// to some 20 x 2^-24 only.
	unseen := math.Min(lowest, math.Log(math.Max(0, 1-listed)+listSlack))
	r := stat.LogSumExp(good...)
	switch {
	case len(good) > 0 && !math.IsInf(best, -1):
		return Margin{Nats: r - best, Bound: Measured}
	case len(good) > 0:
		return Margin{Nats: r - unseen, Bound: AtLeast}
	case !math.IsInf(best, -1):
		return Margin{Nats: unseen - best, Bound: AtMost}
	}
	return Margin{Nats: math.NaN(), Bound: Absent}
}

// blanks are what may stand before a digit in its token: white space and its byte-pair marks.
const blanks = " \t\r\nĠ▁Ċ"

// leading returns the digits at the start of a token's text, blanks and byte-pair blank marks aside.
func leading(text string) string {
	t := strings.TrimLeft(text, blanks+"\"'*`")
	n := 0
	for n < len(t) && t[n] >= '0' && t[n] <= '9' {
		n++
	}
	return t[:n]
}

// separator reports whether a token holds nothing but blanks and light marks.
func separator(text string) bool {
	return text != "" && utf8.ValidString(text) && strings.Trim(text, blanks+",-*`_") == ""
}
