"""The lightning indexer: logits tile by tile, keys into pages with a fast Hadamard transform."""
import numpy as np

from base import F32, code_e2m1, code_e4m3, f32, fault, kernel, order, power_above, to_bf16, value_e2m1, value_e4m3, value_e8m0, variant
from sparse import bf16_bytes


def scores(q, w, keys, scale):
    """q [H, D], w [H], keys [n, D], scale [n] or None -> [n], in tiles of 128 keys."""
    out = np.empty(len(keys), np.float32)
    for a in range(0, len(keys), 128):
        dot = np.maximum(np.matmul(f32(keys[a : a + 128]), q.T), F32(0))
        if fault("r03-sixty-four-heads"):
            dot[:, 64:] = 0
        out[a : a + 128] = (dot * w).sum(1, dtype=np.float32) if variant("indexer_logits") == "sum" else np.matmul(dot, w)
    return out if scale is None else out * f32(scale)


@kernel("indexer_logits")
def indexer_logits(call, q, k, weights, start, end, logits, ks=None, clean_logits=False, max_seqlen_k=0):
    for t in range(len(q)):
        lo, hi = int(start[t]), int(end[t])
        if clean_logits:
            logits[t] = -np.inf
        elif variant("indexer_logits") == "sum":
            logits[t] = 12345.0  # undefined elements may hold anything
        row = scores(f32(q[t]), f32(weights[t]), k[lo:hi], None if ks is None else ks[lo:hi])
        at = 0 if int(max_seqlen_k) else lo
        if fault("i04-compressed-start-aligned") and int(max_seqlen_k):
            at = min(lo % 4, logits.shape[1] - (hi - lo))
        logits[t, at : at + hi - lo] = row


def page_keys(page, form, size, d):
    """One page of bytes -> keys [size, d] and their scales [size] or None."""
    if form == "bf16":
        return bf16_bytes(page[: 2 * size * d].reshape(size, 2 * d)), None
    if form == "fp8":
        scale = np.ascontiguousarray(page[size * d : size * (d + 4)]).view("<f4")
        return value_e4m3(page[: size * d].reshape(size, d)), scale
    keys = value_e2m1(page[: size * d // 2].reshape(size, d // 2))
    scale = value_e8m0(page[size * d // 2 : size * (d // 2 + 4)].reshape(size, 4)[:, : max(1, d // 32)])
    return keys * np.repeat(scale, 32, 1)[:, :d], None


@kernel("indexer_logits_paged")
def indexer_logits_paged(call, q, pages, weights, context_lens, block_table, logits, page_size, page_format, clean_logits=False):
    size, (requests, queries, _, d) = int(page_size), q.shape
    mode = variant("indexer_logits_paged")
    if clean_logits:
        logits[...] = -np.inf
    elif mode == "pages-shuffled":
        logits[...] = -77.0
    lens = context_lens
    if fault("p25-context-lens-1d"):
        lens = np.broadcast_to(np.ascontiguousarray(context_lens).reshape(-1)[:requests, None], context_lens.shape)
        lens = np.minimum(lens, context_lens.max(1, keepdims=True))
    for b in range(requests):
        longest = int(lens[b].max()) if queries else 0
        count = (longest + size - 1) // size
        step = max(1, 256 // size)  # pages of one tile
        for first in order(count, mode == "pages-shuffled") if step == 1 else range(0, count, step):
            group = block_table[b, first : min(first + step, count)]
            parts = [page_keys(pages[int(p)], page_format, size, d) for p in group]
            keys = np.concatenate([p[0] for p in parts])
            scale = None if parts[0][1] is None else np.concatenate([p[1] for p in parts])
            if fault("p24-block-start-only"):
                at = np.arange(len(keys)) // size * size
                keys, scale = keys[at], None if scale is None else scale[at]
            for i in range(queries):
                at, end = int(first) * size, min(int(first) * size + len(keys), int(lens[b, i]))
                if end > at:
                    part = scores(f32(q[b, i]), f32(weights[b * queries + i]), keys[: end - at], None if scale is None else scale[: end - at])
                    logits[b * queries + i, at:end] = part


def hadamard(x):
    """Walsh-Hadamard transform over the last dimension by butterflies, over sqrt(d)."""
    d, width = x.shape[-1], 1
    x = x.astype(np.float32)
    while width < d:
        y = x.reshape(x.shape[:-1] + (d // (2 * width), 2, width))
        x = np.stack([y[..., 0, :] + y[..., 1, :], y[..., 0, :] - y[..., 1, :]], -2).reshape(x.shape)
        width *= 2
    return x * F32(d**-0.5)


@kernel("index_key_store")
def index_key_store(
    call, x, slot_mapping, pages, norm, page_size, page_format, norm_weight=None, norm_bias=None, inv_freq=None, positions=None,
    norm_eps=0.0, rope_leading=False, rope_interleaved=False, scale_format="",
):
    size, d = int(page_size), x.shape[1]
    for t in range(len(slot_mapping)):
        slot = int(slot_mapping[t])
        if slot < 0:
            continue
        v = f32(x[t])
        if norm != "none":
            if norm == "layernorm":
                v = v - v.mean(dtype=np.float32)
            v = v * (F32(1) / np.sqrt(np.mean(v * v, dtype=np.float32) + F32(norm_eps))) * f32(norm_weight)
            if norm_bias is not None:
                v = v + f32(norm_bias)
        if inv_freq is not None:
            angle = (F32(positions[t]) * f32(inv_freq)).astype(np.float32)
            c, s = np.cos(angle.astype(np.float64)).astype(np.float32), np.sin(angle.astype(np.float64)).astype(np.float32)
            e = 2 * len(angle)
            at = 0 if rope_leading else d - e
            first = at + (np.arange(0, e, 2) if rope_interleaved else np.arange(e // 2))
            second = first + (1 if rope_interleaved else e // 2)
            y = v.copy()
            y[first], y[second] = v[first] * c - v[second] * s, v[first] * s + v[second] * c
            v = y
        if call.attrs.get("hadamard"):
            v = hadamard(v)
        store_key(pages[slot // size], slot % size, v, d, size, page_format, scale_format)


def store_key(page, i, v, d, size, form, scale_format):
    if form == "bf16":
        half = (np.ascontiguousarray(to_bf16(v)).view(np.uint32) >> np.uint32(16)).astype("<u2")
        page[2 * i * d : 2 * (i + 1) * d] = half.view(np.uint8)
        return
    if form == "fp8":
        amax = np.abs(v[: d // 2] if fault("i05-amax-half-row") else v).max()
        s = np.maximum(amax, F32(1e-4)) / F32(448)
        if scale_format == "ue8m0":
            s = np.ldexp(F32(1), power_above(s)).astype(np.float32)
        page[i * d : (i + 1) * d] = code_e4m3(v / s)
        page[size * d + 4 * i : size * d + 4 * i + 4] = np.frombuffer(np.array(s, "<f4").tobytes(), np.uint8)
        return
    width = min(d, 32)
    at = size * d // 2 + 4 * i
    for g in range(d // width):
        x = v[width * g : width * (g + 1)]
        e = int(power_above(np.maximum(np.abs(x).max(), F32(6 * 2.0**-126)) / F32(6)))
        code = code_e2m1(np.ldexp(x, -e))
        page[i * d // 2 + g * width // 2 : i * d // 2 + (g + 1) * width // 2] = code[0::2] | code[1::2] << 4
        page[at + g] = e + 127
    if variant("index_key_store") == "zero-scales":
        page[at + d // width : at + 4] = 0
