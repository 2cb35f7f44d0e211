package topk

import (
	"math"
	"math/bits"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// ladder is the j-th of many scores that share sign, exponent and the upper mantissa: 3 plus j units in the last place.
func ladder(j int) float64 { return float64(math.Float32frombits(math.Float32bits(3) + uint32(j))) }

// ascending, so that the best keys come last.
var ascending = scored(func(_ gen, t, i, _ int) float64 { return float64(t) - 20 + float64(i)/64 })

var descending = scored(func(_ gen, t, i, _ int) float64 { return float64(t) + 9 - float64(i)/64 })

// nearTies share their upper 16 bits and rise.
var nearTies = scored(func(_ gen, t, i, _ int) float64 { return ladder(i + t) })

// nearTiesShuffled are the same in no order.
var nearTiesShuffled = scored(func(_ gen, t, i, n int) float64 { return ladder((i*7919 + t) % n) })

// bin puts all keys but a few into one coarse bin, rising, so that the largest arrive last; one in 50 is above the bin,
// one in 40 far below.
var bin = scored(func(_ gen, _, i, n int) float64 {
	switch {
	case i%50 == 7:
		return 8 + float64(i%13)
	case i%40 == 3:
		return -5 - float64(i%11)
	}
	return 3 + 0.4*float64(i)/float64(n) // 3 .. 3.5 is a quarter of a binade
})

// ramp rises evenly from 1 to 2: four coarse bins of a quarter of the keys each.
var ramp = scored(func(_ gen, _, i, n int) float64 { return 1 + float64(i)/float64(n) })

// relu is what a ReLU leaves of weak scores: a few winners, every third of the way, and zeros.
var relu = scored(func(g gen, t, i, n int) float64 {
	if every := n / max(g.k/20, 1); i%max(every, 1) == t {
		return 1 + float64(i%7)/8
	}
	return 0
})

// fewValues are scores of eight steps, so that the k-th place lies inside a step.
var fewValues = scored(func(g gen, _, _, _ int) float64 { return float64(g.IntN(8)) - 3 })

var allEqual = scored(func(_ gen, t, _, _ int) float64 { return -1.625 + float64(t) })

var negative = scored(func(g gen, _, _, _ int) float64 { return -math.Exp(2 * g.NormFloat64()) })

// zeros of both signs around the k-th place.
var zeros = scored(func(g gen, t, i, n int) float64 {
	switch {
	case (i+t)%max(2*n/max(g.k, 1), 3) == 1:
		return 1 + float64(i)
	case i%3 == 0:
		return math.Copysign(0, -1)
	case i%3 == 1:
		return 0
	}
	return -1 - float64(i)
})

// subnormal scores, which a cast to half precision makes zero.
var subnormal = scored(func(g gen, _, i, _ int) float64 {
	return float64(math.Float32frombits(uint32(1+(i*2654435)%(1<<21)))) * float64(1-2*g.IntN(2))
})

// beyondHalf are beyond 65,504: infinite to a cast to half precision.
var beyondHalf = scored(func(g gen, _, _, _ int) float64 { return 1e5 * math.Exp(10*g.Float64()) })

// extremes reach to the ends of fp32.
var extremes = scored(func(g gen, _, _, _ int) float64 {
	return math.Copysign(math.Exp2(250*g.Float64()-125), g.NormFloat64())
})

// maskedKeys have -Inf inside of the visible part: in even rows so many that some of them must be taken.
var maskedKeys = scored(func(g gen, t, i, n int) float64 {
	keep := g.k / 2
	if t%2 == 1 {
		keep = (g.k + n) / 2
	}
	if i*7919%n < keep {
		return 4 * g.NormFloat64()
	}
	return math.Inf(-1)
})

// plusInf has a few +Inf in odd rows, more than slots in even ones.
var plusInf = scored(func(g gen, t, i, n int) float64 {
	many := g.k + 5
	if t%2 == 1 {
		many = g.k / 3
	}
	if i*7919%n < many {
		return math.Inf(1)
	}
	return g.NormFloat64()
})

// reversedBits give every key another score, the index with its bits reversed: which keys were chosen reads back from
// them.
var reversedBits = scored(func(_ gen, t, i, _ int) float64 {
	return float64(bits.Reverse16(uint16(i+t)))/256 - 100
})

// needles are the best keys at the edges of pages, tiles and the row, all else falls.
var needles = scored(func(g gen, t, i, n int) float64 {
	edges := []int{
		0, g.page - 1, g.page, g.page + 1, 31, 32, 63, 64, 127, 128, 255, 256, 511, 512, 1023, 1024, 2047, 2048, 4095, 4096,
		n / 2, n - 2, n - 1,
	}
	if slices.Contains(edges, i) {
		return 50 + float64((i+t)%17)
	}
	return -float64(i) / 128
})

// outlier is one huge score that leaves nothing to a linear histogram.
var outlier = scored(func(g gen, _, i, n int) float64 {
	if i == n/3 {
		return 1e30
	}
	return 1e-3 * g.NormFloat64()
})

// beyondBest puts larger scores than any visible one behind the end of every row.
func beyondBest(g gen, p *bench.Problem) {
	lengths := p.In("lengths").Ints()
	p.Change("scores", func(at int, v float64) float64 {
		if at%g.width >= lengths[at/g.width] {
			return 1e9 + float64(at%g.width)
		}
		return v
	})
}

// lastKeys makes the last visible key the best and the one before the worst.
var lastKeys = scored(func(g gen, _, i, n int) float64 {
	switch i {
	case n - 1:
		return 100
	case n - 2:
		return -100
	}
	return g.NormFloat64()
})

// notANumber are NaN in rows of at most k keys, which nobody ranks.
func notANumber(g gen, p *bench.Problem) {
	lengths := p.In("lengths").Ints()
	p.Change("scores", func(at int, v float64) float64 {
		if n := lengths[at/g.width]; n <= g.k && at%g.width < n && at%3 != 1 {
			return math.NaN()
		}
		return v
	})
}
