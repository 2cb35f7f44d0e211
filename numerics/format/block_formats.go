package format

// The block formats of the DeepSeek-V3.2 and V4 releases, of OCP MX and of ModelOpt's NVFP4
// conversion. Read only. The last blocks of a row or column may be short.
var (
	// BlockFP8 is e4m3 [N, K] with an e8m0 scale per 128 x 128 block, [ceil(N/128), ceil(K/128)]
	// (DeepSeek-V4 `.scale`).
	BlockFP8 = Block{Name: "blockfp8", Element: E4M3FN, Scale: E8M0, BlockRows: 128, BlockCols: 128}
	// BlockFP8F32 is the same with fp32 scales (DeepSeek-V3.2 `.scale`, Hugging Face
	// `.weight_scale_inv`, which is a multiplier in spite of its name). A power-of-two scale stored as
	// fp32 is this format under a power-of-two rule.
	BlockFP8F32 = Block{Name: "blockfp8-fp32", Element: E4M3FN, Scale: FP32, BlockRows: 128, BlockCols: 128}
	// RowFP8 is e4m3 activations with an fp32 scale per 128 elements of a row (DeepGEMM on SM90).
	RowFP8 = Block{Name: "rowfp8-fp32", Element: E4M3FN, Scale: FP32, BlockRows: 1, BlockCols: 128}
	// RowFP8E8M0 is the same with e8m0 scales (DeepGEMM on SM100, four to an int32).
	RowFP8E8M0 = Block{Name: "rowfp8", Element: E4M3FN, Scale: E8M0, BlockRows: 1, BlockCols: 128}
	// KVFP8 is the quantised part of a cached DeepSeek-V4 row: e4m3 with an e8m0 scale per 64
	// elements (FlashMLA; see PageV4).
	KVFP8 = Block{Name: "kvfp8", Element: E4M3FN, Scale: E8M0, BlockRows: 1, BlockCols: 64}
	// MXFP8 is e4m3 [N, K] with an e8m0 scale [N, K/32] (OCP MX 1.0).
	MXFP8 = Block{Name: "mxfp8", Element: E4M3FN, Scale: E8M0, BlockRows: 1, BlockCols: 32}
	// MXFP8E5M2 is OCP's other 8-bit element type.
	MXFP8E5M2 = Block{Name: "mxfp8-e5m2", Element: E5M2, Scale: E8M0, BlockRows: 1, BlockCols: 32}
	// MXFP6E2M3 and MXFP6E3M2 are OCP's 6-bit element types, four codes to three bytes.
	MXFP6E2M3 = Block{Name: "mxfp6-e2m3", Element: E2M3, Scale: E8M0, BlockRows: 1, BlockCols: 32}
	MXFP6E3M2 = Block{Name: "mxfp6-e3m2", Element: E3M2, Scale: E8M0, BlockRows: 1, BlockCols: 32}
	// MXFP4 is e2m1 [N, K/2] bytes, the low nibble the even k, with an e8m0 scale [N, K/32] (OCP MX
	// 1.0; DeepSeek-V4 routed experts).
	MXFP4 = Block{Name: "mxfp4", Element: E2M1, Scale: E8M0, BlockRows: 1, BlockCols: 32}
	// NVFP4 is e2m1 [N, K/2] as MXFP4, an e4m3 scale [N, K/16] and an fp32 factor for the tensor
	// (ModelOpt `.weight_scale`, `.weight_scale_2`); the scales are not swizzled.
	NVFP4 = Block{Name: "nvfp4", Element: E2M1, Scale: E4M3FN, BlockRows: 1, BlockCols: 16, TensorScale: true}
)

// Blocks lists the block formats.
func Blocks() []Block {
	return []Block{BlockFP8, BlockFP8F32, RowFP8, RowFP8E8M0, KVFP8, MXFP8, MXFP8E5M2, MXFP6E2M3, MXFP6E3M2, MXFP4, NVFP4}
}
