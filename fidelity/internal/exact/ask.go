package exact

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// Phase is how a prompt is asked.
type Phase string

// The phases. Cold and warm prompts are asked alone, a batch sixteen at once.
const (
	Cold    Phase = "cold"
	Warm    Phase = "warm"
	Batched Phase = "batched"

	first Phase = "first" // what the model is recognised by
	again Phase = "again" // cold once more, to tell warm-up from slowness
)

// Phases are the phases in the order of asking.
func Phases() []Phase { return []Phase{Cold, Warm, Batched} }

// Seen is one answer.
type Seen struct {
	Cell    int
	Phase   Phase
	Exact   bool // the code and nothing else
	Text    string
	Prompt  endpoint.Count
	Cached  endpoint.Count
	Margins [digits]float64 // nats; NaN where it is not known
	Lists   [digits]float64 // mean square against the exact list, nats squared; NaN where nothing is in both
	Seconds float64
	Err     error

	tokens []endpoint.Token
}

// Asker puts the prompts of a reference to a server.
type Asker struct {
	Client *endpoint.Client // with the model set
	Wide   *endpoint.Client // the same without a limit of requests in flight below sixteen
	Flight endpoint.Preflight
	Nonce  string // of the run
	Saw    func() // called for every answer

	keep   func(Cell) bool // for tests; nil: all cells
	phases []Phase         // for tests; nil: all
}

// answerTokens is the code, its end, and what an answer that goes on shows of it.
const answerTokens = digits + 3

// Ask sends every prompt cold and again warm, one after the other, then the bursts. Cells that the context window does
// not hold are left out. An endpoint that cannot be reached and a done context end it with an error.
func (a *Asker) Ask(ctx context.Context, r Reference, all []Prompt) ([]Seen, error) {
	var out []Seen
	bursts := map[int][]int{}
	for i, c := range r.Cells {
		if a.tooLong(c) {
			continue
		}
		if c.Burst > 0 {
			bursts[c.Burst] = append(bursts[c.Burst], i)
		}
		for _, phase := range []Phase{Cold, Warm} {
			if a.phases != nil && !slices.Contains(a.phases, phase) {
				continue
			}
			s := a.put(ctx, a.Client, r, all[i], i, phase)
			if out = append(out, s); fatal(ctx, s.Err) {
				return out, s.Err
			}
		}
	}
	for n := 1; n <= len(bursts) && (a.phases == nil || slices.Contains(a.phases, Batched)); n++ {
		group := make([]Seen, len(bursts[n]))
		var wg sync.WaitGroup
		for k, i := range bursts[n] {
			wg.Go(func() { group[k] = a.put(ctx, a.Wide, r, all[i], i, Batched) })
		}
		wg.Wait()
		out = append(out, group...)
		for _, s := range group {
			if fatal(ctx, s.Err) {
				return out, s.Err
			}
		}
	}
	return out, nil
}

func fatal(ctx context.Context, err error) bool {
	return endpoint.IsUnreachable(err) || ctx.Err() != nil
}

// tooLong reports whether a cell is left out.
func (a *Asker) tooLong(c Cell) bool {
	return a.Flight.Window.Known && c.Length+answerTokens > a.Flight.Window.N || a.keep != nil && !a.keep(c)
}

// leftOut counts those cells, and says from what length on.
func (a *Asker) leftOut(r Reference) (n, least int) {
	for _, c := range r.Cells {
		if a.tooLong(c) {
			if n++; n == 1 {
				least = c.Length
			}
		}
	}
	return n, least
}

// put asks the prompt of a cell and compares the answer with a reference.
func (a *Asker) put(ctx context.Context, on *endpoint.Client, r Reference, p Prompt, cell int, phase Phase) Seen {
	s := a.send(ctx, on, p, cell, phase)
	s.read(p.Code, r.Digits[cell*digits:(cell+1)*digits])
	return s
}

// send asks the prompt of a cell.
func (a *Asker) send(ctx context.Context, on *endpoint.Client, p Prompt, cell int, phase Phase) Seen {
	s := Seen{Cell: cell, Phase: phase}
	request := endpoint.ChatRequest{
		Messages: ask.User(p.Text),
		Sampling: endpoint.Sampling{MaxTokens: answerTokens, TopLogprobs: a.Flight.Logprobs()},
	}
	if a.Flight.State("cache-salt") == endpoint.Supported {
		arm := phase
		if phase == Warm {
			arm = Cold // once more
		}
		request.Extra = map[string]any{"cache_salt": fmt.Sprintf("%s/exact/%s/%d", a.Nonce, arm, cell)}
	}
	began := time.Now()
	ans, err := on.Chat(ctx, request)
	s.Seconds, s.Err = time.Since(began).Seconds(), err
	if a.Saw != nil {
		a.Saw()
	}
	if err == nil {
		s.Text, s.Prompt, s.Cached, s.tokens = ans.Text, ans.Usage.Prompt, ans.Usage.Cached, ans.Tokens
		s.Exact = strings.TrimSpace(needle.Visible(ans.Text)) == p.Code
	}
	return s
}

// read takes margins and lists of the digits, up to the first that went wrong: what follows has another context.
func (s *Seen) read(code string, want []Digit) {
	for i := range digits {
		s.Margins[i], s.Lists[i] = math.NaN(), math.NaN()
	}
	steps := make([]needle.Step, len(s.tokens))
	for i, t := range s.tokens {
		steps[i].Alt = needle.Alt{Text: t.Text, Logprob: t.Logprob}
		for _, alt := range t.Top {
			steps[i].Top = append(steps[i].Top, needle.Alt{Text: alt.Token, Logprob: alt.Logprob})
		}
	}
	for i, m := range needle.Margins(steps, code) {
		if i >= digits || m.OffPath || m.Bound == needle.Absent {
			break
		}
		if m.Bound == needle.AtMost || m.Bound == needle.Measured {
			s.Margins[i] = m.Nats
		}
		var ids []int
		var logs []float64
		for _, alt := range s.tokens[m.Step].Top {
			if id, ok := tokenID(alt.Token); ok {
				ids, logs = append(ids, id), append(logs, alt.Logprob)
			}
		}
		if sq, n := want[i].apart(ids, logs); n >= fewest/2 {
			s.Lists[i] = sq
		}
	}
}

// wrongFrame reports whether the server read another number of tokens than the prompt has.
func (s *Seen) wrongFrame(c Cell) (more int, yes bool) {
	if s.Err != nil || !s.Prompt.Known {
		return 0, false
	}
	return s.Prompt.N - c.Length, s.Prompt.N != c.Length
}
