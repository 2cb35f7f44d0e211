package indexer

import (
	"math"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// contracts of the logits, sharpest first; fp32-bitwise is no sharper in its values, and nobody who does not declare it
// is taken to promise it.
var contracts = []numerics.Contract{
	{Name: "fp32"}, {Name: "fp32-bitwise", Tier: numerics.Bitwise}, {Name: "hopper-fp8"}, {Name: "bf16-dot"}, {
		Name: "v4-reference", Out: format.BF16,
	},
}

// every contract but the one that asks for equal bits, which has rows of its own.
var every = []string{"fp32", "hopper-fp8", "bf16-dot", "v4-reference"}

const u32 = numerics.UFP32

// native are Hopper's tensor cores, whatever the order in which channels come.
func native(fp8 bool) numerics.Accumulator {
	acc := numerics.HopperBF16()
	if fp8 {
		acc = numerics.HopperFP8(0)
	}
	acc.Order = numerics.Unknown
	return acc
}

// budget bounds the error of one logit under a contract: q [H·D], the key's codes [D], its scale, head weights [H].
//
// A dot product of D channels carries e: γ_{D+1}(2^-24)·Σ|qk| for fp32 in any order, with or without the scale
// multiplied in first; the block-FMA bound of the tensor core for hopper-fp8; |Σ q (bf16(k·s) − k·s)|, fp32 and a
// rounding to bf16 for the other two. relu moves nothing apart, and a dot product that is certainly negative becomes an
// exact 0. A term adds one rounding (v4-reference: one of bf16, too), the sum over heads with the scale γ_{H+3} of
// Σ|terms|, in any association.
func budget(contract string, fp8 bool, q, k []float64, scale float64, w []float64) float64 {
	var sum, sumAbs, err float64
	d := len(k)
	narrow := contract == "bf16-dot" || contract == "v4-reference"
	acc, products := native(fp8), make([]float64, d)
	for h, weight := range w {
		var dot, abs, input, twice float64
		for i, x := range q[h*d : (h+1)*d] {
			p := x * k[i]
			dot += p
			abs += math.Abs(p)
			if narrow {
				stored := k[i] * scale
				read := format.BF16.Round(stored)
				input += x * (read - stored)
				twice += math.Abs(x * (format.BF16.Round(float64(float32(stored))) - read)) // the product rounded to fp32 first
			}
		}
		e := numerics.Gamma(d+1, u32) * abs * scale
		if contract == "hopper-fp8" {
			// A kernel may be more exact than that, fp32 with the scale first among others.
			e = max(acc.AccBound(products, abs)*scale, e)
		}
		dot *= scale
		if narrow {
			e = e*(1+0x1p-8) + math.Abs(input) + twice
			e += toBF16(fp8, dot, e)
		}
		r := max(dot, 0)
		if dot+e <= 0 {
			e = 0
		}
		t := weight * r
		et := math.Abs(weight)*e + u32*math.Abs(weight)*(r+e)
		if contract == "v4-reference" {
			et += toBF16(fp8, t, et)
		}
		sum += t
		sumAbs += math.Abs(t) + et
		err += et
	}
	err += numerics.Gamma(len(w)+3, u32) * sumAbs
	if contract == "v4-reference" {
		err += toBF16(fp8, sum, err)
	}
	return err + float64(len(q))*0x1p-126*max(1, scale)
}

// toBF16 is the rounding of a value to bf16: half an ulp, or 2^-8 of it where fp8 keys have a scale that may be
// multiplied in later, so that another binade is rounded in.
func toBF16(fp8 bool, v, slack float64) float64 {
	if fp8 {
		return 0x1p-8 * (math.Abs(v) + slack)
	}
	return numerics.HalfULP(format.BF16, v, slack)
}
