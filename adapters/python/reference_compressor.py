#!/usr/bin/env python3
"""A second implementation of the gated pooling of keys, in numpy and float64, written from its formula.

With biased gates G[p] = gate[p] + ape[p mod r], a block of r tokens becomes c = sum_p softmax_p(G) kv, channel by channel. With
overlap a block also looks at the r tokens before, which count with the first half of their channels, the block's own with the
second. compress takes whole sequences, compress_extend goes on from a state. DeepSeek-V4 inference/model.py Compressor
(docs/sources.md).
"""
import numpy as np

from assay_worker import serve
from reference_numbers import PATH, f32, f64, reference, store


def pool(kv, gate):
    """[rows, W], [rows, W] -> [W]"""
    w = np.exp(gate - gate.max(0))
    return (w * kv).sum(0) / w.sum(0)


def block(before, own, overlap, width):
    """One block of its own tokens (kv, gate), each [r, C], and the r tokens before it or None."""
    if not overlap:
        return pool(f64(own[0]), f64(own[1]))
    parts = [[own[i][:, width:]] if before is None else [before[i][:, :width], own[i][:, width:]] for i in (0, 1)]
    return pool(*(f64(np.vstack(p)) for p in parts))


@reference("compress")
def compress(call, kv, gate, ape, cu_seqlens, ratio, head_dim, overlap=False):
    r, width, at = int(ratio), int(head_dim), 0
    for first, last in zip(cu_seqlens[:-1].tolist(), cu_seqlens[1:].tolist()):
        before = None
        for p in range(first, last - r + 1, r):
            own = f64(kv[p : p + r]), f64(gate[p : p + r]) + f64(ape)
            store(call, "c", block(before, own, overlap, width), at)
            before, at = own, at + 1
    return PATH


@reference("compress_extend")
def compress_extend(
    call, kv, gate, ape, cu_seqlens, start, slot, state_kv, state_gate, new_state_kv, new_state_gate, ratio, head_dim, overlap=False,
):
    r, width, at = int(ratio), int(head_dim), 0
    own_rows = slice(r, 2 * r) if overlap else slice(0, r)
    for b in range(len(start)):
        position, first, last = int(start[b]), int(cu_seqlens[b]), int(cu_seqlens[b + 1])
        state = [f64(state_kv[slot[b]]), f64(state_gate[slot[b]])]
        before = [s[:r].copy() for s in state] if overlap and position >= r else None
        own = [s[own_rows].copy() for s in state]
        for p in range(first, last):
            own[0][position % r] = kv[p]
            own[1][position % r] = f64(gate[p]) + f64(ape[position % r])
            position += 1
            if position % r == 0:
                store(call, "c", block(before, own, overlap, width), at)
                before, at = [o.copy() for o in own], at + 1
        for out, now, last_block in zip((new_state_kv, new_state_gate), own, before or (0, 0)):
            out[b] = 0
            out[b, own_rows][: position % r] = f32(now[: position % r])
            if overlap and before is not None:
                out[b, :r] = last_block
    return PATH


if __name__ == "__main__":
    serve("numpy-reference-compressor", np.__version__)
