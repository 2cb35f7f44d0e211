package probe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/fidelity/internal/selfcheck"
	"github.com/assay-suite/assay/fidelity/internal/totals"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// Runner runs the probes against one server.
type Runner struct {
	o     Options
	s     sizes
	epoch int
	l     *ledger
	set   evidence.Set

	rough, exact needle.Builder
	counter      string         // how prompts are counted
	ratio        float64        // tokens a word or mark
	edge         int            // where the length sweep lost needles; 0: nowhere
	grown        map[[2]int]int // prompt tokens of a chat after so many turns

	mu       sync.Mutex
	answers  []totals.Answer
	logs     selfcheck.Logprobs
	requests int
	tokens   int
}

// New checks the options. It sends nothing and opens no file.
func New(o Options) (*Runner, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return &Runner{o: o, s: o.sizes()}, nil
}

// errCap says that the token cap is reached.
var errCap = errors.New("the token cap is reached")

// Run asks everything and returns the evidence, also beside an error: what was measured until then. It fails when the
// server cannot be reached, the context is done, the ledger is of another run, or tokens cannot be counted at all.
// A probe that fails by itself is noted in the evidence and the next one begins.
func (r *Runner) Run(ctx context.Context) (evidence.Set, error) {
	r.set = evidence.Set{Server: string(r.o.Survey.Identity.Kind), Budget: string(r.o.Budget)}
	if r.o.Survey.Identity.Kind == endpoint.KindUnknown {
		r.set.Server = ""
	}
	h := head{
		Ledger:   1,
		Seed:     r.o.Seed,
		Nonce:    r.o.Nonce,
		Budget:   r.o.Budget,
		Model:    r.o.Client.Model(),
		Haystack: r.o.Haystack.SHA256,
		Disrupt:  r.o.Disrupt,
	}
	var err error
	if r.l, err = openLedger(r.o.Ledger, &h); err != nil {
		return r.set, err
	}
	r.o.Nonce, r.epoch, r.edge, r.grown = h.Nonce, r.l.epoch, 0, map[[2]int]int{}
	err = r.all(ctx)
	if found := r.logs.Finding(); found != "" {
		r.set.Say(evidence.Logprobs, "finding", found)
	}
	return r.set, errors.Join(err, r.l.close())
}

func (r *Runner) all(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	for _, p := range r.probes() {
		if why := r.leftOut(p); why != "" {
			r.set.Leave(p.name, why)
			continue
		}
		err := p.run(ctx, &task{r: r, probe: p.name})
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case endpoint.IsUnreachable(err), errors.Is(err, errLedger):
			return fmt.Errorf("probe %s: %w", p.name, err)
		case errors.Is(err, errCap):
			r.set.Leave(p.name, fmt.Sprintf("the cap of %d tokens left no room for its cases", r.o.TokenCap))
		default:
			r.set.Leave(p.name, r.o.Client.Redact(err.Error()))
		}
	}
	return nil
}

// task is one probe at work.
type task struct {
	r     *Runner
	probe string
}

// id names a case of this probe.
func (t *task) id(format string, args ...any) string {
	return t.probe + "/" + fmt.Sprintf(format, args...)
}

func (t *task) number(name string, v float64) { t.r.set.Set(t.probe, name, v) }

func (t *task) say(name, v string) { t.r.set.Say(t.probe, name, v) }

var errLedger = errors.New("the ledger cannot be written")

// take runs cases, at most Parallel at once, counts their answers in order, and returns them, nil for a case that was
// not done. Cases of an earlier run are not asked again. On error the cases that were done are counted all the same.
func (t *task) take(ctx context.Context, units ...unit) ([][]Record, error) {
	out := make([][]Record, len(units))
	var full atomic.Bool
	err := ask.Each(ctx, t.r.o.Parallel, len(units), func(i int) bool { return units[i].together },
		func(ctx context.Context, i int) error {
			if full.Load() {
				return nil
			}
			rs, err := t.r.unit(ctx, t.probe, units[i])
			if errors.Is(err, errCap) { // what is in flight is paid for
				full.Store(true)
				return nil
			}
			out[i] = rs
			return err
		})
	for i, rs := range out {
		if rs != nil && units[i].settle != nil {
			units[i].settle(rs)
		}
		t.tally(units[i], rs)
		for _, v := range rs {
			t.count(v)
		}
	}
	if full.Load() && err == nil {
		err = errCap
	}
	return out, err
}

// count puts an answer into its arm. An error of the server is shown beside it.
func (t *task) count(v Record) {
	if v.Arm == "" {
		return
	}
	shows := v.Text
	if v.Error != "" {
		shows = v.Error
		if !v.Measured {
			t.say("error-"+v.Arm, v.Error)
		}
	}
	t.r.set.Count(t.probe, v.Arm, v.At, v.Class, v.Right, v.Measured, shows)
}

// unit asks one case, or takes it from the ledger.
func (r *Runner) unit(ctx context.Context, name string, u unit) ([]Record, error) {
	if rs := r.l.answers(u.id, len(u.steps)); rs != nil {
		r.progress(name, u, true)
		return rs, nil
	}
	cost := u.cost()
	r.mu.Lock()
	full := r.o.TokenCap > 0 && r.tokens+cost.Tokens > r.o.TokenCap
	if !full {
		r.tokens += cost.Tokens
	}
	r.mu.Unlock()
	if full {
		return nil, errCap
	}
	rs := make([]Record, len(u.steps))
	errs := make([]error, len(u.steps))
	do := func(i int) {
		if rs[i], errs[i] = r.step(ctx, u, i); errs[i] == nil {
			if err := r.l.add(rs[i]); err != nil {
				errs[i] = fmt.Errorf("%w: %w", errLedger, err)
			}
		}
	}
	if !u.together {
		for i := range u.steps {
			if do(i); errs[i] != nil {
				return nil, errs[i]
			}
		}
		r.progress(name, u, false)
		return rs, nil
	}
	var wg sync.WaitGroup
	for i := range u.steps {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	r.progress(name, u, false)
	return rs, nil
}

func (r *Runner) progress(name string, u unit, replayed bool) {
	if r.o.Progress == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.o.Progress(Progress{Probe: name, Case: u.id, Requests: r.requests, Tokens: r.tokens, Replayed: replayed})
}
