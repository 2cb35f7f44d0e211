package numerics

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/assay-suite/assay/numerics/format"
)

// Order says in which order an accumulator adds, where that is known.
type Order string

// Known orders. The empty string is an unknown order: it is emulated sequentially and bounded for every order.
const (
	Unknown    Order = ""
	Sequential Order = "sequential"
	Pairwise   Order = "pairwise" // binary tree over neighbours
	Blocked    Order = "blocked"  // sequential inside blocks of Accumulator.Chunk, then over the blocks
	// Stochastic is an order drawn anew from Accumulator.Seed, as atomic additions arrive: products of a scalar
	// accumulator, pieces of a split one.
	Stochastic Order = "stochastic"
)

// Split says that sums of K products are cut into pieces of Size, each accumulated by itself, and the pieces
// added in fp32 one after another. K 0 stands for every length that is not listed.
type Split struct {
	K, Size int
}

// Accumulator is how a kernel adds products. Two kinds exist:
//
// Scalar (Block 0): every product is rounded to Result fraction bits, every addition again, in Order. With Result 23
// this is fp32 (the loop is float32(a·b) + c), with 7 a true bf16 accumulator, which tensor cores do not have.
//
// Block FMA (Block b > 0): b products and the incoming accumulator are aligned to the largest exponent among
// them, each cut to Align fraction bits below it, added exactly, and the sum cut to Result fraction bits of its own
// exponent. The exponent of a product is e_a + e_b, not normalised: 1.5·1.5 = 2.25 counts as exponent 0. Source
// of the form: Fasi, Higham, Mikaitis, Pranesh 2021 (PeerJ CS) and the MATLAB-tensor-core models
// (north-numerical-computing/MATLAB-tensor-core, tools/Generic_BFMA_TC.m); its parameters for the H200 reproduce every
// recorded output of fixtures/oracles/gemm_h200.safetensors.gz.
type Accumulator struct {
	Block    int             // b: products per block FMA; 0 is a scalar accumulator
	Align    int             // f: fraction bits kept below the largest exponent of a block
	Result   int             // r: fraction bits kept of each partial result
	Rounding format.Rounding // of alignment and result; block FMAs truncate (rz)
	Promote  int             // products after which the partial result moves into an fp32 sum; 0 never
	Splits   []Split         // split-K by length; a K that is not listed is not split
	Order    Order           // scalar only
	Chunk    int             // block length for Order Blocked
	Fused    bool            // scalar only: a product is not rounded before it is added (FMA)
	Seed     uint64          // of Order Stochastic
}

// FP32Any is fp32 accumulation in an order nobody promises.
func FP32Any() Accumulator { return Accumulator{Result: 23} }

// BF16Chain is a sequential sum in bf16: what "bf16 accumulation" would literally mean.
func BF16Chain() Accumulator { return Accumulator{Result: 7, Order: Sequential} }

// HopperTF32 is the H200's TF32 block FMA: b = 8, f = 25, 23-bit result, truncation.
func HopperTF32() Accumulator {
	return Accumulator{Block: 8, Align: 25, Result: 23, Rounding: format.RZ, Order: Sequential}
}

// HopperBF16 is the H200's bf16 block FMA: b = 16, f = 25, 23-bit result, truncation.
func HopperBF16() Accumulator {
	return Accumulator{Block: 16, Align: 25, Result: 23, Rounding: format.RZ, Order: Sequential}
}

// HopperFP8 is the H200's fp8 block FMA: b = 32 and 13 bits both for alignment and result. promote is the number of
// products after which the partial sum moves to fp32: 0 is fast accumulation, 128 the accurate mode.
func HopperFP8(promote int) Accumulator {
	return Accumulator{Block: 32, Align: 13, Result: 13, Rounding: format.RZ, Promote: promote, Order: Sequential}
}

// Validate returns why an accumulator cannot be emulated.
func (a Accumulator) Validate() error {
	switch {
	case a.Result < 1 || a.Result > 52:
		return fmt.Errorf("the accumulator keeps %d result bits, want 1 to 52 (23 for fp32)", a.Result)
	case a.Block < 0 || a.Block > 0 && (a.Align < 1 || a.Align+bits.Len(uint(a.Block)) > 58):
		return fmt.Errorf("a block of %d products aligned to %d fraction bits does not fit 64-bit integers, want at most "+
			"58 bits together", a.Block, a.Align)
	case a.Promote < 0 || a.Chunk < 0:
		return fmt.Errorf("promotion after %d products and chunks of %d: want 0 for none, or more", a.Promote, a.Chunk)
	case a.Block == 0 && a.Promote > 0:
		return errors.New("a scalar accumulator has no promotion: use order blocked, or a block FMA")
	}
	return nil
}

// SplitSize is the length of the pieces that a sum of k products is cut into; k itself when it is not cut.
func (a Accumulator) SplitSize(k int) int {
	every := 0
	for _, s := range a.Splits {
		switch {
		case s.Size <= 0:
		case s.K == k:
			return s.Size
		case s.K == 0:
			every = s.Size
		}
	}
	if every > 0 {
		return every
	}
	return max(k, 1)
}

// operand is a row of values with the exponents a block FMA aligns by.
type operand struct {
	v      []float64
	e      []int16
	finite bool
}

// noSubnormals is a smallest exponent below every float64's.
const noSubnormals = -2000

// zeroExp is the exponent of a zero: below every sum of two real ones.
const zeroExp = -8000

// newOperand reads exponents; values below 2^minExp keep exponent minExp, as subnormals are not normalised.
func newOperand(v []float64, minExp int) operand {
	o := operand{v: v, e: make([]int16, len(v)), finite: true}
	for i, x := range v {
		switch {
		case x == 0:
			o.e[i] = zeroExp
		case math.IsInf(x, 0) || math.IsNaN(x):
			o.finite = false
		default:
			o.e[i] = int16(max(exponent(x), minExp))
		}
	}
	return o
}

// Dot emulates Σ x_k·w_k over min(len(x), len(w)) products of stored operands, already in their formats and with
// normal exponents. The result has Result fraction bits (fp32 after splits or promotion). A product that is
// not finite gives the IEEE class of the sum.
func (a Accumulator) Dot(x, w []float64) float64 {
	return a.dot(newOperand(x, noSubnormals), newOperand(w, noSubnormals))
}

func (a Accumulator) dot(x, w operand) float64 {
	n := min(len(x.v), len(w.v))
	if !x.finite || !w.finite {
		var s float64
		for i := range n {
			s += x.v[i] * w.v[i]
		}
		return s
	}
	size := a.SplitSize(n)
	var total float64
	if a.Order == Stochastic && size < n {
		total = a.shuffledPieces(x, w, n, size)
	} else {
		for lo := 0; lo < n; lo += size {
			part := a.piece(x, w, lo, min(lo+size, n))
			if lo == 0 {
				total = part
			} else {
				total = float64(float32(total) + float32(part))
			}
		}
	}
	if math.Abs(total) > math.MaxFloat32 {
		return math.Copysign(math.Inf(1), total)
	}
	return total
}

func (a Accumulator) piece(x, w operand, lo, hi int) float64 {
	if a.Block > 0 {
		return a.chain(x, w, lo, hi)
	}
	return a.scalar(x.v[lo:hi], w.v[lo:hi])
}

// chain runs block FMAs over [lo, hi) with promotion into fp32.
func (a Accumulator) chain(x, w operand, lo, hi int) float64 {
	var acc, promoted float64
	since := 0
	for k := lo; k < hi; k += a.Block {
		end := min(k+a.Block, hi)
		acc = a.blockFMA(acc, x.v[k:end], w.v[k:end], x.e[k:end], w.e[k:end])
		since += end - k
		if a.Promote > 0 && since >= a.Promote {
			promoted = float64(float32(promoted) + float32(acc))
			acc, since = 0, 0
		}
	}
	if a.Promote > 0 {
		return float64(float32(promoted) + float32(acc))
	}
	return acc
}

// blockFMA is one hardware step: align, cut, add exactly, cut.
func (a Accumulator) blockFMA(acc float64, x, w []float64, ex, ew []int16) float64 {
	top := zeroExp
	for i := range x {
		top = max(top, int(ex[i])+int(ew[i]))
	}
	if acc != 0 {
		top = max(top, exponent(acc))
	}
	if top <= zeroExp/2 {
		return 0
	}
	scale := pow2(a.Align - top)
	sum := a.cut(acc * scale)
	if a.Rounding == format.RZ { // the hot path: int64 conversion truncates
		for i, v := range x {
			sum += int64(v * w[i] * scale)
		}
	} else {
		for i, v := range x {
			sum += a.cut(v * w[i] * scale)
		}
	}
	return roundFraction(float64(sum)*pow2(top-a.Align), a.Result, a.Rounding)
}

func (a Accumulator) cut(v float64) int64 {
	switch a.Rounding {
	case format.RZ:
		return int64(v)
	case format.RNA:
		return int64(math.Round(v))
	default:
		return int64(math.RoundToEven(v))
	}
}
