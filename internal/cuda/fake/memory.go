package fake

import (
	"encoding/binary"
	"math"

	"github.com/assay-suite/assay/internal/cuda"
)

// Memory is device memory as a kernel in Go sees it. An access outside of every allocation is an illegal address.
type Memory struct {
	blocks map[cuda.Ptr][]byte
	next   cuda.Ptr
	broken bool
}

// bytes are n bytes at p, nil where they are not all of one allocation.
func (m *Memory) bytes(p cuda.Ptr, n int) []byte {
	for base, b := range m.blocks {
		if p >= base && p+cuda.Ptr(n) <= base+cuda.Ptr(len(b)) {
			return b[p-base:][:n]
		}
	}
	m.broken = true
	return nil
}

// F32 reads element i of an array of fp32 at p; NaN after an illegal address.
func (m *Memory) F32(p cuda.Ptr, i int) float32 {
	if b := m.bytes(p+cuda.Ptr(4*i), 4); b != nil {
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	}
	return float32(math.NaN())
}

// SetF32 writes element i of an array of fp32 at p.
func (m *Memory) SetF32(p cuda.Ptr, i int, v float32) {
	if b := m.bytes(p+cuda.Ptr(4*i), 4); b != nil {
		binary.LittleEndian.PutUint32(b, math.Float32bits(v))
	}
}
