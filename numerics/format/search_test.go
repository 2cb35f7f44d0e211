package format_test

import (
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/numerics/format"
)

// value is a decoded code; even says whether its significand's last bit is 0.
type value struct {
	v    float64
	code uint32
	even bool
}

// magnitudes lists the finite values >= 0 of a small format in ascending order, by decoding all
// codes: the table that the brute-force search scans. Decode itself is pinned by the ml_dtypes tables.
func magnitudes(f format.Format) []value {
	var out []value
	for c := range uint32(f.Codes()) {
		v := f.Decode(c)
		if v-v == 0 && !math.Signbit(v) {
			// e8m0's significand is the implicit 1, which is odd; elsewhere the code's last bit is
			// the significand's.
			out = append(out, value{v, c, c&1 == 0 && f.ManBits > 0})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].v < out[j].v })
	return out
}

// nearest is the independent oracle: a linear scan for the smallest exact distance. One would-be
// value beyond the largest stands for overflow (code 0xffff, even iff the largest is odd).
func nearest(f format.Format, vals []value, x float64, r format.Rounding) uint32 {
	top := vals[len(vals)-1]
	gap := top.v - vals[len(vals)-2].v
	if f.NoZero { // the next value of e8m0 is the double
		gap = top.v
	}
	best, dist := vals[0], math.Inf(1)
	for _, c := range append(slices.Clip(vals), value{top.v + gap, 0xffff, !top.even}) {
		d := math.Abs(c.v - x)
		if r == format.RZ && c.v > x {
			continue
		}
		take := d < dist
		if d == dist { // c is the larger of the two
			take = r == format.RNA || r != format.RNZ && (c.even || f.NoZero)
		}
		if take {
			best, dist = c, d
		}
	}
	if best.code == 0xffff && r == format.RZ {
		return top.code
	}
	return best.code
}

// For every format of at most 8 bits: both sides of every midpoint, the midpoint, the values and
// their neighbours, in float64 and fp32 steps, both signs, against the search. With monotonicity
// (TestProperties) this decides the whole map.
func TestEncodeMatchesSearch(t *testing.T) {
	for _, f := range format.All() {
		if f.Width() > 8 {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			vals := magnitudes(f)
			require.Equal(t, f.Max(), vals[len(vals)-1].v)
			n := 0
			check := func(x float64) {
				for _, r := range []format.Rounding{format.RN, format.RNA, format.RZ, format.RNZ} {
					want := nearest(f, vals, x, r)
					got := f.Encode(x, r, format.Saturate)
					if want == 0xffff {
						want = f.MaxCode()
						if over := f.Encode(x, r, format.Overflow); over == want && f.NaN != format.NaNNone {
							t.Errorf("%v %v does not overflow", x, r)
						}
					} else if over := f.Encode(x, r, format.Overflow); over != want {
						t.Errorf("%v %v overflow rule is code %#x, want %#x", x, r, over, want)
					}
					if y := f.RoundTo(x, r, format.Saturate); !same(y, f.Decode(got)) {
						t.Errorf("%v %v rounds to %v, by codes to %v", x, r, y, f.Decode(got))
					}
					if got != want {
						t.Errorf("%v %v is code %#x, want %#x", x, r, got, want)
					}
					if f.SignBits == 1 {
						neg := f.Encode(-x, r, format.Saturate)
						if mirror := want | 1<<(f.Width()-1); neg != mirror && !(want == 0 && f.NaN == format.NaNNegZero && neg == 0) {
							t.Errorf("%v %v is code %#x, want %#x", -x, r, neg, mirror)
						}
					}
					n++
				}
			}
			around := func(x float64) {
				check(x)
				check(math.Nextafter(x, 0))
				check(math.Nextafter(x, math.Inf(1)))
				check(float64(math.Nextafter32(float32(x), 0)))
				check(float64(math.Nextafter32(float32(x), math.MaxFloat32)))
			}
			for i, v := range vals {
				if v.v > 0 {
					around(v.v)
				}
				if i > 0 {
					around((v.v + vals[i-1].v) / 2)
				}
			}
			top := vals[len(vals)-1].v
			check(top + (top-vals[len(vals)-2].v)/2)
			check(top * 1.5)
			check(top * 4)
			t.Logf("%d roundings equal to the search", n)
		})
	}
}

func TestProperties(t *testing.T) {
	for _, f := range format.All() {
		t.Run(f.Name, func(t *testing.T) {
			lo, hi := math.Log2(f.MinSubnormal())-3, math.Log2(f.Max())+2
			rapid.Check(t, func(t *rapid.T) {
				draw := func(name string) float64 {
					x := math.Exp2(rapid.Float64Range(lo, hi).Draw(t, name+" log2"))
					if f.SignBits == 1 && rapid.Bool().Draw(t, name+" negative") {
						return -x
					}
					return x
				}
				r := rapid.SampledFrom([]format.Rounding{format.RN, format.RNA, format.RZ, format.RNZ}).Draw(t, "rounding")
				a, b := draw("a"), draw("b")
				if a > b {
					a, b = b, a
				}
				ra, rb := f.RoundTo(a, r, format.Saturate), f.RoundTo(b, r, format.Saturate)
				if ra > rb {
					t.Fatalf("not monotone: %v -> %v but %v -> %v", a, ra, b, rb)
				}
				if again := f.RoundTo(ra, r, format.Saturate); !same(again, ra) {
					t.Fatalf("not idempotent: %v -> %v -> %v", a, ra, again)
				}
				for _, s := range []format.Saturation{format.Overflow, format.Saturate} {
					if got, want := f.RoundTo(a, r, s), f.Decode(f.Encode(a, r, s)); !same(got, want) {
						t.Fatalf("RoundTo(%v, %v, %v) is %v, by codes %v", a, r, s, got, want)
					}
				}
				if d := math.Abs(ra - a); math.Abs(a) <= f.Max() && r != format.RZ && d > math.Max(f.U()*math.Abs(a), f.Eta()) {
					t.Fatalf("%v moved by %v, more than U = %v or Eta = %v allow", a, d, f.U(), f.Eta())
				}
			})
		})
	}
}

// Every code of up to 16 bits, and a stride through the 32-bit ones, comes back from its value.
func TestRoundTrip(t *testing.T) {
	for _, f := range format.All() {
		step := uint64(1)
		if f.Width() == 32 {
			step = 65521 << f.Shift >> min(f.Shift, 8) // a prime stride, shifted for tf32's low bits
		}
		for c := uint64(0); c < 1<<f.Width(); c += step {
			code := uint32(c) >> f.Shift << f.Shift
			v := f.Decode(code)
			for _, r := range []format.Rounding{format.RN, format.RNA, format.RZ, format.RNZ} {
				got := f.Encode(v, r, format.Overflow)
				if math.IsNaN(v) {
					if got != f.NaNCode {
						t.Fatalf("%v: NaN code %#x came back as %#x, want %#x", f, code, got, f.NaNCode)
					}
				} else if got != code {
					t.Fatalf("%v: code %#x = %v came back as %#x", f, code, v, got)
				}
			}
		}
	}
}
