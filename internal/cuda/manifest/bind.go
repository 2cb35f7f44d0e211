package manifest

import (
	"fmt"
	"math"
	"slices"
)

// Tensor is an operand of a call as it lies in memory: sizes and strides in elements.
type Tensor struct {
	DType          string
	Shape, Strides []int
}

// Bound is a manifest at the shapes and attributes of one call.
type Bound struct {
	m     Manifest
	names map[string]Value
}

// MismatchError says why a manifest does not compute a call: another dtype or shape, an operand too many, a requirement
// that does not hold. Such a call is unsupported.
type MismatchError struct{ Why string }

// Error is the reason.
func (e *MismatchError) Error() string { return e.Why }

func mismatch(format string, args ...any) error { return &MismatchError{fmt.Sprintf(format, args...)} }

// Bind finds the dimensions of a call. Errors are *MismatchError.
func (m Manifest) Bind(tensors map[string]Tensor, outputs map[string]Tensor, attrs map[string]any) (*Bound, error) {
	b := &Bound{m: m, names: map[string]Value{}}
	for key, raw := range attrs {
		if v, err := Of(raw); err == nil { // a list is no value; an expression that names it says so
			b.names[key] = v
		}
	}
	for _, part := range []struct {
		what  string
		has   map[string]Tensor
		wants []Operand
	}{{"operand", tensors, m.In}, {"output", outputs, m.Out}} {
		for have := range part.has {
			if !slices.ContainsFunc(part.wants, func(o Operand) bool { return o.Name == have }) {
				return nil, mismatch("the call has the %s %q, which the manifest does not list", part.what, have)
			}
		}
		for _, o := range part.wants {
			t, given := part.has[o.Name]
			b.names[o.Name+".given"] = Int(0)
			if !given && !o.Optional {
				return nil, mismatch("the call has no %s %q", part.what, o.Name)
			}
			if !given {
				continue
			}
			if err := b.tensor(o, t); err != nil {
				return nil, err
			}
		}
	}
	for _, l := range m.Let {
		v, err := l.Expr.Eval(b.lookup)
		if err != nil {
			return nil, mismatch("let %s: %v", l.Name, err)
		}
		b.names[l.Name] = v
	}
	for _, e := range m.Require {
		v, err := e.Eval(b.lookup)
		if err != nil {
			return nil, mismatch("require: %v", err)
		}
		if v == Int(0) {
			return nil, mismatch("the kernel requires %s%s", e, b.values(e))
		}
	}
	return b, nil
}

func (b *Bound) lookup(name string) (Value, bool) {
	v, ok := b.names[name]
	return v, ok
}

// values shows what the names of an expression are in this call.
func (b *Bound) values(e Expr) string {
	out, sep := "", ", and here "
	e.Names(func(name string) {
		out += fmt.Sprintf("%s%s is %v", sep, name, b.names[name])
		sep = ", "
	})
	return out
}

func (b *Bound) tensor(o Operand, t Tensor) error {
	if t.DType != o.DType {
		return mismatch("%s is %s, and the kernel takes %s", o.Name, t.DType, o.DType)
	}
	if len(t.Shape) != len(o.Shape) {
		return mismatch("%s has shape %v, and the kernel takes %d dimensions", o.Name, t.Shape, len(o.Shape))
	}
	b.names[o.Name+".given"] = Int(1)
	for d, e := range o.Shape {
		b.names[fmt.Sprintf("%s.size%d", o.Name, d)] = Int(int64(t.Shape[d]))
		if d < len(t.Strides) {
			b.names[fmt.Sprintf("%s.stride%d", o.Name, d)] = Int(int64(t.Strides[d]))
		}
		if _, known := b.names[e.root.name]; e.root.op == "name" && !known {
			b.names[e.root.name] = Int(int64(t.Shape[d]))
			continue
		}
		want, err := e.Eval(b.lookup)
		if err != nil {
			return mismatch("dimension %d of %s: %v", d, o.Name, err)
		}
		if want != Int(int64(t.Shape[d])) {
			return mismatch("dimension %d of %s is %d, and %s is %v", d, o.Name, t.Shape[d], e, want)
		}
	}
	return nil
}

// Sizes are the dimensions of a scratch buffer, in elements.
func (b *Bound) Sizes(o Operand) ([]int, error) {
	var out []int
	for d, e := range o.Shape {
		v, err := e.Eval(b.lookup)
		if err != nil {
			return nil, fmt.Errorf("dimension %d of scratch %s: %w", d, o.Name, err)
		}
		n, err := v.Int64()
		if err != nil || n < 0 || n > math.MaxInt32 {
			return nil, fmt.Errorf("dimension %d of scratch %s is %v; it must be a size", d, o.Name, v)
		}
		out = append(out, int(n))
	}
	return out, nil
}

// Geometry is a launch in numbers.
type Geometry struct {
	Grid, Block [3]int
	Shared      int // bytes
}

// Empty tells whether the grid has no block, so that there is nothing to launch.
func (g Geometry) Empty() bool { return g.Grid[0] == 0 || g.Grid[1] == 0 || g.Grid[2] == 0 }

// limits of a launch: CUDA C++ programming guide, compute capabilities.
var (
	gridMost  = [3]int64{math.MaxInt32, 65535, 65535}
	blockMost = [3]int64{1024, 1024, 64}
)

// Geometry computes grid, block and shared memory of a launch, within the limits of every CUDA device.
func (b *Bound) Geometry(l Launch) (Geometry, error) {
	var g Geometry
	threads := 1
	for d := range 3 {
		n, err := b.size("grid", l, l.Grid[d], 0, gridMost[d])
		if err != nil {
			return g, err
		}
		g.Grid[d] = n
		if n, err = b.size("block", l, l.Block[d], 1, blockMost[d]); err != nil {
			return g, err
		}
		g.Block[d] = n
		threads *= n
	}
	if threads > 1024 {
		return g, fmt.Errorf("entry %s: block %v has %d threads; a block has at most 1024", l.Entry, g.Block, threads)
	}
	n, err := b.size("smem", l, l.Shared, 0, 1<<20)
	g.Shared = n
	return g, err
}

func (b *Bound) size(what string, l Launch, e Expr, least, most int64) (int, error) {
	v, err := e.Eval(b.lookup)
	if err != nil {
		return 0, fmt.Errorf("entry %s: %s: %w", l.Entry, what, err)
	}
	n, err := v.Int64()
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("entry %s: %s %s is %v; it must be %d to %d", l.Entry, what, e, v, least, most)
	}
	return int(n), nil
}

// Number is the bits of an argument that is no address, and its size in bytes.
func (b *Bound) Number(a Arg) (bits uint64, size int, err error) {
	v, err := a.Expr.Eval(b.lookup)
	if err != nil {
		return 0, 0, err
	}
	size = types[a.Type]
	switch a.Type {
	case "f32", "f64":
		f, err := v.Float64()
		if a.Type == "f32" {
			return uint64(math.Float32bits(float32(f))), size, err
		}
		return math.Float64bits(f), size, err
	}
	n, err := v.Int64()
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	switch a.Type {
	case "i32":
		least, most = math.MinInt32, math.MaxInt32
	case "u32":
		least, most = 0, math.MaxUint32
	case "u64":
		least = 0
	}
	if err == nil && (n < least || n > most) {
		err = fmt.Errorf("%d is no %s", n, a.Type)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("argument %s %s: %w", a.Type, a.Expr, err)
	}
	return uint64(n), size, nil
}
