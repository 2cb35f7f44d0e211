package recall

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/suite"
)

// PaceCell is the family of questions that only measure how long a server takes; nothing is concluded from their
// answers.
const PaceCell Family = "pace"

// Pace is how long questions take, by their length, as many at once as the run has in flight.
type Pace struct {
	Short, Long float64 // seconds from the first count of tokens to the last answer
	At, Beyond  int     // tokens of a question of the two
	Parallel    int     // questions at once
}

// Seconds is what a cell adds to the time of a run: a straight line through the two lengths, shared by what is in
// flight.
func (p Pace) Seconds(c Cell) float64 {
	slope := 0.0
	if p.Beyond > p.At {
		slope = max(0, p.Long-p.Short) / float64(p.Beyond-p.At)
	}
	return max(p.Short/4, p.Short+slope*float64(c.Tokens-p.At)) / float64(max(1, p.Parallel))
}

// paceLengths are the two lengths that a plan is measured at: the shortest question, and a quarter of the longest, as
// where decoding takes the time a length near the shortest says nothing about long ones.
func (p Plan) paceLengths() (short, long int) {
	longest := 0
	for _, c := range p.Cells {
		longest = max(longest, c.Tokens)
	}
	return min(shortTokens, longest), min(longest, min(8192, max(512, longest/4)))
}

// PaceQuestions is how many questions Measure asks, and more where short ones take longer than long ones.
func PaceQuestions(parallel int) int { return 2*max(1, parallel) + 1 }

// Measure asks PaceQuestions, whose prompts no run had before: a long one outside of the clock, since engines compile
// kernels for a shape that is new to them, then at each length as many at once as the run has in flight. After each it
// calls step. It fails where fewer than half of a length's questions are answered.
func (a *Asker) Measure(ctx context.Context, plan Plan, parallel int, step func()) (Pace, error) {
	short, long := plan.paceLengths()
	p := Pace{At: short, Beyond: long, Parallel: max(1, parallel)}
	if _, err := a.timed(ctx, "warm", long, 1, step); err != nil {
		return p, err
	}
	var err error
	if p.Short, err = a.timed(ctx, "short", short, p.Parallel, step); err != nil {
		return p, err
	}
	if p.Long, err = a.timed(ctx, "long", long, p.Parallel, step); err != nil || p.Long >= p.Short {
		return p, err
	}
	again, err := a.timed(ctx, "short-again", short, p.Parallel, step) // the first of them opened a proxy's connections
	p.Short = min(p.Short, again)
	return p, err
}

// timed is how long n questions at once take. A server with one slot answers them one after the other, and one that
// batches all of them together: the time of all over n is what one adds to a run on both.
func (a *Asker) timed(ctx context.Context, name string, tokens, n int, step func()) (float64, error) {
	errs := make([]error, n)
	answered := 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	began := time.Now()
	for i := range n {
		id := fmt.Sprintf("fidelity/pace/%s/n-%d", name, i+1)
		c := Cell{
			Case:   suite.Case{ID: id, Claim: Claim, Cost: suite.Cost{Requests: 1, Tokens: tokens}},
			Family: PaceCell, Tokens: tokens, Depth: 0.5, Copies: 1, Prompt: id,
		}
		wg.Go(func() {
			o := a.put(ctx, a.build(ctx, c))
			mu.Lock()
			defer mu.Unlock()
			if o.Measured || o.Class == string(needle.Budget) {
				answered++
			} else {
				errs[i] = o.Err
			}
			step()
		})
	}
	wg.Wait()
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case 2*answered < n || answered == 0:
		return 0, fmt.Errorf("%d of %d questions of %d tokens were answered: %w", answered, n, tokens, errors.Join(errs...))
	}
	return time.Since(began).Seconds(), nil
}
