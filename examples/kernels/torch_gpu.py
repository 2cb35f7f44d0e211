#!/usr/bin/env python3
"""What a GPU's own libraries compute, as a candidate: torch on CUDA.

    ASSAY_CANDIDATE="python3 examples/kernels/torch_gpu.py" go tool mage gpu
    ASSAY_CANDIDATE="python3 examples/kernels/torch_gpu.py tf32" go tool mage gpu

With tf32, fp32 products may use the tensor cores; assay then finds another contract by itself.
"""
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters", "python"))
from assay_worker import op, serve  # noqa: E402

TF32 = "tf32" in sys.argv[1:]
torch.backends.cuda.matmul.allow_tf32 = TF32
torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
PATH = "cuBLAS tf32" if TF32 else "cuBLAS"


@op("dense_gemm", dtypes=["F32"], torch="cuda")
def dense_gemm(x, w, y):
    y.copy_(x @ w.T)
    return PATH


@op("bf16_gemm", dtypes=["BF16"], torch="cuda")
def bf16_gemm(x, w, y):
    y.copy_(x @ w.T)
    return "cuBLAS bf16"


@op("rms_norm", dtypes=["F32", "BF16"], torch="cuda")
def rms_norm(call, x, y):
    if set(call.inputs) - {"x", "weight"}:
        from assay_worker import Unsupported

        raise Unsupported("rows and a gain alone, no residual")
    v = x.float()
    v = v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + call.attrs["norm_eps"])
    if "weight" in call.inputs:
        v = v * call.inputs["weight"].float()
    y.copy_(v)
    return "torch"


@op("topk", dtypes=["F32"], torch="cuda", attrs={"tie_break": ["any"]})
def topk(scores, lengths, indices, top_k):
    k = int(top_k)
    indices.fill_(-1)
    for t, visible in enumerate(lengths.tolist()):
        if visible <= k:
            indices[t, :visible] = torch.arange(visible, device=indices.device, dtype=indices.dtype)
        else:
            indices[t, :k] = torch.topk(scores[t, :visible], k).indices.to(indices.dtype)
    return "torch.topk"


def mixes(x, fn, eps):
    flat = x.reshape(x.shape[0], fn.shape[1])
    return (flat @ fn.T) * torch.rsqrt(flat.pow(2).mean(-1, keepdim=True) + eps)


@op("mhc_pre", dtypes=["F32"], torch="cuda")
def mhc_pre(x, fn, scale, base, y, post, comb, hc_mult, sinkhorn_iterations, hc_eps, norm_eps):
    n = int(hc_mult)
    m = mixes(x, fn, norm_eps)
    pre = torch.sigmoid(m[:, :n] * scale[0] + base[:n]) + hc_eps
    post.copy_(2 * torch.sigmoid(m[:, n : 2 * n] * scale[1] + base[n : 2 * n]))
    c = torch.softmax((m[:, 2 * n :] * scale[2] + base[2 * n :]).reshape(-1, n, n), -1) + hc_eps
    c = c / (c.sum(-2, keepdim=True) + hc_eps)
    for _ in range(int(sinkhorn_iterations) - 1):
        c = c / (c.sum(-1, keepdim=True) + hc_eps)
        c = c / (c.sum(-2, keepdim=True) + hc_eps)
    comb.copy_(c)
    y.copy_((pre.unsqueeze(-1) * x).sum(1))
    return PATH


@op("mhc_post", dtypes=["F32"], torch="cuda")
def mhc_post(f, post, comb, x, out):
    out.copy_(post.unsqueeze(-1) * f.unsqueeze(1) + (comb.unsqueeze(-1) * x.unsqueeze(2)).sum(1))
    return "torch"


serve("torch-" + ("tf32" if TF32 else "fp32"), torch.__version__, torch.cuda.get_device_name())
