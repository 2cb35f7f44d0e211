#!/usr/bin/env python3
"""A second implementation of products on stored operands and of the quantisers that store them, in numpy, from the formulas.

    y[m, n] = sum_k (x[m, k] its scale) (w[n, k] its scale)

Products are in float64. The quantisers are exact to the bit, so they are in fp32 with every operation rounded once, in the order of
their recipe. DeepGEMM deep_gemm/utils/math.py (fp8 blocks), OCP MX, ModelOpt nvfp4_tensor.py (docs/sources.md).
"""
import numpy as np

from assay_worker import decode, encode, serve
from reference_numbers import PATH, e2m1, e4m3, f32, f64, pack_e2m1, reference, store, unpack_e2m1


def product(x, w):
    """[..., M, K], [..., N, K] -> [..., M, N]"""
    return f64(x) @ np.swapaxes(f64(w), -1, -2)


def spread(scales, rows, columns, block_rows, block_columns):
    """Scales of blocks [..., R, C] -> multipliers of elements [..., rows, columns]."""
    return np.repeat(np.repeat(f64(scales), block_rows, -2), block_columns, -1)[..., :rows, :columns]


def tile_bytes(rows, columns):
    """Where scale [r, c] of a matrix lies in tiles of 128 x 4, [rows, columns], and how many bytes the tiles have."""
    r, c = np.arange(rows)[:, None], np.arange(columns)
    across = -(-columns // 4)
    return ((r // 128) * across + c // 4) * 512 + (r % 32) * 16 + (r % 128 // 32) * 4 + c % 4, -(-rows // 128) * across * 512


def from_tiles(scales, rows, columns):
    """Scales in tiles [..., P] -> [..., rows, columns]"""
    return scales[..., tile_bytes(rows, columns)[0]]


def block_scaled(x, x_scale, w, w_scale):
    """Operands with 1 x 128 and 128 x 128 blocks, multiplied."""
    return product(f64(x) * spread(x_scale, *x.shape, 1, 128), f64(w) * spread(w_scale, *w.shape, 128, 128))


def plain(call, x, w):
    store(call, "y", product(x, w))
    return PATH


@reference("dense_gemm")
def dense_gemm(call, x, w):
    return plain(call, x, w)


@reference("bf16_gemm")
def bf16_gemm(call, x, w):
    return plain(call, x, w)


@reference("fp8_gemm")
def fp8_gemm(call, x, w):
    return plain(call, x, w)


@reference("block_fp8_gemm")
def block_fp8_gemm(call, x, x_scale, w, w_scale):
    store(call, "y", block_scaled(x, x_scale, w, w_scale))
    return PATH


@reference("batched_mxfp8_gemm")
def batched_mxfp8_gemm(call, x, x_scale, w, w_scale):
    x, w = (f64(a) * spread(from_tiles(s, a.shape[1], a.shape[2] // 32), *a.shape[1:], 1, 32) for a, s in ((x, x_scale), (w, w_scale)))
    store(call, "y", product(x, w))
    return PATH


@reference("mxfp4_gemm")
def mxfp4_gemm(call, x, x_scale, w, w_scale):
    w = unpack_e2m1(w)
    store(call, "y", product(f64(x) * spread(x_scale, *x.shape, 1, 128), w * spread(w_scale, *w.shape, 1, 32)))
    return PATH


def nvfp4(packed, scales):
    """[M, K/2] bytes and scales [M, K/16] -> [M, K]"""
    values = unpack_e2m1(packed)
    return values * spread(scales, *values.shape, 1, 16)


@reference("nvfp4_gemm", attrs={"global_scales": ["halves"]})
def nvfp4_gemm(call, x, x_scale, input_scale, w, w_scale, weight_scale_2, global_scales="one"):
    x, w = (nvfp4(a, from_tiles(s, len(a), a.shape[1] // 8)) for a, s in ((x, x_scale), (w, w_scale)))
    store(call, "y", product(x, w) * f64(input_scale)[0] * (np.repeat(f64(weight_scale_2), len(w) // 2) if global_scales == "halves" else f64(weight_scale_2)[0]))
    return PATH


@reference("grouped_gemm")
def grouped_gemm(call, x, x_scale, w, w_scale, expert):
    for e in range(len(w)):
        rows = np.flatnonzero(expert == e)
        store(call, "y", block_scaled(x[rows], x_scale[rows], w[e], w_scale[e]), rows)
    return PATH


@reference("grouped_nvfp4_gemm")
def grouped_nvfp4_gemm(call, x, x_scale, w, w_scale, alpha, expert):
    for e in range(len(w)):
        rows = np.flatnonzero(expert == e)
        weights = nvfp4(w[e], from_tiles(w_scale[e], w.shape[1], w.shape[2] // 8))
        store(call, "y", product(nvfp4(x[rows], x_scale[rows]), weights) * f64(alpha)[e], rows)
    return PATH


@reference("masked_gemm")
def masked_gemm(call, x, x_scale, w, w_scale, masked_m):
    for e, n in enumerate(masked_m.tolist()):
        store(call, "y", block_scaled(x[e, :n], x_scale[e, :n], w[e], w_scale[e]), (e, slice(0, n)))
    return PATH


def e8m0_of(amax, scale_fmt):
    """Exponent bytes of the scales that fp32 amax [...] give: floor(log2 amax) - 8 (ocp), or ceil(log2(amax / 448)) (ue8m0)."""
    if scale_fmt == "ocp":
        exponent = np.frexp(amax)[1] - 1 - 8
        return np.clip(np.where(amax == 0, -127, exponent), -127, 127) + 127
    bits = (amax / np.float32(448)).view(np.uint32)
    return (bits >> 23) + (bits & 0x7FFFFF != 0)


@reference("quantise_fp8")
def quantise_fp8(call, x, codes, scale, group_size, scale_fmt, amax_floor=0.0):
    x, group = f32(x), int(group_size)
    if group:
        blocks = -(-x.shape[1] // group)
        padded = np.zeros((len(x), blocks * group), np.float32)
        padded[:, : x.shape[1]] = np.abs(x)
        amax = padded.reshape(len(x), blocks, group).max(2)
    else:
        amax = np.abs(x).max(initial=0).reshape(1)
    amax = np.maximum(f32(amax), np.float32(amax_floor))
    if scale_fmt == "fp32":
        s = stored = amax / np.float32(448)
    else:
        exponents = e8m0_of(amax, scale_fmt)
        s = np.ldexp(np.float32(1), exponents.astype(np.int32) - 127)
        stored = exponents if call.output_dtypes["scale"] == "U8" else s
    scale[...] = stored
    s = np.repeat(s, group, 1)[:, : x.shape[1]] if group else s
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        codes[...] = e4m3(x / f32(s))
    return "numpy float32"


@reference("quantise_nvfp4")
def quantise_nvfp4(x, codes, scale, global_amax):
    x = f32(x)
    blocks = x.reshape(len(x), x.shape[1] // 16, 16)
    t = np.float32(global_amax) / np.float32(2688)
    quotient = np.abs(blocks).max(2, initial=0) / (np.float32(6) * t)
    s = encode("F8_E4M3", np.where(quotient == 0, np.float32(1), np.clip(quotient, np.float32(2.0**-9), np.float32(448))))
    codes[...] = pack_e2m1(e2m1(blocks / (decode("F8_E4M3", s) * t)[..., None]).reshape(x.shape))
    scale[...] = 0
    scale[tile_bytes(*s.shape)[0]] = s
    return "numpy float32"


if __name__ == "__main__":
    serve("numpy-reference-gemm", np.__version__)
