package diagnosis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/stat"
)

// alpha is what a contrast must undercut. An arm of eight all right beside eight all wrong has p = 1/C(16,8) = 7.8e-5
// and is the least that names a cause; fifty runs with some forty contrasts each then give a false one in a fifth of
// cases at most, and less, as exact tests are discrete.
const alpha = 1e-4

// luck bounds the share of answers that fall into a class by chance on a sound server: a random code of five digits is
// within two edits of another in 1.1 % of cases, and junk, foreign codes or empty answers are rarer.
const luck = 0.011

// group is some arms together.
type group struct {
	what    string
	runs    int
	right   int
	lost    int // unmeasured
	arms    int
	classes map[string]int
	shows   []string
}

func (g *group) add(a evidence.Arm) {
	g.lost += a.Unmeasured
	if a.Runs == 0 {
		return
	}
	g.runs += a.Runs
	g.right += a.Right
	g.arms++
	if g.classes == nil {
		g.classes = map[string]int{}
	}
	for c, n := range a.Classes {
		g.classes[c] += n
	}
	g.shows = append(g.shows, a.Shows...)
}

// join adds another group's runs.
func (g group) join(o group) group {
	g.runs, g.right, g.arms = g.runs+o.runs, g.right+o.right, g.arms+o.arms
	return g
}

func (g group) wrong() int { return g.runs - g.right }

// share is the part of the wrong answers in the classes; 0 without a wrong answer.
func (g group) share(classes ...string) float64 {
	n := 0
	for _, c := range classes {
		n += g.classes[c]
	}
	if g.wrong() == 0 {
		return 0
	}
	return float64(n) / float64(g.wrong())
}

func (g group) count(classes ...string) int {
	n := 0
	for _, c := range classes {
		n += g.classes[c]
	}
	return n
}

// rate is the share of right answers, NaN where nothing was measured.
func (g group) rate() float64 {
	if g.runs == 0 {
		return math.NaN()
	}
	return float64(g.right) / float64(g.runs)
}

func (g group) String() string { return fmt.Sprintf("%s: %d/%d right", g.what, g.right, g.runs) }

// with is the group and its classes of wrong answers in words.
func (g group) with() string {
	s := g.String()
	var parts []string
	for _, c := range slices.Sorted(keys(g.classes)) {
		if c != "exact" && c != "ok" && g.classes[c] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", g.classes[c], c))
		}
	}
	if len(parts) > 0 && g.wrong() > 0 {
		s += " (" + strings.Join(parts, ", ") + ")"
	}
	return s
}

func keys(m map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// state is what the evidence says to a question: yes and no need enough runs, unknown is everything else.
type state int

const (
	unknown state = iota
	no
	yes
)

// answer is a state with the line that shows it, and what it rests on.
type answer struct {
	state state
	line  string
	runs  int
	arms  int
	p     float64
	doubt string // why it may be so and another mechanism behind it; empty: none is known
}

func (a answer) not() answer {
	switch a.state {
	case yes:
		a.state = no
	case no:
		a.state = yes
	}
	return a
}

func is(ok bool, format string, args ...any) answer {
	a := answer{state: no, line: fmt.Sprintf(format, args...)}
	if ok {
		a.state = yes
	}
	return a
}

// worse asks whether bad is worse than good: Fisher's exact test, one-sided. It is no where bad is at least as good, or
// right in 9 of 10 cases and p above 0.05.
func worse(good, bad group) answer {
	a := answer{line: good.String() + "; " + bad.with(), runs: good.runs + bad.runs, arms: good.arms + bad.arms, p: 1}
	if good.runs == 0 || bad.runs == 0 {
		return a
	}
	p, err := stat.FisherExact(good.right, good.wrong(), bad.right, bad.wrong(), stat.Greater)
	if err != nil {
		return a
	}
	a.p = p
	switch {
	case p <= alpha:
		a.state = yes
	case bad.rate() >= good.rate(), bad.runs >= 4 && bad.rate() >= 0.9 && p > 0.05:
		a.state = no
	}
	return a
}

// beyondLuck asks whether a group has more answers of some classes than luck gives: exact binomial test, one-sided.
func beyondLuck(g group, classes ...string) answer {
	n := g.count(classes...)
	a := answer{
		line: fmt.Sprintf("%s; %d of %d %s", g.String(), n, g.runs, strings.Join(classes, " or ")),
		runs: g.runs,
		arms: g.arms,
		p:    binomialTail(n, g.runs, luck),
	}
	switch {
	case g.runs == 0:
	case a.p <= alpha:
		a.state = yes
	case n == 0, g.runs >= 100 && a.p >= 0.05: // none, or what luck gives
		a.state = no
	}
	return a
}

// binomialTail is P(X >= k) of n trials with chance q.
func binomialTail(k, n int, q float64) float64 {
	if k <= 0 {
		return 1
	}
	sum := 0.0
	for i := k; i <= n; i++ {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(i + 1))
		c, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(a - b - c + float64(i)*math.Log(q) + float64(n-i)*math.Log1p(-q))
	}
	return math.Min(1, sum)
}

// mostly asks whether a group is right in at least the share of cases; groups below 4 runs say nothing.
func mostly(g group, share float64) answer {
	a := answer{line: g.with(), runs: g.runs, arms: g.arms}
	if g.runs < 4 {
		return a
	}
	a.state = no
	if g.rate() >= share {
		a.state = yes
	}
	return a
}

// babbles is the share of wrong answers without language, by class, or by the examples kept where these say more: a
// loop of digits can pass for a number by its class.
func (g group) babbles() float64 {
	n := 0
	for _, s := range g.shows {
		if babble(s) {
			n++
		}
	}
	share := g.share("junk", "cut-off")
	if len(g.shows) > 0 {
		share = math.Max(share, float64(n)/float64(len(g.shows)))
	}
	return share
}

// babble says that a text is a short piece again and again, or mostly signs.
func babble(s string) bool {
	rs := []rune(strings.TrimSpace(s))
	if len(rs) < 12 {
		return len(rs) >= 4 && signs(rs)*2 >= len(rs)
	}
	for period := 1; period <= 24 && period*4 <= len(rs); period++ {
		same := 0
		for i := period; i < len(rs); i++ {
			if rs[i] == rs[i-period] {
				same++
			}
		}
		if same*10 >= 9*(len(rs)-period) {
			return true
		}
	}
	return signs(rs)*10 >= 4*len(rs)
}

func signs(rs []rune) int {
	n := 0
	for _, r := range rs {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}
