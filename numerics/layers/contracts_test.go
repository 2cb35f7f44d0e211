package layers_test

import (
	"math"
	"math/rand/v2"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// gemm is x·wᵀ in some arithmetic: x [M, K], w [N, K], result [M, N].
type gemm func(x, w oracle.Mat) oracle.Mat

// under runs a GEMM as a contract says. A shape that it refuses gives NaN, which no measure takes for a number.
func under(c numerics.Contract) gemm {
	return func(x, w oracle.Mat) oracle.Mat {
		out, err := c.Gemm(x.Data, w.Data, x.Rows, w.Rows, x.Cols)
		if err != nil {
			out = []float64{math.NaN()}
			for len(out) < x.Rows*w.Rows {
				out = append(out, math.NaN())
			}
		}
		return oracle.Mat{Rows: x.Rows, Cols: w.Rows, Data: out}
	}
}

// ladder are the contracts that every site is run under, finest first. What truncates has -rz in its name.
func ladder() []named {
	return []named{
		{"fp32", under(numerics.MHCFP32())},
		{"tf32", under(numerics.MHCTF32())},
		{"tf32-rz", under(numerics.MHCTF32().WithInputRounding(format.RZ))},
		{"bf16", under(numerics.MHCBF16())},
		{"bf16-rz", cut(under(fp32Out(numerics.MHCBF16().WithInputRounding(format.RZ))))},
		{"bf16-acc", under(bf16Accumulator())},
		{"fp8-accurate", scaled(under(numerics.FP8Hopper("fp8-accurate", 128)))},
		{"fp8-fast", scaled(under(numerics.FP8Hopper("fp8-fast", 0)))},
	}
}

// named is an arithmetic with its slug.
type named struct {
	name string
	gemm gemm
}

func fp32Out(c numerics.Contract) numerics.Contract {
	c.Out = format.FP32
	return c
}

// bf16Accumulator is a sum that is really kept in bf16, as tensor cores do not.
func bf16Accumulator() numerics.Contract {
	c := numerics.MHCBF16()
	c.Name, c.Acc = "bf16-acc", numerics.BF16Chain()
	return c
}

// cut truncates the result to bf16.
func cut(g gemm) gemm {
	return func(x, w oracle.Mat) oracle.Mat {
		out := g(x, w)
		truncate(out.Data)
		return out
	}
}

func truncate(x []float64) {
	for i, v := range x {
		x[i] = format.BF16.RoundTo(v, format.RZ, format.Overflow)
	}
}

// scaled gives every row of x and of w a power-of-two scale that brings its largest magnitude to at most 448, e4m3's
// largest, and takes both out of the result again: the row-wise recipe, the same for fast and accurate accumulation.
func scaled(g gemm) gemm {
	return func(x, w oracle.Mat) oracle.Mat {
		qx, ex := rowScaled(x)
		qw, ew := rowScaled(w)
		out := g(qx, qw)
		for i := range out.Rows {
			for j := range out.Cols {
				out.Row(i)[j] = math.Ldexp(out.Row(i)[j], ex[i]+ew[j])
			}
		}
		return out
	}
}

func rowScaled(m oracle.Mat) (oracle.Mat, []int) {
	out, exps := m.Clone(), make([]int, m.Rows)
	for i := range exps {
		row := out.Row(i)
		amax := 0.0
		for _, v := range row {
			amax = math.Max(amax, math.Abs(v))
		}
		if amax == 0 || amax-amax != 0 {
			continue
		}
		fraction, e := math.Frexp(amax / format.E4M3FN.Max())
		if fraction == 0.5 { // a power of two is its own ceiling
			e--
		}
		exps[i] = e
		scale := math.Ldexp(1, -e)
		for k := range row {
			row[k] *= scale
		}
	}
	return out, exps
}

// reordered runs g with the products in an order drawn from the seed: a correct kernel of the same contract.
func reordered(g gemm, seed uint64) gemm {
	return func(x, w oracle.Mat) oracle.Mat {
		perm := rand.New(rand.NewPCG(seed, uint64(x.Cols))).Perm(x.Cols)
		return g(permuted(x, perm), permuted(w, perm))
	}
}

func permuted(m oracle.Mat, perm []int) oracle.Mat {
	out := oracle.NewMat(m.Rows, m.Cols)
	for i := range m.Rows {
		from, to := m.Row(i), out.Row(i)
		for k, p := range perm {
			to[k] = from[p]
		}
	}
	return out
}

// pairwise is fp32 accumulation over a binary tree: correct, and better than a chain.
func pairwise() gemm {
	c := numerics.MHCFP32()
	c.Acc.Order = numerics.Pairwise
	return under(c)
}
