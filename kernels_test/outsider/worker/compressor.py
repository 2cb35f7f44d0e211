"""Gated pooling of keys, one token after the other in an online softmax."""
import numpy as np

from base import F32, f32, fault, kernel, to_bf16, variant


def pool(parts):
    """[(value [W], gate [W])] -> [W]"""
    if variant("compress") == "two-pass" or variant("compress_extend") == "two-pass":
        gate = np.stack([g for _, g in parts])
        w = np.exp(gate - gate.max(0))
        return (w * np.stack([v for v, _ in parts])).sum(0, dtype=np.float32) / w.sum(0, dtype=np.float32)
    m = np.full(parts[0][0].shape, -np.inf, np.float32)
    d, s = np.zeros_like(m), np.zeros_like(m)
    for v, g in parts:
        top = np.maximum(m, g)
        safe = np.where(np.isfinite(top), top, F32(0))
        keep, new = np.exp(m - safe), np.exp(g - safe)
        d, s, m = d * keep + new, s * keep + new * v, top
    return s / d


def block(previous, own, overlap, width):
    """Tokens [(value [C], gate [C])] of the block before (or None) and of its own -> [W]"""
    if not overlap:
        return pool(own)
    parts = [] if previous is None else [(v[:width], g[:width]) for v, g in previous]
    return pool(parts + [(v[width:], g[width:]) for v, g in own])


@kernel("compress")
def compress(kv, gate, ape, cu_seqlens, c, ratio, head_dim, overlap=False):
    r, width, at = int(ratio), int(head_dim), 0
    for i in range(len(cu_seqlens) - 1):
        a, e = int(cu_seqlens[i]), int(cu_seqlens[i + 1])
        previous, own = None, []
        for p in range(a, e - (e - a) % r):
            place = (p if fault("i09-ape-by-row") else p - a) % r
            bias = f32(gate[p]) + f32(ape[place])
            own.append((f32(kv[p]), to_bf16(bias) if fault("r06-bf16-gates") else bias))
            if len(own) == r:
                c[at] = block(previous, own, overlap, width)
                previous, own, at = own, [], at + 1


@kernel("compress_extend")
def compress_extend(
    kv, gate, ape, cu_seqlens, start, slot, state_kv, state_gate, c, new_state_kv, new_state_gate, ratio, head_dim, overlap=False,
):
    r, width, at = int(ratio), int(head_dim), 0
    shift = r if overlap else 0
    for i in range(len(start)):
        a, e, p, row = int(cu_seqlens[i]), int(cu_seqlens[i + 1]), int(start[i]), int(slot[i])
        previous = None
        if overlap and p >= r:
            previous = [(f32(state_kv[row, j]), f32(state_gate[row, j])) for j in range(r)]
        own = [(f32(state_kv[row, shift + j]), f32(state_gate[row, shift + j])) for j in range(p % r)]
        if fault("p23-single-window-overlap") and (p + e - a) // r - p // r == 1:
            previous = None
        for n in range(a, e):
            own.append((f32(kv[n]), f32(gate[n]) + f32(ape[p % r])))
            p += 1
            if p % r == 0:
                c[at] = block(previous, own, overlap, width)
                previous, own, at = own, [], at + 1
        if variant("compress_extend") != "two-pass":  # rows that hold nothing may be overwritten
            new_state_kv[i] = -1e30
            new_state_gate[i] = 7
        for j, (v, g) in enumerate(own):
            new_state_kv[i, shift + j], new_state_gate[i, shift + j] = v, g
        if overlap and previous is not None:
            for j, (v, g) in enumerate(previous):
                new_state_kv[i, j, :width], new_state_gate[i, j, :width] = v[:width], g[:width]
        if fault("p22-last-channel-of-rows") and kv.shape[1] > 128:
            for j in range(len(own)):
                new_state_kv[i, shift + j, -1] = new_state_kv[i, shift + j, 0]
