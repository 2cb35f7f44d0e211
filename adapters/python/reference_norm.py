#!/usr/bin/env python3
"""A second implementation of norms and rotary embedding, in numpy and float64, written from their formulas.

rope turns pair i of the rotated channels by a = position / theta^(2i/E); rope_table holds m cos a and m sin a of frequencies that
YaRN has stretched, with m = 0.1 mscale ln(factor) + 1 (YaRN, arXiv 2309.00071; DeepSeek-V3.2 inference/model.py
precompute_freqs_cis). The attribute angle says what the angle is: float64, the exact product, or fp32, where the frequency and its
product with the position are fp32 numbers.
"""
import numpy as np

from assay_worker import serve
from reference_numbers import PATH, f32, f64, reference, store


@reference("rms_norm")
def rms_norm(call, x, norm_eps, weight=None, residual=None):
    v = f64(x)
    if residual is not None:
        v = v + f64(residual)
        store(call, "residual_out", v)
    v = v / np.sqrt(np.square(v).mean(-1, keepdims=True) + norm_eps)
    store(call, "y", v if weight is None else v * f64(weight))
    return PATH


@reference("layer_norm")
def layer_norm(call, x, norm_eps, weight=None, bias=None):
    v = f64(x)
    v = v - v.mean(-1, keepdims=True)
    v = v / np.sqrt(np.square(v).mean(-1, keepdims=True) + norm_eps)
    v = v if weight is None else v * f64(weight)
    store(call, "y", v if bias is None else v + f64(bias))
    return PATH


def frequencies(theta, dim):
    return float(theta) ** (-np.arange(0, dim, 2) / dim)


def angles(positions, g, angle):
    """[T, E/2]"""
    if angle == "fp32":
        return f64(f32(positions)[:, None] * f32(g))
    return f64(positions)[:, None] * f64(g)


@reference("rope")
def rope(
    call, x, positions, y, rotary_dim, pairing, rotary_offset=0, inverse=False, rope_theta=0.0, inv_freq=None, cos_sin_cache=None,
    angle="float64",
):
    e, at = int(rotary_dim), int(rotary_offset)
    if cos_sin_cache is not None:
        rows = f64(cos_sin_cache[positions])
        c, s = rows[:, : e // 2], rows[:, e // 2 : e]
    else:
        a = angles(positions, frequencies(rope_theta, e) if inv_freq is None else inv_freq, angle)
        c, s = np.cos(a), np.sin(a)
    c, s = c[:, None], -s[:, None] if inverse else s[:, None]
    first, second = (np.arange(0, e, 2), np.arange(1, e, 2)) if pairing == "interleaved" else (np.arange(e // 2), np.arange(e // 2, e))
    u, v = f64(x[..., at + first]), f64(x[..., at + second])
    y[...] = x
    store(call, "y", u * c - v * s, (Ellipsis, at + first))
    store(call, "y", u * s + v * c, (Ellipsis, at + second))
    return PATH


@reference("rope_table")
def rope_table(
    call, positions, rope_theta, rotary_dim, factor=1.0, original_max_position=0, beta_fast=32.0, beta_slow=1.0, mscale=0.0,
    angle="float64",
):
    e, m = int(rotary_dim), 1.0
    g = frequencies(rope_theta, e)
    if original_max_position > 0:

        def dim(turns):
            return e * np.log(original_max_position / (2 * np.pi * turns)) / (2 * np.log(rope_theta))

        low, high = max(np.floor(dim(beta_fast)), 0), min(np.ceil(dim(beta_slow)), e - 1)
        ramp = np.clip((np.arange(e // 2) - low) / (high - low), 0, 1)
        g = g * (1 - ramp) + g / factor * ramp
        if mscale and factor > 1:
            m = 0.1 * mscale * np.log(factor) + 1
    a = angles(positions, g, angle)
    store(call, "cos_sin", m * np.hstack([np.cos(a), np.sin(a)]))
    return PATH


if __name__ == "__main__":
    serve("numpy-reference-norm", np.__version__)
