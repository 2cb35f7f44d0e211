package precision

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/assay-suite/assay/internal/checkpoint"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/safetensors"
)

// source reads tensors of a checkpoint by canonical name as float64, in strips of rows, whatever spelling and storage.
// Each goroutine needs a view of its own.
type source struct {
	ckpt   *safetensors.Checkpoint
	places map[string]place
	names  []string // canonical, sorted
	bytes  *atomic.Int64

	cached string // weight whose scales are held
	scales scaling
}

// view is the same checkpoint for another goroutine.
func (s *source) view() *source {
	return &source{ckpt: s.ckpt, places: s.places, names: s.names, bytes: s.bytes}
}

// place is where a canonical tensor lies: rows 0 means all of the stored tensor.
type place struct {
	stored     string
	from, rows int
}

func newSource(ckpt *safetensors.Checkpoint) *source {
	s := &source{ckpt: ckpt, places: map[string]place{}, bytes: new(atomic.Int64)}
	for _, stored := range ckpt.Names() {
		s.places[checkpoint.Canonical(stored)] = place{stored: stored}
	}
	// SGLang stores a compressor's wkv over its wgate in one tensor.
	for canon, p := range s.places {
		stem, fused := strings.CutSuffix(canon, "compressor.wkv_gate.weight")
		info, _ := ckpt.Tensor(p.stored)
		if !fused || len(info.Shape) != 2 {
			continue
		}
		half := info.Shape[0] / 2
		s.places[stem+"compressor.wkv.weight"] = place{p.stored, 0, half}
		s.places[stem+"compressor.wgate.weight"] = place{p.stored, half, half}
	}
	for canon := range s.places {
		s.names = append(s.names, canon)
	}
	slices.Sort(s.names)
	return s
}

func (s *source) has(canon string) bool { _, ok := s.places[canon]; return ok }

// shape is rows and columns in elements; a vector is one row. ok is false for anything else.
func (s *source) shape(canon string) (rows, cols int, ok bool) {
	p, there := s.places[canon]
	info, known := s.ckpt.Tensor(p.stored)
	if !there || !known {
		return 0, 0, false
	}
	switch len(info.Shape) {
	case 0:
		rows, cols = 1, 1
	case 1:
		rows, cols = 1, info.Shape[0]
	case 2:
		rows, cols = info.Shape[0], info.Shape[1]
	default:
		return 0, 0, false
	}
	if packed(info.DType) && s.scaleName(canon) != "" {
		cols *= 2
	}
	if p.rows > 0 {
		rows = p.rows
	}
	return rows, cols, true
}

func packed(d safetensors.DType) bool { return d == safetensors.U8 || d == safetensors.I8 }

// scaleName finds the block scales of a weight.
func (s *source) scaleName(canon string) string {
	stem := strings.TrimSuffix(canon, ".weight")
	for _, suffix := range []string{".weight_scale", ".scale"} {
		if stem != canon && s.has(stem+suffix) {
			return stem + suffix
		}
	}
	return ""
}

// all reads a whole tensor, a vector as one row.
func (s *source) all(canon string) (oracle.Mat, error) {
	rows, _, ok := s.shape(canon)
	if !ok {
		return oracle.Mat{}, fmt.Errorf("%s: the checkpoint has no such vector or matrix", canon)
	}
	return s.rows(canon, 0, rows)
}

// optional is all for a tensor that may be missing: then no rows.
func (s *source) optional(canon string) (oracle.Mat, error) {
	if !s.has(canon) {
		return oracle.Mat{}, nil
	}
	return s.all(canon)
}

// rows reads rows [from, to).
func (s *source) rows(canon string, from, to int) (oracle.Mat, error) {
	_, cols, ok := s.shape(canon)
	if !ok {
		return oracle.Mat{}, fmt.Errorf("%s: the checkpoint has no such vector or matrix", canon)
	}
	p := s.places[canon]
	info, _ := s.ckpt.Tensor(p.stored)
	var raw []byte
	var err error
	if len(info.Shape) < 2 {
		raw, err = s.ckpt.Bytes(p.stored)
	} else {
		raw, err = s.ckpt.Rows(p.stored, p.from+from, p.from+to)
	}
	if err != nil {
		return oracle.Mat{}, err
	}
	s.bytes.Add(int64(len(raw)))
	scaled := s.scaleName(canon) != ""
	f, err := elementFormat(info.DType, scaled)
	if err != nil {
		return oracle.Mat{}, fmt.Errorf("%s: %w", p.stored, err)
	}
	data, err := format.DecodeBytes(f, raw)
	if err != nil {
		return oracle.Mat{}, fmt.Errorf("%s: %w", p.stored, err)
	}
	m := oracle.Mat{Rows: to - from, Cols: cols, Data: data}
	if len(data) != m.Rows*m.Cols {
		return oracle.Mat{}, fmt.Errorf("%s: %d values do not fill [%d, %d]", p.stored, len(data), m.Rows, m.Cols)
	}
	if !scaled {
		return m, nil
	}
	scales, err := s.scalesOf(canon, info.DType)
	if err != nil {
		return oracle.Mat{}, err
	}
	scales.apply(m, p.from+from)
	return m, nil
}

func elementFormat(d safetensors.DType, scaled bool) (format.Format, error) {
	switch {
	case packed(d) && scaled, d == safetensors.F4:
		return format.E2M1, nil
	case d == safetensors.F8E4M3 && !scaled:
		return format.Format{}, fmt.Errorf("stored as %s without scales beside it; fetch them", d)
	}
	f, err := format.ByDType(string(d))
	if err != nil {
		return f, fmt.Errorf("stored as %s, which has no float values: %w", d, err)
	}
	return f, nil
}

// scaling is a grid of block scales with the tensor's own factor in it.
type scaling struct {
	grid                 oracle.Mat
	blockRows, blockCols int
}

func (k scaling) apply(m oracle.Mat, from int) {
	for i := range m.Rows {
		row, grid := m.Row(i), k.grid.Row((from+i)/k.blockRows)
		for j := range row {
			row[j] *= grid[j/k.blockCols]
		}
	}
}

func (s *source) scalesOf(canon string, d safetensors.DType) (scaling, error) {
	if s.cached == canon {
		return s.scales, nil
	}
	k, err := s.readScales(canon, d)
	if err == nil {
		s.scales, s.cached = k, canon
	}
	return k, err
}

func (s *source) readScales(canon string, d safetensors.DType) (scaling, error) {
	name := s.scaleName(canon)
	stored := s.places[name].stored
	info, _ := s.ckpt.Tensor(stored)
	raw, err := s.ckpt.Bytes(stored)
	if err != nil {
		return scaling{}, err
	}
	s.bytes.Add(int64(len(raw)))
	f := format.E8M0 // some writers have no name for it and store bytes
	if info.DType != safetensors.U8 {
		if f, err = format.ByDType(string(info.DType)); err != nil {
			return scaling{}, fmt.Errorf("%s: %w", stored, err)
		}
	}
	values, err := format.DecodeBytes(f, raw)
	if err != nil {
		return scaling{}, fmt.Errorf("%s: %w", stored, err)
	}
	stem := strings.TrimSuffix(canon, ".weight")
	if s.has(stem + ".weight_scale_2") {
		global, err := s.all(stem + ".weight_scale_2")
		if err != nil {
			return scaling{}, err
		}
		if len(global.Data) != 1 {
			return scaling{}, fmt.Errorf("%s.weight_scale_2: %d values, want the one factor of the tensor", stem,
				len(global.Data))
		}
		for i := range values {
			values[i] *= global.Data[0]
		}
	}
	weight, _ := s.ckpt.Tensor(s.places[canon].stored)
	rows, cols := weight.Shape[0], weight.Shape[1]
	if packed(d) {
		cols *= 2
	}
	k := scaling{grid: oracle.Mat{Rows: 1, Cols: len(values), Data: values}}
	switch len(info.Shape) {
	case 2:
		k.grid.Rows, k.grid.Cols = info.Shape[0], info.Shape[1]
	case 1:
		if len(values) == rows { // one a row
			k.grid.Rows, k.grid.Cols = rows, 1
		}
	}
	if k.blockRows, k.blockCols = block(rows, k.grid.Rows),
		block(cols, k.grid.Cols); k.blockRows == 0 || k.blockCols == 0 {
		return k, fmt.Errorf("%s: scales of shape %v do not divide the weight [%d, %d] into equal blocks", stored, info.Shape,
			rows, cols)
	}
	return k, nil
}

// block is the side of n equal blocks of a length: 128 with a short last one, or an even division; 0 for neither.
func block(length, n int) int {
	switch {
	case n == (length+127)/128:
		return 128
	case n > 0 && length%n == 0:
		return length / n
	}
	return 0
}

// Fingerprint names a checkpoint by its tensors' names, dtypes and shapes and by the bytes of those that are examined
// (hc_*_fn, gates, biases, index projections): "sha256:" and 16 hexadecimal digits. Checkpoints that differ in other
// weights alone share it.
func Fingerprint(ckpt *safetensors.Checkpoint) (string, error) {
	s := newSource(ckpt)
	h := sha256.New()
	for _, canon := range s.names {
		info, _ := ckpt.Tensor(s.places[canon].stored)
		fmt.Fprintf(h, "%s %s %v\n", canon, info.DType, info.Shape)
		if _, ok := kindOf(canon); !ok {
			continue
		}
		raw, err := ckpt.Bytes(s.places[canon].stored)
		if err != nil {
			return "", fmt.Errorf("fingerprint: %w", err)
		}
		h.Write(raw)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))[:16], nil
}
