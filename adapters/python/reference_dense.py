#!/usr/bin/env python3
"""A second implementation of dense attention and of the caches that it reads, in numpy and float64, from the formulas.

    o = sum_j softmax(z)_j v_j over the keys j that a query sees

Query i of n of a request with L keys stands at position p = L - n + i. Causal, it sees j <= p; windows bound j from both sides
(window_mask). gqa_attention: z_j = scale <q, k_j>, head h reads key-value head h div (H/G). mla_attention: keys and values are
the latents, z_j = s (<q_nope, c_j> + <q_pe, r_j>), s = (N + E)^-1/2 m^2 with YaRN's m (DeepSeek-V3.2 inference/model.py).
"""
import numpy as np

from assay_worker import encode, serve
from reference_numbers import (
    PATH, attend, e4m3, e4m3_value, f32, f64, power_of_two_above, raw, reference, rows_of_tokens, store,
)


def seen(p, length, causal, left=-1, right=-1):
    """The keys [first, last) of 0 .. length-1 that a query at position p sees."""
    first, last = 0, length
    if causal:
        last = min(last, p + 1)
    if right >= 0:
        last = min(last, p + int(right) + 1)
    if left >= 0:
        first = max(first, p - int(left))
    return first, max(first, last)


def queries(qo_indptr, lengths):
    """(row, request, position, keys) of every query."""
    for b, length in enumerate(lengths):
        n = int(qo_indptr[b + 1] - qo_indptr[b])
        for i in range(n):
            yield int(qo_indptr[b]) + i, b, length - n + i, length


def answer(call, row, z, values, lse_base, sink=None):
    o, lse, _ = attend(z, values, sink)
    store(call, "o", o, row)
    if "lse" in call.outputs:
        store(call, "lse", lse / np.log(2 if lse_base == "2" else np.e), row)


@reference("gqa_attention", attrs={"kv_scales": ["head"], "logit_softcap": ["50"]})
def gqa_attention(
    call, q, qo_indptr, softmax_scale, kv_indptr=None, page_table=None, seq_lens=None, sink=None, k_scale=1.0, v_scale=1.0, causal=False,
    window_left=-1, window_right=-1, page_size=0, lse_base="e", kv_scales="tensor", k_scales=None, v_scales=None, logit_softcap=0.0,
):
    if kv_scales == "head":
        k_scale, v_scale = f64(k_scales)[:, None], f64(v_scales)[:, None]
    names = ("k", "v") if kv_indptr is not None else ("k_cache", "v_cache")
    keys, values = (call.inputs[n] if kv_indptr is not None else call.inputs[n].reshape((-1,) + call.inputs[n].shape[2:]) for n in names)
    scale_k, scale_v = (s if call.dtypes[n] == "F8_E4M3" else 1 for n, s in zip(names, (k_scale, v_scale)))
    lengths = (np.diff(kv_indptr) if kv_indptr is not None else seq_lens).tolist()
    for row, b, p, length in queries(qo_indptr, lengths):
        first, last = seen(p, length, causal, window_left, window_right)
        if kv_indptr is not None:
            at = slice(kv_indptr[b] + first, kv_indptr[b] + last)
        else:
            at = rows_of_tokens(page_table[b], int(page_size), np.arange(first, last))
        k, v = f64(keys[at]) * scale_k, f64(values[at]) * scale_v
        group = q.shape[1] // k.shape[1]
        heads = f64(q[row]).reshape(k.shape[1], group, -1)
        z = softmax_scale * np.einsum("grd,ngd->grn", heads, k).reshape(q.shape[1], -1)
        z = logit_softcap * np.tanh(z / logit_softcap) if logit_softcap else z
        answer(call, row, z, np.repeat(v.transpose(1, 0, 2), group, 0), lse_base, sink)
    return PATH


@reference("mla_attention")
def mla_attention(
    call, q_nope, q_pe, qo_indptr, ckv_cache, kpe_cache, page_table, seq_lens, qk_nope_head_dim, page_size, rope_factor=1.0, mscale=0.0,
    k_scale=1.0, causal=False, lse_base="e",
):
    m = 0.1 * mscale * np.log(rope_factor) + 1 if rope_factor > 1 else 1
    scale = (qk_nope_head_dim + q_pe.shape[-1]) ** -0.5 * m * m
    factor = k_scale if call.dtypes["ckv_cache"] == "F8_E4M3" else 1
    latents, rotated = (c.reshape(-1, c.shape[-1]) for c in (ckv_cache, kpe_cache))
    for row, b, p, length in queries(qo_indptr, seq_lens.tolist()):
        at = rows_of_tokens(page_table[b], int(page_size), np.arange(*seen(p, length, causal)))
        c, r = f64(latents[at]) * factor, f64(rotated[at]) * factor
        answer(call, row, scale * (f64(q_nope[row]) @ c.T + f64(q_pe[row]) @ r.T), c, lse_base)
    return PATH


@reference("kv_write")
def kv_write(call, k, v, slot_mapping, k_cache, v_cache, page_size, full_to_swa=None, k_scale=1.0, v_scale=1.0):
    page_size = int(page_size)
    for t, slot in enumerate(slot_mapping.tolist()):
        if slot >= 0 and full_to_swa is not None:
            slot = int(full_to_swa[slot])
        if slot < 0:
            continue
        for name, cache, x, scale in (("k_cache", k_cache, k, k_scale), ("v_cache", v_cache, v, v_scale)):
            fp8 = call.output_dtypes[name] == "F8_E4M3"
            cache[slot // page_size, slot % page_size] = e4m3_value(f32(x[t]) / f32(scale)) if fp8 else x[t]
    return "numpy"


@reference("mla_kv_write")
def mla_kv_write(latent, k_pe, slot_mapping, kv_cache, page_size, ue8m0_scales=False):
    page_size = int(page_size)
    for t, slot in enumerate(slot_mapping.tolist()):
        if slot < 0:
            continue
        groups = f32(latent[t]).reshape(4, 128)
        scale = np.maximum(np.abs(groups).max(1), np.float32(1e-4)) / np.float32(448)
        if ue8m0_scales:
            scale = f32(power_of_two_above(scale)[0])
        codes = e4m3(f64(groups) / f64(scale)[:, None]).ravel()
        kv_cache[slot // page_size, slot % page_size] = np.concatenate([codes, raw(scale, "<f4"), raw(encode("BF16", k_pe[t]), "<u2")])
    return "numpy"


@reference("page_table")
def page_table(call, req_to_token, req_pool_indices, seq_lens, qo_indptr, page_size, window_size=0):
    page_size, out = int(page_size), call.outputs
    out["page_table"][...] = -1
    out["kv_indptr"][0] = 0
    for b, length in enumerate(seq_lens.tolist()):
        slots = req_to_token[req_pool_indices[b], :length]
        pages = slots[::page_size] // page_size
        out["page_table"][b, : len(pages)] = pages
        out["kv_indptr"][b + 1] = out["kv_indptr"][b] + len(pages)
        out["kv_last_page_len"][b] = (length - 1) % page_size + 1 if length else 0
        first, last = int(qo_indptr[b]), int(qo_indptr[b + 1])
        tokens = np.arange(length - (last - first), length)
        left = (tokens < length - int(window_size)) & (window_size > 0)
        out["slot_mapping"][first:last] = np.where(left, -1, slots[tokens])
    return "numpy"


@reference("window_mask")
def window_mask(qo_indptr, seq_lens, mask, causal=False, window_left=-1, window_right=-1):
    mask[...] = 0
    for row, _, p, length in queries(qo_indptr, seq_lens.tolist()):
        mask[row, slice(*seen(p, length, causal, window_left, window_right))] = 1
    return "numpy"


if __name__ == "__main__":
    serve("numpy-reference-dense", np.__version__)
