package job

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/inside"
	"github.com/assay-suite/assay/oracle"
)

// Inside is what a candidate's kernel does inside nano-v4: one line an operator.
type Inside struct {
	Op       string
	Embedded bool // into V4-Flash's sizes, since it refused nano-v4's
	Recall   inside.Recall
	Exact    inside.Recall // of the same prompts without it
	Shifts   []float64     // of each prompt's smallest margin, nats
	Shift    float64       // the largest of them
	Calls    int
	Path     string
	DType    string       // of the activations that the kernel was given
	Contract string       // that its cases were accepted under; empty: they were not
	Range    *insideRange // of that contract's emulation; nil: never derived, margins are not judged
	Err      error        // why there is no recall
}

// String is the sentence of the report.
func (i Inside) String() string {
	if i.Err != nil {
		return fmt.Sprintf("%s inside nano-v4: not measured: %v", i.Op, i.Err)
	}
	sizes := ""
	if i.Embedded {
		sizes = " (embedded into V4-Flash's sizes)"
	}
	limit := "; no range of its contract is known, so margins are not judged"
	if i.Range != nil {
		limit = fmt.Sprintf(" (%s: %.2g)", i.Contract, i.Range.Shift)
	}
	return fmt.Sprintf("%s inside nano-v4%s keeps %d of %d needles at %d tokens, the exact model %d; margins move by at "+
		"most %.2g nats%s; %d calls",
		i.Op, sizes, i.Recall.Found, i.Recall.Of, i.Recall.Tokens, i.Exact.Found, i.Shift, limit, i.Calls)
}

// InsideOptions of RunInside.
type InsideOptions struct {
	Needles, Tokens, Chunk int
	After                  func() error // after every prompt
}

// RunInside puts every operator that a candidate offers, and that has a place there, into nano-v4, one at a time.
func RunInside(ctx context.Context, under bench.Candidate, o InsideOptions) ([]Inside, error) {
	h, err := under.Hello(ctx)
	if err != nil {
		return nil, err
	}
	folder, err := fs.Sub(fixtures.FS, "nano-v4")
	if err != nil {
		return nil, err
	}
	m, err := nano.Load(folder, oracle.Reference())
	if err != nil {
		return nil, err
	}
	m = m.Fast() // all but the operator that is replaced; its noise is far below the floor of a range
	after := func(int) error {
		if o.After == nil {
			return nil
		}
		return o.After()
	}
	var exact inside.Recall
	var out []Inside
	for _, op := range inside.Replaceable() {
		can, offered := h.Ops[op]
		if !offered {
			continue
		}
		if exact.Of == 0 {
			if exact, err = inside.Needles(ctx, m, o.Needles, o.Tokens, o.Chunk, after); err != nil {
				return out, err
			}
		}
		line := Inside{Op: op, Exact: exact, DType: reads(can)}
		for _, sizes := range []inside.Sizes{{}, inside.Flash()} {
			k := inside.NewKernels(ctx, under, sizes, reads(can))
			ops, err := k.Ops(m.Ops(), op)
			if err != nil {
				return out, err
			}
			line.Recall, err = inside.Needles(ctx, m.With(ops), o.Needles, o.Tokens, o.Chunk, func(n int) error {
				if err := k.Err(); err != nil {
					return err
				}
				return after(n)
			})
			line.Calls, line.Path = k.Calls(op)
			if line.Err = k.Err(); line.Err == nil {
				line.Err = err
			}
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			if line.Embedded = sizes != (inside.Sizes{}); !bench.Unsupported(line.Err) {
				break
			}
		}
		for i := range min(len(line.Recall.Margins), len(exact.Margins)) {
			line.Shifts = append(line.Shifts, math.Abs(line.Recall.Margins[i]-exact.Margins[i]))
			line.Shift = max(line.Shift, line.Shifts[i])
		}
		out = append(out, line)
	}
	return out, nil
}

// reads is the dtype of activations that a candidate takes: fp32 unless it names others.
func reads(can bench.Capability) string {
	if len(can.DTypes) > 0 && !slices.Contains(can.DTypes, bench.F32) {
		return bench.BF16
	}
	return bench.F32
}
