package checkpoint_test

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
)

func examineSound(t *testing.T, name, dir string) {
	t.Helper()
	r, err := checkpoint.Examine(context.Background(), os.DirFS(dir), checkpoint.Options{Base: shipped(t, "nano-v4")})
	require.NoError(t, err)
	for _, f := range r.Findings {
		t.Errorf("%s, undamaged: %s %q", name, f, f.Tensors)
	}
}

const expert = "layers.1.ffn.experts.2."

func set16(name string, at int, code uint16) func(*folder) {
	return func(f *folder) { binary.LittleEndian.PutUint16(f.get(name).raw[2*at:], code) }
}

func set32(name string, at int, v float32) func(*folder) {
	return func(f *folder) { binary.LittleEndian.PutUint32(f.get(name).raw[4*at:], math.Float32bits(v)) }
}

func set8(name string, at int, code byte) func(*folder) {
	return func(f *folder) { f.get(name).raw[at] = code }
}

func set64(name string, at int, v int64) func(*folder) {
	return func(f *folder) { binary.LittleEndian.PutUint64(f.get(name).raw[8*at:], uint64(v)) }
}

func relabel(name, dtype string) func(*folder) {
	return func(f *folder) { f.get(name).dtype = dtype }
}

func TestPlantedClassesAndTables(t *testing.T) {
	t.Parallel()
	nan := float32(math.NaN())
	check(t, []plant{
		{
			name:   "nan-fp32",
			folder: "nano-v4",
			kind:   checkpoint.KindNaN,
			about:  "layers.2.hc_ffn_fn",
			damage: set32("layers.2.hc_ffn_fn", 777, nan),
		},
		{
			name:   "nan-fp32-last",
			folder: "nano-v4",
			kind:   checkpoint.KindNaN,
			about:  "hc_head_scale",
			damage: set32("hc_head_scale", 0, nan),
		},
		{
			name:   "inf-fp32",
			folder: "nano-v4",
			kind:   checkpoint.KindInf,
			about:  "layers.2.hc_ffn_base",
			damage: set32("layers.2.hc_ffn_base", 23, float32(math.Inf(-1))),
		},
		{
			name:   "nan-bf16",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindNaN,
			about:  "embed.weight",
			damage: set16("embed.weight", 100_001, 0xffc1),
		},
		{
			name:   "inf-bf16",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindInf,
			about:  "head.weight",
			damage: set16("head.weight", 3, 0x7f80),
		},
		{
			name:   "nan-e4m3-weight",
			folder: "nano-v4-nvfp4",
			kind:   checkpoint.KindNaN,
			about:  "layers.0.attn.wkv.weight",
			damage: set8("layers.0.attn.wkv.weight", 64*128-1, 0xff),
		},
		{
			name:   "all-zero-bf16",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindZero,
			about:  "layers.1.attn.compressor.wkv.weight",
			damage: func(f *folder) {
				f.get("layers.1.attn.compressor.wkv.weight").each(func(i int, _ byte) byte { return byte(i&1) << 7 }) // +0 and -0
			},
		},
		{
			name:   "all-zero-fp4",
			folder: "nano-v4-nvfp4",
			kind:   checkpoint.KindZero,
			about:  expert + "w2.weight",
			also:   []string{checkpoint.KindMagnitude, checkpoint.KindMismatched},
			damage: func(f *folder) {
				f.get(expert + "w2.weight").each(func(int, byte) byte { return 0x80 })
			},
		},
		{
			name:   "constant-matrix",
			folder: "nano-v4",
			kind:   checkpoint.KindConstant,
			about:  "layers.3.attn.wo_b.weight",
			damage: func(f *folder) {
				s := f.get("layers.3.attn.wo_b.weight")
				v := s.float32s()
				for i := range v {
					v[i] = 0.02
				}
				s.setFloat32s(v)
			},
		},
		{
			name:   "constant-norm",
			folder: "nano-v4",
			kind:   checkpoint.KindConstant,
			about:  "layers.3.attn.q_norm.weight",
			damage: func(f *folder) {
				s := f.get("layers.3.attn.q_norm.weight")
				v := s.float32s()
				for i := range v {
					v[i] = 1
				}
				s.setFloat32s(v)
			},
		},
		{
			name:   "table-out-of-range",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindTableRange,
			about:  "layers.0.ffn.gate.tid2eid",
			damage: set64("layers.0.ffn.gate.tid2eid", 2047, 4),
		},
		{
			name:   "table-negative",
			folder: "nano-v4",
			kind:   checkpoint.KindTableRange,
			about:  "layers.0.ffn.gate.tid2eid",
			damage: set64("layers.0.ffn.gate.tid2eid", 11, -1),
		},
		{
			name:   "table-repeats-an-expert",
			folder: "nano-v4",
			kind:   checkpoint.KindTableRepeat,
			about:  "layers.0.ffn.gate.tid2eid",
			damage: func(f *folder) {
				raw := f.get("layers.0.ffn.gate.tid2eid").raw
				copy(raw[16*500+8:16*500+16], raw[16*500:16*500+8])
			},
		},
		{
			name:   "relabelled-bf16-as-fp16",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindDTypeMinority,
			about:  "layers.2.ffn.gate.weight",
			damage: relabel("layers.2.ffn.gate.weight", "F16"),
			also:   []string{checkpoint.KindInf},
		},
		{
			name:   "relabelled-e4m3-as-e5m2",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindDType,
			about:  "layers.2.attn.wo_a.weight",
			damage: relabel("layers.2.attn.wo_a.weight", "F8_E5M2"),
			also:   []string{checkpoint.KindDTypeMinority, checkpoint.KindNaN, checkpoint.KindInf},
		},
		{
			name:   "relabelled-codes-as-int8",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindDTypeMinority,
			about:  expert + "w1.weight",
			damage: relabel(expert+"w1.weight", "I8"),
		},
		{
			name:   "relabelled-scale",
			folder: "nano-v4-mxfp4",
			kind:   checkpoint.KindDType,
			about:  expert + "w1.scale",
			damage: relabel(expert+"w1.scale", "F8_E4M3"),
			also:   []string{checkpoint.KindDTypeMinority},
		},
		{
			name:   "relabelled-fp32-as-int32",
			folder: "nano-v4",
			kind:   checkpoint.KindDType,
			about:  "layers.1.hc_attn_fn",
			damage: relabel("layers.1.hc_attn_fn", "I32"),
			also:   []string{checkpoint.KindDTypeMinority},
		},
		{
			name:   "duplicate-expert",
			folder: "nano-v4-nvfp4",
			kind:   checkpoint.KindDuplicate,
			about:  "layers.3.ffn.experts.1.w1.weight",
			also:   []string{checkpoint.KindDuplicate},
			damage: func(f *folder) {
				for _, s := range []string{
					"w1.weight", "w1.weight_scale", "w1.weight_scale_2", "w2.weight", "w2.weight_scale", "w2.weight_scale_2",
					"w3.weight", "w3.weight_scale", "w3.weight_scale_2",
				} {
					f.get("layers.3.ffn.experts.1." + s).raw = f.get("layers.3.ffn.experts.0." + s).raw
				}
			},
		},
		{
			name:   "gate-copied-to-up",
			folder: "nano-v4",
			kind:   checkpoint.KindDuplicate,
			about:  expert + "w3.weight",
			also:   []string{checkpoint.KindMismatched, checkpoint.KindGateUpSwapped},
			damage: func(f *folder) {
				f.get(expert + "w3.weight").raw = f.get(expert + "w1.weight").raw
			},
		},
	})
}
