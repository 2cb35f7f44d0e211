"""SGLang's Triton kernels (sglang.kernels.ops). ENGINE_SOURCES or an installed sglang; written against 0.5.23."""
from importlib import import_module

from engine import FP8, absent, find, need, op, serve, torch, wanted
from assay_layout import cos_sin, in_base, mla_scale, one_query_each, pad, token_slots, up

VERSION = find("sglang", "sglang", {})


def ops(path, *operators):
    """A module of kernels, where one of its operators is offered."""
    return import_module("sglang.kernels.ops." + path) if wanted(*operators) else None


quant = ops("quantization.fp8_kernel", "quantise_fp8")
act, index = ops("quantization.act_quant_triton", "index_key_store"), ops("kvcache.dsa_index_k_cache", "index_key_store")
gemm8 = ops("gemm.fp8_kernel", "block_fp8_gemm")
decoding = ops("attention.decode_attention", "gqa_attention", "mla_attention")
extending = ops("attention.extend_attention", "gqa_attention")
rotary = ops("attention.dsv4.rope", "rope")
hashing, fused_gate = ops("moe.triton_hash_topk", "hash_gate"), ops("moe.moe_fused_gate", "moe_gate")
merging = ops("attention.merge_state", "merge_state")
mhc, head = ops("layernorm.mhc", "mhc_pre", "sinkhorn"), ops("layernorm.mhc_head", "mhc_head")
rms = ops("layernorm.fused_rmsnorm", "rms_norm")
experts = ops("moe.ep_moe_kernels", "moe_combine")
mla_cache = ops("quantization.dsa_quant_k_cache", "mla_kv_write")
sparse = ops("attention.dsa.triton_sparse_mla", "sparse_attention")
if gemm8:
    gemm8.get_w8a8_block_fp8_configs = lambda *a: None  # no tuned table in the sources: its default launch
if fused_gate and hasattr(fused_gate, "moe_route_radix"):
    fused_gate.moe_route_radix = type("None_", (), {"covered": staticmethod(lambda *a: False)})


@op("quantise_fp8", dtypes=["F32", "BF16"], attrs={"scale_fmt": ["fp32"]})
def quantise_fp8(call, x, codes, scale, group_size, scale_fmt, amax_floor):
    g = int(group_size)
    need(scale_fmt == "fp32" and g and x.shape[1] % g == 0, "whole groups, fp32 scales")
    if x.shape[0]:
        call.launch(quant._per_token_group_quant_8bit_raw, x.contiguous(), g, eps=amax_floor, output_q=codes.view(FP8), output_s=scale)
    return "_per_token_group_quant_8bit"


@op("index_key_store", dtypes=["BF16"])
def index_key_store(call, x, slot_mapping, pages, norm, hadamard, page_size, page_format, scale_format):
    need(norm == "none" and not hadamard and "inv_freq" not in call.inputs and page_format == "fp8" and x.shape[1] == 128, "quantising and storing heads of 128 alone")
    keep, n = slot_mapping >= 0, int(page_size)
    x, loc = x[keep].contiguous(), slot_mapping[keep].long()
    if len(loc):
        k, s = call.launch(act.act_quant, x, 128, "ue8m0" if scale_format == "ue8m0" else None)
        call.launch(lambda: index._set_k_and_s_triton_kernel[(len(loc),)](
            pages.view(FP8), pages.view(torch.float32), loc, k, s, k.stride(0), PAGE_SIZE=n, BUF_NUMEL_PER_PAGE=pages.shape[1],
            NUM_K_ELEMS_PER_TOKEN=128, S_OFFSET_NBYTES_IN_PAGE=n * 128, PRESHUFFLE_TILE=0))
    return "act_quant + _set_k_and_s_triton"


@op("block_fp8_gemm", dtypes=["F8_E4M3"])
def block_fp8_gemm(call, x, x_scale, w, w_scale, y):
    need(x_scale.dtype == torch.float32, "fp32 scales")
    if x.shape[0]:
        y.copy_(call.launch(gemm8.w8a8_block_fp8_matmul_triton, x.contiguous(), w.contiguous(), x_scale.contiguous(), w_scale.contiguous(), [128, 128], torch.bfloat16))
    return "_w8a8_block_fp8_matmul"


def decode(call, q, k, v, o, indptr, slots, splits, scale, k_scale, v_scale, sinks, mla):
    """The split-K decode kernel; its log-sum-exp is joined from the splits', since it returns none."""
    b, h, most = q.shape[0], q.shape[1], 16
    logits = torch.empty(b, h, most, v.shape[-1], dtype=torch.float32, device=q.device)
    lse = torch.full((b, h, most), float("-inf"), dtype=torch.float32, device=q.device)
    n = torch.full((b,), splits, dtype=torch.int32, device=q.device)
    call.launch(decoding.decode_attention_fwd, q, k, v, o, indptr, slots, logits, lse, n, most, scale, k_scale, v_scale, sinks=sinks, has_mla=mla)
    return torch.logsumexp(lse, -1)


@op("gqa_attention", facets=[{"dtypes": ["BF16", "F8_E4M3"], "layout": "paged"}], made_for={"dim": [64, 128], "values": [64, 128]})
def gqa_attention(call, q, qo_indptr, o, softmax_scale, causal, window_left, window_right):
    a, i, t = call.attrs, call.inputs, int(qo_indptr[-1])
    need(q.dtype == torch.bfloat16 and "k_cache" in i, "bf16 queries, paged")
    k, v = (i[n].contiguous().view(-1, *i[n].shape[2:]) for n in ("k_cache", "v_cache"))
    fp8, page, table, lens = k.dtype == FP8, int(a["page_size"]), i["page_table"], i["seq_lens"]
    ks, vs = (a["k_scale"], a["v_scale"]) if fp8 else (1.0, 1.0)
    q = q[:t].contiguous()
    if one_query_each(qo_indptr) and window_left < 0 and (window_right < 0 or causal):
        indptr, slots = token_slots(table, lens, page)
        lse = decode(call, q, k, v, o[:t], indptr, slots, int(a["num_splits"]), softmax_scale, ks, vs, i.get("sink"), False)
        if "lse" in call.outputs:
            call.outputs["lse"][:t] = in_base(lse, "e", a["lse_base"])
        return "decode_attention"
    need(causal and window_right <= 0 and not fp8, "extend is causal and takes the chunk's keys before they are stored")
    n = qo_indptr[1:] - qo_indptr[:-1]
    indptr, slots = token_slots(table, (lens - n).clamp(min=0), page)
    ends, every = token_slots(table, lens, page)
    new = torch.cat([every[int(e - c): int(e)] for e, c in zip(ends[1:], n)]) if t else every[:0]
    lse = torch.empty_like(call.outputs["lse"][:t], dtype=torch.float32) if "lse" in call.outputs else None
    call.launch(extending.extend_attention_fwd, q, k[new].contiguous(), v[new].contiguous(), o[:t], k, v, qo_indptr, indptr, slots, None, True, None,
                int(n.max()), ks, vs, sm_scale=softmax_scale, sliding_window_size=int(window_left), sinks=i.get("sink"), lse_extend=lse)
    if lse is not None:
        call.outputs["lse"][:t] = in_base(lse, "e", a["lse_base"])
    return "extend_attention"


@op("mla_attention", facets=[{"dtypes": ["BF16", "F8_E4M3"], "layout": "paged", "phase": "decode"}], made_for={"rank": [512], "rope": [64], "heads": [16, 128]})
def mla_attention(call, q_nope, q_pe, qo_indptr, ckv_cache, kpe_cache, page_table, seq_lens, o, page_size, num_splits):
    a, t, fp8, rank = call.attrs, int(qo_indptr[-1]), ckv_cache.dtype == FP8, ckv_cache.shape[-1]
    need(q_nope.dtype == torch.bfloat16 and one_query_each(qo_indptr), "bf16, one query each")
    raw = torch.uint8 if fp8 else ckv_cache.dtype
    kv = torch.cat([ckv_cache.view(raw), kpe_cache.view(raw)], -1).view(ckv_cache.dtype).view(-1, 1, rank + kpe_cache.shape[-1])
    indptr, slots = token_slots(page_table, seq_lens, int(page_size))
    scale = a["k_scale"] if fp8 else 1.0
    lse = decode(call, torch.cat([q_nope, q_pe], -1)[:t].contiguous(), kv, kv[..., :rank], o[:t], indptr, slots, int(num_splits), mla_scale(a, q_pe.shape[-1]), scale, scale, None, kv.shape[-1] == 576)
    if "lse" in call.outputs:
        call.outputs["lse"][:t] = in_base(lse, "e", a["lse_base"])
    return "decode_attention mla"


@op("rope", dtypes=["F32", "BF16"])
def rope(call, x, y, rotary_dim, rotary_offset, pairing, inverse):
    need(pairing == "interleaved", "interleaved pairs")
    cos, sin = cos_sin(call, x)
    y.copy_(x)
    if x.shape[0]:
        call.launch(rotary.apply_rotary_emb_triton, y[..., int(rotary_offset): int(rotary_offset + rotary_dim)], torch.complex(cos.contiguous(), sin.contiguous()), None, bool(inverse))
    return "apply_rotary_emb_triton_kernel"


@op("hash_gate", dtypes=["F32", "BF16"])
def hash_gate(call, logits, token_ids, tid2eid, topk_weights, topk_ids, scoring_func, renormalise, renormalise_floor, routed_scaling):
    need(scoring_func == "sqrtsoftplus" and renormalise and renormalise_floor < 1e-10, "sqrtsoftplus, renormalised, no floor")
    if logits.shape[0]:
        w, i = call.launch(hashing.hash_topk_triton, logits.contiguous(), token_ids.contiguous(), tid2eid.contiguous(), 0, 1.0, scoring_func)
        topk_weights.copy_(w * routed_scaling)
        topk_ids.copy_(i)
    return "_hash_topk_triton_kernel"


@op("moe_gate", dtypes=["F32", "BF16"])
def moe_gate(call, logits, topk_weights, topk_ids, scoring_func, top_k, n_group, topk_group, renormalise, renormalise_floor, routed_scaling):
    bias = call.inputs.get("bias")
    need(bias is not None or n_group == 1, "groups need a bias")
    need(bias is None or scoring_func != "softmax", "softmax takes its bias into the weight")
    if bias is None and scoring_func != "softmax":
        bias = torch.zeros(logits.shape[1], device=logits.device)
    if logits.shape[0]:
        w, i = call.launch(fused_gate.moe_fused_gate, logits.contiguous(), bias, int(top_k), scoring_func, 0, bool(renormalise), float(routed_scaling), True,
                           num_expert_group=int(n_group), topk_group=int(topk_group), num_token_non_padded=call.inputs.get("num_token_non_padded"), renormalize_epsilon=float(renormalise_floor))
        topk_weights.copy_(w)
        topk_ids.copy_(i)
    return "_router_triton_kernel"


@op("merge_state", dtypes=["F32", "BF16"], attrs={"lse_base": ["e"], "out_lse_base": ["e"], "empty_lse": ["-inf"]})
def merge_state(call, prefix_o, prefix_lse, suffix_o, suffix_lse, merged_o, lse_base, out_lse_base):
    need(lse_base == "e" and out_lse_base == "e", "natural log-sum-exp")
    if prefix_o.shape[0]:
        call.launch(merging.merge_state_triton, prefix_o.contiguous(), prefix_lse.contiguous(), suffix_o.contiguous(), suffix_lse.contiguous(), merged_o, call.outputs.get("merged_lse"))
    return "merge_state_kernel"


@op("sinkhorn", attrs={"variant": ["v4"]})
def sinkhorn(call, logits, comb, variant, iterations, hc_eps):
    need(variant == "v4", "variant v4")
    t, n, _ = logits.shape
    if t:
        mixes = torch.zeros(1, t, (2 + n) * n, device=logits.device)
        mixes[0, :, 2 * n:] = logits.reshape(t, n * n)
        comb.copy_(call.launch(mhc._hc_split_sinkhorn_triton, mixes, torch.ones(3, device=logits.device), torch.zeros((2 + n) * n, device=logits.device), n, int(iterations), hc_eps)[2][0])
    return "_hc_split_sinkhorn_triton_kernel"


@op("mhc_pre")
def mhc_pre(call, x, fn, scale, base, y, post, comb, hc_mult, sinkhorn_iterations, hc_eps, norm_eps):
    t, n, c = x.shape
    need(n * c % 64 == 0, "sums of whole blocks of 64")  # _num_slices_for asserts it
    flat = x.contiguous().view(t, n * c)
    pre, p, m = call.launch(mhc.hc_mix_stats_sinkhorn, flat, fn.contiguous(), scale, base, int(n), int(sinkhorn_iterations), norm_eps, hc_eps)
    post.copy_(p)
    comb.copy_(m)
    if t:
        y.copy_(call.launch(mhc.mhc_combine, flat, pre, int(n), torch.float32))
    return "hc_mix_stats_sinkhorn + mhc_combine"


@op("mhc_head")
def mhc_head(call, x, fn, scale, base, y, norm_eps, hc_eps):
    y.copy_(call.launch(head.fused_hc_head, x.contiguous(), fn.contiguous(), scale, base, norm_eps, hc_eps))
    return "_hc_head_kernel"


@op("rms_norm", dtypes=["F32", "BF16"])
def rms_norm(call, x, y, norm_eps):
    absent(call, "residual")
    need("weight" in call.inputs, "a gain")
    if x.shape[0]:
        y.copy_(call.launch(rms.fused_rmsnorm, x.reshape(-1, x.shape[-1]).contiguous(), call.inputs["weight"].contiguous(), norm_eps).view(x.shape))
    return "fused_rmsnorm_kernel"


@op("moe_combine", dtypes=["F32", "BF16"])
def moe_combine(call, expert_out, topk_weights, src2dst, y, routed_scaling):
    absent(call, "shared_out")
    (t, k), n = src2dst.shape, y.shape[1]
    if t:
        grid, block = experts._get_launch_config_2d(y.device, t, n) if y.is_cuda else ((t, 1), 1 << (n - 1).bit_length())
        rows, to, w = expert_out.contiguous(), src2dst.contiguous(), topk_weights.contiguous()
        call.launch(lambda: experts.post_reorder_deepgemm_triton_kernel[grid](rows, rows, y, to, to, w, k, t, n, routed_scaling, HAS_LORA_DELTA=False, BLOCK_SIZE=block, NUM_STAGES=3))
    return "post_reorder_deepgemm_triton_kernel"


@op("mla_kv_write", dtypes=["BF16"])
def mla_kv_write(call, latent, k_pe, slot_mapping, kv_cache, ue8m0_scales):
    need(not ue8m0_scales, "fp32 scales")
    keep = slot_mapping >= 0
    rows = call.launch(mla_cache._quantize_k_cache_fast, latent[keep].contiguous(), k_pe[keep].contiguous())
    kv_cache.view(-1, 656)[slot_mapping[keep].long()] = rows.view(torch.uint8)
    return "_quantize_k_cache_fast_kernel"


@op("sparse_attention", facets=[{"dtypes": ["BF16"], "layout": ""}])
def sparse_attention(call, q, kv, indices, topk_length, o, softmax_scale, d_v, kv_layout, kv_rounding):
    """D is padded to 576 with the value's channels first, lists to a multiple of 64."""
    need(kv_layout == "rows" and kv_rounding == "none" and kv.dtype == torch.bfloat16 and q.shape[-1] == int(d_v), "rows of bf16, the value being the whole row")
    absent(call, "extra_kv", "attn_sink", "lse", "max_logits", "block_table")
    (t, h, d), n = q.shape, up(indices.shape[1], 64)
    rows = pad(kv.reshape(-1, d), 1, 576)
    idx = pad(indices, 1, n, -1)
    idx = torch.where((torch.arange(n, device=q.device) >= topk_length[:, None]) | (idx >= rows.shape[0]), -1, idx).to(torch.int32)
    wide = pad(q, 2, 576)
    out = call.launch(sparse.triton_sparse_mla_fwd, wide[..., :512].contiguous(), wide[..., 512:].contiguous(), rows.view(-1, 1, 576), idx.view(t, 1, n), softmax_scale, 512)
    o.copy_(out.reshape(t, h, 512)[..., : int(d_v)])
    return "triton_sparse_mla"


def persistent(call, x, w, y):
    if x.shape[0]:
        y.copy_(call.launch(invariant.matmul_persistent, x.contiguous(), w.t().contiguous()))
    return "batch-invariant matmul_persistent"


op("dense_gemm")(persistent)
op("bf16_gemm", dtypes=["BF16"])(persistent)
invariant = import_module("sglang.srt.batch_invariant_ops.batch_invariant_ops") if wanted("dense_gemm", "bf16_gemm") else None

if __name__ == "__main__":
    serve("sglang-triton", VERSION)
