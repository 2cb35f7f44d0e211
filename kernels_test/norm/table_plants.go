package norm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func tablePlants() []bench.Plant {
	blend := func(f func(theta, factor, ramp float64) float64) func(k *table) {
		return func(k *table) { k.blend = f }
	}
	span := func(f func(y yarnArgs) (low, high float64)) func(k *table) {
		return func(k *table) { k.span = f }
	}
	return planted(opTable, func(put func(k *table)) bench.Kernel { return bench.With(correctTable(), put).run },
		[]fault[table]{
			{
				"table-yarn-missing", "frequencies are not scaled", "ml-explore/mlx-lm#1189", "variant",
				blend(func(theta, _, _ float64) float64 { return theta }), nil,
			},
			{
				"table-interpolated", "every frequency is divided by the factor", "linear interpolation in place of YaRN",
				"variant", blend(func(theta, factor, _ float64) float64 { return theta / factor }), nil,
			},
			{
				"table-ramp-reversed", "fast pairs are divided and slow ones kept", "the ramp for its complement", "variant",
				blend(func(theta, factor, ramp float64) float64 { return blended(theta, factor, 1-ramp) }), nil,
			},
			{
				"table-factor-inverted", "slow frequencies are multiplied by the factor", "a reciprocal factor", "variant",
				blend(func(theta, factor, ramp float64) float64 { return blended(theta, 1/factor, ramp) }), nil,
			},
			{
				"table-range-unrounded", "the blend's range is not rounded to whole pairs",
				"truncate off, as a later YaRN has it", "variant",
				span(func(y yarnArgs) (low, high float64) { return y.cut(y.pair(y.fast), y.pair(y.slow)) }), nil,
			},
			{
				"table-range-uncut", "the blend may end beyond rotary_dim - 1", "a clamp that is left out", "variant",
				span(func(y yarnArgs) (low, high float64) {
					low, _ = y.span()
					return low, math.Ceil(y.pair(y.slow))
				}), nil,
			},
			{
				"table-range-cut-at-pairs", "the blend ends at the last pair", "channels and pairs mixed up in the clamp",
				"variant", span(func(y yarnArgs) (low, high float64) {
					low, high = y.span()
					return low, min(high, y.dims/2-1)
				}), nil,
			},
			{
				"table-amplitude-twice", "the amplitude is applied twice", "mscale in the table and again at its use", "scale",
				func(k *table) {
					k.amplitude = func(a bench.Attrs) float64 { return amplitude(a) * amplitude(a) }
				}, nil,
			},
			{
				"table-sin-first", "sines come first", "halves of the table swapped", "layout",
				func(k *table) { k.place = func(i, pairs int) (cos, sin int) { return pairs + i, i } }, nil,
			},
			{
				"table-neighbours", "cosine and sine of a pair lie side by side", "another layout of the table", "layout",
				func(k *table) { k.place = func(i, _ int) (cos, sin int) { return 2 * i, 2*i + 1 } }, nil,
			},
			{
				"table-frequency-bf16", "inverse frequencies are rounded to bf16", "inverse frequencies cast with the model",
				"accumulation", func(k *table) { k.store = inBF16 }, nil,
			},
			{
				"table-angle-fp32", "the angle is rounded to fp32 where float64 is declared", "a table in fp32",
				"accumulation", func(k *table) { k.angle = angleFP32 },
				[]string{"float64-angle"},
			},
		})
}
