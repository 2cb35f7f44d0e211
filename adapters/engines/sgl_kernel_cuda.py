"""sglang-kernel's CUDA kernels (torch.ops.sgl_kernel). ENGINE_SOURCES/sgl_kernel holds sm90/common_ops.abi3.so and
flashmla_ops.abi3.so, or sglang-kernel is installed; written against 0.4.4 (torch 2.11)."""
import os

from engine import FP8, SOURCES, absent, find, need, op, serve, torch
from assay_layout import cos_sin, in_base, pad, up

VERSION = find("sgl_kernel", "sglang-kernel", {})
if os.path.isdir(os.path.join(SOURCES, "sgl_kernel")):
    for library in ("sm90/common_ops.abi3.so", "flashmla_ops.abi3.so"):
        if os.path.exists(os.path.join(SOURCES, "sgl_kernel", library)):
            torch.ops.load_library(os.path.join(SOURCES, "sgl_kernel", library))
else:
    import sgl_kernel  # noqa: F401
K = torch.ops.sgl_kernel


def bf16_gain(call):
    """The gain as bf16, where it is one: these kernels read it in the dtype of x."""
    need("weight" in call.inputs, "a gain")
    w = call.inputs["weight"]
    need(bool((w.to(torch.bfloat16).float() == w).all()), "the gain is read as bf16")
    return w.to(torch.bfloat16).contiguous()


@op("rms_norm", dtypes=["BF16"])
def rms_norm(call, x, y, norm_eps):
    w = bf16_gain(call)
    if x.shape[0] == 0:
        return "nothing"
    if "residual" in call.inputs:  # in place: y is x, residual_out the residual
        y.copy_(x)
        call.outputs["residual_out"].copy_(call.inputs["residual"])
        call.launch(K.fused_add_rmsnorm, y, call.outputs["residual_out"], w, norm_eps, False)
        return "fused_add_rmsnorm"
    flat = x.reshape(-1, x.shape[-1]).contiguous()
    out = torch.empty_like(flat)
    call.launch(K.rmsnorm, out, flat, w, norm_eps, False)
    y.copy_(out.view(x.shape))
    return "rmsnorm"


@op("rope", dtypes=["BF16"])
def rope(call, x, y, rotary_dim, rotary_offset, pairing, inverse):
    need(not inverse, "no inverse")
    t, o = x.shape[0], int(rotary_offset)
    y.copy_(x)
    if t:
        part = y[..., o:].contiguous()
        call.launch(K.rotary_embedding, torch.arange(t, device=x.device), part.view(t, -1), None, x.shape[2] - o, torch.cat(cos_sin(call, x), -1).contiguous(), pairing == "half")
        y[..., o:] = part
    return "rotary_embedding"


@op("topk", attrs={"tie_break": ["any"]})
def topk(call, scores, lengths, indices, top_k, tie_break):
    need(tie_break == "any" and top_k == 2048, "top 2048, ties any")
    if scores.shape[0]:
        call.launch(K.fast_topk, scores.contiguous(), indices, lengths.contiguous(), None)
    return "fast_topk"


@op("quantise_fp8", dtypes=["F32", "BF16"], attrs={"scale_fmt": ["fp32"]})
def quantise_fp8(call, x, codes, scale, group_size, scale_fmt, amax_floor):
    g = int(group_size)
    need(scale_fmt == "fp32" and g and x.shape[1] % g == 0, "whole groups, fp32 scales")
    if x.shape[0]:
        call.launch(K.sgl_per_token_group_quant_8bit, x.contiguous(), codes.view(FP8), scale, g, amax_floor, -448.0, 448.0, False)
    return "sgl_per_token_group_quant_8bit"


@op("moe_gate", dtypes=["F32", "BF16"])
def moe_gate(call, logits, topk_weights, topk_ids, scoring_func, top_k, n_group, topk_group, renormalise, renormalise_floor, routed_scaling):
    absent(call, "num_token_non_padded")
    need(renormalise_floor < 1e-10, "no floor")
    (t, e), x, bias = logits.shape, logits.contiguous(), call.inputs.get("bias")
    if t == 0:
        return "nothing"
    if scoring_func == "sigmoid" and bias is not None and n_group > 1:
        need(renormalise and e & (e - 1) == 0 and e // n_group <= 32 and n_group <= 32, "powers of two")
        w, i = call.launch(K.moe_fused_gate, x, bias.to(x.dtype), int(n_group), int(topk_group), int(top_k), 0, float(routed_scaling), True)
        topk_weights.copy_(w)
        topk_ids.copy_(i)
        return "moe_fused_gate"
    need(n_group == 1 and scoring_func in ("sigmoid", "softmax"), "sigmoid or softmax")
    need(bias is None or scoring_func != "softmax", "softmax takes its bias into the weight")
    if scoring_func == "sigmoid":
        call.launch(K.topk_sigmoid, topk_weights, topk_ids, x, bool(renormalise), bias)
    else:
        call.launch(K.topk_softmax, topk_weights, topk_ids, x, bool(renormalise), 0.0, bias)
    if routed_scaling != 1:
        topk_weights *= routed_scaling
    return "topk_" + scoring_func


@op("merge_state", dtypes=["F32", "BF16"], attrs={"lse_base": ["e"], "out_lse_base": ["e"], "empty_lse": ["-inf"]})
def merge_state(call, prefix_o, prefix_lse, suffix_o, suffix_lse, merged_o, lse_base, out_lse_base):
    need(lse_base == "e" and out_lse_base == "e", "natural log-sum-exp")
    lse = call.outputs.get("merged_lse")
    lse = torch.empty_like(prefix_lse.contiguous()) if lse is None else lse
    if prefix_o.shape[0]:
        call.launch(K.merge_state_v2, prefix_o.contiguous(), prefix_lse.contiguous(), suffix_o.contiguous(), suffix_lse.contiguous(), merged_o, lse)
    return "merge_state_v2"


@op("block_fp8_gemm", dtypes=["F8_E4M3"])
def block_fp8_gemm(call, x, x_scale, w, w_scale, y):
    need(x_scale.dtype == torch.float32, "fp32 scales")
    if x.shape[0]:
        k, n, m = up(x.shape[1], 128), up(w.shape[0], 128), up(x.shape[0], 4)
        a, b, s = pad(pad(x, 1, k), 0, m), pad(pad(w, 1, k), 0, n), pad(x_scale, 0, m).t().contiguous().t()
        out = call.launch(K.fp8_blockwise_scaled_mm, a, b.t(), s, w_scale.contiguous().t(), torch.bfloat16)
        y.copy_(out[: y.shape[0], : y.shape[1]])
    return "fp8_blockwise_scaled_mm"


@op("moe_combine", dtypes=["F32", "BF16"])
def moe_combine(call, expert_out, topk_weights, src2dst, y, routed_scaling):
    absent(call, "shared_out")
    need(bool((src2dst >= 0).all()), "every slot has a row")
    if y.shape[0]:
        w = (topk_weights * routed_scaling).to(expert_out.dtype).contiguous().view(-1)
        call.launch(K.apply_shuffle_mul_sum, expert_out.contiguous(), y, src2dst.contiguous().view(-1), w)
    return "apply_shuffle_mul_sum"


@op("sparse_attention", facets=[{"dtypes": ["BF16"], "layout": ""}], attrs={"empty_lse": ["+inf"]})
def sparse_attention(call, q, kv, indices, topk_length, o, softmax_scale, d_v, kv_layout, kv_rounding, lse_base, empty_lse):
    """FlashMLA's sparse prefill: heads are padded to 64, D to 576, lists to a multiple of 128; both caches lie end to end."""
    need(kv_layout == "rows" and kv_rounding == "none" and q.dtype == kv.dtype == torch.bfloat16, "bf16 rows")
    need(q.shape[-1] in (int(d_v), 576), "D 576, or the value is the whole row")
    absent(call, "block_table")
    t, h, _ = q.shape
    if t == 0:
        return "nothing"

    def listed(cache, idx, n, base):
        rows = cache.reshape(-1, cache.shape[-1])
        stale = (torch.arange(idx.shape[1], device=q.device) >= n[:, None]) | (idx < 0) | (idx >= rows.shape[0])
        return rows, torch.where(stale, -1, idx + base)

    rows, idx = listed(kv, indices, topk_length, 0)
    if "extra_kv" in call.inputs:
        more, also = listed(call.inputs["extra_kv"], call.inputs["extra_indices"], call.inputs["extra_topk_length"], rows.shape[0])
        rows, idx = torch.cat([rows, more]), torch.cat([idx, also], 1)
    n, wide = up(max(idx.shape[1], 1), 128), up(h, 64)
    sink = call.inputs.get("attn_sink")
    sink = None if sink is None else pad(sink.contiguous(), 0, wide, float("-inf"))
    args = pad(pad(q, 1, wide), 2, 576), pad(rows, 1, 576).view(-1, 1, 576), pad(idx.to(torch.int32), 1, n, -1).view(t, 1, n), softmax_scale, 512, sink, None
    out, top, lse = call.launch(K.sparse_prefill_fwd, *args)
    o.copy_(out[:, :h, : int(d_v)])
    if "lse" in call.outputs:
        call.outputs["lse"].copy_(in_base(lse[:, :h], "e", lse_base))
    if "max_logits" in call.outputs:
        call.outputs["max_logits"].copy_(in_base(top[:, :h], "2", "e"))  # the kernel's is in base 2
    return "FlashMLA sparse_prefill_fwd"


if __name__ == "__main__":
    serve("sglang-kernel", VERSION)
