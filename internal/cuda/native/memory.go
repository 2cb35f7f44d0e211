package native

import (
	"runtime"
	"unsafe"
)

// pins keeps Go memory in place while C uses it.
type pins struct{ p runtime.Pinner }

func (p *pins) end() { p.p.Unpin() }

// address pins a value.
func address[T any](p *pins, v *T) uintptr {
	p.p.Pin(v)
	return uintptr(unsafe.Pointer(v))
}

// data pins a slice; 0 for an empty one.
func data[T any](p *pins, s []T) uintptr {
	if len(s) == 0 {
		return 0
	}
	return address(p, &s[0])
}

// text pins a string with the zero byte that C ends it by.
func text(p *pins, s string) uintptr { return data(p, append([]byte(s), 0)) }

// goString copies a C string of at most 4 KiB.
func goString(at uintptr) string {
	if at == 0 {
		return ""
	}
	p := *(*unsafe.Pointer)(unsafe.Pointer(&at)) // an address of the C library, which the collector does not move
	var out []byte
	for i := range 4096 {
		c := *(*byte)(unsafe.Add(p, i))
		if c == 0 {
			break
		}
		out = append(out, c)
	}
	return string(out)
}
