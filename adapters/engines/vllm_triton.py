"""vLLM's Triton kernels. ENGINE_SOURCES or an installed vllm; written against 0.33.0."""
import logging
from importlib import import_module

import triton
import triton.language as tl
from engine import FP8, find, need, op, serve, torch
from assay_layout import in_base, mla_scale, one_query_each
from stubs import Anything

PLATFORM = Anything(lambda name: (lambda *a, **k: torch.float8_e4m3fn) if name == "fp8_dtype" else (lambda *a, **k: name == "is_cuda"))
VERSION = find("vllm", "vllm", {
    "tl": tl, "triton": triton, "tldevice": None, "current_platform": PLATFORM, "HAS_TRITON": True, "get_fp8_min_max": lambda: (-448.0, 448.0),
    "is_deep_gemm_e8m0_used": lambda: False, "init_logger": lambda *a: logging.getLogger("vllm"), "has_triton_tl_dot_scaled": lambda *a: False,
})
merging = import_module("vllm.v1.attention.ops.triton_merge_attn_states")
decoding = import_module("vllm.v1.attention.ops.triton_decode_attention")
fp8_utils = import_module("vllm.model_executor.layers.quantization.utils.fp8_utils")
mqa = import_module("vllm.v1.attention.ops.rocm_aiter_mla_sparse")


@op("merge_state", dtypes=["F32", "BF16"], attrs={"lse_base": ["e"], "out_lse_base": ["e"], "empty_lse": ["-inf"]})
def merge_state(call, prefix_o, prefix_lse, suffix_o, suffix_lse, merged_o, lse_base, out_lse_base):
    need(lse_base == "e" and out_lse_base == "e", "natural log-sum-exp")
    lse = call.outputs.get("merged_lse")
    if prefix_o.shape[0]:  # vLLM's log-sum-exps are [H, T]
        turned = None if lse is None else torch.empty(lse.shape[::-1], device=lse.device)
        call.launch(merging.merge_attn_states, merged_o, prefix_o.contiguous(), prefix_lse.t().contiguous(), suffix_o.contiguous(), suffix_lse.t().contiguous(), turned)
        if lse is not None:
            lse.copy_(turned.t())
    return "merge_attn_states_kernel"


@op("quantise_fp8", dtypes=["F32", "BF16"], attrs={"scale_fmt": ["fp32", "ue8m0"]})
def quantise_fp8(call, x, codes, scale, group_size, scale_fmt, amax_floor):
    g = int(group_size)
    need(scale_fmt in ("fp32", "ue8m0") and g and x.shape[1] % g == 0, "whole groups, fp32 or ue8m0 scales")
    s, x = torch.empty(scale.shape, dtype=torch.float32, device=x.device), x.contiguous()
    rows = x.numel() // g
    if rows:
        call.launch(lambda: fp8_utils._per_token_group_quant_fp8[(rows,)](x, codes.view(FP8), s, g, x.shape[1], x.stride(0), amax_floor, fp8_min=-448.0, fp8_max=448.0,
                                                                        use_ue8m0=scale_fmt == "ue8m0", BLOCK=g, num_warps=1, num_stages=1))
    scale.copy_(s if scale.dtype == torch.float32 else (s.view(torch.int32) >> 23).to(torch.uint8))
    return "_per_token_group_quant_fp8"


@op("block_fp8_gemm", dtypes=["F8_E4M3"])
def block_fp8_gemm(call, x, x_scale, w, w_scale, y):
    need(x_scale.dtype == torch.float32, "fp32 scales")
    (m, k), n = x.shape, w.shape[0]
    if m:
        x, w, a, b = x.contiguous(), w.contiguous(), x_scale.contiguous(), w_scale.contiguous()
        call.launch(lambda: fp8_utils._w8a8_triton_block_scaled_mm[(triton.cdiv(m, 64) * triton.cdiv(n, 128),)](
            x, w, y, a, b, m, n, k, 128, 128, x.stride(0), x.stride(1), w.stride(1), w.stride(0), y.stride(0), y.stride(1),
            a.stride(0), a.stride(1), b.stride(1), b.stride(0), BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=128, GROUP_SIZE_M=32, num_warps=4, num_stages=2))
    return "_w8a8_triton_block_scaled_mm"


@op("indexer_logits_paged", facets=[{"dtypes": ["F8_E4M3"], "layout": "paged fp8", "out": "F32"}], made_for={"heads": [16, 64], "dim": [128], "page": [16, 64]})
def indexer_logits_paged(call, q, pages, weights, context_lens, block_table, logits, page_size, page_format, clean_logits):
    need(page_format == "fp8" and q.dtype == FP8 and logits.dtype == torch.float32, "fp8 pages")
    b, n, h, d = q.shape
    size = int(page_size)
    if b:
        q, w, bt, pg, ctx = q.contiguous(), weights.contiguous(), block_table.contiguous(), pages.contiguous(), context_lens.contiguous().view(-1)
        out = torch.full(logits.shape, float("-inf"), device=q.device)
        call.launch(lambda: mqa._fp8_paged_mqa_logits_decode_kernel[(b * n, 4)](
            q, pg.view(FP8), pg.view(torch.float32), w, ctx, bt, out, q.stride(0), q.stride(1), q.stride(2), w.stride(0),
            pg.stride(0), pg.stride(0) // 4, size * d // 4, bt.stride(0), out.stride(0), bt.shape[1], out.shape[1],
            NUM_HEADS=h, HEAD_SIZE=d, BLOCK_SIZE=size, BLOCK_KV=min(64, size), N_SPLITS=4, NEXT_N=n, CTX_PER_ROW=True, num_warps=4, num_stages=2))
        logits.copy_(out)
    return "_fp8_paged_mqa_logits_decode_kernel"


@op("index_key_store", dtypes=["BF16"])
def index_key_store(call, x, slot_mapping, pages, norm, hadamard, page_size, page_format, scale_format):
    need(norm == "none" and not hadamard and "inv_freq" not in call.inputs and page_format == "fp8", "quantising and storing alone")
    size, (t, d) = int(page_size), x.shape
    need(d & (d - 1) == 0, "a power of two")
    v, s = pages[:, : size * d].view(FP8), pages[:, size * d:].view(torch.float32)
    if t:
        x, slots = x.contiguous(), slot_mapping.contiguous()
        call.launch(lambda: mqa._indexer_k_quant_and_cache_kernel[(t,)](x, v, s, slots, s.stride(0), v.stride(0), size, t, d, "NORMAL", 16, 16, IS_FNUZ=False, USE_UE8M0=scale_format == "ue8m0"))
    return "_indexer_k_quant_and_cache_kernel"


def decode(call, q, k, v, o, table, lens, splits, scale, page, k_scale, v_scale):
    """The split-K decode kernel; its log-sum-exp [T, H], natural."""
    t, h = q.shape[:2]
    lse, logits = torch.empty(t, h, device=q.device), torch.empty(t, h, splits, v.shape[-1] + 1, device=q.device)
    ks, vs = (torch.tensor(s, device=q.device, dtype=torch.float32) for s in (k_scale, v_scale))
    call.launch(decoding.decode_attention_fwd, q, k, v, o, lse, table.contiguous(), lens.contiguous(), logits, splits, scale, page, 0.0, ks, vs)
    return lse


@op("gqa_attention", facets=[{"dtypes": ["BF16", "F8_E4M3"], "layout": "paged", "phase": "decode"}], made_for={"dim": [64, 128], "values": [64, 128]})
def gqa_attention(call, q, qo_indptr, o, softmax_scale, causal, window_left, window_right):
    a, i, t = call.attrs, call.inputs, int(qo_indptr[-1])
    need(q.dtype == torch.bfloat16 and "k_cache" in i and "sink" not in i, "bf16 queries, paged, no sink")
    need(one_query_each(qo_indptr) and window_left < 0 and (window_right < 0 or causal), "decode without a window")
    k, v = i["k_cache"].contiguous(), i["v_cache"].contiguous()
    scales = (a["k_scale"], a["v_scale"]) if k.dtype == FP8 else (1.0, 1.0)
    lse = decode(call, q[:t].contiguous(), k, v, o[:t], i["page_table"], i["seq_lens"], max(1, int(a["num_splits"])), softmax_scale, int(a["page_size"]), *scales)
    if "lse" in call.outputs:
        call.outputs["lse"][:t] = in_base(lse, "e", a["lse_base"])
    return "triton_decode_attention"


@op("mla_attention", facets=[{"dtypes": ["BF16", "F8_E4M3"], "layout": "paged", "phase": "decode"}], made_for={"rank": [512], "rope": [64], "heads": [16, 128]})
def mla_attention(call, q_nope, q_pe, qo_indptr, ckv_cache, kpe_cache, page_table, seq_lens, o, page_size, num_splits):
    a, t, fp8, rank = call.attrs, int(qo_indptr[-1]), ckv_cache.dtype == FP8, ckv_cache.shape[-1]
    need(q_nope.dtype == torch.bfloat16 and one_query_each(qo_indptr), "bf16, one query each")
    raw = torch.uint8 if fp8 else ckv_cache.dtype
    kv = torch.cat([ckv_cache.view(raw), kpe_cache.view(raw)], -1).view(ckv_cache.dtype)[:, :, None, :]
    scale = a["k_scale"] if fp8 else 1.0
    lse = decode(call, torch.cat([q_nope, q_pe], -1)[:t].contiguous(), kv, kv[..., :rank], o[:t], page_table, seq_lens, max(1, int(num_splits)), mla_scale(a, q_pe.shape[-1]), int(page_size), scale, scale)
    if "lse" in call.outputs:
        call.outputs["lse"][:t] = in_base(lse, "e", a["lse_base"])
    return "triton_decode_attention mla"


if __name__ == "__main__":
    serve("vllm-triton", VERSION)
