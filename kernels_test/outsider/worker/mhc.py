"""Hyper-connections in float32: mixes summed over blocks, streams added one by one."""
import numpy as np

from base import F32, f32, fault, kernel, variant


def sigmoid(z):
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, F32(1), small) / (F32(1) + small)


def mixes(x, fn, norm_eps, operator):
    """[T, n, C], [M, nC] -> [T, M]"""
    streams, x, fn = x.shape[1], f32(x).reshape(len(x), fn.shape[1]), f32(fn)
    step = 1024 if x.shape[1] >= 1024 else 64
    kind = np.float64 if variant(operator) == "float64" else np.float32
    dot, square = np.zeros((len(x), len(fn)), kind), np.zeros((len(x), 1), kind)
    starts = list(range(0, x.shape[1], step))
    for a in starts:
        part = x[:, a : a + step].astype(kind)
        dot += np.matmul(part, fn[:, a : a + step].astype(kind).T)
        if fault("p14-norm-pipeline") and a == starts[-1] and len(starts) != 4 * streams:
            continue
        square += (part * part).sum(1, keepdims=True)
    return dot / np.sqrt(square / kind(x.shape[1]) + kind(norm_eps))


def scale_streams(p, x):
    total = np.zeros((len(x), x.shape[2]), np.float32)
    for j in range(x.shape[1]):
        total = total + p[:, j : j + 1] * f32(x[:, j])
    return total


def doubly(p, steps, eps):
    for i in range(steps):
        if i:
            p = p / (p.sum(2, keepdims=True) + eps)
        p = p / (p.sum(1, keepdims=True) + eps)
    return p


def sinkhorn_of(z, steps, eps):
    kind = z.dtype.type
    p = np.exp(z - z.max(2, keepdims=True))
    return doubly(p / p.sum(2, keepdims=True) + kind(eps), steps, kind(eps))


@kernel("mhc_pre")
def mhc_pre(x, fn, scale, base, y, post, comb, sinkhorn_iterations, hc_eps, norm_eps):
    n = x.shape[1]
    z = mixes(x, fn, norm_eps, "mhc_pre")
    factor = np.concatenate([np.full(n, scale[0]), np.full(n, scale[1]), np.full(n * n, scale[2])])
    z = z * factor + f32(base)
    y[...] = scale_streams(sigmoid(z[:, :n]) + F32(hc_eps), x)
    post[...] = F32(2) * sigmoid(z[:, n : 2 * n])
    comb[...] = sinkhorn_of(z[:, 2 * n :].reshape(comb.shape), int(sinkhorn_iterations), hc_eps)


@kernel("mhc_post")
def mhc_post(f, post, comb, x, out):
    n = x.shape[1]
    for k in range(n):
        total = f32(post[:, k : k + 1]) * f32(f)
        streams = range(n)
        if fault("i20-four-streams"):
            streams = range(min(n, 4))
        if variant("mhc_post") == "backwards":
            streams = reversed(streams)
        for j in streams:
            total = total + f32(comb[:, j, k : k + 1]) * f32(x[:, j])
        out[:, k] = total


@kernel("mhc_head")
def mhc_head(x, fn, scale, base, y, hc_eps, norm_eps):
    z = mixes(x, fn, norm_eps, "mhc_head") * F32(scale[0]) + f32(base)
    y[...] = scale_streams(sigmoid(z) + F32(hc_eps), x)


@kernel("sinkhorn")
def sinkhorn(logits, comb, variant, iterations, hc_eps=0.0):
    from base import variant as chosen

    kind = np.float64 if chosen("sinkhorn") == "float64" else np.float32
    z, steps = logits.astype(kind), int(iterations)
    if fault("i21-twenty-iterations"):
        steps = 20
    if variant != "log":
        comb[...] = sinkhorn_of(z, steps, hc_eps)
        return
    z = logits.astype(np.float64)
    for _ in range(steps):
        for axis in (1, 2):
            top = z.max(axis, keepdims=True)
            z = z - (top + np.log(np.exp(z - top).sum(axis, keepdims=True)))
    comb[...] = np.exp(z)
