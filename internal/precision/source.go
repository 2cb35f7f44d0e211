package precision

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/assay-suite/assay/internal/checkpoint"
	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/safetensors"
)

// source reads tensors of a checkpoint by canonical name as float64, in strips of rows, whatever spelling and storage.
// Each goroutine needs a view of its own.
type source struct {
	ckpt   *safetensors.Checkpoint
	plan   *quant.Plan
	places map[string]place
	names  []string // canonical, sorted
	bytes  *atomic.Int64

	cached string // stored name of the weight that is held
	weight *quant.Weight
}

// view is the same checkpoint for another goroutine.
func (s *source) view() *source {
	return &source{ckpt: s.ckpt, plan: s.plan, places: s.places, names: s.names, bytes: s.bytes}
}

// place is where a canonical tensor lies: rows 0 means all of the stored tensor.
type place struct {
	stored     string
	from, rows int
}

// newSource reads by the scheme that config declares; nil declares nothing.
func newSource(ckpt *safetensors.Checkpoint, config []byte) (*source, error) {
	plan, err := quant.ParsePlan(config, nil)
	if err != nil {
		return nil, fmt.Errorf("precision: %w", err)
	}
	plan.Headers(ckpt.Metadata())
	s := &source{ckpt: ckpt, plan: plan, places: map[string]place{}, bytes: new(atomic.Int64)}
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
	return s, nil
}

func (s *source) has(canon string) bool { _, ok := s.places[canon]; return ok }

// find assembles the weight of a canonical name; nil for a vector, for what is no weight, and for what does not decode,
// for which the error says why.
func (s *source) find(canon string) (*quant.Weight, error) {
	stored := s.places[canon].stored
	if s.cached == stored && stored != "" {
		return s.weight, nil
	}
	w, faults := s.plan.Find(s.ckpt, stored)
	if len(faults) > 0 {
		return nil, errors.New(faults[0].Text)
	}
	s.cached, s.weight = stored, w
	return w, nil
}

// shape is rows and columns in elements; a vector is one row. ok is false for anything else.
func (s *source) shape(canon string) (rows, cols int, ok bool) {
	p, there := s.places[canon]
	info, known := s.ckpt.Tensor(p.stored)
	if !there || !known {
		return 0, 0, false
	}
	switch len(info.Shape) {
	case 0:
		return 1, 1, true
	case 1:
		return 1, info.Shape[0], true
	case 2:
		rows, cols = info.Shape[0], info.Shape[1]
	default:
		return 0, 0, false
	}
	if w, err := s.find(canon); err == nil && w != nil {
		rows, cols = w.Rows, w.Cols
	}
	if p.rows > 0 {
		rows = p.rows
	}
	return rows, cols, true
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
	m := oracle.Mat{Rows: to - from, Cols: cols}
	w, err := s.find(canon)
	switch {
	case err != nil:
		return oracle.Mat{}, err
	case w != nil:
		s.bytes.Add(info.Size * int64(to-from) / int64(max(1, w.Rows)))
		m.Data, err = w.Read(p.from+from, p.from+to)
	default:
		var f format.Format
		if f, err = format.ByDType(string(info.DType)); err != nil {
			return oracle.Mat{}, fmt.Errorf("%s: stored as %s, which has no float values: %w", p.stored, info.DType, err)
		}
		var raw []byte
		if raw, err = s.ckpt.Bytes(p.stored); err == nil {
			s.bytes.Add(int64(len(raw)))
			m.Data, err = format.DecodeBytes(f, raw)
		}
	}
	if err != nil {
		return oracle.Mat{}, fmt.Errorf("%s: %w", p.stored, err)
	}
	if len(m.Data) != m.Rows*m.Cols {
		return oracle.Mat{}, fmt.Errorf("%s: %d values do not fill [%d, %d]", p.stored, len(m.Data), m.Rows, m.Cols)
	}
	return m, nil
}

// Fingerprint names a checkpoint by its tensors' names, dtypes and shapes and by the bytes of those that are examined
// (hc_*_fn, gates, biases, index projections): "sha256:" and 16 hexadecimal digits. Checkpoints that differ in other
// weights alone share it.
func Fingerprint(ckpt *safetensors.Checkpoint) (string, error) {
	s, err := newSource(ckpt, nil)
	if err != nil {
		return "", err
	}
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
