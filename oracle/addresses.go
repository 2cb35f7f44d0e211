package oracle

import (
	"fmt"
	"math"
)

// IndexWidth is the integer type that a kernel computes addresses in.
type IndexWidth int

const (
	// Int64 never wraps at sizes that exist.
	Int64 IndexWidth = iota
	// Int32 computes the whole offset in 32 bits, two's complement.
	Int32
	// Int32Page computes page·stride alone in 32 bits and adds the rest in 64, as a kernel with an int
	// page id and stride and a wide pointer does.
	Int32Page
	// Uint32 computes the whole offset in 32 bits without sign.
	Uint32
)

// CacheStrides are distances in a cache, in elements or in bytes, whichever the kernel counts in.
type CacheStrides struct{ Page, Token, Head int64 }

// Address is one access of a trace: where it should go and where it goes.
type Address struct {
	Token, Page    int
	Exact, Reached int64
}

// Wrapped says whether the access is out of place: below the cache when Reached is negative, silently
// to another row when it is not.
func (a Address) Wrapped() bool { return a.Exact != a.Reached }

// AddressTrace lists, for the tokens 0 .. tokens-1 of a sequence, the offset of a head's first element,
//
//	table[j div size]·Page + (j mod size)·Token + head·Head
//
// exactly and in the given width. Overflow of addresses is no function of a kernel's inputs and
// outputs unless the cache is gigabytes large; on page ids it is, and costs no memory. It fails as
// PageSlot does and when even 64 bits do not hold the exact offset.
//
// Source: vllm-project/vllm#47671 and #50427, ROCm/aiter#4427 (docs/sources.md).
func AddressTrace(table []int, size, tokens, head int, strides CacheStrides, width IndexWidth) ([]Address, error) {
	out := make([]Address, 0, max(tokens, 0))
	for j := range tokens {
		if _, err := PageSlot(table, size, j); err != nil {
			return nil, fmt.Errorf("address trace: %w", err)
		}
		page := int64(table[j/size])
		bound := float64(page)*math.Abs(float64(strides.Page)) + float64(size)*math.Abs(float64(strides.Token)) +
			math.Abs(float64(head)*float64(strides.Head))
		if bound >= 0x1p63 {
			return nil, fmt.Errorf("address trace: page %d times a stride of %d does not fit 64 bits", page, strides.Page)
		}
		base, rest := page*strides.Page, int64(j%size)*strides.Token+int64(head)*strides.Head
		a := Address{Token: j, Page: int(page), Exact: base + rest, Reached: base + rest}
		switch width {
		case Int64:
		case Int32:
			a.Reached = int64(wrap32(a.Exact))
		case Int32Page:
			a.Reached = int64(wrap32(base)) + rest
		case Uint32:
			a.Reached = a.Exact & math.MaxUint32
		}
		out = append(out, a)
	}
	return out, nil
}

// wrap32 keeps the low 32 bits, with the sign of bit 31: what int32 arithmetic leaves, since every
// intermediate result is right modulo 2^32.
func wrap32(v int64) int32 {
	return int32(uint32(v & math.MaxUint32))
}

// FirstWrappedPage is the smallest page id whose first element cannot be reached in the width: page ·
// stride leaves its range. A cache with fewer pages cannot show the fault. -1 for Int64, and for a
// stride below 1.
func FirstWrappedPage(stride int64, width IndexWidth) int64 {
	if stride < 1 || width == Int64 {
		return -1
	}
	largest := int64(math.MaxInt32)
	if width == Uint32 {
		largest = math.MaxUint32
	}
	return largest/stride + 1
}
