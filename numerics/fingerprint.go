package numerics

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/assay-suite/assay/numerics/format"
)

// GEMM is a callable matrix product: out[m,n] = Σ_k x[m,k]·w[n,k], row-major x [M,K] and w [N,K], of values that its
// input format holds.
type GEMM func(ctx context.Context, x, w []float64, m, n, k int) ([]float64, error)

// Probe says how a candidate is asked.
type Probe struct {
	In, Out format.Format // as the candidate takes and gives them; zero is fp32
	M, N    int           // shape of every call, 1 x 1 where zero: kernels choose their order by shape
	// lengths at which the summation tree is asked; the first one is probed for everything else. At least 4
	K []int
}

// Print is what a candidate is, as far as calls show. A field that no call can show is "not visible" or 0.
type Print struct {
	Deterministic bool   `json:"deterministic"`
	Trees         []Tree `json:"trees,omitempty"`

	Block         int    `json:"products-per-block,omitempty"` // 0: one product at a time
	Align         int    `json:"aligned-fraction-bits,omitempty"`
	Result        int    `json:"result-bits,omitempty"`
	ResultAtLeast bool   `json:"result-bits-at-least,omitempty"` // Result is a lower bound
	Rounding      string `json:"rounding,omitempty"`             // of partial results
	// "rounded", "fused", or "exact" where the formats cannot show it
	Products     string `json:"products,omitempty"`
	Join         int    `json:"join-bits,omitempty"` // of the sum of pieces
	JoinRounding string `json:"join-rounding,omitempty"`

	Ties         string `json:"output-rounding,omitempty"` // with the table it is read from
	SubnormalIn  string `json:"subnormal-inputs,omitempty"`
	SubnormalOut string `json:"subnormal-outputs,omitempty"`
	NegZero      string `json:"negative-zero,omitempty"`
	Specials     string `json:"specials,omitempty"`
}

// Tree is the order in which K products are added.
type Tree struct {
	K      int    `json:"k"`
	Words  string `json:"words"`
	Piece  int    `json:"piece,omitempty"`  // products per split or promotion, which are the same arithmetic; 0: not cut
	Splits int    `json:"splits,omitempty"` // pieces
}

// String is a print in a few lines.
func (p Print) String() string {
	if !p.Deterministic {
		return "not deterministic: the same call gives other bits, so there is no order to report"
	}
	var b strings.Builder
	for _, t := range p.Trees {
		fmt.Fprintf(&b, "K=%d: %s\n", t.K, t.Words)
	}
	fmt.Fprintf(&b, "b=%d f=%d r=%d %s, products %s, join %d %s\n", p.Block, p.Align, p.Result, p.Rounding, p.Products,
		p.Join, p.JoinRounding)
	fmt.Fprintf(&b, "output %s; subnormals in %s, out %s; %s; %s", p.Ties, p.SubnormalIn, p.SubnormalOut, p.NegZero,
		p.Specials)
	return b.String()
}

// prober calls a candidate with single dot products.
type prober struct {
	ctx    context.Context
	do     GEMM
	in     format.Format
	out    format.Format
	m, n   int
	hi, lo float64 // factors of the mask M = hi² and of the unit lo²
	room   int     // units that M swallows even from an fp32 sum, and that the output counts
}

// Fingerprint asks a candidate what it is: the summation tree by masks at every length of the probe, fraction and
// result bits, rounding, width of the sum over pieces, output ties, subnormals, -0 and specials.
//
// It is exact for deterministic candidates that add products one by one or in blocks, at any K. A truncating scalar
// accumulator is read if it is sequential. A candidate whose calls differ is reported as not deterministic, with
// nothing else.
func Fingerprint(ctx context.Context, do GEMM, probe Probe) (Print, error) {
	p := &prober{ctx: ctx, do: do, in: orFP32(probe.In), out: orFP32(probe.Out), m: max(probe.M, 1), n: max(probe.N, 1)}
	hi := min(30, exponent(p.in.Max()))
	lo := max(hi-30, exponent(p.in.MinNormal()))
	if 2*(hi-lo) < 48 {
		lo = max(hi-30, exponent(p.in.MinSubnormal()))
	}
	p.hi, p.lo = pow2(hi), pow2(lo)
	p.room = 1 << max(min(2*(hi-lo)-24, p.out.ManBits+1), 1)
	if len(probe.K) == 0 {
		return Print{}, fmt.Errorf("fingerprint: no length is given in Probe.K, want at least one of 4 or more")
	}
	for _, k := range probe.K {
		if k < 4 {
			return Print{}, fmt.Errorf("fingerprint: K = %d shows no order, want at least 4", k)
		}
	}
	var pr Print
	same, err := p.repeats(probe.K[0])
	if err != nil || !same {
		return pr, err
	}
	pr.Deterministic = true
	var first shape
	for i, k := range probe.K {
		t, err := p.tree(k)
		if err != nil {
			return pr, fmt.Errorf("fingerprint at K = %d: %w", k, err)
		}
		s := t.read()
		if i == 0 {
			first = s
		}
		pr.Trees = append(pr.Trees, Tree{K: k, Words: s.words, Piece: s.piece, Splits: s.count})
	}
	pr.Block = first.block
	return pr, p.describe(&pr, first, probe.K[0])
}

// call runs one dot product in every row and column and returns the first output; the others must be the same.
func (p *prober) call(x, w []float64, k int) (float64, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, fmt.Errorf("fingerprint: %w", err)
	}
	xs, ws := make([]float64, 0, p.m*k), make([]float64, 0, p.n*k)
	for range p.m {
		xs = append(xs, x...)
	}
	for range p.n {
		ws = append(ws, w...)
	}
	y, err := p.do(p.ctx, xs, ws, p.m, p.n, k)
	if err != nil {
		return 0, fmt.Errorf("fingerprint: the candidate failed: %w", err)
	}
	if len(y) != p.m*p.n {
		return 0, fmt.Errorf("fingerprint: the candidate returned %d values for [%d,%d]", len(y), p.m, p.n)
	}
	return y[0], nil
}

// repeats reports whether calls give the same bits: Gaussian operands, and a mask in the middle, whose count jumps when
// the order moves.
func (p *prober) repeats(k int) (bool, error) {
	rng := rand.New(rand.NewPCG(1, uint64(k)))
	x, w := make([]float64, k), make([]float64, k)
	for i := range x {
		x[i] = p.in.RoundTo(rng.NormFloat64(), format.RN, format.Saturate)
		w[i] = p.in.RoundTo(rng.NormFloat64(), format.RN, format.Saturate)
	}
	mx, mw := make([]float64, k), make([]float64, k)
	for i := range mx {
		mx[i], mw[i] = p.lo, p.lo
	}
	mx[0], mw[0], mx[k/2], mw[k/2] = p.hi, p.hi, p.hi, -p.hi
	for _, in := range [][2][]float64{{x, w}, {mx, mw}} {
		var first uint64
		for i := range 8 {
			y, err := p.call(in[0], in[1], k)
			if err != nil {
				return false, err
			}
			if b := math.Float64bits(y); i == 0 {
				first = b
			} else if b != first {
				return false, nil
			}
		}
	}
	return true, nil
}
