#!/usr/bin/env python3
"""A second implementation of the lightning indexer, in numpy and float64, written from its formulas.

    logits[t, s] = ks[s] sum_h w[t, h] relu(<q[t, h], k[s]>)    for the keys s that query t sees

over one matrix of keys (indexer_logits) or over paged keys (indexer_logits_paged), and the way of a key into its page
(index_key_store): norm, rotation, Hadamard, quantisation. DeepSeek-V3.2 inference/kernel.py fp8_index; DeepGEMM's
fp8_mqa_logits and fp8_paged_mqa_logits with their page layout (docs/sources.md).
"""
import numpy as np

from assay_worker import decode, encode, serve
from reference_numbers import (
    PATH, e2m1, e4m3, f32, f64, little, pack_e2m1, power_of_two_above, raw, reference, store, unpack_e2m1,
)


def score(q, w, keys):
    """q [H, D], w [H], keys [n, D] -> [n]"""
    return np.maximum(f64(keys) @ f64(q).T, 0) @ f64(w)


@reference("indexer_logits")
def indexer_logits(call, q, k, weights, start, end, ks=None, clean_logits=False, max_seqlen_k=0):
    for t, (lo, hi) in enumerate(zip(start.tolist(), end.tolist())):
        row = score(q[t], weights[t], k[lo:hi]) * (1 if ks is None else f64(ks[lo:hi]))
        if clean_logits:
            store(call, "logits", -np.inf, t)
        at = 0 if max_seqlen_k else lo
        store(call, "logits", row, (t, slice(at, at + hi - lo)))
    return PATH


def keys_of(pages, page_format, page_size, d):
    """Bytes of pages [P, page_bytes] -> keys with their scales applied [P, page_size, d]."""
    width = {"fp8": d, "bf16": 2 * d, "fp4": d // 2}[page_format]
    data = pages[:, : page_size * width].reshape(len(pages), page_size, width)
    if page_format == "bf16":
        return f64(decode("BF16", little(data, "<u2")))
    scales = pages[:, page_size * width : page_size * (width + 4)].reshape(len(pages), page_size, 4)
    if page_format == "fp8":
        return f64(decode("F8_E4M3", data)) * f64(little(scales, "<f4"))
    blocks = f64(decode("F8_E8M0", scales))
    return unpack_e2m1(data) * np.repeat(blocks, 32, -1)[..., :d]


@reference("indexer_logits_paged")
def indexer_logits_paged(call, q, pages, weights, context_lens, block_table, page_size, page_format, clean_logits=False):
    page_size, (requests, n, _, d) = int(page_size), q.shape
    if clean_logits:
        store(call, "logits", -np.inf)
    longest = context_lens.max(1, initial=0)
    held, keys = np.empty(0, np.int32), None
    for b in np.argsort(-longest, kind="stable"):  # the longest first: many requests share its pages, which are decoded once
        table = block_table[b, : -(-longest[b] // page_size)]
        if keys is None or not np.array_equal(table, held[: len(table)]):
            held, keys = table, keys_of(pages[table], page_format, page_size, d).reshape(-1, d)
        for i in range(n):
            row = score(q[b, i], weights[b * n + i], keys[: context_lens[b, i]])
            store(call, "logits", row, (b * n + i, slice(0, context_lens[b, i])))
    return PATH


def normalise(x, norm, weight, bias, eps):
    if norm == "none":
        return x
    if norm == "layernorm":
        x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt(np.square(x).mean(-1, keepdims=True) + eps) * f64(weight)
    return x if bias is None else x + f64(bias)


def turn(x, angles, leading, interleaved):
    """x [..., D], angles [..., E/2]: the first or last E channels turn, by pairs."""
    e = 2 * angles.shape[-1]
    out = x.copy()
    part, back = (x[..., :e], out[..., :e]) if leading else (x[..., x.shape[-1] - e :], out[..., x.shape[-1] - e :])
    first, second = (slice(0, e, 2), slice(1, e, 2)) if interleaved else (slice(0, e // 2), slice(e // 2, e))
    u, v, c, s = part[..., first], part[..., second], np.cos(angles), np.sin(angles)
    back[..., first], back[..., second] = u * c - v * s, u * s + v * c
    return out


def sylvester(d):
    """Hadamard's matrix in Sylvester's order over sqrt(d): element (i, j) has the sign of the parity of i & j."""
    bits = np.array([bin(i).count("1") & 1 for i in range(d)])
    return (1 - 2.0 * bits[np.arange(d)[:, None] & np.arange(d)]) / np.sqrt(d)


def key_bytes(key, page_format, scale_format):
    """Keys [n, d] -> bytes of their channels [n, width] and of their scales [n, up to 4]."""
    n, d = key.shape
    if page_format == "bf16":
        return raw(encode("BF16", f32(key)), "<u2"), np.empty((n, 0), np.uint8)
    if page_format == "fp8":
        quotient = np.maximum(np.abs(key).max(1, keepdims=True), 1e-4) / 448
        scale = f32(power_of_two_above(quotient)[0] if scale_format == "ue8m0" else quotient)
        return e4m3(key / f64(scale)), raw(scale, "<f4")
    blocks = key.reshape(n, d // min(d, 32), min(d, 32))
    scale, e = power_of_two_above(np.maximum(np.abs(blocks).max(2), 6 * 2.0**-126) / 6)
    return pack_e2m1(e2m1(blocks / scale[..., None]).reshape(n, d)), (e + 127).astype(np.uint8)


@reference("index_key_store")
def index_key_store(
    x, slot_mapping, pages, norm, page_size, page_format, norm_weight=None, norm_bias=None, inv_freq=None, positions=None,
    norm_eps=0.0, rope_leading=False, rope_interleaved=False, hadamard=False, scale_format="",
):
    page_size, rows = int(page_size), np.flatnonzero(slot_mapping >= 0)
    key = normalise(f64(x[rows]), norm, norm_weight, norm_bias, norm_eps)
    if inv_freq is not None:
        angles = f64(f32(positions[rows, None]) * f32(inv_freq))
        key = turn(key, angles, rope_leading, rope_interleaved)
    if hadamard:
        key = key @ sylvester(key.shape[1])
    data, scales = key_bytes(key, page_format, scale_format)
    for i, slot in enumerate(slot_mapping[rows].tolist()):
        page, token = pages[slot // page_size], slot % page_size
        width = data.shape[1]
        page[token * width : (token + 1) * width] = data[i]
        at = page_size * width + 4 * token
        page[at : at + scales.shape[1]] = scales[i]
    return PATH


if __name__ == "__main__":
    serve("numpy-reference-indexer", np.__version__)
