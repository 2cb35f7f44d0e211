package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/assay-suite/assay/internal/candidate"
	"github.com/assay-suite/assay/safetensors"
)

// guard is the size of the zone before and behind every buffer, bytes: a multiple of the 256 that allocations and
// vector loads are aligned to, and longer than one block of threads writes in a step.
const guard = 4096

// buffer is device memory between two guard zones of NaN.
type buffer struct {
	name  string
	dtype string
	size  int // bytes of data
	base  Ptr
	sent  []byte // what it held before the launch, of operands; nil for outputs and scratch
}

// data is where the operand begins.
func (b *buffer) data() Ptr { return b.base + guard }

// pattern repeats a dtype's NaN, or 0xa5 where it has none, over n bytes; phase keeps elements aligned to the data.
func pattern(dtype string, n int) []byte {
	bits, ok := candidate.NaN(dtype)
	width := safetensors.DType(dtype).Bits() / 8
	if !ok || width == 0 {
		return bytes.Repeat([]byte{0xa5}, n)
	}
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], bits)
	return bytes.Repeat(word[:width], n/width+1)[:n]
}

// place allocates a buffer for data and uploads it between its guards.
func place(d Device, name, dtype string, data []byte) (*buffer, error) {
	b := &buffer{name: name, dtype: dtype, size: len(data)}
	var err error
	if b.base, err = d.Alloc(len(data) + 2*guard); err != nil {
		return nil, fmt.Errorf("%d bytes for %q: %w", len(data), name, err)
	}
	return b, b.fill(d, data)
}

// fill writes data and both guards.
func (b *buffer) fill(d Device, data []byte) error {
	zone := pattern(b.dtype, guard)
	whole := append(append(append(make([]byte, 0, len(data)+2*guard), zone...), data...), zone...)
	if err := d.Upload(b.base, whole); err != nil {
		return fmt.Errorf("uploading %q: %w", b.name, err)
	}
	return nil
}

// take reads the data back and reports what a kernel wrote where it may not: in the guards, or in an operand.
func (b *buffer) take(d Device) ([]byte, error) {
	whole := make([]byte, b.size+2*guard)
	if err := d.Download(whole, b.base); err != nil {
		return nil, fmt.Errorf("reading %q: %w", b.name, err)
	}
	zone := pattern(b.dtype, guard)
	before, data, behind := whole[:guard], whole[guard:guard+b.size], whole[guard+b.size:]
	if at := differ(before, zone); at >= 0 {
		return nil, fmt.Errorf("a kernel wrote outside of %q: first at byte %d, %d bytes before its beginning", b.name,
			at-guard, guard-at)
	}
	if at := differ(behind, zone); at >= 0 {
		return nil, fmt.Errorf("a kernel wrote outside of %q: first at byte %d, %d bytes behind its end", b.name, b.size+at,
			at)
	}
	if at := differ(data, b.sent); b.sent != nil && at >= 0 {
		return nil, fmt.Errorf("a kernel wrote into the operand %q, which it may only read: first at byte %d of %d", b.name,
			at, b.size)
	}
	return data, nil
}

// differ is the first index where two equally long slices differ, -1 for none.
func differ(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// free overwrites the memory, so that a pointer kept too long reads NaN, and gives it back.
func (b *buffer) free(d Device, stream Handle) error {
	const poison = 0xff // NaN in every format of two bytes or more and in both fp8 ones; -1 as an index
	return errors.Join(d.Fill(b.base, poison, b.size+2*guard, stream), d.Sync(stream), d.Free(b.base))
}
