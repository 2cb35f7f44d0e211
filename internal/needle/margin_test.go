package needle_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/stat"
)

// step is one token with its list; the first entry is the chosen one.
func step(pairs ...any) needle.Step {
	var s needle.Step
	for i := 0; i < len(pairs); i += 2 {
		s.Top = append(s.Top, needle.Alt{Text: pairs[i].(string), Logprob: pairs[i+1].(float64)})
	}
	s.Alt = s.Top[0]
	return s
}

// near says that a margin equals a sum of at most four literals and logarithms: 1e-12 is far above
// the rounding of such a sum (values below 100, 100 x 2^-52 x 8 = 2e-13).
func near(got, want float64) bool { return stat.WithinAbs(got, want, 1e-12) }

func TestMarginsOneDigitAToken(t *testing.T) {
	// A made vocabulary of 10 digits and 20 words, the law known in full, the list cut to the top 20
	// of 30: the margin must equal the one computed from the full law.
	rng := rand.New(rand.NewPCG(7, 7))
	const code = "48213"
	for round := range 50 {
		var steps []needle.Step
		want := make([]float64, len(code))
		for i := range code {
			law := map[string]float64{}
			sum := 0.0
			for k := range 30 {
				name := fmt.Sprint(k)
				if k > 9 {
					name = "w" + name
				}
				law[name] = rng.Float64()
				if name == string(code[i]) {
					law[name] += 3
				}
				sum += law[name]
			}
			var list []needle.Alt
			best := 0.0
			for name, p := range law {
				list = append(list, needle.Alt{Text: name, Logprob: math.Log(p / sum)})
				if name != string(code[i]) {
					best = math.Max(best, p/sum)
				}
			}
			want[i] = math.Log(law[string(code[i])]/sum) - math.Log(best)
			sort.Slice(list, func(a, b int) bool { return list[a].Logprob > list[b].Logprob })
			steps = append(steps, needle.Step{Alt: list[0], Top: list[:20]})
		}
		for i, m := range needle.Margins(steps, code) {
			if !near(m.Nats, want[i]) || m.Bound != needle.Measured || m.Step != i || m.OffPath || !m.Known() {
				t.Errorf("round %d digit %d: %+v, want %v nats", round, i, m, want[i])
			}
		}
	}
}

func TestMarginsCases(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name  string
		steps []needle.Step
		code  string
		nats  []float64
		bound []needle.Bound
		step  []int
		off   []bool
	}{
		{
			"whole code in one token",
			[]needle.Step{step("48213", -0.1, "48214", -3.0, "77120", -4.0, "4", -5.0, "The", -6.0)},
			"48213",
			// Digit 0: 48213, 48214 and 4 are right, 77120 the rival. Digits 1 to 3: no list entry
			// agrees and then departs, so the least of the list bounds the rival. Digit 4: 48214.
			[]float64{
				math.Log(math.Exp(-0.1)+math.Exp(-3)+math.Exp(-5)) + 4, math.Log(math.Exp(-0.1)+math.Exp(-3)) + 6,
				math.Log(math.Exp(-0.1)+math.Exp(-3)) + 6, math.Log(math.Exp(-0.1)+math.Exp(-3)) + 6, -0.1 + 3,
			},
			[]needle.Bound{needle.Measured, needle.AtLeast, needle.AtLeast, needle.AtLeast, needle.Measured},
			[]int{0, 0, 0, 0, 0},
			make([]bool, 5),
		},
		{
			"two tokens, blank first",
			[]needle.Step{
				step(" 482", -0.3, " 481", -2.0, " 382", -3.0, " x", -9.0), step("13", -0.5, "12", -1.5, "31", -2.5, "x", -9.0),
			},
			"48213",
			[]float64{
				math.Log(math.Exp(-0.3)+math.Exp(-2)) + 3, math.Log(math.Exp(-0.3)+math.Exp(-2)) + 9, -0.3 + 2,
				math.Log(math.Exp(-0.5)+math.Exp(-1.5)) + 2.5, -0.5 + 1.5,
			},
			[]needle.Bound{needle.Measured, needle.AtLeast, needle.Measured, needle.Measured, needle.Measured},
			[]int{0, 0, 0, 1, 1},
			make([]bool, 5),
		},
		{
			"words before, a year among them, blanks between",
			[]needle.Step{
				step("In", -0.1, "4", -9.0), step(" 1704", -0.1, "x", -9.0), step(":", -0.1, "x", -9.0), step("4", -0.1, "7", -3.0),
				step(" ", -0.1, "x", -3.0), step("8", -0.2, "7", -3.0),
			},
			"48",
			[]float64{2.9, 2.8},
			[]needle.Bound{needle.Measured, needle.Measured},
			[]int{3, 5},
			make([]bool, 2),
		},
		{
			"right digit not listed",
			[]needle.Step{step("7", -0.1, "1", -4.0, "2", -11.0), step("8", -0.1, "7", -3.0)},
			"48",
			[]float64{-11.0 + 0.1, 2.9},
			[]needle.Bound{needle.AtMost, needle.Measured},
			[]int{0, 1},
			[]bool{false, true},
		},
		{
			"a wrong token of two digits ends it",
			[]needle.Step{step("47", -0.1, "48", -1.0, "9", -5.0), step("2", -0.1, "3", -3.0)},
			"482",
			[]float64{math.Log(math.Exp(-0.1)+math.Exp(-1)) + 5, -1.0 + 0.1, nan},
			[]needle.Bound{needle.Measured, needle.Measured, needle.Absent},
			[]int{0, 0, -1},
			make([]bool, 3),
		},
		{
			"a denial",
			[]needle.Step{step("I", -0.2, "4", -1.7, "The", -3.0), step(" do", -0.1, "x", -4.0)},
			"48",
			[]float64{-1.7 + 0.2, nan},
			[]needle.Bound{needle.Measured, needle.Absent},
			[]int{0, -1},
			make([]bool, 2),
		},
		{
			"stopped early: the end marker won",
			[]needle.Step{step("4", -0.1, "7", -3.0), step("", -0.3, "8", -1.3)},
			"48",
			[]float64{2.9, -1.3 + 0.3},
			[]needle.Bound{needle.Measured, needle.Measured},
			[]int{0, 1},
			make([]bool, 2),
		},
		{
			"no list: what is left over bounds the rival",
			[]needle.Step{
				{Alt: needle.Alt{Text: "4", Logprob: math.Log(0.9)}},
				{Alt: needle.Alt{Text: "7", Logprob: math.Log(0.75)}},
			},
			"48",
			// 1.2e-6 is the rounding of a list that the bound allows for.
			[]float64{math.Log(0.9) - math.Log(0.1+1.2e-6), math.Log(0.25+1.2e-6) - math.Log(0.75)},
			[]needle.Bound{needle.AtLeast, needle.AtMost},
			[]int{0, 1},
			make([]bool, 2),
		},
		{
			"a list that sums to one and more",
			[]needle.Step{step("4", -1e-9, "\u00a04", -16.0, "4x", -17.0)},
			"4",
			[]float64{math.Log(math.Exp(-1e-9)+math.Exp(-17)) + 16},
			[]needle.Bound{needle.Measured},
			[]int{0},
			make([]bool, 1),
		},
		{
			"values that are none",
			[]needle.Step{step("4", -0.1, "7", math.NaN(), "8", math.Inf(-1), "9", -2.5)},
			"4",
			[]float64{2.4},
			[]needle.Bound{needle.Measured},
			[]int{0},
			make([]bool, 1),
		},
		{
			"no tokens", nil, "48",
			[]float64{nan, nan},
			[]needle.Bound{needle.Absent, needle.Absent},
			[]int{-1, -1},
			make([]bool, 2),
		},
		{
			"no digits for a code", []needle.Step{step("a", -0.1)}, "ab", []float64{nan, nan}, []needle.Bound{
				needle.Absent, needle.Absent,
			}, []int{-1, -1}, make([]bool, 2),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := needle.Margins(c.steps, c.code)
			if len(got) != len(c.nats) {
				t.Fatalf("%d margins, want %d", len(got), len(c.nats))
			}
			for i, m := range got {
				same := near(m.Nats, c.nats[i]) || math.IsNaN(m.Nats) && math.IsNaN(c.nats[i])
				if !same || m.Bound != c.bound[i] || m.Step != c.step[i] || m.OffPath != c.off[i] {
					t.Errorf("digit %d: %+v, want %v nats %s at token %d, off path %v", i, m, c.nats[i], c.bound[i], c.step[i],
						c.off[i])
				}
			}
		})
	}
}

// A bound must hold: cut the lists shorter and shorter and compare with the full law.
func TestMarginBoundsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	seen := map[needle.Bound]int{}
	for range 2000 {
		list := make([]needle.Alt, 10)
		sum := 0.0
		for k := range list {
			p := math.Exp(6 * rng.Float64())
			list[k] = needle.Alt{Text: fmt.Sprint(k), Logprob: p}
			sum += p
		}
		right, rival := 0.0, 0.0
		for k := range list {
			if list[k].Text == "4" {
				right = list[k].Logprob / sum
			} else {
				rival = math.Max(rival, list[k].Logprob/sum)
			}
			list[k].Logprob = math.Log(list[k].Logprob / sum)
		}
		full := math.Log(right) - math.Log(rival)
		sort.Slice(list, func(a, b int) bool { return list[a].Logprob > list[b].Logprob })
		for n := range 10 {
			m := needle.Margins([]needle.Step{{Alt: list[0], Top: list[:n]}}, "4")[0]
			seen[m.Bound]++
			switch m.Bound {
			case needle.Measured:
				if !near(m.Nats, full) {
					t.Errorf("top %d: measured %v, want %v", n, m.Nats, full)
				}
			case needle.AtLeast:
				if m.Nats > full+1e-12 {
					t.Errorf("top %d: at least %v, but it is %v", n, m.Nats, full)
				}
			case needle.AtMost:
				if m.Nats < full-1e-12 {
					t.Errorf("top %d: at most %v, but it is %v", n, m.Nats, full)
				}
			default:
				t.Errorf("top %d: absent", n)
			}
		}
	}
	if seen[needle.Measured] == 0 || seen[needle.AtLeast] == 0 || seen[needle.AtMost] == 0 {
		t.Errorf("bounds seen %v, want all three", seen)
	}
}
