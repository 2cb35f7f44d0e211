package numerics

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/assay-suite/assay/numerics/format"
)

// GemmInputs are the stored operands of out[m,n] = Σ_k x[m,k]·w[n,k], row-major x [M,K] and w [N,K], and the format
// that the output is stored in.
type GemmInputs struct {
	X, W    []float64
	M, N, K int
	Out     format.Format // zero is fp32
}

// Explanation is the accumulator that reproduces a result, as far as the data can tell.
type Explanation struct {
	Best      Contract
	K         int
	Equal, Of int        // outputs that Best reproduces bit for bit
	Need      float64    // share that counts as explained: 1 for fp8 and fp32, 0.99 for TF32, 0.999 for bf16 and fp16
	Rivals    []Contract // others, one parameter away, that reproduce as many outputs
	Untested  int        // further ones that agree on a sample of outputs and were not confirmed on all
	// Inside says that the result lies within the certain bound of fp32 accumulation in any order after reading the
	// operands as Best does. It is computed only where nothing explains the result.
	Inside bool
}

// Explained reports bit equality of the share of outputs that Need asks for. Lying inside a bound never counts.
func (e Explanation) Explained() bool {
	return e.Of > 0 && float64(e.Equal) >= e.Need*float64(e.Of)
}

// String is one line: "512/512 bit-equal: b=32 f=13 r=13 RZ, one chain", with the rivals that the data cannot tell from
// it, or what is left where nothing reproduces the result.
func (e Explanation) String() string {
	fit := fmt.Sprintf("%d/%d bit-equal: %s", e.Equal, e.Of, describe(e.Best, e.K))
	if !e.Explained() {
		state := "excluded under fp32 accumulation"
		if e.Inside {
			state = "not excluded (inside the bound of fp32 accumulation, order unknown)"
		}
		if e.Equal == 0 {
			return state + ", no accumulator searched reproduces an output"
		}
		return state + ", best " + fit
	}
	if len(e.Rivals) == 0 {
		return fit
	}
	names := make([]string, len(e.Rivals))
	for i, r := range e.Rivals {
		names[i] = differs(e.Best, r, e.K)
	}
	more := ""
	if e.Untested > 0 {
		more = fmt.Sprintf(", and %d more on a sample of outputs", e.Untested)
	}
	return fmt.Sprintf("%s; the data cannot tell it from: %s%s", fit, strings.Join(names, ", "), more)
}

// describe names how a contract reads and accumulates K products.
func describe(c Contract, k int) string {
	parts := []string{}
	if in := readings(c); in != "" {
		parts = append(parts, in)
	}
	return strings.Join(append(parts, accName(c.Acc), partition(c.Acc, k)), ", ")
}

// readings is empty where the operands are read as they are stored.
func readings(c Contract) string {
	o := c.Operand("w")
	if o.Format == format.FP32 || o.Format.Width() <= 8 {
		return ""
	}
	return o.Format.Name + " " + o.Rounding.String()
}

func accName(a Accumulator) string {
	if a.Block > 0 {
		return fmt.Sprintf("b=%d f=%d r=%d %s", a.Block, a.Align, a.Result, strings.ToUpper(a.Rounding.String()))
	}
	order := cmp.Or(string(a.Order), "any order")
	if a.Order == Blocked {
		order = fmt.Sprintf("blocks of %d", a.Chunk)
	}
	if a.Fused {
		order += " FMA"
	}
	name := map[int]string{23: "fp32", 7: "bf16", 10: "fp16"}[a.Result]
	if name == "" {
		name = fmt.Sprintf("r=%d", a.Result)
	}
	if a.Rounding != format.RN {
		name += " " + strings.ToUpper(a.Rounding.String())
	}
	return name + " " + order
}

func partition(a Accumulator, k int) string {
	size := a.SplitSize(k)
	switch {
	case size < k:
		return fmt.Sprintf("%d splits of %d", (k+size-1)/size, size)
	case a.Promote > 0:
		return fmt.Sprintf("promotion every %d", a.Promote)
	}
	return "one chain"
}

// differs names what r has that best has not.
func differs(best, r Contract, k int) string {
	var parts []string
	if a, b := readings(best), readings(r); a != b {
		parts = append(parts, b)
	}
	if a, b := accName(best.Acc), accName(r.Acc); a != b {
		parts = append(parts, b)
	}
	if a, b := partition(best.Acc, k), partition(r.Acc, k); a != b {
		parts = append(parts, b)
	}
	return strings.Join(parts, " ")
}
