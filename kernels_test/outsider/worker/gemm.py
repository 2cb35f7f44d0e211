"""Products tile by tile along K, with float32 accumulators, and the quantisers."""
import numpy as np

from base import (
    F32, RNG, code_e2m1, code_e4m3, f32, fault, kernel, order, to_bf16, to_tf32, value_e2m1, value_e4m3, variant,
)


def tiled(x, w, step, random=False):
    """[M, K] x [N, K] -> [M, N], partial sums of step products."""
    total = np.zeros((len(x), len(w)), np.float32)
    starts = range(0, x.shape[1], step)
    for i in order(len(starts), random):
        a = starts[int(i)]
        total += np.matmul(f32(x[:, a : a + step]), f32(w[:, a : a + step]).T)
    return total


@kernel("dense_gemm")
def dense_gemm(x, w, y):
    if fault("i12-gemv-in-bf16") and len(x) == 1:
        x, w = to_bf16(x), to_bf16(w)
    if variant("dense_gemm") == "tf32x3":
        xh, wh = to_tf32(x), to_tf32(w)
        xl, wl = to_tf32(f32(x) - xh), to_tf32(f32(w) - wh)
        y[...] = tiled(xl, wh, 32) + tiled(xh, wl, 32) + tiled(xh, wh, 32)
        return
    y[...] = tiled(x, w, 128)


@kernel("bf16_gemm")
def bf16_gemm(x, w, y):
    y[...] = tiled(x, w, 96, variant("bf16_gemm") == "split-k-shuffled")


@kernel("fp8_gemm")
def fp8_gemm(x, w, y):
    y[...] = tiled(x, w, 32 if variant("fp8_gemm") == "promote-32" else 128)


def block_scaled(x, xs, w, ws, dequantised=False):
    """Blocks of 128 along K: dot product, then both scales."""
    total = np.zeros((len(x), len(w)), np.float32)
    columns = np.arange(len(w)) // 128
    blocks = -(-x.shape[1] // 128)
    for b in range(blocks):
        xb, wb = f32(x[:, 128 * b : 128 * b + 128]), f32(w[:, 128 * b : 128 * b + 128])
        sx, sw = f32(xs[:, b : b + 1]), f32(ws[columns, b])
        if dequantised:
            total += np.matmul(xb * sx, (wb * sw[:, None]).T)
        else:
            total += np.matmul(xb, wb.T) * sx * sw
    return total


@kernel("block_fp8_gemm")
def block_fp8_gemm(x, x_scale, w, w_scale, y):
    total = block_scaled(x, x_scale, w, w_scale, variant("block_fp8_gemm") == "dequantised")
    if fault("i18-last-block-raced") and RNG.random() < 0.25 and x.shape[1] > 128 and len(x):
        b, row = (x.shape[1] - 1) // 128, int(RNG.integers(len(x)))
        part = block_scaled(x[row : row + 1, 128 * b :], x_scale[row : row + 1, b:], w[:, 128 * b :], w_scale[:, b:])
        total[row] -= part[0]
    y[...] = total


def unswizzle(flat, rows, columns):
    """Tiles of 128 x 4 [P] -> [rows, columns]"""
    down, across = -(-rows // 128), -(-columns // 4)
    if fault("p18-scale-stride-unpadded") and down > 1 and columns % 4:
        r, c = np.arange(rows)[:, None], np.arange(columns)
        at = (r // 128) * 128 * columns + c // 4 * 512 + r % 32 * 16 + r % 128 // 32 * 4 + c % 4
        return flat[at]
    return flat.reshape(down, across, 32, 4, 4).transpose(0, 3, 2, 1, 4).reshape(down * 128, across * 4)[:rows, :columns]


@kernel("batched_mxfp8_gemm")
def batched_mxfp8_gemm(x, x_scale, w, w_scale, y):
    for b in order(len(x), variant("batched_mxfp8_gemm") == "shuffled"):
        c = x.shape[2] // 32
        xs, ws = unswizzle(f32(x_scale[b]), x.shape[1], c), unswizzle(f32(w_scale[b]), w.shape[1], c)
        total = np.zeros((x.shape[1], w.shape[1]), np.float32)
        for k in range(c):
            part = slice(32 * k, 32 * k + 32)
            total += np.matmul(f32(x[b, :, part]) * xs[:, k : k + 1], (f32(w[b, :, part]) * ws[:, k : k + 1]).T)
        y[b] = total


@kernel("mxfp4_gemm")
def mxfp4_gemm(x, x_scale, w, w_scale, y):
    value = value_e2m1(w)
    total = np.zeros((len(x), len(w)), np.float32)
    for k in range(w_scale.shape[1]):
        part = slice(32 * k, 32 * k + 32)
        if variant("mxfp4_gemm") == "scaled-operands":
            total += np.matmul(f32(x[:, part]) * f32(x_scale[:, k // 4, None]), (value[:, part] * f32(w_scale[:, k, None])).T)
        else:
            total += np.matmul(f32(x[:, part]), value[:, part].T) * f32(x_scale[:, k // 4, None]) * f32(w_scale[:, k])
    y[...] = total


def fp4_product(x, xs, w, ws):
    """e2m1 bytes with scales of 16 -> [M, N], without the global scales."""
    x, w = value_e2m1(x), value_e2m1(w)
    step = 16 if variant("nvfp4_gemm") == "by-block" else 64
    x, w = x * np.repeat(xs, 16, 1), w * np.repeat(ws, 16, 1)
    return tiled(x, w, step)


@kernel("nvfp4_gemm")
def nvfp4_gemm(x, x_scale, input_scale, w, w_scale, weight_scale_2, y):
    c = x.shape[1] // 8
    total = fp4_product(x, unswizzle(f32(x_scale), len(x), c), w, unswizzle(f32(w_scale), len(w), c))
    y[...] = total * (F32(input_scale[0]) * F32(weight_scale_2[0]))


@kernel("grouped_gemm")
def grouped_gemm(x, x_scale, w, w_scale, expert, y):
    junk = variant("grouped_gemm") == "junk-in-padding"
    for a in range(0, len(x), 32):
        tile = slice(a, min(a + 32, len(x)))
        e = expert[tile]
        for one in np.unique(e[e >= 0]):
            rows = a + np.flatnonzero(e == one)
            out = block_scaled(x[rows], x_scale[rows], w[one], w_scale[one])
            if fault("p20-padding-row-in-tile"):
                pad = a + np.flatnonzero(e < 0)
                with np.errstate(invalid="ignore"):
                    out = out + F32(0) * (f32(x[pad]).sum() + f32(x_scale[pad]).sum())
            y[rows] = out
        if junk:
            y[a + np.flatnonzero(e < 0)] = -9.0


@kernel("grouped_nvfp4_gemm")
def grouped_nvfp4_gemm(x, x_scale, w, w_scale, alpha, expert, y):
    c = x.shape[1] // 8
    for one in order(len(w), variant("grouped_nvfp4_gemm") == "shuffled"):
        rows = np.flatnonzero(expert == one)
        if len(rows):
            scale = unswizzle(f32(w_scale[one]), w.shape[1], c)
            xs = f32(x_scale[rows])
            if fault("q07-swizzled-row-scales") and len(rows) >= 128 and c % 4 == 0:
                whole = len(rows) // 128 * 128
                xs[:whole] = unswizzle(np.ascontiguousarray(xs[:whole]).reshape(-1), whole, c)
            y[rows] = fp4_product(x[rows], xs, w[one], scale) * F32(alpha[one])


@kernel("masked_gemm")
def masked_gemm(x, x_scale, w, w_scale, masked_m, y):
    for e in range(len(x)):
        n = int(masked_m[e])
        out = block_scaled(x[e, :n], x_scale[e, :n], w[e], w_scale[e])
        if fault("p19-scales-across-experts") and len(x) > 1:
            with np.errstate(invalid="ignore"):
                out = out + F32(0) * f32(x_scale[(e + 1) % len(x)]).sum()
        y[e, :n] = out
        if variant("masked_gemm") == "junk-in-padding":
            y[e, n:] = 4.0


LAST_AMAX = [F32(0)]


@kernel("quantise_fp8")
def quantise_fp8(call, x, codes, scale, group_size, scale_fmt, amax_floor=0.0):
    v, group, columns = f32(x), int(group_size), x.shape[1]
    if group == 0:
        pieces = [(slice(None), slice(None), 0, None)]
    else:
        pieces = [(slice(None), slice(a, min(a + group, columns)), 1, a // group) for a in range(0, columns, group)]
    for rows, part, axis, j in pieces:
        block = np.abs(v[rows, part])
        amax = block.max(initial=0).reshape(1) if j is None else block.max(1, initial=0)
        amax = f32(amax)
        if fault("i19-stale-amax") and j is None:
            amax = np.maximum(amax, LAST_AMAX[0])
            LAST_AMAX[0] = amax.max()
        if not (fault("p15-floor-on-the-scale") and scale_fmt == "ue8m0"):
            amax = np.maximum(amax, F32(amax_floor))
        if fault("p16-amax-through-bf16") and scale_fmt != "fp32":
            amax = to_bf16(amax)
        if scale_fmt == "fp32":
            s = amax / F32(448)
            stored = s
        else:
            if scale_fmt == "ocp":
                _, e = np.frexp(amax)
                byte = np.where(amax == 0, 0, np.clip(e - 9, -127, 127) + 127)
            else:
                q = amax / F32(448)
                if fault("p15-floor-on-the-scale"):
                    q = np.maximum(q, F32(1e-10))
                bits = q.view(np.uint32)
                byte = (bits >> np.uint32(23)).astype(np.int64) + ((bits & np.uint32(0x7FFFFF)) != 0)
            s = np.ldexp(F32(1), byte.astype(np.int32) - 127).astype(np.float32)
            stored = byte if call.output_dtypes["scale"] == "U8" else s
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if j is None:
                scale[...] = stored
                codes[...] = code_e4m3(v / s)
            else:
                scale[:, j] = stored
                codes[:, part] = code_e4m3(v[:, part] / s[:, None])


@kernel("quantise_nvfp4")
def quantise_nvfp4(x, codes, scale, global_amax):
    v, t, c = f32(x), F32(global_amax) / F32(2688), x.shape[1] // 16
    across, k = -(-c // 4), np.arange(-(-c // 4) * 4)
    for r in range(-(-len(v) // 128) * 128):
        at = (r // 128 * across + k // 4) * 512 + r % 32 * 16 + r % 128 // 32 * 4 + k % 4
        if r >= len(v):
            if not fault("p17-padding-unwritten"):
                scale[at] = 0
            continue
        block = v[r].reshape(c, 16)
        q = np.abs(block).max(1) / (F32(6) * t)
        byte = np.where(q == 0, 0x38, code_e4m3(np.clip(q, F32(2.0**-9), F32(448)))).astype(np.uint8)
        scale[at[:c]], scale[at[c:]] = byte, 0
        code = code_e2m1(block / (value_e4m3(byte) * t)[:, None])
        if fault("r02-no-negative-zero"):
            code = np.where(code == 8, 0, code)
        codes[r] = (code[:, 0::2] | code[:, 1::2] << 4).reshape(-1)
