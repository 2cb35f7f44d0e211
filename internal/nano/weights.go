package nano

import (
	"errors"
	"fmt"
	"slices"

	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/safetensors"
)

// weights reads tensors of a checkpoint as float64, whatever they are stored in: fp32, bf16,
// block-fp8 with `.scale`, MXFP4 with `.scale`, NVFP4 with `.weight_scale` and `.weight_scale_2`.
// The first problem is kept in err, so that a loader can ask for everything and look once.
type weights struct {
	ckpt *safetensors.Checkpoint
	err  error
}

// mat reads a matrix [rows, cols]; a wrong shape is an error that names both.
func (w *weights) mat(name string, rows, cols int) oracle.Mat {
	if w.err != nil {
		return oracle.Mat{}
	}
	data, err := Dequantise(w.ckpt, name, []int{rows, cols})
	if err != nil {
		w.err = err
	}
	return oracle.Mat{Rows: rows, Cols: cols, Data: data}
}

func (w *weights) vec(name string, n int) []float64 {
	if w.err != nil {
		return nil
	}
	data, err := Dequantise(w.ckpt, name, []int{n})
	if err != nil {
		w.err = err
	}
	return data
}

// table reads tid2eid [vocab, k]: the experts of each token id, each of them below experts.
func (w *weights) table(name string, vocab, k, experts int) [][]int {
	if w.err != nil {
		return nil
	}
	info, ok := w.ckpt.Tensor(name)
	if !ok || !slices.Equal(info.Shape, []int{vocab, k}) {
		w.err = fmt.Errorf("%s: shape is %v, the config wants %v", name, info.Shape, []int{vocab, k})
		return nil
	}
	flat, err := w.ckpt.Int64s(name)
	if err != nil {
		w.err = err
		return nil
	}
	rows := make([][]int, vocab)
	for t := range rows {
		for _, e := range flat[t*k : (t+1)*k] {
			if e < 0 || e >= int64(experts) {
				w.err = fmt.Errorf("%s: token %d is routed to expert %d; there are %d", name, t, e, experts)
				return nil
			}
			rows[t] = append(rows[t], int(e))
		}
	}
	return rows
}

// Dequantise reads one tensor of a checkpoint exactly into float64, [shape] row-major, whatever it is stored in.
func Dequantise(ckpt *safetensors.Checkpoint, name string, shape []int) ([]float64, error) {
	info, ok := ckpt.Tensor(name)
	if !ok {
		return nil, fmt.Errorf("%s: the checkpoint has no such tensor", name)
	}
	var plan quant.Plan // these folders declare nothing: dtypes and names tell
	plan.Assume("block", [2]int{128, 128})
	w, faults := plan.Find(ckpt, name)
	if len(faults) > 0 {
		return nil, errors.New(faults[0].Text)
	}
	stored := info.Shape
	if w != nil && !w.Plain() {
		stored = []int{w.Rows, w.Cols}
	}
	if !slices.Equal(stored, shape) {
		return nil, fmt.Errorf("%s: stored shape is %v, the config wants %v", name, stored, shape)
	}
	if w != nil {
		return w.Read(0, w.Total())
	}
	if info.DType == safetensors.F64 {
		return ckpt.Float64s(name)
	}
	raw, err := ckpt.Bytes(name)
	if err != nil {
		return nil, err
	}
	f, err := format.ByDType(string(info.DType))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return format.DecodeBytes(f, raw)
}
