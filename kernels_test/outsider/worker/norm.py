"""Norms with sums in lanes, rotary embedding."""
import numpy as np

from base import F32, RNG, f32, fault, kernel, to_bf16, variant


def lanes(x):
    """Sum over the last dimension as 32 lanes add it: each every 32nd element, then halves."""
    d = x.shape[-1]
    wide = np.zeros(x.shape[:-1] + (-(-d // 32) * 32,), np.float32)
    wide[..., :d] = x
    part = wide.reshape(x.shape[:-1] + (-(-d // 32), 32)).sum(-2, dtype=np.float32)
    while part.shape[-1] > 1:
        half = part.shape[-1] // 2
        part = part[..., :half] + part[..., half:]
    return part


@kernel("rms_norm")
def rms_norm(call, x, y, norm_eps, weight=None, residual=None, residual_out=None):
    v = f32(x)
    if fault("i15-head-stride") and x.ndim == 3 and len(x):
        step = x.shape[2] * x.itemsize  # heads are taken to lie side by side
        v = np.lib.stride_tricks.as_strided(x, x.shape, (x.strides[0], min(step, x.strides[1]), x.strides[2])).copy()
    if residual is not None:
        v = v + f32(residual)
        residual_out[...] = v
        if variant("rms_norm") == "norm-of-stored" and call.output_dtypes["y"] == "BF16":
            v = to_bf16(v)
    d = F32(v.shape[-1])
    if variant("rms_norm") == "float64":
        r = 1 / np.sqrt(np.mean(np.square(v.astype(np.float64)), -1, keepdims=True) + norm_eps)
    else:
        r = F32(1) / np.sqrt(lanes(v * v) / d + F32(norm_eps))
    out = v * r
    out = out if weight is None else out * f32(weight)
    if fault("p13-odd-size-next-row") and x.ndim == 2 and x.shape[1] % 2 and len(x) > 1:
        out[1:, 0] = (v * r)[:-1, -1]  # the vector store of a row reaches into the next one
    y[...] = out


@kernel("layer_norm")
def layer_norm(x, y, norm_eps, weight=None, bias=None):
    v = f32(x)
    d = F32(v.shape[-1])
    mean = lanes(v) / d
    if fault("i14-variance-by-difference"):
        var = lanes(v * v) / d - mean * mean
        c = v - mean
    elif variant("layer_norm") == "float64":
        w = x.astype(np.float64)
        c = w - w.mean(-1, keepdims=True)
        var = np.mean(c * c, -1, keepdims=True)
    else:
        c = v - mean
        c = c - lanes(c) / d
        var = lanes(c * c) / d
    with np.errstate(invalid="ignore"):
        c = c / np.sqrt(var + F32(norm_eps))
    c = c if weight is None else c * f32(weight)
    y[...] = c if bias is None else c + f32(bias)


def angles(positions, freq, angle):
    if angle == "fp32":
        return (f32(positions)[:, None] * f32(freq)).astype(np.float64)
    return positions.astype(np.float64)[:, None] * freq.astype(np.float64)


def inverse_frequencies(theta, dim):
    return np.array([float(theta) ** (-2.0 * i / dim) for i in range(dim // 2)])


@kernel("rope")
def rope(
    x, positions, y, rotary_dim, pairing, rotary_offset=0, inverse=False, rope_theta=0.0, inv_freq=None, cos_sin_cache=None,
    angle="float64",
):
    e, at = int(rotary_dim), int(rotary_offset)
    if cos_sin_cache is not None:
        c, s = f32(cos_sin_cache[positions, : e // 2]), f32(cos_sin_cache[positions, e // 2 : e])
    else:
        width = x.shape[2] if fault("q10-frequencies-of-the-head") else e
        freq = inv_freq if inv_freq is not None else inverse_frequencies(rope_theta, width)[: e // 2]
        a = angles(positions, np.asarray(freq), angle)
        c, s = np.cos(a).astype(np.float32), np.sin(a).astype(np.float32)
    if inverse:
        s = -s
    half = pairing != "interleaved"
    if fault("i16-offset-pairs-half") and at > 0:
        half = True
    first = at + (np.arange(e // 2) if half else np.arange(0, e, 2))
    second = first + (e // 2 if half else 1)
    for t in RNG.permutation(len(x)) if variant("rope") == "tokens-shuffled" else range(len(x)):
        row = f32(x[t])
        u, v = row[:, first], row[:, second]
        if fault("p12-partial-many-heads") and half and e < row.shape[1] and len(x) * x.shape[1] >= 512:
            v = np.roll(v, 1, axis=0)  # lanes exchange with the head beside theirs
        y[t] = x[t]
        y[t][:, first] = u * c[t] - v * s[t]
        y[t][:, second] = u * s[t] + v * c[t]


@kernel("rope_table")
def rope_table(
    positions, cos_sin, rope_theta, rotary_dim, factor=1.0, original_max_position=0, beta_fast=32.0, beta_slow=1.0, mscale=0.0,
    angle="float64",
):
    e, m = int(rotary_dim), 1.0
    plain = inverse_frequencies(rope_theta, e)
    g = plain
    if original_max_position > 0:

        def dim(turns):
            return e * np.log(original_max_position / (turns * 2 * np.pi)) / (2 * np.log(rope_theta))

        low, high = max(np.floor(dim(beta_fast)), 0), min(np.ceil(dim(beta_slow)), e - 1)
        ramp = np.clip((np.arange(e // 2) - low) / (high - low), 0, 1)
        g = plain * (1 - ramp) + plain / factor * ramp
        if mscale and factor > 1:
            m = 0.1 * mscale * np.log(factor) + 1
    a = angles(positions, g, angle)
    if fault("q09-fast-sine") and original_max_position > 0:
        turn = F32(2 * np.pi)
        a = a.astype(np.float32)
        a = (a - turn * np.floor(a / turn)).astype(np.float64)
    value = np.concatenate([m * np.cos(a), m * np.sin(a)], 1)
    if fault("p31-extension-without-yarn") and original_max_position > 0:
        b = angles(positions, plain, angle)
        late = positions >= original_max_position * factor
        value[late] = np.concatenate([np.cos(b), np.sin(b)], 1)[late]
    cos_sin[...] = value.astype(np.float32) if variant("rope_table") != "rows" else np.stack([f32(r) for r in value]) if len(value) else value
