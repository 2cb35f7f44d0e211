package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/protocol"
)

// repetitions of a timed launch.
const repetitions = 30

// Timed is the time of a kernel at a shape.
type Timed struct {
	Op, Class, Path string
	Microseconds    float64 // median
	Spread          float64 // half the distance of the quartiles over the median
	Share           float64 // of the ceiling Of, the larger of the two where both are known
	Of              string  // "copy bandwidth", "bf16 peak", "fp8 peak"
	Rate            string  // "3100 GB/s", "410 TFLOP/s"
	First           float64 // seconds of the first launch, compilation with it
	How             string
	Ceilings        protocol.Ceilings
	NotTimed        string // why there is no time
}

// Name is what a golden calls it.
func (t Timed) Name() string { return t.Op + " " + t.Class }

// Times takes the times of what a worker offers, operator by operator, at the sizes of timeRows. A worker without a
// device's clock is not timed.
func (o Options) Times(ctx context.Context, under bench.Candidate, h bench.Hello) ([]Timed, error) {
	var out []Timed
	rows := timeRows()
	for _, s := range o.suites() {
		for _, f := range s.Families {
			can, offered := h.Ops[f.Op]
			if !offered {
				continue
			}
			if len(rows[f.Op]) == 0 {
				out = append(out, Timed{Op: f.Op, NotTimed: "no shape is listed for it"})
			}
			for _, row := range rows[f.Op] {
				t, err := o.time(ctx, f, row, can, under)
				if err != nil {
					return out, err
				}
				out = append(out, t)
				o.tick(1)
			}
		}
	}
	return out, nil
}

// time takes one time at the first scenario and contract whose facet the worker offers and whose call it answers at a
// small size: what it does not answer is not drawn at a large one.
func (o Options) time(ctx context.Context, f bench.Family, row timeRow, can bench.Capability,
	under bench.Candidate,
) (Timed, error) {
	t := Timed{Op: f.Op, Class: row.class}
	hello := bench.Hello{Ops: map[string]bench.Capability{f.Op: can}}
	var why []string
	for _, c := range timedCases(f) {
		small, err := bench.Retarget(c, can.MadeFor)
		if err != nil {
			continue
		}
		call, facet, err := bench.Drawn(small)
		if err != nil || !bench.Offers(hello, facet) {
			continue
		}
		_, err = under.Run(ctx, call)
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		if err == nil {
			return t, o.timeAt(ctx, &t, c, row, under)
		}
		if text := reason(err.Error()); !slices.Contains(why, text) {
			why = append(why, text)
		}
		if len(why) > 3 || !errors.Is(err, bench.ErrUnsupported) {
			break
		}
	}
	if t.NotTimed = strings.Join(why, "; "); t.NotTimed == "" {
		t.NotTimed = "it offers no facet of a plain layout"
	}
	return t, nil
}

// timeAt takes the time of a case at the row's sizes.
func (o Options) timeAt(ctx context.Context, t *Timed, c bench.Case, row timeRow, under bench.Candidate) error {
	call, _, err := timedCall(c, row)
	if err != nil {
		t.NotTimed = "no such case can be drawn: " + err.Error()
		return nil //nolint:nilerr // a row that cannot be drawn is told to the reader, and stops nothing
	}
	call.Time = repetitions
	reply, err := under.Run(ctx, call)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		t.NotTimed = reason(err.Error())
	case reply.Times == nil || len(reply.Times.Samples) == 0:
		t.NotTimed = "the worker has no clock of a device"
	default:
		t.take(*reply.Times, row, call)
		t.Path = reply.Path
	}
	return nil
}

// timedCases are the cases of a family that may be timed, at their first shapes: what Draw draws before what scenarios
// make of it.
func timedCases(f bench.Family) []bench.Case {
	var plain, changed []bench.Case
	for _, k := range f.Scenarios {
		if k.Full || k.Layout != nil || k.Relate != nil || len(k.Shapes) == 0 {
			continue
		}
		for _, contract := range f.Contracts {
			if k.Contracts != nil && !slices.Contains(k.Contracts, contract.Name) {
				continue
			}
			c := bench.Case{
				ID:     fmt.Sprintf("kernels/%s/time/%s/%s", f.Slug, k.Shapes[0].Name, contract.Name),
				Family: f, Scenario: k, Shape: k.Shapes[0], Contract: contract,
			}
			changed = append(changed, c)
			if k.Change != nil {
				c.Scenario.Change = nil
			}
			if !slices.ContainsFunc(plain, func(o bench.Case) bool { return o.Contract.Name == contract.Name }) {
				plain = append(plain, c)
			}
		}
	}
	return append(plain, changed...)
}

// timedCall draws a case at the row's sizes.
func timedCall(c bench.Case, row timeRow) (bench.Call, bench.Facet, error) {
	name := strings.ReplaceAll(row.class, " ", "-")
	c.Shape = bench.S(name, row.dims)
	c.ID = fmt.Sprintf("kernels/%s/time/%s/%s", c.Family.Slug, name, c.Contract.Name)
	return bench.Drawn(c)
}

// take turns samples into the median, its spread and the share of the ceiling.
func (t *Timed) take(times protocol.Times, row timeRow, call bench.Call) {
	s := slices.Clone(times.Samples)
	slices.Sort(s)
	t.Microseconds, t.First, t.How, t.Ceilings = s[len(s)/2], times.First, times.How, times.Ceilings
	t.Spread = (s[len(s)*3/4] - s[len(s)/4]) / 2 / t.Microseconds
	if times.Launches == 0 {
		t.How += ", with what the adapter does around the kernel"
	}
	moved := size(call)
	if row.bytes != nil {
		moved = row.bytes(row.dims)
	}
	gbs := moved / t.Microseconds / 1e3
	t.Rate, t.Of = fmt.Sprintf("%.0f GB/s", gbs), "copy bandwidth"
	if times.Ceilings.CopyGBs > 0 {
		t.Share = gbs / times.Ceilings.CopyGBs
	}
	if row.flops == nil {
		return
	}
	tflops := row.flops(row.dims) / t.Microseconds / 1e6
	peak, name := times.Ceilings.BF16, "bf16 peak"
	if row.fp8 {
		peak, name = times.Ceilings.FP8, "fp8 peak"
	}
	if peak > 0 && tflops/peak > t.Share {
		t.Share, t.Of, t.Rate = tflops/peak, name, fmt.Sprintf("%.0f TFLOP/s", tflops)
	}
}

// Slower says which kernels reach less of their ceiling than they did, and not by noise: the loss is above a tenth
// and than three times both spreads, the distances of quartiles of the repetitions.
func Slower(was map[string]WasTimed, now []Timed) []string {
	var out []string
	for _, t := range now {
		old, known := was[t.Name()]
		if !known || t.NotTimed != "" || old.Share <= 0 {
			continue
		}
		noise := max(0.1, 3*(t.Spread+old.Spread))
		if t.Share < old.Share*(1-noise) {
			out = append(out, fmt.Sprintf("slower: %s: %.2f of the %s, was %.2f", t.Name(), t.Share, t.Of, old.Share))
		}
	}
	return out
}

// WasTimed is what a golden keeps of a time.
type WasTimed struct {
	Share  float64 `json:"share"`
	Spread float64 `json:"spread"`
}
