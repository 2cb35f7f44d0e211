package gemm

import (
	"fmt"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// kernel is a matrix product in steps: how the operands are read from a call, and how their products are added.
type kernel struct {
	loading
	take func(p product) product // what the kernel makes of its operands before it multiplies

	read   func(v float32) float32             // how an element enters a product
	part   partial                             // sums over one run of K, all of it under one pair of multipliers
	scaled func(part, sx, sw float32) float32  // a partial sum with its multipliers
	carry  func(v float32) float32             // the running sum after each addition
	store  func(v float32) float64             // the result before it is rounded to the output
	whole  func(k kernel, p product) []float64 // [x.rows, w.rows]
	run    int                                 // products of a partial sum at most; 0: as many as have one multiplier
	splits int                                 // pieces of K with sums of their own, added at the end
}

// change makes a kernel another correct one, or a faulty one.
type change = func(k *kernel)

func same(v float32) float32 { return v }

// correct multiplies in fp32, summed left to right; changes make it another correct kernel, or a faulty one.
func correct(changes ...change) kernel {
	k := kernel{
		loading: correctLoading(),
		take:    func(p product) product { return p },
		read:    same,
		part:    summed(bench.DotSequential[float32]),
		scaled:  func(part, sx, sw float32) float32 { return part * float32(sx*sw) },
		carry:   same,
		store:   func(v float32) float64 { return float64(v) },
		whole:   kernel.inRuns,
		splits:  1,
	}
	for _, c := range changes {
		c(&k)
	}
	return k
}

// following is what a contract asks for to the letter: fp32 sums, or the tensor core's.
func following(contract string) (change, error) {
	on := func(acc numerics.Accumulator, read func(float32) float32, run int) (change, error) {
		return func(k *kernel) { k.read, k.part, k.run = read, onTensorCore(acc), run }, nil
	}
	switch contract {
	case "fp32", "bf16", "fp8", "exact", "two-roundings", "ue8m0-log2":
		return func(*kernel) {}, nil
	case "tf32-rn":
		return on(numerics.HopperTF32(), tf32, 0)
	case "tf32-rz":
		return on(numerics.HopperTF32(), cutTo(10), 0)
	case "tf32x3":
		return func(k *kernel) { k.part = threeTF32(tf32, bench.DotSequential[float32]) }, nil
	case "bf16-hopper":
		return on(numerics.HopperBF16(), same, 0)
	case "fp8-hopper":
		return on(numerics.HopperFP8(0), same, 128)
	}
	return nil, fmt.Errorf("no contract of the gemm suite is called %q", contract)
}

// kernels are the kernel's operators.
func (k kernel) kernels(ops ...string) map[string]bench.Kernel {
	out := map[string]bench.Kernel{}
	for _, op := range ops {
		out[op] = func(a bench.Args) (bench.Results, error) {
			y, shape := a.Fresh("y"), a.Out("y").Shape
			n := shape[len(shape)-1]
			for _, p := range loaders[op](a, k.loading) {
				v := k.whole(k, k.take(p))
				for i := range p.x.rows {
					copy(y[p.at(i)*n:(p.at(i)+1)*n], v[i*n:(i+1)*n])
				}
			}
			return bench.Results{"y": y}, nil
		}
	}
	return out
}

// inRuns adds partial sums of runs of K, in each of the pieces that K is split into.
func (k kernel) inRuns(p product) []float64 {
	m, n, depth := p.x.rows, p.w.rows, p.x.k
	x, w := each(p.x.code, k.read), each(p.w.code, k.read)
	run := p.run(k.run)
	piece := (depth + k.splits - 1) / k.splits
	piece = (piece + run - 1) / run * run
	acc := make([]float32, m*n)
	for lo := 0; lo < depth; lo += max(piece, 1) {
		sum := make([]float32, m*n)
		for at := lo; at < min(lo+piece, depth); at += run {
			to := min(at+run, depth)
			for i, part := range k.part(cut(x, m, depth, at, to), cut(w, n, depth, at, to)) {
				part = k.scaled(part, p.x.scaleAt(i/n, at), p.w.scaleAt(i%n, at))
				sum[i] = k.carry(sum[i] + part)
			}
		}
		for i, v := range sum {
			acc[i] += v
		}
	}
	out := make([]float64, m*n)
	for i, v := range acc {
		out[i] = k.store(v * p.factor(i%n))
	}
	return out
}

// wholeInFloat64 multiplies and adds in float64.
func wholeInFloat64(_ kernel, p product) []float64 {
	m, n, k := p.x.rows, p.w.rows, p.x.k
	out := make([]float64, m*n)
	for i := range m {
		for j := range n {
			var s float64
			for t := range k {
				s += float64(p.x.code[i*k+t]) * float64(p.x.scaleAt(i, t)) * float64(p.w.code[j*k+t]) * float64(p.w.scaleAt(j, t))
			}
			out[i*n+j] = s * float64(p.factor(j))
		}
	}
	return out
}

// cut are columns lo to hi of each row.
func cut(v []float32, rows, k, lo, hi int) [][]float32 {
	out := make([][]float32, rows)
	for r := range out {
		out[r] = v[r*k+lo : r*k+hi]
	}
	return out
}

func each(v []float32, f func(float32) float32) []float32 {
	out := slices.Clone(v)
	for i, x := range out {
		out[i] = f(x)
	}
	return out
}

func slug(form string, args ...any) string { return fmt.Sprintf(form, args...) }
