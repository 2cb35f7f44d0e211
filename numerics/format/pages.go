package format

import "fmt"

// PageV4 is a page of the DeepSeek-V4 key-value cache (FlashMLA README and tests/quant.py
// "MODEL1_FP8Sparse"; vLLM and SGLang split it alike): block rows of 448 e4m3 + 64 bf16 = 576 bytes,
// then block x 8 bytes of scales, 7 e8m0 (one per 64 elements) and a pad byte; the whole padded up
// to a multiple of 576 bytes. Token t:
//
//	nope[e]  at 576*t + e              e < 448
//	rope[e]  at 576*t + 448 + 2*e      e < 64
//	scale[g] at 576*block + 8*t + g    g < 7, for nope[64*g : 64*g+64]
//
// FlashMLA's production blocks are 256 (window), 64 (compressed by 4) and 2 (by 128).
func PageV4(block int) (Layout, error) {
	const row, scales = 448 + 64*2, 8
	l := Layout{Name: "v4-kv", Tokens: block, Size: (block*(row+scales) + row - 1) / row * row, Fields: []Field{
		{Name: "nope", Format: E4M3FN, Count: 448, Stride: row, Scales: "scale", Group: 64},
		{Name: "rope", Format: BF16, Count: 64, At: 448, Stride: row},
		{Name: "scale", Format: E8M0, Count: 7, At: block * row, Stride: scales},
	}}
	return l, checkBlock(l.Name, block)
}

// PageV32 is a page of the DeepSeek-V3.2 cache (FlashMLA "V32_FP8Sparse"): 656 bytes a token, no
// padding. Token t:
//
//	nope[e]  at 656*t + e              e < 512
//	scale[g] at 656*t + 512 + 4*g      g < 4, fp32, for nope[128*g : 128*g+128]
//	rope[e]  at 656*t + 528 + 2*e      e < 64
func PageV32(block int) (Layout, error) {
	const row = 512 + 4*4 + 64*2
	l := Layout{Name: "v32-kv", Tokens: block, Size: block * row, Fields: []Field{
		{Name: "nope", Format: E4M3FN, Count: 512, Stride: row, Scales: "scale", Group: 128},
		{Name: "scale", Format: FP32, Count: 4, At: 512, Stride: row},
		{Name: "rope", Format: BF16, Count: 64, At: 528, Stride: row},
	}}
	return l, checkBlock(l.Name, block)
}

// PageIndexFP8 is a page of index keys (DeepGEMM fp8_paged_mqa_logits; SGLang and vLLM alike): first
// all values, then all scales, not token by token, though the tensor is viewed as [block, 1, dim+4].
// Token t:
//
//	key[e]   at dim*t + e
//	scale[0] at dim*block + 4*t        fp32
func PageIndexFP8(block, dim int) (Layout, error) {
	l := Layout{Name: "index-fp8", Tokens: block, Size: block * (dim + 4), Fields: []Field{
		{Name: "key", Format: E4M3FN, Count: dim, Stride: dim, Scales: "scale", Group: dim},
		{Name: "scale", Format: FP32, Count: 1, At: block * dim, Stride: 4},
	}}
	return l, checkDim(l.Name, block, dim)
}

// PageIndexFP4 is the fp4 variant, an int32 of e8m0 bytes a token (one per 32 elements; dim 64 uses
// two of the four):
//
//	key[e]   at dim/2*t + e/2          low nibble for even e
//	scale[g] at dim/2*block + 4*t + g  for key[32*g : 32*g+32]
func PageIndexFP4(block, dim int) (Layout, error) {
	l := Layout{Name: "index-fp4", Tokens: block, Size: block * (dim/2 + 4), Fields: []Field{
		{Name: "key", Format: E2M1, Count: dim, Stride: dim / 2, Scales: "scale", Group: 32},
		{Name: "scale", Format: E8M0, Count: dim / 32, At: block * dim / 2, Stride: 4},
	}}
	return l, checkDim(l.Name, block, dim)
}

// maxBlock keeps a wrong block size from asking for more memory than there is.
const maxBlock = 1 << 16

func checkBlock(name string, block int) error {
	if block < 1 || block > maxBlock {
		return fmt.Errorf("layout %s: a page of %d tokens; want 1 to %d", name, block, maxBlock)
	}
	return nil
}

func checkDim(name string, block, dim int) error {
	if dim != 32 && dim != 64 && dim != 128 {
		return fmt.Errorf("layout %s: keys of %d elements; want 32, 64 or 128", name, dim)
	}
	return checkBlock(name, block)
}
