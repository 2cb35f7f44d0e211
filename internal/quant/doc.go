// Package quant reads quantised weights of a checkpoint, one reader for every scheme.
//
// A scheme is read from what the checkpoint declares (ParsePlan: quantization_config of config.json,
// hf_quant_config.json, config_groups, ignore lists); dtype and suffix alone decide only where nothing is declared,
// and Plan.Declared says so. Plan.Find assembles a Weight from the tensors that stand together (codes, scales, zero
// points, group index, factors), names what is missing or misshapen, and Weight.Read decodes any rows to float64 from
// the bytes of those rows: a tensor is never read whole.
//
//	float          F64, F32, F16, BF16                                     the value
//	fp8            e4m3 or e5m2, scale per tensor, row, or block            code x scale
//	mxfp8, mxfp4   e4m3 or e2m1 pairs, an e8m0 scale for each 32            code x 2^(s-127)
//	nvfp4          e2m1 pairs, an e4m3 scale for each 16, a factor          code x scale x factor, or / factor
//	int            8 bits, or fewer packed along a row                      (code - zero) x scale
//	gptq           packed down the inputs, a scale per group of inputs      (code - zero) x scale; v1 stores zero - 1
//	awq            packed over outputs in the order 0 2 4 6 1 3 5 7         (code - zero) x scale
//	nf4, fp4       a table of 16, an absmax for each 64                     table[code] x absmax
//	mlx            packed along a row, scale and bias for each group        code x scale + bias
//
// Not claimed: that a decoded weight is right. Activation scales are named, not applied.
package quant
