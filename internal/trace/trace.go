// Package trace reads recorded forward passes: every intermediate tensor of one prompt as another
// implementation computed it (fixtures/nano-v4/hf_trace_*.safetensors and files of the same form, gzipped or not).
package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"strings"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/safetensors"
)

// Trace is one recorded pass. Per-token tensors hold the last Kept of Length positions.
type Trace struct {
	Name         string
	Prompt       []int
	Length, Kept int

	tensors map[string]tensor
}

type tensor struct {
	shape []int
	data  []float64
}

// same begins the metadata keys of a repacked trace that name a tensor which is not stored, because it equals another,
// the key's value, bit for bit.
const same = "same:"

// Open reads a trace. It must carry the int tensor "prompt" and the metadata "length" and
// "kept_last_positions" (0 = all); metadata "same:NAME" gives the tensor that NAME equals.
func Open(fsys fs.FS, name string) (_ *Trace, err error) {
	raw, err := fixtures.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("the trace cannot be read: %w", err)
	}
	f, err := safetensors.NewReader(bytes.NewReader(raw), int64(len(raw)), name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	t := &Trace{Name: path.Base(name), tensors: map[string]tensor{}}
	for _, key := range f.Names() {
		info, _ := f.Tensor(key)
		data, err := numbers(f, key, info.DType)
		if err != nil {
			return nil, err
		}
		t.tensors[key] = tensor{info.Shape, data}
	}
	for key, twin := range f.Metadata() {
		alias, ok := strings.CutPrefix(key, same)
		if !ok {
			continue
		}
		if t.tensors[alias], ok = t.tensors[twin]; !ok {
			return nil, fmt.Errorf("%s: metadata says that %q equals %q, which the file does not have", name, alias, twin)
		}
	}
	if t.Length, err = metaInt(f, "length"); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if t.Kept, err = metaInt(f, "kept_last_positions"); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if t.Kept == 0 {
		t.Kept = t.Length
	}
	for _, id := range t.tensors["prompt"].data {
		t.Prompt = append(t.Prompt, int(id))
	}
	if len(t.Prompt) != t.Length || t.Kept > t.Length {
		return nil, fmt.Errorf("%s: metadata says %d tokens with the last %d kept, the tensor \"prompt\" has %d", name,
			t.Length, t.Kept, len(t.Prompt))
	}
	return t, nil
}

func numbers(f *safetensors.File, key string, dtype safetensors.DType) ([]float64, error) {
	if dtype == "I32" {
		v, err := f.Int64s(key)
		return widen(v), err
	}
	v, err := f.Float32s(key)
	return widen(v), err
}

func widen[T int64 | float32](v []T) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

func metaInt(f *safetensors.File, key string) (int, error) {
	n, err := strconv.Atoi(f.Metadata()[key])
	if err != nil || n < 0 {
		return 0, fmt.Errorf("metadata %q is %q; a trace says there how many tokens it has or keeps", key, f.Metadata()[key])
	}
	return n, nil
}

// Names lists the recorded tensors in order.
func (t *Trace) Names() []string {
	var names []string
	for name := range t.tensors {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Has tells whether a tensor was recorded.
func (t *Trace) Has(name string) bool {
	_, ok := t.tensors[name]
	return ok
}

// Shape is a tensor's recorded shape, nil when it was not recorded.
func (t *Trace) Shape(name string) []int { return t.tensors[name].shape }

// Mat is a tensor with all leading dimensions folded into rows, cols elements each: cols 0 keeps
// the last dimension. A name that was not recorded gives no rows.
func (t *Trace) Mat(name string, cols int) oracle.Mat {
	x, ok := t.tensors[name]
	if !ok || len(x.shape) == 0 {
		return oracle.Mat{}
	}
	if cols == 0 {
		cols = x.shape[len(x.shape)-1]
	}
	return oracle.Mat{Rows: len(x.data) / cols, Cols: cols, Data: x.data}
}

// Sets is an integer tensor as one set per row, negative entries (padding) left out.
func (t *Trace) Sets(name string) [][]int {
	m := t.Mat(name, 0)
	sets := make([][]int, m.Rows)
	for i := range sets {
		sets[i] = []int{}
		for _, v := range m.Row(i) {
			if v >= 0 {
				sets[i] = append(sets[i], int(v))
			}
		}
		sort.Ints(sets[i])
	}
	return sets
}
