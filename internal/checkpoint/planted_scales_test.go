package checkpoint_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/assay-suite/assay/internal/checkpoint"
)

// times multiplies an fp32 tensor.
func (f *folder) times(name string, factor float32) {
	s := f.get(name)
	v := s.float32s()
	for i := range v {
		v[i] *= factor
	}
	s.setFloat32s(v)
}

func (f *folder) invert(name string) {
	s := f.get(name)
	v := s.float32s()
	for i := range v {
		v[i] = 1 / v[i]
	}
	s.setFloat32s(v)
}

// invertE8M0 stores 1/s: 2^(127-code) has the code 254-code.
func (f *folder) invertE8M0(name string) {
	f.get(name).each(func(_ int, b byte) byte { return 254 - b })
}

// reverseRows stores the block scales of row r with row N-1-r.
func (f *folder) reverseRows(name string) {
	s := f.get(name)
	n := s.shape[1]
	old := bytes.Clone(s.raw)
	for r := range s.shape[0] {
		copy(s.raw[r*n:(r+1)*n], old[(s.shape[0]-1-r)*n:])
	}
}

func TestPlantedScales(t *testing.T) {
	t.Parallel()
	const mx, nv = "nano-v4-mxfp4", "nano-v4-nvfp4"
	check(t, []plant{
		{
			name:   "scale-missing-fp8",
			folder: mx,
			kind:   checkpoint.KindScaleMissing,
			about:  "layers.2.attn.wo_b.scale",
			damage: func(f *folder) { f.remove("layers.2.attn.wo_b.scale") },
		},
		{
			name:   "scale-missing-mxfp4",
			folder: mx,
			kind:   checkpoint.KindScaleMissing,
			about:  expert + "w2.scale",
			damage: func(f *folder) { f.remove(expert + "w2.scale") },
		},
		{
			name:   "scale-missing-without-config",
			folder: mx,
			kind:   checkpoint.KindScaleMissing,
			about:  expert + "w2.scale",
			damage: func(f *folder) {
				f.files["config.json"] = nil
				f.remove(expert + "w2.scale")
			},
		},
		{
			name:   "block-scale-missing-nvfp4",
			folder: nv,
			kind:   checkpoint.KindScaleMissing,
			about:  expert + "w1.weight_scale",
			damage: func(f *folder) { f.remove(expert + "w1.weight_scale") },
		},
		{
			name:   "global-scale-missing",
			folder: nv,
			kind:   checkpoint.KindScaleMissing,
			about:  expert + "w3.weight_scale_2",
			damage: func(f *folder) { f.remove(expert + "w3.weight_scale_2") },
		},
		{
			name:   "input-scale-missing",
			folder: nv,
			kind:   checkpoint.KindScaleMissing,
			about:  expert + "w3.input_scale",
			damage: func(f *folder) { f.remove(expert + "w3.input_scale") },
		},
		{
			name:   "scale-left-over",
			folder: nv,
			kind:   checkpoint.KindExtra,
			about:  expert + "w3.scale",
			damage: func(f *folder) { f.add(f.get("layers.0.attn.wq_a.scale"), expert+"w3.scale", shard1) },
		},
		{
			name:   "scale-transposed",
			folder: mx,
			kind:   checkpoint.KindScaleShape,
			about:  expert + "w1.scale",
			damage: func(f *folder) { f.get(expert + "w1.scale").shape = []int{4, 128} },
		},
		{
			name:   "scale-per-row",
			folder: mx,
			kind:   checkpoint.KindScaleShape,
			about:  "layers.2.attn.wkv.scale",
			damage: func(f *folder) {
				s := f.get("layers.2.attn.wkv.scale")
				s.shape, s.raw = []int{64, 1}, bytes.Repeat(s.raw, 64)
			},
		},
		{
			name:   "scale-negative",
			folder: nv,
			kind:   checkpoint.KindScaleSign,
			about:  expert + "w1.weight_scale",
			damage: func(f *folder) { f.get(expert + "w1.weight_scale").raw[1023] |= 0x80 },
		},
		{
			name:   "scale-zero",
			folder: nv,
			kind:   checkpoint.KindScaleSign,
			about:  expert + "w1.weight_scale",
			damage: set8(expert+"w1.weight_scale", 500, 0),
		},
		{
			name:   "global-scale-zero",
			folder: nv,
			kind:   checkpoint.KindScaleSign,
			about:  expert + "w2.weight_scale_2",
			damage: set32(expert+"w2.weight_scale_2", 0, 0),
		},
		{
			name:   "input-scale-negative",
			folder: nv,
			kind:   checkpoint.KindScaleSign,
			about:  expert + "w2.input_scale",
			damage: set32(expert+"w2.input_scale", 0, -0.003),
		},
		{
			name:   "scale-nan",
			folder: nv,
			kind:   checkpoint.KindScaleValue,
			about:  expert + "w1.weight_scale",
			damage: set8(expert+"w1.weight_scale", 500, 0x7f),
		},
		{
			name:   "global-scale-inf",
			folder: nv,
			kind:   checkpoint.KindScaleValue,
			about:  expert + "w2.weight_scale_2",
			also:   []string{checkpoint.KindMagnitude},
			damage: set32(expert+"w2.weight_scale_2", 0, float32(math.Inf(1))),
		},
		{
			name:   "e8m0-255",
			folder: mx,
			kind:   checkpoint.KindScaleValue,
			about:  "layers.3.attn.wq_b.scale",
			damage: set8("layers.3.attn.wq_b.scale", 1, 255),
		},
		{
			name:   "gate-up-scale-unequal",
			folder: nv,
			kind:   checkpoint.KindGateUpScale,
			about:  expert + "w3.weight_scale_2",
			damage: func(f *folder) { f.times(expert+"w3.weight_scale_2", 0.9) },
		},
		{
			name:   "gate-up-input-unequal",
			folder: nv,
			kind:   checkpoint.KindGateUpScale,
			about:  expert + "w1.input_scale",
			damage: func(f *folder) { f.times(expert+"w1.input_scale", 2) },
		},
		{
			name:   "global-scale-doubled-down",
			folder: nv,
			kind:   checkpoint.KindMagnitude,
			about:  expert + "w2.weight_scale_2",
			damage: func(f *folder) { f.times(expert+"w2.weight_scale_2", 2) },
		},
		{
			name:   "global-scale-doubled-gate-and-up",
			folder: nv,
			kind:   checkpoint.KindMagnitude,
			about:  expert + "w3.weight_scale_2",
			also:   []string{checkpoint.KindMagnitude},
			damage: func(f *folder) {
				f.times(expert+"w1.weight_scale_2", 2)
				f.times(expert+"w3.weight_scale_2", 2)
			},
		},
		{
			name:   "scale-inverted-mxfp4",
			folder: mx,
			kind:   checkpoint.KindScaleInverted,
			about:  expert + "w2.scale",
			also:   []string{checkpoint.KindMismatched},
			damage: func(f *folder) { f.invertE8M0(expert + "w2.scale") },
		},
		{
			name:   "scale-inverted-fp8",
			folder: mx,
			kind:   checkpoint.KindScaleInverted,
			about:  "layers.3.attn.wq_b.scale",
			damage: func(f *folder) { f.invertE8M0("layers.3.attn.wq_b.scale") },
		},
		{
			name:   "scale-inverted-nvfp4",
			folder: nv,
			kind:   checkpoint.KindScaleInverted,
			about:  expert + "w2.weight_scale_2",
			damage: func(f *folder) { f.invert(expert + "w2.weight_scale_2") },
		},
		{
			name:   "scale-inverted-input",
			folder: nv,
			kind:   checkpoint.KindScaleInverted,
			about:  expert + "w2.input_scale",
			damage: func(f *folder) { f.invert(expert + "w2.input_scale") },
		},
		{
			name:   "fp8-scale-four-times",
			folder: mx,
			kind:   checkpoint.KindMagnitude,
			about:  "layers.2.attn.wkv.weight",
			damage: func(f *folder) {
				f.get("layers.2.attn.wkv.scale").each(func(_ int, b byte) byte { return b + 2 })
			},
		},
		{
			name:   "block-scales-halved",
			folder: nv,
			kind:   checkpoint.KindScaleTop,
			about:  expert + "w2.weight_scale",
			also:   []string{checkpoint.KindMagnitude},
			damage: func(f *folder) {
				f.get(expert + "w2.weight_scale").each(func(_ int, b byte) byte { return b - 8 }) // one binade: all are normal
			},
		},
		{
			name:   "codes-below-the-top",
			folder: mx,
			kind:   checkpoint.KindBlockTop,
			about:  expert + "w2.weight",
			also:   []string{checkpoint.KindMagnitude},
			damage: func(f *folder) {
				half := [8]byte{0, 0, 1, 1, 2, 3, 4, 5} // e2m1 codes of half the value
				f.get(expert + "w2.weight").each(func(_ int, b byte) byte { return b&0x88 | half[b&7] | half[b>>4&7]<<4 })
				f.get(expert + "w2.scale").each(func(_ int, b byte) byte { return b + 1 })
			},
		},
		{
			name:   "codes-moved-by-a-row-and-a-half-block",
			folder: nv,
			kind:   checkpoint.KindBlockTop,
			about:  expert + "w2.weight",
			also:   []string{checkpoint.KindMagnitude, checkpoint.KindMismatched, checkpoint.KindNibbles},
			damage: func(f *folder) {
				s := f.get(expert + "w2.weight")
				s.raw = append(bytes.Clone(s.raw[4:]), s.raw[:4]...)
			},
		},
		{
			name:   "scale-of-the-wrong-block-mxfp4",
			folder: mx,
			base:   true,
			kind:   checkpoint.KindBaseBlocks,
			about:  expert + "w1.scale",
			damage: func(f *folder) { f.reverseRows(expert + "w1.scale") },
		},
		{
			name:   "scale-of-the-wrong-block-nvfp4",
			folder: nv,
			base:   true,
			kind:   checkpoint.KindBaseBlocks,
			about:  expert + "w1.weight_scale",
			damage: func(f *folder) { f.reverseRows(expert + "w1.weight_scale") },
		},
		{
			name:   "scale-of-another-expert",
			folder: nv,
			base:   true,
			kind:   checkpoint.KindBaseBlocks,
			about:  expert + "w3.weight_scale",
			also:   []string{checkpoint.KindMismatched},
			damage: func(f *folder) {
				f.get(expert + "w3.weight_scale").raw = bytes.Clone(f.get("layers.1.ffn.experts.0.w3.weight_scale").raw)
			},
		},
		{
			name:   "global-scale-doubled-base",
			folder: nv,
			base:   true,
			kind:   checkpoint.KindBaseScale,
			about:  expert + "w2.weight",
			also:   []string{checkpoint.KindMagnitude},
			damage: func(f *folder) { f.times(expert+"w2.weight_scale_2", 2) },
		},
		{
			name:   "gate-scale-doubled-fp8-base",
			folder: mx,
			base:   true,
			kind:   checkpoint.KindBaseScale,
			about:  "layers.1.ffn.shared_experts.w1.weight",
			also:   []string{checkpoint.KindMagnitude},
			damage: func(f *folder) {
				f.get("layers.1.ffn.shared_experts.w1.scale").each(func(_ int, b byte) byte { return b + 1 })
			},
		},
	})
}
