package numerics

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/numerics/format"
)

// Contract is what a kernel declares about its arithmetic, as data. Judge sees a contract and tensors, nothing else.
type Contract struct {
	Name       string
	Inputs     map[string]Operand // by the operator's own operand names
	Acc        Accumulator
	Mid, Out   format.Format // intermediates and output; a zero Format is fp32
	Saturation format.Saturation
	FnULP      float64 // error of exp, log, ... in ulp; 0 means 4
	Special    Rules
	Tier       Determinism
}

// Operand is how a contract reads an input: the format the arithmetic sees, how a stored value gets there, and the
// scale rule of block formats.
type Operand struct {
	Format   format.Format
	Rounding format.Rounding // rn, rna, rz
	Scale    string          // slug of the scale rule; empty for none
}

// Rules are the answers where arithmetic gives none. The zero value is the common case named in brackets.
type Rules struct {
	EmptyRow    string // output of a row without keys: "zero" [zero], "nan"
	EmptyLSE    string // its log-sum-exp: "-inf" [-inf], "+inf" (FlashMLA sparse)
	LSEBase     string // "e" [e], "2"
	TieBreak    string // "any" [any], "lowest-index", "highest-index"
	NaN         string // "propagate" [propagate], "forbidden": no output may be NaN, whatever the inputs
	NegZero     string // "any" [any], "keep": the sign of a zero is part of the answer
	MaskedFill  string // "-inf" [-inf], "zero", "undefined"
	PrefillSeen bool   // the operator may leave elements unwritten (padding rows)
}

// Determinism is how reproducible a kernel promises to be.
type Determinism string

// The tiers, strongest first. The empty string is BoundOnly.
const (
	Bitwise        Determinism = "bitwise"         // every rerun gives the same bits
	BatchInvariant Determinism = "batch-invariant" // and so does every batch a row is part of
	BoundOnly      Determinism = "bound"           // within the bound each time
)

// Operand returns the declared operand, or fp32 read as stored.
func (c Contract) Operand(name string) Operand {
	if o, ok := c.Inputs[name]; ok && o.Format.Name != "" {
		return o
	}
	return Operand{Format: format.FP32}
}

// Output is the output format, fp32 where none is named.
func (c Contract) Output() format.Format { return orFP32(c.Out) }

// Intermediate is the format of intermediates, fp32 where none is named.
func (c Contract) Intermediate() format.Format { return orFP32(c.Mid) }

func orFP32(f format.Format) format.Format {
	if f.Name == "" {
		return format.FP32
	}
	return f
}

// Read rounds stored values as the contract reads the operand. The result is a copy, or v itself where nothing changes.
func (o Operand) Read(v []float64) []float64 {
	if o.Rounding == format.RN {
		out := slices.Clone(v)
		o.Format.RoundSlice(out)
		return out
	}
	var out []float64
	least, most := o.Format.MinNormal(), o.Format.Max()
	low := uint64(1)<<(52-o.Format.ManBits) - 1
	lastBits, last := uint64(0), o.Format.RoundTo(0, o.Rounding, format.Overflow)
	for i, x := range v {
		// A value of the format stays: the common case, told by its bits.
		if a := math.Abs(x); math.Float64bits(x)&low == 0 && a >= least && a <= most {
			if out != nil {
				out[i] = x
			}
			continue
		}
		if b := math.Float64bits(x); b != lastBits { // masks and padding repeat a value
			lastBits, last = b, o.Format.RoundTo(x, o.Rounding, format.Overflow)
		}
		y := last
		if out == nil && y != x && x == x {
			out = append(make([]float64, 0, len(v)), v...)
		}
		if out != nil {
			out[i] = y
		}
	}
	if out == nil {
		return v
	}
	return out
}

// Gemm emulates out[m,n] = Σ_k x[m,k]·w[n,k] under the contract: operands "x" [M,K] and "w" [N,K], row-major, are
// read in their formats, accumulated, and rounded to the output format. It returns [M,N].
func (c Contract) Gemm(x, w []float64, m, n, k int) ([]float64, error) {
	if err := c.checkGemm(x, w, m, n, k); err != nil {
		return nil, fmt.Errorf("contract %q: %w", c.Name, err)
	}
	ox, ow := c.Operand("x"), c.Operand("w")
	out := c.Acc.gemm(ox.Read(x), ow.Read(w), m, n, k, ox.Format, ow.Format)
	f := c.Output()
	if c.Saturation == format.Overflow {
		f.RoundSlice(out)
		return out, nil
	}
	for i, v := range out {
		out[i] = f.RoundTo(v, format.RN, c.Saturation)
	}
	return out, nil
}

func (c Contract) checkGemm(x, w []float64, m, n, k int) error {
	if err := c.Acc.Validate(); err != nil {
		return err
	}
	if m < 0 || n < 0 || k < 0 || len(x) != m*k || len(w) != n*k {
		return fmt.Errorf("gemm [%d,%d]x[%d,%d]: x has %d values and w %d, want %d and %d", m, k, n, k, len(x), len(w), m*k,
			n*k)
	}
	return nil
}
