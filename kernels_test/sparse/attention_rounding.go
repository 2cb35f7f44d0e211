package sparse

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// roundingScenarios are rows of several groups. A power of two as scale changes no code but the subnormal ones, so that
// wrong groups and wrong floors only show between sizes some thousands apart.
func roundingScenarios() []bench.Scenario {
	wide := func(name string, dim, rope int) bench.Shape {
		return sized(name, dims{"requests": 2, "extend": 1, "heads": 2, "dim": dim, "rope": rope})
	}
	flash := wide("d512-r64", 512, 64)
	short, narrow := wide("d272-r64", 272, 64), wide("d160-r16", 160, 16)
	return []bench.Scenario{
		{
			ID: "rounded-groups", Why: "seven groups, and three or two and a short one, each of another size", Phase: "decode",
			Contracts: []string{v4Later}, Shapes: []bench.Shape{flash, short, narrow},
			Change: sizedGroups(1, 3e4, 0.01, 2e3, 0.5, 1e5, 0.004),
		},
		{
			ID:        "rounded-alike",
			Why:       "the same groups, all of one size",
			Phase:     "decode",
			Contracts: []string{v4Later},
			Shapes:    []bench.Shape{short, narrow},
		},
		{
			ID: "rounded-tiny", Why: "groups below the floor of the scale, whose codes are subnormal for that", Phase: "decode",
			Contracts: []string{v4Later}, Shapes: []bench.Shape{
				sized("nano", nil), short,
			},
			Change: sizedGroups(2e-9, 1, 4e-9, 3e-6),
		},
	}
}

// sizedGroups multiplies the groups of the caches' rows that kv_rounding rounds, and divides the queries' channels by
// the same, so that every channel counts alike in the scores.
func sizedGroups(factors ...float64) bench.Change {
	return func(_ bench.Gen, p *bench.Problem) error {
		lead, width := rounded(*p)
		factor := func(i int) float64 {
			if c := i % width; c < lead {
				return factors[c/64%len(factors)]
			}
			return 1
		}
		p.Change("q", func(i int, v float64) float64 { return v / factor(i) })
		for _, prefix := range prefixes(*p) {
			p.Change(prefix+"kv", func(i int, v float64) float64 { return v * factor(i) })
		}
		return nil
	}
}

// rounded says how many leading channels of how many are rounded.
func rounded(p bench.Problem) (lead, width int) {
	width = p.Operands["q"].Shape[2]
	return width - p.Attrs.Int("rope_dims"), width
}

// aboveFloor makes the smallest groups large enough that no floor of a scale matters.
func aboveFloor(_ bench.Gen, p *bench.Problem) (bool, error) {
	if p.Attrs.Word("kv_rounding") != "fp8" {
		return false, nil
	}
	lead, width := rounded(*p)
	small := false
	for _, prefix := range prefixes(*p) {
		kv := p.Operands[prefix+"kv"]
		for row := 0; row < len(kv.Values); row += width {
			for from := 0; from < lead; from += 64 {
				amax := 0.0
				for _, v := range kv.Values[row+from : row+min(from+64, lead)] {
					amax = max(amax, math.Abs(v))
				}
				small = small || amax < 1e-4
			}
		}
		p.Change(prefix+"kv", func(_ int, v float64) float64 { return v + math.Copysign(1e-3, v) })
	}
	p.Change("q", func(_ int, v float64) float64 { return max(-4, min(4, v)) })
	return small, nil
}

// oneSize brings every value of a rounded row between 1 and 2: all groups have one scale.
func oneSize(_ bench.Gen, p *bench.Problem) (bool, error) {
	if p.Attrs.Word("kv_rounding") != "fp8" {
		return false, nil
	}
	for _, prefix := range prefixes(*p) {
		p.Change(prefix+"kv", func(_ int, v float64) float64 {
			mantissa, _ := math.Frexp(v)
			return 2 * mantissa
		})
	}
	p.Change("q", func(_ int, v float64) float64 { return max(-4, min(4, v)) })
	lead, _ := rounded(*p)
	return lead > 64, nil
}
