package norm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func ropePlants() []bench.Plant {
	return planted(opRope, func(put func(k *rotation)) bench.Kernel { return bench.With(correctRotation(), put).run },
		[]fault[rotation]{
			{
				"rope-twice", "the rotation is applied twice", "rotated in the projection and again in the kernel", "offset",
				func(k *rotation) {
					once := k.rotate
					k.rotate = func(u, v, cos, sin float64) (float64, float64) {
						u, v = once(u, v, cos, sin)
						return once(u, v, cos, sin)
					}
				}, nil,
			},
			{
				"rope-one-head", "only the first head is rotated", "one key head taken for all", "layout",
				func(k *rotation) { k.skip = func(head, _, _ int) bool { return head > 0 } }, nil,
			},
			{
				"rope-last-pair", "the last pair is not rotated", "a loop that ends early", "tile",
				func(k *rotation) { k.skip = func(_, pair, pairs int) bool { return pair == pairs-1 } }, nil,
			},
			{
				"rope-rest-zero", "unrotated channels are 0", "an output that is written in part", "unwritten",
				func(k *rotation) { k.rest = func(float64) float64 { return 0 } }, nil,
			},
			{
				"rope-theta-width", "the exponent divides by the width of the head",
				"partial rotation with the whole head's frequencies", "variant", func(k *rotation) {
					k.power = func(r rotary, i int) float64 { return math.Pow(r.theta, -2*float64(i)/float64(r.width)) }
				}, nil,
			},
			{
				"rope-frequency-bf16", "inverse frequencies are rounded to bf16", "a buffer cast with the model", "accumulation",
				func(k *rotation) {
					angle := k.angle
					k.angle = func(position int, f float64, kind string) float64 { return angle(position, inBF16(f), kind) }
				}, nil,
			},
			{
				"rope-table-bf16", "cosines and sines are rounded to bf16", "a table in the activations' dtype", "accumulation",
				func(k *rotation) { k.store = inBF16 },
				[]string{"float64-angle", "fp32-table"},
			},
			{
				"rope-angle-fp32", "the angle is rounded to fp32 where float64 is declared", "a table in fp32", "accumulation",
				func(k *rotation) { k.angle = angleFP32 },
				[]string{"float64-angle"},
			},
			{
				"rope-angle-float64", "the product with a given frequency is not rounded where fp32 is declared",
				"a float64 angle against the model's own table", "accumulation",
				func(k *rotation) { k.angle = angleFloat64 },
				[]string{"fp32-table", "bf16-out"},
			},
			{
				"rope-cache-swapped", "sines are taken for cosines", "halves of the table swapped", "layout",
				func(k *rotation) {
					k.read = func(row []float64, i, pairs int) (cos, sin float64) { return row[pairs+i], row[i] }
				}, nil,
			},
			{
				"rope-cache-neighbours", "cosine and sine are read side by side", "a table of another layout", "layout",
				func(k *rotation) {
					k.read = func(row []float64, i, _ int) (cos, sin float64) { return row[2*i], row[2*i+1] }
				}, nil,
			},
		})
}

func inBF16(v float64) float64 { return float64(bench.AsBF16(float32(v))) }

// otherPairing is a call whose pairs are neighbours where halves are wanted, and the other way round.
func otherPairing(c *bench.Call) {
	c.Attrs["pairing"] = map[string]string{"half": "interleaved", "interleaved": "half"}[c.Attrs.Word("pairing")]
}

// otherEnd is a call for the channels at the other end of a head.
func otherEnd(c *bench.Call) {
	rest := c.Views["x"].Shape[2] - c.Attrs.Int("rotary_dim")
	c.Attrs["rotary_offset"] = float64(rest - c.Attrs.Int("rotary_offset"))
}
