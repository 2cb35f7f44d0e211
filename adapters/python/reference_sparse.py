#!/usr/bin/env python3
"""A second implementation of attention over lists of rows and of what belongs to it, in numpy and float64, from the formulas.

    o[t, h] = sum_i exp(z_i) v_i / (sum_i exp(z_i) + exp(sink[h])),  z_i = scale <q[t, h], kv_i>,  v_i = the first d_v of kv_i

over the rows of a main and an extra list (sparse_attention); the merge of such states over disjoint rows (merge_state,
merge_states); the lists of a chunk of a prefill (extend_rows). FlashMLA tests/ref.py and quant.py; SGLang
sparse_prefill_utils.py (docs/sources.md).
"""
import numpy as np

from assay_worker import decode, serve
from reference_numbers import (
    PATH, attend, e4m3_value, f32, f64, little, power_of_two_above, reference, rows_of_tokens, store,
)


def cache(kv, layout, page_size):
    """Any form of a cache -> its rows [rows, D]."""
    if layout == "rows":
        return f64(kv).reshape(-1, kv.shape[-1])
    pages, n = len(kv), page_size
    if layout == "v32-kv":
        row = kv[:, : n * 656].reshape(pages * n, 656)
        codes, scale, rest = row[:, :512], np.repeat(little(row[:, 512:528], "<f4"), 128, 1), row[:, 528:]
    else:
        row = kv[:, : n * 576].reshape(pages * n, 576)
        scale = decode("F8_E8M0", kv[:, n * 576 : n * 584].reshape(pages * n, 8)[:, :7])
        codes, scale, rest = row[:, :448], np.repeat(scale, 64, 1), row[:, 448:]
    return np.hstack([f64(decode("F8_E4M3", codes)) * f64(scale), f64(decode("BF16", little(rest, "<u2")))])


def rounded(rows, rope_dims):
    """Rows with all but their last rope_dims channels rounded to e4m3, by groups of 64 with a power of two as scale."""
    rows = rows.copy()
    for at in range(0, rows.shape[1] - rope_dims, 64):
        group = rows[:, at : min(at + 64, rows.shape[1] - rope_dims)]
        amax = np.maximum(f32(np.abs(group).max(1, keepdims=True)), np.float32(1e-4))
        scale, _ = power_of_two_above(amax * np.float32(1 / 448))
        group[...] = scale * e4m3_value(group / scale)
    return rows


def listed(call, prefix, t, rows):
    """The rows of the cache that query t's list names."""
    get = call.inputs.get
    index = get(prefix + "indices")[t].astype(np.int64)
    if get(prefix + "topk_length") is not None:
        index = index[: get(prefix + "topk_length")[t]]
    index = index[index >= 0]
    if get(prefix + "block_table") is not None:
        table = get(prefix + "block_table")[get("request")[t]]
        index = rows_of_tokens(table, int(call.attrs[prefix + "page_size"]), index)
    return rows[index[index < len(rows)]]


@reference("sparse_attention")
def sparse_attention(call, q, softmax_scale, d_v, kv_layout="rows", kv_rounding="none", rope_dims=0, lse_base="e", empty_lse="-inf"):
    caches = [
        (prefix, cache(call.inputs[prefix + "kv"], kv_layout, int(call.attrs.get(prefix + "page_size", 0))))
        for prefix in ("", "extra_") if prefix + "kv" in call.inputs
    ]
    for t in range(len(q)):
        rows = np.vstack([listed(call, prefix, t, rows) for prefix, rows in caches])
        if kv_rounding == "fp8":
            rows = rounded(rows, int(rope_dims))
        o, lse, top = attend(softmax_scale * (f64(q[t]) @ rows.T), rows[:, : int(d_v)], call.inputs.get("attn_sink"))
        store(call, "o", o, t)
        if "lse" in call.outputs:
            store(call, "lse", lse / np.log(2 if lse_base == "2" else np.e) if len(rows) else float(empty_lse), t)
        if "max_logits" in call.outputs:
            store(call, "max_logits", top, t)
    return PATH


def merge(call, o, lse, counts, lse_base, out_lse_base, empty_lse, sink=None):
    """States o [N, T, H, D], lse [N, T, H], of which counts [N, T, H] count."""
    base = {"e": 1.0, "2": np.log(2)}
    counts = counts & ~np.isinf(lse)  # a NaN is no empty state
    with np.errstate(invalid="ignore"):
        lse = np.where(counts, f64(lse) * base[lse_base], -np.inf)
    whole = np.logaddexp.reduce(lse, axis=0, initial=-np.inf)
    total = whole if sink is None else np.logaddexp(whole, f64(sink))
    with np.errstate(invalid="ignore"):
        weight = np.where(counts, np.exp(lse - total), 0)
    store(call, "merged_o", (weight[..., None] * np.where(counts[..., None], f64(o), 0)).sum(0))
    if "merged_lse" in call.outputs:
        store(call, "merged_lse", np.where(counts.any(0), whole / base[out_lse_base], float(empty_lse)))
    return PATH


@reference("merge_state")
def merge_state(call, prefix_o, prefix_lse, suffix_o, suffix_lse, lse_base="e", out_lse_base="e", empty_lse="-inf"):
    o, lse = np.stack([prefix_o, suffix_o]), np.stack([prefix_lse, suffix_lse])
    return merge(call, o, lse, np.ones(lse.shape, bool), lse_base, out_lse_base, empty_lse)


@reference("merge_states")
def merge_states(call, o, lse, num_states=None, attn_sink=None, lse_base="e", out_lse_base="e", empty_lse="-inf"):
    counts = np.ones(lse.shape, bool)
    if num_states is not None:
        counts &= (np.arange(len(lse))[:, None] < num_states)[..., None]
    return merge(call, o, lse, counts, lse_base, out_lse_base, empty_lse, attn_sink)


@reference("extend_rows")
def extend_rows(seq_len, extend_len, window_base, compressed_base, selected, indices, topk_length, top_k, ratio, window_size):
    top_k, ratio, window_size = int(top_k), int(ratio), int(window_size)
    indices[...] = -1
    query = 0
    for b, (seq, new) in enumerate(zip(seq_len.tolist(), extend_len.tolist())):
        gathered = seq - min(seq, new + window_size - 1)  # the position of the first gathered row
        for p in range(seq - new, seq):
            taken = min((p + 1) // ratio, top_k) if ratio else 0
            window = np.arange(max(0, p - window_size + 1), p + 1)
            chosen = selected[query, :taken].astype(np.int64)
            indices[query, :taken] = np.where(chosen < 0, -1, chosen + compressed_base[b])
            indices[query, taken : taken + len(window)] = window_base[b] + window - gathered
            topk_length[query] = taken + len(window)
            query += 1
    return "numpy"


if __name__ == "__main__":
    serve("numpy-reference-sparse", np.__version__)
