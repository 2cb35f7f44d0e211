package precision

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/safetensors"
)

// Options change what Measure does; the zero value measures everything.
type Options struct {
	Config []byte                  // config.json; nil takes the published constants of V4-Flash
	Base   *safetensors.Checkpoint // another checkpoint of the same model, to compare dequantised values with

	Candidate Candidate // in place of Emulate, in the products that rho judges
	Tokens    int       // rows of hidden states in those products; 0 is 8
	// index keys drawn for a selection where none are captured; 0 is 2,048, or twice index_topk if that is more
	Keys int

	Progress io.Writer // where progress with the time left is shown; nil for nowhere
	Style    report.Style

	// of an earlier run on the same checkpoint and states: complete steps among them are not measured again
	Done []Row
	Emit func(rows []Row) error // called with the rows of each step as soon as they are known, not with Done's
}

// Result is what Measure found.
type Result struct {
	Rows        []Row // worst first
	States      string
	Fingerprint string
	Notes       []string // sentences: what was assumed, drawn or left out
	Bytes       int64    // of tensor data read
	Seconds     float64
}

// GBps is the average over everything that Measure did, in 1e9 bytes a second.
func (r Result) GBps() float64 {
	if r.Seconds <= 0 {
		return 0
	}
	return float64(r.Bytes) / r.Seconds / 1e9
}

// Broken counts the rows that leave their own contract.
func (r Result) Broken() int {
	n := 0
	for _, row := range r.Rows {
		if row.Broken() {
			n++
		}
	}
	return n
}

// meter is one run of Measure.
type meter struct {
	*source
	set    settings
	states *States
	o      Options
	notes  []string
	bar    *report.Progress
}

const (
	emulated = 12
	summed   = 1.0 / 47
)

// job is a step with the cost that the time left is estimated from, in a twelfth of a multiplication that is emulated
// and bounded on six paths. An exact one costs a fiftieth of that (measured: 57 M against 2.7 G a second).
type job struct {
	name string
	cost float64
	run  func(ctx context.Context) ([]Row, error)
}

// Measure examines the precision-critical tensors of a checkpoint on hidden states. It fails on a tensor that cannot be
// read or whose shape fits no role, on a path that cannot be emulated, when Emit fails, and when ctx ends; what was
// emitted until then can be given to a later call as Options.Done.
func Measure(ctx context.Context, ckpt *safetensors.Checkpoint, states *States, o Options) (Result, error) {
	started := time.Now()
	set, defaulted, err := readSettings(o.Config)
	if err != nil {
		return Result{}, err
	}
	src, err := newSource(ckpt, o.Config)
	if err != nil {
		return Result{}, err
	}
	m := &meter{source: src, set: set, states: states, o: o}
	if len(defaulted) > 0 {
		m.note("not in config.json, so the published constants of V4-Flash are taken: %v", defaulted)
	}
	if m.o.Tokens <= 0 {
		m.o.Tokens = 8
	}
	if m.o.Candidate == nil {
		m.o.Candidate = Emulate
	}
	r := Result{States: states.Source}
	if r.Fingerprint, err = Fingerprint(ckpt); err != nil {
		return Result{}, err
	}
	jobs, err := m.jobs()
	if err != nil {
		return Result{}, err
	}
	if r.Rows, err = m.runAll(ctx, jobs, r); err != nil {
		return Result{}, fmt.Errorf("precision: %w", err)
	}
	sortWorstFirst(r.Rows)
	r.Notes, r.Bytes, r.Seconds = m.notes, m.bytes.Load(), time.Since(started).Seconds()
	return r, nil
}

func (m *meter) note(format string, args ...any) {
	m.notes = append(m.notes, fmt.Sprintf(format, args...))
}

// runAll runs the jobs one after another: each is parallel inside or small, and one tensor at a time bounds memory.
func (m *meter) runAll(ctx context.Context, jobs []job, of Result) ([]Row, error) {
	held := map[string][]Row{}
	for _, r := range m.o.Done {
		if r.Fingerprint == of.Fingerprint && r.States == of.States {
			held[r.Job] = append(held[r.Job], r)
		}
	}
	if len(m.o.Done) > 0 && len(held) == 0 {
		m.note("the earlier run measured another checkpoint, or on other states: nothing of it is taken over")
	}
	var cost float64
	for _, j := range jobs {
		cost += j.cost
	}
	if m.o.Progress != nil {
		m.bar = report.NewProgress(m.o.Progress, report.ProgressOptions{
			Label: "precision",
			Total: len(jobs),
			Cost:  cost,
			Style: m.o.Style,
		})
		defer m.bar.Done()
	}
	var out []Row
	for _, j := range jobs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if rows := held[j.name]; len(rows) > 0 && len(rows) == rows[0].Of {
			out = append(out, rows...)
			m.bar.AddCost(1, j.cost)
			continue
		}
		rows, err := j.run(ctx)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			rows[i].Job, rows[i].Of, rows[i].Fingerprint, rows[i].States = j.name, len(rows), of.Fingerprint, of.States
		}
		if m.o.Emit != nil && len(rows) > 0 {
			if err := m.o.Emit(rows); err != nil {
				return nil, fmt.Errorf("the rows of %s cannot be kept: %w", j.name, err)
			}
		}
		out = append(out, rows...)
		m.bar.AddCost(1, j.cost)
	}
	return out, nil
}
