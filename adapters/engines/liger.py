"""Liger's Triton kernels. ENGINE_SOURCES or an installed liger-kernel; written against 0.8.5."""
from importlib import import_module

from engine import absent, find, need, op, serve, torch
from assay_layout import cos_sin

VERSION = find("liger_kernel", "liger-kernel")
rms, layer, rotary, mhc = (import_module("liger_kernel.ops." + m) for m in ("rms_norm", "layer_norm", "rope", "mhc"))


@op("rms_norm", dtypes=["F32", "BF16"])
def rms_norm(call, x, y, norm_eps):
    absent(call, "residual")
    need("weight" in call.inputs, "a gain")
    if x.shape[0]:
        flat = x.reshape(-1, x.shape[-1]).contiguous()
        y.copy_(call.launch(rms.rms_norm_forward, flat, call.inputs["weight"].contiguous(), norm_eps, 0.0, "llama", None)[0].view(x.shape))
    return "_rms_norm_forward_kernel"


@op("layer_norm", dtypes=["F32", "BF16"])
def layer_norm(call, x, y, norm_eps):
    need("weight" in call.inputs, "a gain")
    w, b = call.inputs["weight"].contiguous(), call.inputs.get("bias")
    if x.shape[0]:
        y.copy_(call.launch(layer.layer_norm_forward, x.contiguous(), w, torch.zeros_like(w) if b is None else b.contiguous(), norm_eps)[0])
    return "_layer_norm_forward_kernel"


@op("rope", dtypes=["F32", "BF16"])
def rope(call, x, y, rotary_dim, rotary_offset, pairing, inverse):
    r, o = int(rotary_dim), int(rotary_offset)
    need(pairing == "half" and not inverse and r & (r - 1) == 0, "NeoX pairs, a power of two, no inverse")
    y.copy_(x)
    if x.shape[0]:
        cos, sin = (torch.cat([t, t], -1)[None] for t in cos_sin(call, x))
        q = x[..., o:o + r].contiguous()[None].transpose(1, 2)
        out = call.launch(rotary.rope_forward, q, torch.zeros_like(q[:, :1]), cos, sin)[0]
        y[..., o:o + r] = out.transpose(1, 2)[0]
    return "_triton_rope"


@op("mhc_post")
def mhc_post(call, f, post, comb, x, out):
    if x.shape[0]:  # Liger's matrix is [to, from]
        call.launch(mhc.mhc_post_res_fwd, x.contiguous(), f.contiguous(), post.contiguous(), comb.transpose(1, 2).contiguous(), out=out)
    return "_mhc_post_res_fwd_kernel"


@op("mhc_pre")
def mhc_pre(call, x, fn, scale, base, y, post, comb, hc_mult, sinkhorn_iterations, hc_eps, norm_eps):
    """Mixes and weighted sum are Liger's. Its Sinkhorn is another variant (no softmax first), so torch does the operator's."""
    t, n, c = x.shape
    if t:
        m, _ = call.launch(mhc.mhc_mm_norm_fwd, x.contiguous().view(t, n * c), fn.t().contiguous(), norm_eps)
        pre = torch.sigmoid(m[:, :n] * scale[0] + base[:n]) + hc_eps
        post.copy_(2 * torch.sigmoid(m[:, n: 2 * n] * scale[1] + base[n: 2 * n]))
        mix = torch.softmax((m[:, 2 * n:] * scale[2] + base[2 * n:]).reshape(-1, n, n), -1) + hc_eps
        mix = mix / (mix.sum(-2, keepdim=True) + hc_eps)
        for _ in range(int(sinkhorn_iterations) - 1):
            mix = mix / (mix.sum(-1, keepdim=True) + hc_eps)
            mix = mix / (mix.sum(-2, keepdim=True) + hc_eps)
        comb.copy_(mix)
        y.copy_(call.launch(mhc.mhc_pre_fwd, x.contiguous(), pre.contiguous()))
    return "_mhc_mm_norm_fwd_kernel + _mhc_pre_fwd_kernel"


if __name__ == "__main__":
    serve("liger", VERSION)
