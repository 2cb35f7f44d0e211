"""DeepGEMM as SGLang ships it (sgl-deep-gemm), compiled on first use. ENGINE_SOURCES or an installed one; written against 0.2.0.

Rows of K are padded to whole blocks of 128 and N to 64, which DeepGEMM's callers do as well.
"""
from importlib import import_module

from engine import FP8, find, need, op, serve, torch
from assay_layout import pad, up

VERSION = find("deep_gemm", "sgl-deep-gemm")
dg = import_module("deep_gemm")


def tensor(x):
    """A torch tensor of what DeepGEMM returns through tvm-ffi."""
    return x if isinstance(x, torch.Tensor) else torch.utils.dlpack.from_dlpack(x)


def blocks(x, s, w, ws):
    """Operands with K and N filled up, and N."""
    k, n = up(x.shape[-1], 128), up(w.shape[-2], 64)
    return (pad(x, x.dim() - 1, k), s.contiguous()), (pad(pad(w, w.dim() - 1, k), w.dim() - 2, n), ws.contiguous()), n


@op("indexer_logits", facets=[{"dtypes": ["F8_E4M3"], "out": "F32"}], made_for={"heads": [32, 64], "dim": [64, 128]})
def indexer_logits(call, q, k, ks, weights, start, end, logits, clean_logits, max_seqlen_k):
    need(q.dtype == FP8 and logits.dtype == torch.float32, "fp8 keys, fp32 logits")
    if q.shape[0] and k.shape[0]:
        how = {"clean_logits": False, "max_seqlen_k": int(max_seqlen_k)} if max_seqlen_k else {"clean_logits": bool(clean_logits)}
        args = q.contiguous(), (k.contiguous(), ks.contiguous()), weights.contiguous(), start.contiguous(), end.contiguous()
        logits.copy_(tensor(call.launch(dg.fp8_mqa_logits, *args, **how))[:, : logits.shape[1]])
    return "sm90_fp8_mqa_logits"


@op("indexer_logits_paged", facets=[{"dtypes": ["F8_E4M3"], "layout": "paged fp8", "out": "F32"}], made_for={"heads": [32, 64], "dim": [128], "page": [64], "next": [1, 2]})
def indexer_logits_paged(call, q, pages, weights, context_lens, block_table, logits, page_size, page_format, clean_logits):
    need(page_format == "fp8" and q.dtype == FP8 and logits.dtype == torch.float32 and page_size == 64, "fp8 pages of 64, fp32 logits")
    b, _, _, d = q.shape
    if b:
        ctx, wide = context_lens.contiguous(), up(max(logits.shape[1], 256), 256)
        plan = dg.get_paged_mqa_logits_metadata(ctx, 64, dg.get_num_sms())
        args = q.contiguous(), pages.contiguous().view(-1, 64, 1, d + 4), weights.contiguous(), ctx, block_table.contiguous(), plan, wide, False
        logits.copy_(tensor(call.launch(dg.fp8_paged_mqa_logits, *args))[:, : logits.shape[1]])
        if clean_logits:  # the kernel cleans for one length a request alone
            logits.masked_fill_(torch.arange(logits.shape[1], device=q.device)[None, :] >= ctx.view(-1)[:, None], float("-inf"))
    return "sm90_fp8_paged_mqa_logits"


@op("block_fp8_gemm", dtypes=["F8_E4M3"])
def block_fp8_gemm(call, x, x_scale, w, w_scale, y):
    need(x_scale.dtype == torch.float32, "fp32 scales")
    if x.shape[0]:
        a, b, n = blocks(x, x_scale, w, w_scale)
        out = torch.empty(x.shape[0], n, dtype=torch.bfloat16, device=x.device)
        call.launch(dg.fp8_gemm_nt, a, b, out)
        y.copy_(out[:, : y.shape[1]])
    return "sm90_fp8_gemm_1d2d"


@op("grouped_gemm", dtypes=["F8_E4M3"])
def grouped_gemm(call, x, x_scale, w, w_scale, expert, y):
    """Every expert's rows are copied to a start that is a multiple of the kernel's alignment."""
    align, order, layout = dg.get_mk_alignment_for_contiguous_layout(), [], []
    for g in range(w.shape[0]):
        rows = (expert == g).nonzero().flatten().tolist()
        order += rows + [-1] * (up(len(rows), align) - len(rows))
        layout += [g] * up(len(rows), align)
    if order:
        at = torch.tensor(order, device=x.device)
        a, b, n = blocks(x.view(torch.uint8)[at.clamp(min=0)].view(FP8), x_scale[at.clamp(min=0)], w, w_scale)
        out = torch.empty(len(order), n, dtype=torch.bfloat16, device=x.device)
        call.launch(dg.m_grouped_fp8_gemm_nt_contiguous, a, b, out, torch.tensor(layout, dtype=torch.int32, device=x.device), compiled_dims="")
        y[at[at >= 0]] = out[at >= 0][:, : y.shape[1]]
    return "m_grouped_fp8_gemm_nt_contiguous"


@op("masked_gemm", dtypes=["F8_E4M3"])
def masked_gemm(call, x, x_scale, w, w_scale, masked_m, y):
    e, r, _ = x.shape
    rows = up(r, 64)
    a, b, n = blocks(pad(x, 1, rows), pad(x_scale, 1, rows), w, w_scale)
    out = torch.empty(e, rows, n, dtype=torch.bfloat16, device=x.device)
    call.launch(dg.m_grouped_fp8_gemm_nt_masked, a, b, out, masked_m.contiguous(), max(1, r // 2), compiled_dims="")
    y.copy_(out[:, :r, : y.shape[2]])
    return "m_grouped_fp8_gemm_nt_masked"


@op("bf16_gemm", dtypes=["BF16"])
def bf16_gemm(call, x, w, y):
    if x.shape[0]:
        k, n = up(x.shape[1], 64), up(w.shape[0], 64)
        out = torch.empty(x.shape[0], n, dtype=torch.bfloat16, device=x.device)
        call.launch(dg.bf16_gemm_nt, pad(x, 1, k), pad(pad(w, 1, k), 0, n), out)
        y.copy_(out[:, : y.shape[1]])
    return "sm90_bf16_gemm"


if __name__ == "__main__":
    serve("deep-gemm", VERSION)
