package gemm

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// Dimensions of the shapes: m, n, k; b batches; e experts; rows an expert (masked: the buffer); align of groups; e8m0
// for scales that are powers of two; members for the emulated reorderings that calibrate the bias gate.

// dims makes a shape of pairs.
func dims(name string, m, n, k int, more ...any) bench.Shape {
	d := map[string]int{"m": m, "n": n, "k": k}
	for i := 0; i+1 < len(more); i += 2 {
		key, _ := more[i].(string)
		value, _ := more[i+1].(int)
		d[key] = value
	}
	return bench.S(name, d)
}

// whole returns an error for a depth that the format's blocks do not divide.
func whole(k, block int) error {
	if k%block != 0 {
		return fmt.Errorf("the depth K is %d, which blocks of %d do not divide", k, block)
	}
	return nil
}

// members is how many emulated reorderings a case has; too few calibrate nothing.
func members(s bench.Shape) int {
	if n := s.Dim("members"); n >= numerics.MinEnsemble {
		return n
	}
	return 0
}

func up(n, to int) int { return (n + to - 1) / to }

// fp8 draws e4m3 elements, most of them normal and none of them saturated on purpose.
func fp8(g bench.Gen, shape ...int) bench.Operand {
	return bench.Floats(bench.E4M3, g.Normal(size(shape), 50), shape...)
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// fp4 draws packed e2m1 codes of rows of k.
func fp4(g bench.Gen, k int, lead ...int) bench.Operand {
	shape := append(lead, k/2)
	raw := make([]byte, size(shape))
	for i := range raw {
		lo := format.E2M1.Encode(2*g.NormFloat64(), format.RN, format.Saturate)
		hi := format.E2M1.Encode(2*g.NormFloat64(), format.RN, format.Saturate)
		raw[i] = byte(lo | hi<<4)
	}
	return bench.Bytes(raw, shape...)
}

// scales draws distinct multipliers: fp32 ones that are no powers of two, or powers of two.
func scales(g bench.Gen, shape ...int) bench.Operand {
	if g.Shape.Dim("e8m0") == 1 {
		return powers(g, shape...)
	}
	v := make([]float64, size(shape))
	for i := range v {
		v[i] = math.Exp2(-7 + 5*g.Float64())
	}
	return bench.Floats(bench.F32, v, shape...)
}

func powers(g bench.Gen, shape ...int) bench.Operand {
	v := make([]float64, size(shape))
	for i := range v {
		v[i] = math.Ldexp(1, -8+g.IntN(7))
	}
	return bench.Floats(bench.E8M0, v, shape...)
}

func narrowScales(g bench.Gen, shape ...int) bench.Operand {
	v := make([]float64, size(shape))
	for i := range v {
		v[i] = 16 * math.Exp2(4*g.Float64())
	}
	return bench.Floats(bench.E4M3, v, shape...)
}

// tiles lays scales [lead, rows, cols] into tiles of 128 x 4 for each lead, and tells which elements fill up a tile.
// Those hold scales as real ones do, left over from another call.
func tiles(g bench.Gen, lead, rows, cols int, draw func(g bench.Gen, shape ...int) bench.Operand) (o bench.Operand,
	padding func(i int) bool,
) {
	pr, pc := format.SwizzledShape(rows, cols)
	filled, stale := draw(g, lead*rows*cols), draw(g, lead*pr*pc)
	used := make([]bool, lead*pr*pc)
	for l := range lead {
		for r := range rows {
			for c := range cols {
				at := l*pr*pc + format.SwizzledOffset(r, c, cols)
				stale.Values[at], used[at] = filled.Values[(l*rows+r)*cols+c], true
			}
		}
	}
	stale.Shape = []int{lead, pr * pc}
	return stale, func(i int) bool { return !used[i] }
}

func drawDense(g bench.Gen) (bench.Problem, error) {
	m, n, k := g.Shape.Dim("m"), g.Shape.Dim("n"), g.Shape.Dim("k")
	dtype, out, sd := bench.F32, bench.F32, 1.0
	switch g.Contract.Name {
	case "bf16", "bf16-hopper":
		dtype, out = bench.BF16, bench.BF16
	case "fp8", "fp8-hopper":
		dtype, out, sd = bench.E4M3, bench.BF16, 40
	}
	return bench.Problem{
		Attrs: bench.Attrs{},
		Operands: map[string]bench.Operand{
			"x": bench.Floats(dtype, g.Normal(m*k, 1.3*sd), m, k), "w": bench.Floats(dtype, g.Normal(n*k, 0.7*sd), n, k),
		},
		Outputs: map[string]bench.Output{"y": bench.Out(out, m, n)},
	}, nil
}

func drawBlock(g bench.Gen) (bench.Problem, error) {
	m, n, k := g.Shape.Dim("m"), g.Shape.Dim("n"), g.Shape.Dim("k")
	return bench.Problem{
		Attrs: bench.Attrs{},
		Operands: map[string]bench.Operand{
			"x": fp8(g, m, k), "x_scale": scales(g, m, up(k, 128)), "w": fp8(g, n, k),
			"w_scale": scales(g, up(n, 128), up(k, 128)),
		},
		Outputs: map[string]bench.Output{"y": bench.Out(bench.BF16, m, n)},
	}, nil
}

func drawBatched(g bench.Gen) (bench.Problem, error) {
	b, m, n, k := g.Shape.Dim("b"), g.Shape.Dim("m"), g.Shape.Dim("n"), g.Shape.Dim("k")
	if err := whole(k, 32); err != nil {
		return bench.Problem{}, err
	}
	p := bench.Problem{
		Attrs:    bench.Attrs{},
		Operands: map[string]bench.Operand{"x": fp8(g, b, m, k), "w": fp8(g, b, n, k)},
		Outputs:  map[string]bench.Output{"y": bench.Out(bench.BF16, b, m, n)},
		Unread:   map[string]func(int) bool{},
	}
	p.Operands["x_scale"], p.Unread["x_scale"] = tiles(g, b, m, k/32, powers)
	p.Operands["w_scale"], p.Unread["w_scale"] = tiles(g, b, n, k/32, powers)
	return p, nil
}

func drawMXFP4(g bench.Gen) (bench.Problem, error) {
	m, n, k := g.Shape.Dim("m"), g.Shape.Dim("n"), g.Shape.Dim("k")
	if err := whole(k, 32); err != nil {
		return bench.Problem{}, err
	}
	return bench.Problem{
		Attrs: bench.Attrs{},
		Operands: map[string]bench.Operand{
			"x": fp8(g, m, k), "x_scale": powers(g, m, up(k, 128)), "w": fp4(g, k, n), "w_scale": powers(g, n, k/32),
		},
		Outputs: map[string]bench.Output{"y": bench.Out(bench.BF16, m, n)},
	}, nil
}

func drawNVFP4(g bench.Gen) (bench.Problem, error) {
	m, n, k := g.Shape.Dim("m"), g.Shape.Dim("n"), g.Shape.Dim("k")
	if err := whole(k, 16); err != nil {
		return bench.Problem{}, err
	}
	p := bench.Problem{
		Attrs: bench.Attrs{},
		Operands: map[string]bench.Operand{
			"x": fp4(g, k, m), "input_scale": bench.Floats(bench.F32, []float64{0.0131}, 1),
			"w": fp4(g, k, n), "weight_scale_2": bench.Floats(bench.F32, []float64{0.0047}, 1),
		},
		Outputs: map[string]bench.Output{"y": bench.Out(bench.BF16, m, n)},
		Unread:  map[string]func(int) bool{},
	}
	p.Operands["x_scale"], p.Unread["x_scale"] = flatTiles(g, m, k/16)
	p.Operands["w_scale"], p.Unread["w_scale"] = flatTiles(g, n, k/16)
	return p, nil
}

// flatTiles are tiles of one matrix, as one dimension.
func flatTiles(g bench.Gen, rows, cols int) (bench.Operand, func(i int) bool) {
	o, padding := tiles(g, 1, rows, cols, narrowScales)
	o.Shape = o.Shape[1:]
	return o, padding
}
