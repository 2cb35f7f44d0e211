package nano

import (
	"fmt"
	"slices"
	"strings"

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

// Dequantise reads one tensor of a checkpoint exactly into float64, [shape] row-major. The storage
// format is told by dtype and by the scale tensors beside it: see weights.
func Dequantise(ckpt *safetensors.Checkpoint, name string, shape []int) ([]float64, error) {
	info, ok := ckpt.Tensor(name)
	if !ok {
		return nil, fmt.Errorf("%s: the checkpoint has no such tensor", name)
	}
	block, packed, err := blockOf(ckpt, name, info)
	if err != nil {
		return nil, err
	}
	stored := slices.Clone(shape)
	if packed {
		stored[len(stored)-1] /= 2
	}
	if !slices.Equal(info.Shape, stored) {
		return nil, fmt.Errorf("%s: stored shape is %v, the config wants %v", name, info.Shape, stored)
	}
	raw, err := ckpt.Bytes(name)
	if err != nil {
		return nil, err
	}
	if block == nil {
		f, err := format.ByDType(string(info.DType))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return format.DecodeBytes(f, raw)
	}
	q, err := quantised(ckpt, name, shape, raw)
	if err != nil {
		return nil, err
	}
	data, err := block.Decode(q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// blockOf tells the block format of a tensor, nil when it is stored without scales.
func blockOf(ckpt *safetensors.Checkpoint, name string, info safetensors.Info) (block *format.Block, packed bool,
	err error,
) {
	base := strings.TrimSuffix(name, ".weight")
	_, hasScale := ckpt.Tensor(base + ".scale")
	_, hasScale2 := ckpt.Tensor(base + ".weight_scale_2")
	switch {
	case info.DType == "U8" && hasScale2:
		return &format.NVFP4, true, nil
	case info.DType == "U8" && hasScale:
		return &format.MXFP4, true, nil
	case info.DType == "F8_E4M3" && hasScale:
		return &format.BlockFP8, false, nil
	case info.DType == "U8" || info.DType == "F8_E4M3":
		return nil, false, fmt.Errorf("%s: stored as %s but neither %s.scale nor %s.weight_scale_2 is there to dequantise it",
			name, info.DType, base, base)
	}
	return nil, false, nil
}

func quantised(ckpt *safetensors.Checkpoint, name string, shape []int, raw []byte) (format.Quantised, error) {
	base := strings.TrimSuffix(name, ".weight")
	q := format.Quantised{Rows: shape[0], Cols: shape[1], Codes: raw}
	scale := base + ".scale"
	if _, ok := ckpt.Tensor(base + ".weight_scale_2"); ok {
		scale = base + ".weight_scale"
		global, err := ckpt.Float32s(base + ".weight_scale_2")
		if err != nil {
			return q, err
		}
		if len(global) != 1 {
			return q, fmt.Errorf("%s.weight_scale_2: %d values; the per-tensor scale is one", base, len(global))
		}
		q.TensorScale = global[0]
	}
	var err error
	q.Scales, err = ckpt.Bytes(scale)
	return q, err
}
