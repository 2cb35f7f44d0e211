package recall

import (
	"context"
	"fmt"
	"slices"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/stat"
	"github.com/assay-suite/assay/internal/suite"
)

// Replicas is what became of the same greedy questions, asked several times one after the other, each time on a
// connection of its own: whatever a context does to a model, it does it every time, so that answers which disagree are
// those of replicas, or of an engine that does not repeat itself.
type Replicas struct {
	Standing Standing // Absent: not asked; Inconclusive: answers disagree, too few to call it a fault
	Asked    int      // answers that count
	Wrong    int      // of the prompts that were also answered rightly
	Ties     int      // wrong answers to prompts of which the right ones too hang by a near tie, which noise decides
	Of       int      // answers to those
	Period   int      // right and wrong by turns of so many; 0: not
	Values   int      // of the needle's margin, where there are several and each came several times; 0: not so
	Text     string
}

const (
	replicaFault = 0.05 // share of wrong answers, beyond what a sound model misses, that is a fault
	replicaAlpha = 0.01 // one-sided, exact
	replicaMore  = 10   // how often a question is asked again once its answers disagree
	replicaTie   = 1.0  // nats of a near tie
	replicaShown = 3    // how often a margin's value must have come to be one of several
)

// replicaCells are the questions: a short one, and longer ones with the needle far from their end, which is what a
// broken replica loses.
func (p Plan) replicaCells(b Budget) (cells []Cell, times int) {
	shapes := []struct {
		tokens int
		depth  float64
	}{{256, 0.5}, {1024, 0.1}, {2048, 0.3}}
	times = 6
	if b == Smoke {
		shapes, times = shapes[:2], 4
	}
	longest := 0
	for _, c := range p.Cells {
		longest = max(longest, c.Tokens)
	}
	for i, s := range shapes {
		id := fmt.Sprintf("fidelity/replicas/n-%d", i+1)
		tokens := min(s.tokens, longest)
		cells = append(cells, Cell{
			Case:   suite.Case{ID: id, Claim: Claim, Cost: suite.Cost{Requests: times, Tokens: times * tokens}},
			Family: ReplicaCell, Tokens: tokens, Depth: s.depth, Copies: 1, Repeat: i, Prompt: id,
		})
	}
	return cells, times
}

// ReplicaCell is the family of questions that are asked again and again.
const ReplicaCell Family = "replicas"

// AskReplicas asks them. Its error is the end of ctx or a server that went away.
func (a *Asker) AskReplicas(ctx context.Context, p Plan, b Budget) (Replicas, error) {
	cells, times := p.replicaCells(b)
	fresh := &Asker{Asker: a.Asker, Haystack: a.Haystack, RunNonce: a.RunNonce, builder: a.builder}
	fresh.Client = a.Client.Fresh()
	var byPrompt [][]Observation
	for _, c := range cells {
		q := fresh.build(ctx, c)
		var answers []Observation
		most := times
		for n := 0; n < most && q.ready; n++ {
			o := fresh.put(ctx, q)
			switch {
			case ctx.Err() != nil:
				return Replicas{}, context.Cause(ctx)
			case endpoint.IsUnreachable(o.Err):
				return Replicas{}, o.Err
			case o.Measured:
				answers = append(answers, o)
			}
			if n == times-1 && disagree(answers) {
				most += replicaMore
			}
		}
		byPrompt = append(byPrompt, answers)
	}
	return JudgeReplicas(byPrompt)
}

func disagree(answers []Observation) bool {
	return slices.ContainsFunc(answers, func(o Observation) bool { return o.Hit != answers[0].Hit })
}

// JudgeReplicas judges the answers, by prompt and in the order in which they came. A prompt that is never answered
// rightly says nothing here.
func JudgeReplicas(byPrompt [][]Observation) (Replicas, error) {
	r := Replicas{Standing: Absent}
	var pattern []bool // of the disagreeing prompts, one after the other
	for _, answers := range byPrompt {
		r.Asked += len(answers)
		hits, _ := Count(answers, func(Observation) bool { return true })
		if hits == 0 {
			continue
		}
		r.Of, r.Wrong = r.Of+len(answers), r.Wrong+len(answers)-hits
		if hits < len(answers) {
			for _, o := range answers {
				pattern = append(pattern, o.Hit)
			}
			if atTie(answers) {
				r.Ties += len(answers) - hits
			}
		}
		r.Values = max(r.Values, valuesOf(answers))
	}
	if r.Asked == 0 {
		return r, nil
	}
	r.Standing = Held
	r.Text = fmt.Sprintf("%d identical questions on connections of their own are answered alike", r.Asked)
	if r.Values > 1 {
		r.Text += fmt.Sprintf(", with log-probabilities that take %d values: replicas that compute differently, or an "+
			"engine with so many states", r.Values)
	}
	if r.Wrong == 0 {
		return r, nil
	}
	atLeast, err := stat.LowerBound(r.Wrong-r.Ties, r.Of, 1-replicaAlpha)
	if err != nil {
		return r, err
	}
	r.Period = periodOf(pattern)
	what := "replicas that differ, or an engine that does not repeat itself"
	if r.Period > 0 {
		what = fmt.Sprintf("every answer repeats the one %d before it: one or more of %d replicas that take turns", r.Period,
			r.Period)
	}
	r.Standing = Inconclusive
	r.Text = fmt.Sprintf("the same question, asked again on another connection, is answered rightly and wrongly: %d of "+
		"%d wrong; %s", r.Wrong, r.Of, what)
	if r.Ties > 0 {
		r.Text += fmt.Sprintf("; %d of the wrong ones where the right ones hang by less than %g nat too", r.Ties, replicaTie)
	}
	if atLeast > replicaFault {
		r.Standing = Regressed
	}
	return r, nil
}

// atTie reports whether no answer to a prompt is sure of its digits, right or wrong: then noise of the sums decides.
func atTie(answers []Observation) bool {
	for _, o := range answers {
		if m, ok := o.MinMargin(); !ok || m > replicaTie || m < -replicaTie {
			return false
		}
	}
	return true
}

// periodOf is the shortest period from 2 to 8 that the answers keep through at least three turns; 0 for none.
func periodOf(hits []bool) int {
	for p := 2; p <= 8 && 3*p <= len(hits); p++ {
		keeps := true
		for i := p; i < len(hits) && keeps; i++ {
			keeps = hits[i] == hits[i-p]
		}
		if keeps {
			return p
		}
	}
	return 0
}

// valuesOf is how many values the smallest margin of identical answers takes, where they are several and all but the
// first answer's, which was computed cold, came several times; 0 otherwise.
func valuesOf(answers []Observation) int {
	count := map[string]int{}
	for i, o := range answers {
		if m, ok := o.MinMargin(); ok && i > 0 && o.Hit {
			count[fmt.Sprintf("%.6g", m)]++
		}
	}
	for _, n := range count {
		if n < replicaShown {
			return 0
		}
	}
	if len(count) < 2 {
		return 0
	}
	return len(count)
}
