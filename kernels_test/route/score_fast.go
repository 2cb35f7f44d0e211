package route

import (
	"math"

	"github.com/assay-suite/assay/numerics"
)

// The fast units of NVIDIA's GPUs, as Triton's exp and division compile to them (PTX ISA, "Floating Point
// Instructions"): ex2.approx.f32 has a relative error of 2^-22, div.full.f32 one of 2 ulp.
//
// e^z = 2^(z · log2 e): the product and the constant are each off by u of themselves, so the exponent is off by
// 2u |z| log2 e, which moves the result by the factor 1 + 2u |z|. With ex2's 4u that is a relative error of
// (2|z| + 4) u, 7 ulp at |z| = 5 and 22 at 20: a bound in ulp that does not grow with |z|, as numerics.Arith has for a
// good exp, is not the bound of this one.
const approx = 0x1p-22

// fastExpOf is e^z of a z that is at most 0.
func fastExpOf(z numerics.Tracked) numerics.Tracked {
	x := math.Exp(z.X)
	grow := math.Expm1(z.E + (2*math.Abs(z.X)+z.E)*numerics.UFP32)
	return numerics.Tracked{X: x, E: x*(grow+approx*(1+grow)) + numerics.FP32().Tiny}
}

// fastDivide is a quotient with two ulp more than a rounding.
func fastDivide(n, d numerics.Tracked) numerics.Tracked {
	a := numerics.FP32()
	return a.Round(a.Div(n, d), 4*numerics.UFP32)
}

// fastScore is a sigmoid, or the root of softplus as max(z, 0) + ln(1 + e^-|z|), whose logarithm keeps small arguments.
func fastScore(z numerics.Tracked, scoring string) numerics.Tracked {
	a := numerics.FP32()
	e := fastExpOf(numerics.Tracked{X: -math.Abs(z.X), E: z.E})
	if scoring == "sigmoid" {
		s := fastDivide(numerics.Exact(1), a.Add(numerics.Exact(1), e)) // of |z|; e^z/(1+e^z) below 0 has the same error
		if z.X < 0 {
			// 1/(1 + e^|z|): what e^|z| is off by, s is off by at most
			small := numerics.SigmoidExact(z.X)
			s = numerics.Tracked{X: small, E: small*(e.E/e.X) + 8*small*numerics.UFP32}
		}
		return s
	}
	log := a.Log1p(e)
	top := numerics.Tracked{X: math.Max(z.X, 0), E: z.E}
	if z.X < 0 {
		top = numerics.Tracked{}
	}
	return a.Sqrt(a.Add(top, log))
}

// fastSoftmax divides e^(z - max) by its sum in any order.
func fastSoftmax(z []numerics.Tracked) []numerics.Tracked {
	a := numerics.FP32()
	top := numerics.Tracked{X: math.Inf(-1)}
	for _, v := range z {
		if v.X > top.X {
			top = v
		}
	}
	out := make([]numerics.Tracked, len(z))
	for i, v := range z {
		if !math.IsInf(v.X, -1) {
			out[i] = fastExpOf(a.Sub(v, top))
		}
	}
	sum := a.Sum(out)
	for i, v := range out {
		out[i] = fastDivide(v, sum)
	}
	return out
}

// throughEx2 takes exponentials as the fast units do, at their worst: a router's option.
func throughEx2(log2e float32) func(k *router) {
	return func(k *router) {
		k.exp = func(v float32) float32 { return ex2(v, log2e) }
		k.score = func(x float32, scoring string) float32 {
			e := k.exp(-float32(math.Abs(float64(x))))
			switch {
			case scoring != "sigmoid":
				return float32(math.Sqrt(float64(max(x, 0) + float32(math.Log1p(float64(e))))))
			case x < 0:
				return e / (1 + e)
			}
			return 1 / (1 + e)
		}
	}
}

// ex2 is e^v through a product with log2 e and a power of two that is off by 2^-22.
func ex2(v, log2e float32) float32 {
	return float32(math.Exp2(float64(float32(v*log2e))) * (1 + 0.7*approx)) // with its own rounding 0.95 of it
}
