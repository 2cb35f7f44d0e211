package native

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ebitengine/purego"
)

// Library is a loaded shared library.
type Library struct {
	name   string
	handle uintptr
	found  map[string]uintptr
}

// Open loads the first library of a list that can be loaded.
func Open(what string, names ...string) (*Library, error) {
	var errs []error
	for _, name := range names {
		h, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return &Library{name: name, handle: h, found: map[string]uintptr{}}, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("%s cannot be loaded; tried %s: %w", what, strings.Join(names, ", "), errors.Join(errs...))
}

// Close unloads it.
func (l *Library) Close() error { return purego.Dlclose(l.handle) }

// Symbol is the address of a function.
func (l *Library) Symbol(name string) (uintptr, error) {
	if at, ok := l.found[name]; ok {
		return at, nil
	}
	at, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0, fmt.Errorf("%s has no function %s: %w", l.name, name, err)
	}
	l.found[name] = at
	return at, nil
}

// Call calls a function of whole numbers and addresses, and returns its int.
func (l *Library) Call(name string, args ...uintptr) (int, error) {
	at, err := l.Symbol(name)
	if err != nil {
		return 0, err
	}
	r, _, _ := purego.SyscallN(at, args...)
	return int(int32(r)), nil
}

// callAddress calls a function that returns an address.
func callAddress(at uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(at, args...)
	return r
}

// CallText calls a function that returns a C string or NULL, which is an empty string.
func (l *Library) CallText(name string, args ...uintptr) (string, error) {
	at, err := l.Symbol(name)
	if err != nil {
		return "", err
	}
	return goString(callAddress(at, args...)), nil
}
