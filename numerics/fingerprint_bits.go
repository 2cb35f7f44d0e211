package numerics

import (
	"fmt"
	"math"
	"strings"

	"github.com/assay-suite/assay/numerics/format"
)

// term is a product at a position: value mantissa·2^e relative to the probe's base.
type term struct {
	at   int
	v    float64 // sign and mantissa, representable in the input format: ±1, ±1.5
	e    int
	x, w float64 // the factors themselves where v is 0
}

// base is the exponent of a probe's "1": high in narrow formats, so that small terms still are representable.
func (p *prober) base() int {
	if p.in.ExpBits >= 8 {
		return 0
	}
	return min(2*exponent(p.hi), exponent(p.out.Max())&^1)
}

// sum is the candidate's sum of terms, divided by 2^base; all other products are +0.
func (p *prober) sum(k int, terms ...term) (float64, error) {
	x, w := make([]float64, k), make([]float64, k)
	for _, t := range terms {
		if t.v == 0 {
			x[t.at], w[t.at] = t.x, t.w
			continue
		}
		e := t.e + p.base()
		a := e / 2
		x[t.at], w[t.at] = pow2(a), t.v*pow2(e-a)
	}
	y, err := p.call(x, w, k)
	return y * pow2(-p.base()), err
}

// places are positions for terms that meet in a known order.
type places struct {
	first, second int // meet in the first step
	third         int // in the same block as both, -1 if there is none
	later         int // joins their sum within the piece if it can, else after it
}

func placesOf(s shape, k int) places {
	if s.block == 0 {
		return places{0, 1, -1, 2}
	}
	pl := places{0, 1, -1, min(s.block, k-1)}
	if s.block > 2 {
		pl.third = 2
	}
	return pl
}

// kept returns the largest t such that 1 + 2^-t − 1 gives 2^-t, the terms placed as told.
func (p *prober) kept(k, one, small, back int) (int, error) {
	t := 0
	for ; t < 50; t++ {
		e := -(t + 1)
		if e+p.base() < 2*exponent(p.lo) && p.in.ExpBits < 8 {
			break
		}
		y, err := p.sum(k, term{at: one, v: 1}, term{at: small, v: 1, e: e}, term{at: back, v: -1})
		if err != nil {
			return 0, err
		}
		if y != pow2(e) {
			break
		}
	}
	return t, nil
}

// mode names the rounding to bits fraction bits of 1 + small, read after −1.
func (p *prober) mode(k, bits, one, small, back int) (string, error) {
	ulp := pow2(-bits)
	over, err := p.sum(k, term{at: one, v: 1}, term{at: small, v: 1.5, e: -bits - 1}, term{at: back, v: -1})
	if err != nil {
		return "", err
	}
	tie, err := p.sum(k, term{at: one, v: 1}, term{at: small, v: 1, e: -bits - 1}, term{at: back, v: -1})
	if err != nil {
		return "", err
	}
	switch {
	case over == 0 && tie == 0:
		return format.RZ.String(), nil
	case over == ulp && tie == ulp:
		return format.RNA.String(), nil
	case over == ulp && tie == 0:
		return format.RN.String(), nil
	}
	return fmt.Sprintf("other: three quarters of a unit give %v units, a half gives %v", over/ulp, tie/ulp), nil
}

// describe fills everything that follows from the tree.
func (p *prober) describe(pr *Print, s shape, k int) (err error) {
	pl := placesOf(s, k)
	if pr.Result, err = p.kept(k, pl.first, pl.second, pl.later); err != nil {
		return err
	}
	if pl.third >= 0 {
		if pr.Align, err = p.kept(k, pl.first, pl.second, pl.third); err != nil {
			return err
		}
		if pr.Rounding, err = p.mode(k, pr.Align, pl.first, pl.second, pl.third); err != nil {
			return err
		}
		if err = p.carries(pr, s, k); err != nil {
			return err
		}
		pr.Products = "exact"
	} else {
		if pr.Rounding, err = p.mode(k, pr.Result, pl.first, pl.second, pl.later); err != nil {
			return err
		}
		if pr.Products, err = p.products(k, pr.Result); err != nil {
			return err
		}
	}
	if s.count >= 3 {
		at := []int{0, s.piece, 2 * s.piece}
		if pr.Join, err = p.kept(k, at[0], at[1], at[2]); err != nil {
			return err
		}
		if pr.JoinRounding, err = p.mode(k, pr.Join, at[0], at[1], at[2]); err != nil {
			return err
		}
	}
	return p.specials(pr, k)
}

// carries finds result bits beyond the aligned ones: 2^c ones and 2^-f in one block need f + c bits. They show where
// the block is the last of its piece, in a wide output or after −2^c in the next piece.
func (p *prober) carries(pr *Print, s shape, k int) error {
	one := s.piece == 0 && k > s.block || s.piece > s.block
	if pr.Result < pr.Align || p.out.ManBits < 23 && s.count < 2 {
		return nil
	}
	f := pr.Align
	last := 0 // start of the last block of the first piece
	end := k
	if s.piece > 0 {
		end = s.piece
	}
	if one {
		last = (end - 1) / s.block * s.block
	}
	room := end - last
	for c := 1; 1<<c < room; c++ {
		var terms []term
		for i := range 1 << c {
			terms = append(terms, term{at: last + i, v: 1})
		}
		terms = append(terms, term{at: last + 1<<c, v: 1, e: -f})
		want := pow2(c) + pow2(-f)
		if s.count >= 2 {
			terms = append(terms, term{at: s.piece, v: -1, e: c})
			want = pow2(-f)
		}
		y, err := p.sum(k, terms...)
		if err != nil {
			return err
		}
		if y != want {
			return nil
		}
		pr.Result, pr.ResultAtLeast = f+c, true
	}
	return nil
}

// products says whether a product is rounded before it is added: (1 + 2^-q)² has the bit 2^-2q.
func (p *prober) products(k, r int) (string, error) {
	q := min(p.in.ManBits, r/2+1)
	if 2*q <= r {
		return "exact", nil
	}
	f := 1 + pow2(-q)
	b := pow2(p.base() / 2)
	y, err := p.sum(k, term{at: 0, v: -1}, term{at: 1, x: f * b, w: f * b}, term{at: 2, v: -1, e: 1 - q})
	if err != nil {
		return "", err
	}
	if y == pow2(-2*q) {
		return "fused", nil
	}
	return "rounded", nil
}

// specials fills the output's rounding, subnormals, -0 and what becomes of NaN and infinities.
func (p *prober) specials(pr *Print, k int) (err error) {
	if pr.Ties, err = p.ties(k); err != nil {
		return err
	}
	state := func(y float64) string {
		if y == 0 {
			return "flushed"
		}
		return "kept"
	}
	one := pow2(p.base() / 2)
	y, err := p.sum(k, term{at: 0, x: p.in.MinSubnormal(), w: p.hi})
	if err != nil {
		return err
	}
	pr.SubnormalIn = state(y)
	least := exponent(p.out.MinSubnormal())
	pr.SubnormalOut = "not visible"
	if a := least / 2; a-1 > exponent(p.in.MinNormal()) {
		if y, err = p.sum(k, term{at: 0, x: pow2(a), w: pow2(least - a)}); err != nil {
			return err
		}
		pr.SubnormalOut = state(y)
	}
	x, w := make([]float64, k), make([]float64, k)
	for i := range x {
		x[i], w[i] = math.Copysign(0, -1), one
	}
	if y, err = p.call(x, w, k); err != nil {
		return err
	}
	pr.NegZero = "sum of -0 is +0"
	if math.Signbit(y) {
		pr.NegZero = "sum of -0 is -0"
	}
	var said []string
	inf := math.Inf(1)
	for _, row := range []struct {
		name  string
		terms []term
		needs bool
	}{
		{"NaN", []term{{at: 1, x: math.NaN(), w: one}}, true},
		{"Inf", []term{{at: 1, x: inf, w: one}}, p.in.Inf},
		{"Inf·0", []term{{at: 1, x: inf, w: 0}}, p.in.Inf},
		{"Inf-Inf", []term{{at: 0, x: inf, w: one}, {at: 1, x: inf, w: -one}}, p.in.Inf},
	} {
		if !row.needs {
			continue
		}
		if y, err = p.sum(k, row.terms...); err != nil {
			return err
		}
		said = append(said, fmt.Sprintf("%s gives %v", row.name, y))
	}
	pr.Specials = strings.Join(said, ", ")
	return nil
}

// ties reads the rounding of the output format from 1 plus quarters of a unit; a 23-bit output shows none.
func (p *prober) ties(k int) (string, error) {
	man := p.out.ManBits
	if man >= 23 {
		return "not visible", nil
	}
	var got [6]float64
	for i, row := range [][]term{
		{{v: 1, e: -man - 2}},
		{{v: 1, e: -man - 1}},
		{{v: 1.5, e: -man - 1}},
		{{v: 1.5, e: -man}},
		{{v: -1, e: -man - 1}},
		{{v: -1.5, e: -man}},
	} {
		terms := []term{{at: 0, v: 1}}
		if i >= 4 {
			terms[0].v = -1
		}
		for j, t := range row {
			t.at = j + 1
			terms = append(terms, t)
		}
		y, err := p.sum(k, terms...)
		if err != nil {
			return "", err
		}
		got[i] = (math.Abs(y) - 1) * pow2(man)
	}
	for _, known := range []struct {
		name string
		want [6]float64
	}{
		{"rn", [6]float64{0, 0, 1, 2, 0, 2}},
		{"rna", [6]float64{0, 1, 1, 2, 1, 2}},
		{"rz", [6]float64{0, 0, 0, 1, 0, 1}},
		{"towards +Inf", [6]float64{1, 1, 1, 2, 0, 1}},
		{"towards -Inf", [6]float64{0, 0, 0, 1, 1, 2}},
	} {
		if got == known.want {
			return known.name, nil
		}
	}
	return fmt.Sprintf("other: +1/4, 1/2, 3/4, 3/2 and -1/2, -3/2 units become %v", got), nil
}

// LSEBase asks a log-sum-exp for one uniform row of l zeros: ln l is base e, log2 l is base 2.
func LSEBase(lse func(scores []float64) (float64, error), l int) (string, error) {
	y, err := lse(make([]float64, l))
	if err != nil {
		return "", fmt.Errorf("the LSE of %d zeros: %w", l, err)
	}
	near := func(want float64) bool { return math.Abs(y-want) <= 0x1p-7*want }
	switch e, two := math.Log(float64(l)), math.Log2(float64(l)); {
	case l < 2:
		return "", fmt.Errorf("the LSE of %d zeros tells no base, want at least 2", l)
	case near(e):
		return "e", nil
	case near(two):
		return "2", nil
	default:
		return "", fmt.Errorf("the LSE of %d zeros is %v, neither ln %d = %.4g nor log2 %d = %.4g", l, y, l, e, l, two)
	}
}
