package format

import (
	"fmt"
	"strings"
)

// Floors of amax, or of the scale, in the sources below.
const (
	floor1e4  = 1e-4
	floor1e8  = 1e-8
	floorFP4  = 6 * 0x1p-126 // 6 times the smallest normal fp32
	torchRule = "fixtures/oracles/make_oracles.py, torch on CPU"
)

// Recipes lists the implementations, by family. Where a source leaves a rule open the entry says so
// in Source, and the field has the value that PTX has.
func Recipes() []Recipe {
	fp8 := Recipe{Block: RowFP8E8M0, AmaxFloor: floor1e4, Rule: ScaleCeilBits, Saturation: Saturate}
	fp4 := Recipe{Block: MXFP4, AmaxFloor: floorFP4, Rule: ScaleCeilBits, Saturation: Saturate}
	nv := Recipe{Block: NVFP4, Rule: ScaleTwoLevel, Saturation: Saturate, ZeroSign: SignOfNegative}
	with := func(r Recipe, name, source string, change func(*Recipe)) Recipe {
		r.Name, r.Source = name, source
		if change != nil {
			change(&r)
		}
		return r
	}
	return []Recipe{
		with(fp8, "v32-fp8", "deepseek-ai/DeepSeek-V3.2-Exp inference/model.py, no scale_fmt", func(r *Recipe) {
			r.Block, r.Rule, r.ScaleOp = RowFP8, ScaleLinear, Multiply
		}),
		with(fp8, "v32-fp8-ue8m0", "deepseek-ai/DeepSeek-V3.2-Exp inference/model.py, scale_fmt ue8m0, stored as fp32",
			func(r *Recipe) {
				r.Block, r.ScaleOp = RowFP8, Multiply
			}),
		with(fp8, "v4-fp8", "DeepSeek-V4 inference/kernel.py", func(r *Recipe) { r.ScaleOp = Multiply }),
		with(fp4, "v4-fp4", "DeepSeek-V4 inference/kernel.py; its fp4 tie rule is not settled", func(r *Recipe) {
			r.ScaleOp = Multiply
		}),
		with(fp8, "deepgemm-fp8", "deepseek-ai/DeepGEMM deep_gemm/utils/math.py; multiplies by 1/scale", func(r *Recipe) {
			r.Block, r.Rule, r.ElementOp = RowFP8, ScaleLinear, Multiply
		}),
		with(fp8, "deepgemm-fp8-ue8m0", "deepseek-ai/DeepGEMM deep_gemm/utils/math.py, use_ue8m0", func(r *Recipe) {
			r.ElementOp = Multiply
		}),
		with(fp8, "deepgemm-block", "deepseek-ai/DeepGEMM deep_gemm/utils/math.py, 128 x 128", func(r *Recipe) {
			r.Block, r.Rule, r.ElementOp = BlockFP8F32, ScaleLinear, Multiply
		}),
		with(fp8, "deepgemm-block-ue8m0", "deepseek-ai/DeepGEMM deep_gemm/utils/math.py, 128 x 128, use_ue8m0",
			func(r *Recipe) {
				r.Block, r.ElementOp = BlockFP8, Multiply
			}),
		with(fp4, "deepgemm-fp4", "deepseek-ai/DeepGEMM deep_gemm/utils/math.py", func(r *Recipe) {
			r.AmaxFloor, r.Rounding, r.ZeroSign = floor1e4, RNZ, SignCleared
		}),
		with(fp4, "sglang-fp4-indexer", "sgl-project/sglang tests/deepseek_v4/test_fp4_indexer.py", func(r *Recipe) {
			r.AmaxFloor, r.ScaleFloor, r.Rounding, r.ZeroSign = 0, floor1e4, RNZ, SignCleared
		}),
		with(fp8, "sglang-kv", "sgl-project/sglang layers/attention/dsv4/quant_k_cache.py", func(r *Recipe) {
			r.Block, r.AmaxFloor, r.Rule = KVFP8, floor1e8, ScaleCeilLog2
		}),
		with(fp8, "flashmla-kv", "deepseek-ai/FlashMLA tests/quant.py", func(r *Recipe) {
			r.Block, r.AmaxFloor, r.ScaleFloor, r.Rule = KVFP8, 0, floor1e4, ScaleCeilLog2
		}),
		with(fp8, "vllm-kv", "vllm-project/vllm deepseek_v4/common/ops/fused_compress_quant_cache.py", func(r *Recipe) {
			r.Block, r.Rule, r.AmaxNaN = KVFP8, ScaleCeilLog2, NaNIgnored
		}),
		with(fp8, "vllm-index-fp8", "vllm-project/vllm deepseek_v4/common/ops/fused_indexer_q.py, power of two stored as "+
			"fp32", func(r *Recipe) {
			r.Block, r.Rule, r.AmaxNaN = RowFP8, ScaleCeilLog2, NaNIgnored
		}),
		with(fp4, "vllm-fp4", "vllm-project/vllm deepseek_v4/common/ops/fused_indexer_q.py, PTX convert", func(r *Recipe) {
			r.Rule, r.AmaxNaN = ScaleCeilLog2, NaNIgnored
		}),
		with(fp8, "tilekernels-fp8", "deepseek-ai/TileKernels tile_kernels/quant/common.py", nil),
		with(fp4, "tilekernels-fp4", "deepseek-ai/TileKernels tile_kernels/quant/common.py, torch/cast.py", nil),
		with(fp8, "ocp-mxfp8", "OCP Microscaling Formats 1.0, section 6.3", func(r *Recipe) {
			r.Block, r.AmaxFloor, r.Rule = MXFP8, 0, ScaleFloorAmax
		}),
		with(fp8, "ocp-mxfp8-e5m2", "OCP Microscaling Formats 1.0, section 6.3", func(r *Recipe) {
			r.Block, r.AmaxFloor, r.Rule = MXFP8E5M2, 0, ScaleFloorAmax
		}),
		with(fp4, "ocp-mxfp6-e2m3", "OCP Microscaling Formats 1.0, section 6.3", func(r *Recipe) {
			r.Block, r.AmaxFloor, r.Rule = MXFP6E2M3, 0, ScaleFloorAmax
		}),
		with(fp4, "ocp-mxfp6-e3m2", "OCP Microscaling Formats 1.0, section 6.3", func(r *Recipe) {
			r.Block, r.AmaxFloor, r.Rule = MXFP6E3M2, 0, ScaleFloorAmax
		}),
		with(fp4, "ocp-mxfp4", "OCP Microscaling Formats 1.0, section 6.3", func(r *Recipe) {
			r.AmaxFloor, r.Rule = 0, ScaleFloorAmax
		}),
		with(fp8, "microxcaling-mxfp8", `microsoft/microxcaling, its default rounding "nearest" is half away, sign() loses `+
			`-0`, func(r *Recipe) {
			r.Block, r.AmaxFloor, r.Rule, r.Rounding, r.ZeroSign = MXFP8, 0, ScaleFloorAmax, RNA, SignCleared
		}),
		with(fp4, "microxcaling-mxfp4", `microsoft/microxcaling, its default rounding "nearest" is half away, sign() loses `+
			`-0`, func(r *Recipe) {
			r.AmaxFloor, r.Rule, r.Rounding, r.ZeroSign = 0, ScaleFloorAmax, RNA, SignCleared
		}),
		with(fp4, "modelopt-mxfp4", "NVIDIA/Model-Optimizer qtensor/mxfp4_tensor.py; scale exponent clamped at -127",
			func(r *Recipe) {
				r.AmaxFloor, r.Rule, r.Rounding = 0, ScaleCeilLog2, RNZ
			}),
		with(nv, "modelopt-nvfp4", "NVIDIA/Model-Optimizer qtensor/nvfp4_tensor.py", nil),
		with(nv, "nvfp4-multiply", "NVFP4 with the global factor as an input; PTX convert", func(r *Recipe) {
			r.Rule, r.ElementOp, r.ZeroSign, r.AmaxNaN = ScaleTwoLevelMultiply, Multiply, SignKept, NaNIgnored
		}),
		with(fp8, "torch-blockfp8", torchRule, func(r *Recipe) { r.Block, r.Rule = BlockFP8, ScaleCeilLog2 }),
		with(fp4, "torch-mxfp4", torchRule, func(r *Recipe) { r.Rule, r.ZeroSign = ScaleCeilLog2, SignCleared }),
		with(nv, "torch-nvfp4", torchRule, func(r *Recipe) { r.ZeroSign = SignCleared }),
	}
}

// RecipeByName finds a recipe by its slug.
func RecipeByName(name string) (Recipe, error) {
	var known []string
	for _, r := range Recipes() {
		if r.Name == name {
			return r, nil
		}
		known = append(known, r.Name)
	}
	return Recipe{}, fmt.Errorf("no quantisation recipe %q: use one of %s", name, strings.Join(known, ", "))
}
