"""Number formats, switches and registration of the outsider's worker. Everything is float32 unless a name says otherwise.

A worker is sound until a fault is switched on (--fault ID); --variants uses another, equally right, way of computing.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "adapters", "python"))
from assay_worker import op  # noqa: E402

F32 = np.float32
FAULTS, VARIANTS = set(), {}
RNG = np.random.default_rng()  # unseeded on purpose: orders of variants may differ from run to run
DTYPES = ("F32", "BF16", "F8_E4M3", "F8_E8M0")
KERNELS = {}


def fault(name):
    return name in FAULTS


def variant(operator):
    return VARIANTS.get(operator, "")


def kernel(name, **hello):
    """Registers a kernel in every dtype and mode; calls of the same launch are run one after the other."""

    def declare(function):
        KERNELS[name] = (function, hello)
        return function

    return declare


def declare(names, extra):
    """Registers the named kernels with the library; extra is what variants add to hello."""
    for name in names:
        function, hello = KERNELS[name]

        def launch(call, function=function):
            for one in [call, *call.batch_with]:
                function(**one.arguments(function))
            return "outsider"

        op(name, **{"dtypes": DTYPES, "modes": ("eager", "graph"), "batch": True, **hello, **extra.get(name, {})})(launch)


def f32(x):
    return np.asarray(x, dtype=np.float32)


def to_bf16(x):
    """float32 rounded to bf16, nearest even, as float32; NaN and inf stay."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    low = bits & np.uint32(0xFFFF)
    up = (low > 0x8000) | ((low == 0x8000) & (bits >> np.uint32(16) & np.uint32(1) == 1))
    out = ((bits >> np.uint32(16)) + up.astype(np.uint32)) << np.uint32(16)
    return np.where(np.isfinite(x), out.astype(np.uint32).view(np.float32), x).astype(np.float32)


def to_tf32(x):
    """float32 rounded to ten bits of mantissa, nearest even."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    half = np.uint32(0xFFF) + (bits >> np.uint32(13) & np.uint32(1))
    return ((bits + half) & np.uint32(0xFFFFE000)).view(np.float32)


def round_e4m3(x):
    """float32 rounded to e4m3, nearest even, saturating at 448."""
    x = np.clip(f32(x), F32(-448), F32(448))
    _, e = np.frexp(x)
    step = np.ldexp(F32(1), np.maximum(e - 1, -6) - 3).astype(np.float32)
    if fault("i02-e4m3-ties-away"):
        with np.errstate(invalid="ignore"):
            return (np.copysign(np.floor(np.abs(x) / step + F32(0.5)), x) * step).astype(np.float32)
    return (np.rint(x / step) * step).astype(np.float32)


def code_e4m3(x):
    """e4m3 bytes of values that e4m3 can hold or that round to it; NaN is 0x7f."""
    v = round_e4m3(x)
    size = np.abs(v)
    _, e = np.frexp(size)
    e = np.maximum(e - 1, -6)
    with np.errstate(invalid="ignore"):
        whole = np.nan_to_num(np.ldexp(size, 3 - e)).astype(np.int64)  # 8..15, below 8 where subnormal
    code = np.where(whole >= 8, ((e + 7) << 3) + whole - 8, whole)
    code = np.where(np.isnan(v), 0x7F, code | np.where(np.signbit(v), 0x80, 0))
    return code.astype(np.uint8)


_E4M3 = None


def value_e4m3(codes):
    """e4m3 bytes -> float32, by a table of 256."""
    global _E4M3
    if _E4M3 is None:
        table = []
        for code in range(256):
            e, m = (code >> 3) & 15, code & 7
            v = m * 2.0**-9 if e == 0 else (1 + m / 8) * 2.0 ** (e - 7)
            table.append(float("nan") if code & 0x7F == 0x7F else (-v if code & 0x80 else v))
        _E4M3 = np.array(table, np.float32)
    return _E4M3[codes]


def value_e8m0(codes):
    return np.where(codes == 255, np.nan, np.ldexp(1.0, codes.astype(np.int32) - 127)).astype(np.float32)


_NIBBLE = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def value_e2m1(packed):
    """[..., n] bytes -> [..., 2n] float32, low nibble first."""
    table = _NIBBLE
    if fault("i13-e2m1-subnormal"):
        table = np.where(np.abs(table) == 0.5, F32(0), table)
    out = np.empty(packed.shape[:-1] + (2 * packed.shape[-1],), np.float32)
    out[..., 0::2], out[..., 1::2] = table[packed & 15], table[packed >> 4]
    return out


_EDGES = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0], np.float32)
_CLOSED = np.array([False, True, False, True, False, True, False])  # a midpoint goes up where the upper code is even


def code_e2m1(x, signed_zero=False):
    """e2m1 codes, nearest, ties to even codes, saturating at 6; the sign bit where x < 0."""
    size = np.abs(f32(x))
    code = np.zeros(size.shape, np.uint8)
    for edge, closed in zip(_EDGES, _CLOSED):
        code += (size >= edge if closed else size > edge).astype(np.uint8)
    return code | np.where(f32(x) < 0, 8, 0).astype(np.uint8)


def power_above(x):
    """Exponent of the least power of two that is no smaller than float32 x > 0."""
    m, e = np.frexp(f32(x))
    return np.where(m == 0.5, e - 1, e).astype(np.int32)


def order(n, random):
    """0..n-1, as it is or in an order of its own for every call."""
    return RNG.permutation(n) if random else np.arange(n)
