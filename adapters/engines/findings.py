"""The smallest reproductions of docs/findings.md, each beside a second route: torch in float64 on the same device, straight from
the formula. Prints one JSON line a finding. No part of the judge is used."""
import json

from engine import FP8, SOURCES, torch

import os

DEV = os.environ.get("ENGINE_DEVICE", "cuda")
INF, NAN = float("inf"), float("nan")


def t(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=DEV)


def say(name, **what):
    print(json.dumps({"finding": name, **what}), file=REAL, flush=True)


def numbers(x):
    return [str(v) for v in x.double().flatten().tolist()[:8]]


def hash_gate():
    """w_k = sqrt(ln(1 + e^x_k)) / sum, the softplus of a negative logit lost in 1 + e^x."""
    from sglang.kernels.ops.moe.triton_hash_topk import hash_topk_triton

    for logits in ([-20.0, -18.0], [-20.0, 0.0], [-10.0, -5.0]):
        got, _ = hash_topk_triton(t([logits]), t([0], torch.int64), t([[0, 1]], torch.int32), 0, 1.0, "sqrtsoftplus")
        w = torch.log1p(torch.exp(t([logits], torch.float64))).sqrt()
        say("hash_topk", engine="SGLang 0.5.23 Triton", logits=logits, got=numbers(got), float64=numbers(w / w.sum()))


def merge(engine, function):
    """o = sum_i e^(l_i - L) o_i; an empty state has weight 0, whatever its o holds; two empty states give 0."""
    for name, la, lb, a in (("both empty", -INF, -INF, 0.0), ("prefix empty, its o NaN", -INF, 0.5, NAN), ("prefix empty, its o 0", -INF, 0.5, 0.0)):
        pa, pb = torch.full((1, 1, 64), a, device=DEV), torch.full((1, 1, 64), 2.0, device=DEV)
        o, lse = torch.empty_like(pa), torch.empty(1, 1, device=DEV)
        function(pa, t([[la]]), pb, t([[lb]]), o, lse)
        ls = t([la, lb], torch.float64)
        total = torch.logsumexp(ls, 0)
        w = torch.where(torch.isinf(ls), torch.zeros_like(ls), (ls - total).exp())
        want = sum(float(x) * v for x, v in zip(w, (a, 2.0)) if float(x) > 0)
        say("merge_state", engine=engine, case=name, got_o=numbers(o[0, 0, :1]), got_lse=numbers(lse), float64_o=want, float64_lse=str(float(total)))


def vllm_merge():
    import vllm_triton

    def function(pa, la, pb, lb, o, lse):
        vllm_triton.merging.merge_attn_states(o, pa, la.t().contiguous(), pb, lb.t().contiguous(), lse)

    return function


def cache():
    """A group of zeros: s = 0 / 448 = 0, 1 / s = inf, 0 x inf = NaN."""
    from sglang.kernels.ops.quantization.dsa_quant_k_cache import _quantize_k_cache_fast

    latent = torch.ones(1, 512, dtype=torch.bfloat16, device=DEV)
    latent[:, :128] = 0
    rows = _quantize_k_cache_fast(latent, torch.ones(1, 64, dtype=torch.bfloat16, device=DEV)).view(torch.uint8).flatten()
    say("quantize_k_cache_fast", engine="SGLang 0.5.23 Triton", codes_of_zero_group=rows[:4].tolist(), scale=numbers(rows[512:516].view(torch.float32)),
        decoded=numbers(rows[:4].view(FP8).float() * rows[512:516].view(torch.float32)), float64="0")


def tf32():
    """1 + k 2^-14 times 1 in an fp32 product: tensor cores get tf32, and Triton truncates to it."""
    from sglang.srt.batch_invariant_ops.batch_invariant_ops import matmul_persistent

    x, w = torch.zeros(64, 64, device=DEV), torch.zeros(64, 64, device=DEV)
    x[:, 0], w[0] = 1 + torch.arange(64, device=DEV) * 2.0**-14, 1
    y = matmul_persistent(x, w)
    say("matmul_persistent", engine="SGLang 0.5.23 Triton", k=list(range(18)), got_k=[round((float(v) - 1) * 2**14) for v in y[:18, 0]], float64="k itself",
        rounded_to_tf32="0 for k < 4, 8 for 4 < k < 12, 16 for k >= 12")


def topk_sigmoid():
    """w = sigmoid(x) / sum: the weight must not depend on the bias that selects."""
    import sgl_kernel_cuda

    torch.manual_seed(1)
    x, bias = torch.randn(64, 256, device=DEV) - 8, torch.rand(256, device=DEV) * 10
    w, i = torch.empty(64, 8, device=DEV), torch.empty(64, 8, dtype=torch.int32, device=DEV)
    sgl_kernel_cuda.K.topk_sigmoid(w, i, x, False, bias)
    s = torch.sigmoid(x.double()).gather(1, i.long())
    b = bias[i.long()]
    guess = (torch.sigmoid(x).gather(1, i.long()) + b) - b
    rel = ((w.double() - s) / s).abs()
    at = int(rel.argmax())
    say("topk_sigmoid", engine="sgl-kernel 0.4.4", worst_relative=float(rel.max()), median_relative=float(rel.median()), logit=float(x.gather(1, i.long()).flatten()[at]),
        bias=float(b.flatten()[at]), got=float(w.flatten()[at]), float64=float(s.flatten()[at]),
        equal_to_sigmoid_plus_bias_minus_bias=float((w == guess).float().mean()), within_4_ulp_of_it=float(((w - guess).abs() <= 4 * 2.0**-24 * (s.float() + b)).float().mean()))


if __name__ == "__main__":
    import sys

    REAL = os.fdopen(os.dup(1), "w")
    for step in (lambda: __import__("sglang_triton"), hash_gate, cache, tf32,
                 lambda: merge("SGLang 0.5.23 Triton", __import__("sglang_triton").merging.merge_state_triton), lambda: merge("vLLM 0.33.0 Triton", vllm_merge()),
                 *([topk_sigmoid, lambda: merge("sgl-kernel 0.4.4", __import__("sgl_kernel_cuda").K.merge_state_v2)] if os.path.isdir(os.path.join(SOURCES, "sgl_kernel")) else [])):
        try:
            step()
        except Exception as e:
            say("not run", step=getattr(step, "__name__", "step"), why=f"{type(e).__name__}: {e}"[:300])
