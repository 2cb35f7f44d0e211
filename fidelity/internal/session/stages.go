package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// ask sends the plan, once or several times, with progress, and then what the gate wants besides; observations reach
// the ledger as they come. It leaves the judgement of the first run. whole is the plan of all shards.
func (j Job) ask(ctx context.Context, d *Done, whole recall.Plan, nonce string) error {
	for r := range max(1, j.Repeats) {
		a := j.asker(d, nonce, r)
		if err := a.Prepare(ctx); err != nil {
			return err
		}
		have := j.answered(d.Plan.Cells, r)
		obs, err := j.send(ctx, d, a, d.Plan.Cells, have, r)
		if err != nil {
			if r == 0 {
				d.Observations = obs
			}
			return err
		}
		d.Restored += len(have)
		d.Repeats = append(d.Repeats, obs)
		if r > 0 {
			continue
		}
		d.Observations = obs
		// the engine of this process has no replicas
		if !j.Deterministic && suite.PartOf(replicaUnit, j.Shard.Count) == j.Shard.Index {
			if d.replicas, err = a.AskReplicas(ctx, whole, j.Budget); err != nil {
				return err
			}
			d.replicasAsked = true
		}
		if j.Shard.Count > 0 {
			continue // judged by Merge
		}
		if err := j.decide(ctx, d, a); err != nil {
			return err
		}
	}
	return nil
}

func (j Job) asker(d *Done, nonce string, repeat int) *recall.Asker {
	a := &recall.Asker{
		Asker:    ask.Asker{Client: j.Client.WithModel(d.Flight.Model), Flight: d.Flight},
		Haystack: j.Haystack,
		RunNonce: fmt.Sprintf("%s-%d", nonce, repeat), Parallel: j.Parallel, CurlRoot: j.CurlRoot,
	}
	if j.Dir != "" && repeat == 0 {
		a.Store = filepath.Join(j.Dir, "requests")
		a.Shown = j.Shown(a.Store)
	}
	return a
}

// context is what judging a run knows beside its answers.
func (j Job) context(d *Done) recall.Context {
	return recall.Context{
		Replicas: d.replicas, Budget: j.Budget, Golden: d.Golden, Deterministic: j.Deterministic,
		Reported:   d.Flight.State("cached-tokens") == endpoint.Supported,
		NoLogprobs: d.Flight.State("logprobs") == endpoint.Unsupported && !d.sameKind(),
	}
}

// sameKind reports whether the golden's server was of a known kind and this one is of it as well: log-probabilities
// that it gave then can be had, and their absence is a gap.
func (d *Done) sameKind() bool {
	kind := d.Server.Kind
	return d.Golden != nil && kind != "" && kind != string(endpoint.KindUnknown) && d.Golden.Server.Kind == kind
}

// decide judges, and while the gate wants more cells asks them and judges again. The stages were declared before the
// first answer, and each is asked to its end.
func (j Job) decide(ctx context.Context, d *Done, a *recall.Asker) error {
	x := j.context(d)
	asked := map[string]bool{}
	for {
		var err error
		if d.Judgement, err = recall.Judge(d.Plan, d.Observations, x); err != nil {
			return err
		}
		if d.Judgement.Golden == nil || j.Repeats > 1 {
			return nil
		}
		var cells []recall.Cell
		for _, c := range d.Plan.More(d.Judgement.Golden.More()) {
			if !asked[c.ID] {
				asked[c.ID] = true
				cells = append(cells, c)
			}
		}
		if len(cells) == 0 {
			return nil
		}
		have := j.answered(cells, 0)
		obs, err := j.send(ctx, d, a, cells, have, 0)
		if err != nil {
			return err
		}
		d.Restored += len(have)
		d.Observations = append(d.Observations, obs...)
		d.Added += len(cells)
	}
}

// send asks the cells that have no answer yet, and returns the observations of all in their order. What is taken over
// goes into this run's ledger too, so that this run can be continued in its turn.
func (j Job) send(
	ctx context.Context,
	d *Done,
	a *recall.Asker,
	cells []recall.Cell,
	have map[string]recall.Observation,
	repeat int,
) ([]recall.Observation,
	error,
) {
	var failed error
	out := make([]recall.Observation, len(cells))
	var todo []recall.Cell
	var at []int
	cost := 0.0
	for i, c := range cells {
		if o, ok := have[c.ID]; ok {
			out[i] = o
			failed = errors.Join(failed, j.ledger(o, repeat, ""))
			continue
		}
		todo, at = append(todo, c), append(at, i)
		cost += d.pace.Seconds(c)
	}
	if failed != nil || len(todo) == 0 {
		return out, failed
	}
	var bar *report.Progress
	if j.Live != nil {
		bar = report.NewProgress(j.Live, report.ProgressOptions{
			Label: "recall",
			Total: len(todo),
			Cost:  cost, Expect: time.Duration(cost * float64(time.Second)),
			Style: j.Style,
			Now:   j.Now,
		})
	}
	defer bar.Done()
	a.Saw = func(o recall.Observation) {
		bar.AddCost(1, d.pace.Seconds(o.Cell))
		failed = errors.Join(failed, j.ledger(o, repeat, ""))
	}
	obs, err := a.Ask(ctx, todo)
	for k, o := range obs {
		out[at[k]] = o
	}
	return out, errors.Join(err, failed)
}
