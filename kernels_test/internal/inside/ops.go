package inside

import (
	"context"
	"fmt"
	"sync"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// Replaceable lists the operators that a candidate can take over inside the model.
func Replaceable() []string {
	return []string{"indexer_logits", "topk", "sparse_attention", "mhc_pre", "mhc_post"}
}

// Kernels are a candidate's kernels in the place of operators. An operator cannot return an error, so that the first
// one is kept, and everything after it is the oracle's.
type Kernels struct {
	ctx   context.Context
	under bench.Candidate
	sizes Sizes
	dtype string // of queries and caches: what the candidate reads

	mu    sync.Mutex
	err   error
	calls map[string]int
	paths map[string]string
}

// NewKernels makes them. dtype is bench.F32 or bench.BF16.
func NewKernels(ctx context.Context, under bench.Candidate, sizes Sizes, dtype string) *Kernels {
	return &Kernels{
		ctx:   ctx,
		under: under,
		sizes: sizes,
		dtype: dtype,
		calls: map[string]int{},
		paths: map[string]string{},
	}
}

// Err is the first error of a call.
func (k *Kernels) Err() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// Calls counts the calls of an operator, and says what path the last one took.
func (k *Kernels) Calls(op string) (n int, path string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.calls[op], k.paths[op]
}

// Ops puts the named operators in the place of the given ones.
func (k *Kernels) Ops(ops oracle.Ops, replaced ...string) (oracle.Ops, error) {
	for _, op := range replaced {
		switch op {
		case "indexer_logits":
			ops.IndexerLogits = k.indexer(ops.IndexerLogits)
		case "topk":
			ops.SelectRows = k.topK(oneByOne(ops.SelectTopK))
		case "sparse_attention":
			ops.Attention = k.attention(ops.Attention)
		case "mhc_pre":
			ops.HCCollapse = k.collapse(ops)
		case "mhc_post":
			ops.HCPost = k.spread(ops.HCPost)
		default:
			return ops, fmt.Errorf("operator %q has no place inside the model; %q have", op, Replaceable())
		}
	}
	return ops, nil
}

// call asks the candidate; ok is false once anything has failed.
func (k *Kernels) call(op, phase string, p bench.Problem, output string, rows, cols int) (oracle.Mat, bool) {
	out, ok := k.callAll(op, phase, p)
	v := out[output].Data
	if !ok {
		return oracle.Mat{}, false
	}
	if len(v) != rows*cols {
		k.fail(fmt.Errorf("%s inside the model: output %q has %d elements, want %d x %d", op, output, len(v), rows, cols))
		return oracle.Mat{}, false
	}
	return oracle.Mat{Rows: rows, Cols: cols, Data: v}, true
}

func (k *Kernels) callAll(op, phase string, p bench.Problem) (map[string]bench.Storage, bool) {
	if k.Err() != nil {
		return nil, false
	}
	r, err := k.under.Run(k.ctx, p.Call(op, "kernels/inside/"+op, phase))
	if err != nil {
		k.fail(fmt.Errorf("%s inside the model: %w", op, err))
		return nil, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls[op]++
	k.paths[op] = r.Path
	return r.Outputs, true
}

func (k *Kernels) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
	}
}

// phase is what a call of some rows is in an engine.
func phase(rows int) string {
	if rows == 1 {
		return "decode"
	}
	return "prefill"
}

func floats(dtype string, m oracle.Mat, shape ...int) bench.Operand {
	return bench.Floats(dtype, append([]float64(nil), m.Data...), shape...)
}

func flat(lists [][]int) []int {
	var out []int
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}
