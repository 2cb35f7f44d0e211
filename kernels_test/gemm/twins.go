package gemm

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

func twin(class, name string, apply func(p *bench.Problem) bool) bench.Twin {
	return bench.Twin{Class: class, Name: name, Apply: func(_ bench.Gen, p *bench.Problem) bool { return apply(p) }}
}

// multiplierNames are operands of one multiplier a block; globalNames of one for a whole operand.
var (
	multiplierNames = []string{"x_scale", "w_scale"}
	globalNames     = []string{"input_scale", "weight_scale_2", "alpha"}
)

// encodingTwin stores fp32 multipliers as e8m0.
var encodingTwin = twin("encoding", "scales stored as e8m0", func(p *bench.Problem) bool {
	changed := false
	for _, name := range multiplierNames {
		if o := p.Operands[name]; o.DType == bench.F32 {
			p.Operands[name] = bench.Floats(bench.E8M0, o.Values, o.Shape...)
			changed = true
		}
	}
	return changed
})

// globalTwin has no factor for a whole operand.
var globalTwin = bench.Level("scale", "global factors of 1", 1, globalNames...)

// scaleLayoutTwin has one multiplier everywhere, in what fills up tiles too.
var scaleLayoutTwin = twin("scale-layout", "the same scale in every block", func(p *bench.Problem) bool {
	for _, name := range multiplierNames {
		delete(p.Unread, name)
	}
	return p.Each(func(int, float64) float64 { return 0.25 }, multiplierNames...)
})

// unitScaleTwin has multipliers of 1.
var unitScaleTwin = bench.Level("scale", "scales of 1", 1, slices.Concat(multiplierNames, globalNames)...)

// accumulationTwin has elements of ±1 and multipliers of 1: any accumulator adds them exactly.
var accumulationTwin = twin("accumulation", "elements of ±1 under scales of 1, whose sums are exact",
	func(p *bench.Problem) bool {
		for _, name := range []string{"x", "w"} {
			packedOp := p.Operands[name].DType == bench.U8
			p.Change(name, func(_ int, v float64) float64 {
				switch {
				case packedOp:
					return float64(int(v)&0x88 | 0x22)
				case v == 0 || math.IsNaN(v):
					return v
				}
				return math.Copysign(1, v)
			})
		}
		p.Each(func(int, float64) float64 { return 1 }, slices.Concat(multiplierNames, globalNames)...)
		return true
	})

// nibbleTwin has the same code twice in every byte.
var nibbleTwin = twin("layout", "the same code in both halves of a byte", func(p *bench.Problem) bool {
	for _, name := range []string{"x", "w"} {
		if p.Operands[name].DType == bench.U8 {
			p.Change(name, func(_ int, v float64) float64 { return float64(int(v) & 15 * 17) })
		}
	}
	return true
})

// sameExpertTwin gives every expert the weights of the first.
var sameExpertTwin = twin("layout", "the same weights for every expert", func(p *bench.Problem) bool {
	for _, name := range []string{"w", "w_scale", "alpha"} {
		if o, ok := p.Operands[name]; ok && o.Shape[0] > 1 {
			width := size(o.Shape[1:])
			for i := range o.Values {
				o.Values[i] = o.Values[i%width]
			}
		}
	}
	return p.In("w").Dim(0) > 1
})

// tailTwin has nothing in the last block of K where that is not full.
var tailTwin = twin("tile", "nothing in the last block of K, which is not full", func(p *bench.Problem) bool {
	shape := p.Operands["x"].Shape
	k := shape[len(shape)-1]
	full := k / 128 * 128
	if full == k || full == 0 {
		return false
	}
	p.Change("x", func(i int, v float64) float64 {
		if i%k >= full {
			return 0
		}
		return v
	})
	return true
})

// tileTwin gives every expert a buffer of a whole tile of 64 rows.
var tileTwin = twin("tile", "buffers of 64 rows", func(p *bench.Problem) bool {
	x := p.In("x")
	experts, most := x.Dim(0), x.Dim(1)
	if most >= 64 || most == 0 {
		return false
	}
	for _, name := range []string{"x", "x_scale"} {
		o := p.Operands[name]
		width := o.Shape[2]
		v := oracle.NewMat(experts*64, width)
		for e := range experts {
			for r := range 64 {
				copy(v.Row(e*64+r), o.Values[(e*most+r%most)*width:][:width])
			}
		}
		p.Operands[name] = bench.Operand{DType: o.DType, Shape: []int{experts, 64, width}, Values: v.Data}
		delete(p.Unread, name)
	}
	y := p.Outputs["y"]
	y.Shape = []int{experts, 64, y.Shape[2]}
	p.Outputs["y"] = y
	return true
})

// boundaryTwin keeps the maxima of blocks away from powers of two.
var boundaryTwin = twin("encoding", "maxima in the middle between powers of two times 448",
	func(p *bench.Problem) bool {
		eachBlock(p, func(_ int, v []float64, lo, hi int) {
			if top := largest(bench.Float32s(v[lo:hi])); top > 0 {
				setMaximum(v, lo, hi, 0, math.Ldexp(320, math.Ilogb(float64(top))-8))
			}
		})
		return true
	})

// floorTwin has no block below the floor of the maximum.
var floorTwin = twin("scale", "blocks far above the floor", func(p *bench.Problem) bool {
	eachBlock(p, func(_ int, v []float64, lo, hi int) {
		for i := lo; i < hi; i++ {
			v[i] = math.Copysign(1+math.Mod(math.Abs(v[i]), 1), v[i])
		}
	})
	return true
})

// gridTwin has elements that are exact in every format: powers of two under one scale.
var gridTwin = twin("encoding", "elements that every format holds", func(p *bench.Problem) bool {
	eachBlock(p, func(_ int, v []float64, lo, hi int) {
		for i := lo; i < hi; i++ {
			v[i] = math.Copysign([]float64{1, 2, 4}[i%3], v[i])
		}
	})
	return true
})

var nibbleSameTwin = twin("layout", "neighbours of one value", func(p *bench.Problem) bool {
	x := p.Operands["x"]
	for i := 1; i < len(x.Values); i += 2 {
		x.Values[i] = x.Values[i-1]
	}
	return true
})

// sameBlockTwin has the same values in every block, so that every scale is the same.
var sameBlockTwin = twin("scale-layout", "the same values in every block", func(p *bench.Problem) bool {
	x := p.Operands["x"]
	for i := 16; i < len(x.Values); i++ {
		x.Values[i] = x.Values[i%16]
	}
	return true
})
