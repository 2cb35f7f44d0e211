"""Number formats and small helpers that the numpy reference operators share. Nothing here knows an operator.

Values are float64 until an output is stored. bf16 outputs are shown by assay_worker as float32 arrays that it rounds to bf16
afterwards; store() rounds them from float64 in one step, so that no value is rounded twice.
"""
import functools

import numpy as np

from assay_worker import decode, encode, op

PATH = "numpy float64"

# Declares a reference operator. It has nothing to capture: in graph mode, too, every call is computed anew.
reference = functools.partial(op, dtypes=("F32", "BF16", "F8_E4M3", "F8_E8M0"), modes=("eager", "graph"))


def f64(x):
    """In float64; np.float64(x) would drop the axes of a single element."""
    return np.asarray(x, dtype=np.float64)


def f32(x):
    return np.asarray(x, dtype=np.float32)


def bf16(x):
    """float64 rounded once to bf16 (nearest, ties to even), as float32. The bits that two roundings would lose are kept sticky."""
    x = np.ascontiguousarray(x, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        near = x.astype(np.float32)
        back = near.astype(np.float64)
        # Round to odd: where fp32 is inexact, the neighbour with an odd last bit stands for everything between the two.
        bits = near.view(np.uint32)
        odd = (back != x) & np.isfinite(back) & (bits & 1 == 0)
        away = np.abs(back) < np.abs(x)
        bits = np.where(odd, np.where(away, bits + np.uint32(1), bits - np.uint32(1)), bits).astype(np.uint32)
    return decode("BF16", encode("BF16", bits.view(np.float32)))


def store(call, name, value, at=Ellipsis):
    """Writes float64 values into an output, rounded once to its dtype."""
    with np.errstate(over="ignore", invalid="ignore"):
        call.outputs[name][at] = bf16(value) if call.output_dtypes[name] == "BF16" else value


def e4m3(x):
    """e4m3 bytes of values, nearest, ties to even, saturating at 448; NaN stays NaN."""
    return encode("F8_E4M3", np.clip(x, -448, 448))


def e4m3_value(x):
    return f64(decode("F8_E4M3", e4m3(x)))


E2M1 = np.float64([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def e2m1(x):
    """e2m1 codes of values: nearest, ties to even codes, saturating at 6, the sign bit where x is below 0."""
    size = np.abs(f64(x))
    middle = (E2M1[1:] + E2M1[:-1]) / 2
    up = np.searchsorted(middle, size, side="left")  # a midpoint itself goes down here ...
    tie = np.isin(size, middle) & (up % 2 == 1)  # ... and up where that code is even
    return ((up + tie) | np.where(f64(x) < 0, 8, 0)).astype(np.uint8)


def e2m1_value(codes):
    return np.where(codes & 8, -1.0, 1.0) * E2M1[codes & 7]


def unpack_e2m1(packed):
    """[..., K/2] bytes -> [..., K] values; the even element in the low nibble."""
    codes = np.stack([packed & 15, packed >> 4], -1)
    return e2m1_value(codes.reshape(packed.shape[:-1] + (2 * packed.shape[-1],)))


def pack_e2m1(codes):
    return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)


def power_of_two_above(x):
    """The least power of two that is no smaller than x > 0, and its exponent."""
    mantissa, e = np.frexp(f64(x))
    e = np.where(mantissa == 0.5, e - 1, e)
    return np.ldexp(1.0, e), e


def little(data, dtype):
    """Bytes [..., n·width] as little-endian numbers [..., n] of a stored dtype of numpy."""
    return np.ascontiguousarray(data).view(dtype)


def raw(values, dtype):
    """Numbers [..., n] as bytes [..., n·width]."""
    return np.ascontiguousarray(values, dtype).view(np.uint8)


def rows_of_tokens(table, page_size, tokens):
    """Rows of a flat paged cache that hold the given tokens of the request whose pages are in table."""
    tokens = np.asarray(tokens, np.int64)
    return table[tokens // page_size].astype(np.int64) * page_size + tokens % page_size


def attend(z, values, sinks=None):
    """Softmax attention of one query: z [H, n], values [n, V] for all heads or [H, n, V] -> o [H, V], natural lse [H], max [H].

    sinks [H] join the denominator alone. Without keys o is 0, lse and max are -inf.
    """
    heads, n = z.shape
    if n == 0:
        nothing = np.full(heads, -np.inf)
        return np.zeros((heads, values.shape[-1])), nothing, nothing
    top = z.max(1)
    base = np.where(np.isfinite(top), top, 0)
    p = np.exp(z - base[:, None])
    with np.errstate(divide="ignore"):
        lse = np.log(p.sum(1)) + base
    total = lse if sinks is None else np.logaddexp(lse, f64(sinks))
    with np.errstate(invalid="ignore"):
        p = np.exp(np.where(np.isneginf(z), -np.inf, z - total[:, None]))
    o = p @ values if values.ndim == 2 else np.einsum("hn,hnv->hv", p, values)
    return o, lse, top
