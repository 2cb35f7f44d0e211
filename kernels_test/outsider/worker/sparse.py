"""Attention over lists of rows, merges of states, the lists of a chunk."""
import numpy as np

from attention import LN2, online
from base import F32, RNG, f32, fault, kernel, order, power_above, round_e4m3, value_e4m3, value_e8m0, variant


def bf16_bytes(data):
    """[..., 2n] bytes -> [..., n] float32"""
    half = np.ascontiguousarray(data).view("<u2").astype(np.uint32) << np.uint32(16)
    return half.view(np.float32)


def rows_of_bytes(kv, layout, size, index):
    """Rows of a byte cache by their numbers, decoded one field after the other."""
    page, slot, last = index // size, index % size, kv.shape[1] - 1  # a fault may reach beyond a page
    if layout == "v32-kv":
        at = slot[:, None] * 656 + np.arange(656)
        row = kv[page[:, None], np.minimum(at, last)]
        scale = np.ascontiguousarray(row[:, 512:528]).view("<f4")
        value = value_e4m3(row[:, :512]).reshape(-1, 4, 128) * scale[:, :, None]
        return np.concatenate([value.reshape(-1, 512), bf16_bytes(row[:, 528:])], 1)
    at = slot[:, None] * 576 + np.arange(576)
    row = kv[page[:, None], np.minimum(at, last)]
    scale = value_e8m0(kv[page[:, None], np.minimum(size * 576 + slot[:, None] * 8 + np.arange(7), last)])
    value = value_e4m3(row[:, :448]).reshape(-1, 7, 64) * scale[:, :, None]
    return np.concatenate([value.reshape(-1, 448), bf16_bytes(row[:, 448:])], 1)


def through_fp8(rows, rope_dims):
    """Leading channels rounded to e4m3 in groups of 64 with a power of two as scale."""
    out, wide = rows.copy(), rows.shape[1] - rope_dims
    for at in range(0, wide, 64):
        x = rows[:, at : min(at + 64, wide)]
        amax = np.maximum(np.abs(x).max(1), F32(1e-4)) * F32(1 / 448)
        s = np.ldexp(F32(1), power_above(amax)).astype(np.float32)[:, None]
        out[:, at : min(at + 64, wide)] = round_e4m3(x / s) * s
    return out


def one_list(call, prefix, t, layout):
    """Decoded rows that query t lists in the main ("") or extra cache."""
    get = call.inputs.get
    kv, index, length = get(prefix + "kv"), get(prefix + "indices")[t].astype(np.int64), get(prefix + "topk_length")
    size = int(call.attrs.get(prefix + "page_size", 0) or 0)
    if fault("i07-extra-page-size") and prefix:
        size = int(call.attrs.get("page_size", 0) or 0)
    if length is not None:
        index = index[: int(length[t])]
    index = index[index >= 0]
    table = get(prefix + "block_table")
    if table is not None:
        row = table[int(get("request")[t])]
        index = row[np.minimum(index // size, len(row) - 1)].astype(np.int64) * size + index % size
    total = len(kv) * size if kv.ndim == 3 or layout != "rows" else len(kv)
    index = index[index < total]
    if fault("i06-duplicates-once"):
        index = np.unique(index)
    if variant("sparse_attention") == "shuffled":
        index = RNG.permutation(index)
    if layout != "rows":
        return rows_of_bytes(kv, layout, size, index)
    if kv.ndim == 3:
        return f32(kv[index // size, np.minimum(index % size, kv.shape[1] - 1)])
    return f32(kv[index])


@kernel("sparse_attention")
def sparse_attention(
    call, q, o, softmax_scale, d_v, lse=None, max_logits=None, attn_sink=None, kv_layout="rows", kv_rounding="none", rope_dims=0,
    num_splits=1, lse_base="e", empty_lse="-inf",
):
    d_v, splits, mode = int(d_v), max(1, int(num_splits or 1)), variant("sparse_attention")
    if fault("p08-sink-dropped") and kv_layout != "rows":
        attn_sink = None
    for t in range(len(q)):
        lists = [one_list(call, p, t, kv_layout) for p in ("", "extra_") if p + "kv" in call.inputs]
        rows = np.concatenate(lists)
        if kv_rounding == "fp8":
            rows = through_fp8(rows, int(rope_dims))
        n = len(rows)
        if n == 0:
            o[t] = 0
            if lse is not None:
                lse[t] = float(empty_lse)
            if max_logits is not None:
                max_logits[t] = -np.inf
            continue
        row = f32(q[t])[None]
        states, top = [], None
        count = 3 if mode == "shuffled" else splits
        for s in order(min(count, n), mode == "shuffled"):
            a, b = n * int(s) // min(count, n), n * (int(s) + 1) // min(count, n)
            part = [(i, min(i + 128, b)) for i in range(a, b, 128)]
            states.append(online(row, rows[:, None], rows[:, None, :d_v], part, F32(softmax_scale), mode == "float64"))
        z = np.matmul(row[0], rows.T) * F32(softmax_scale)
        top = z.max(1)
        whole = np.max([s[1] for s in states], axis=0)
        w = [np.exp(s[1] - whole) for s in states]
        total = whole + np.log(sum(w))
        out = sum(a[..., None] * s[0] for a, s in zip(w, states)) / sum(w)[..., None]
        if attn_sink is not None:
            with np.errstate(over="ignore"):
                out = out / (1 + np.exp(f32(attn_sink)[None] - total))[..., None]
        o[t] = out[0]
        if lse is not None:
            lse[t] = (total / LN2 if lse_base == "2" else total)[0]
        if max_logits is not None:
            max_logits[t] = top


def fold(states, base, sink=None):
    """[(o [T, H, D], lse [T, H], counts [T, H])] -> o, natural lse with -inf where nothing counts."""
    if fault("p05-base2-as-natural"):
        base = "e"
    o = np.zeros(states[0][0].shape, np.float32)
    m = np.full(states[0][1].shape, -np.inf, np.float32)
    d = np.zeros(m.shape, np.float32)
    for value, lse, counts in states:
        counts = counts & np.isfinite(lse)
        l = np.where(counts, f32(lse) * (LN2 if base == "2" else F32(1)), -np.inf).astype(np.float32)
        top = np.maximum(m, l)
        safe = np.where(np.isfinite(top), top, F32(0))
        keep, new = np.exp(m - safe), np.exp(l - safe)
        o = o * keep[..., None] + np.where(counts[..., None], f32(value), F32(0)) * new[..., None]
        d, m = d * keep + new, top
    some = d > 0
    safe = np.where(some, d, F32(1))
    total = np.where(some, m + np.log(safe), -np.inf).astype(np.float32)
    o = o / safe[..., None]
    if sink is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            rest = np.where(some, 1 + np.exp(f32(sink) - np.where(some, total, 0)), F32(1))
        o = o / rest[..., None]
    return np.where(some[..., None], o, F32(0)), total


def put(o, total, merged_o, merged_lse, out_base, empty):
    merged_o[...] = o
    if merged_lse is not None:
        value = total / LN2 if out_base == "2" else total
        merged_lse[...] = np.where(np.isfinite(total), value, F32(float(empty)))


@kernel("merge_state", nan="any")  # fold takes a NaN log-sum-exp for an empty state
def merge_state(
    prefix_o, prefix_lse, suffix_o, suffix_lse, merged_o, merged_lse=None, lse_base="e", out_lse_base="e", empty_lse="-inf",
):
    every = np.ones(prefix_lse.shape, bool)
    states = [(prefix_o, prefix_lse, every), (suffix_o, suffix_lse, every)]
    if variant("merge_state") == "suffix-first":
        states = states[::-1]
    o, total = fold(states, lse_base)
    put(o, total, merged_o, merged_lse, out_lse_base, empty_lse)


@kernel("merge_states", nan="any")
def merge_states(
    o, lse, merged_o, merged_lse=None, num_states=None, attn_sink=None, lse_base="e", out_lse_base="e", empty_lse="-inf",
):
    n = len(o)
    count = np.full(o.shape[1], n) if num_states is None else num_states
    if fault("i08-at-least-one-state"):
        count = np.maximum(count, 1)
    states = []
    for i in order(n, variant("merge_states") == "shuffled"):
        states.append((o[i], lse[i], np.broadcast_to((i < count)[:, None], lse[i].shape)))
    if not states:
        states = [(np.zeros(o.shape[1:], np.float32), np.zeros(lse.shape[1:], np.float32), np.zeros(lse.shape[1:], bool))]
    out, total = fold(states, lse_base, attn_sink)
    put(out, total, merged_o, merged_lse, out_lse_base, empty_lse)


@kernel("extend_rows")
def extend_rows(
    seq_len, extend_len, window_base, compressed_base, selected, indices, topk_length, top_k, ratio, window_size,
):
    top_k, ratio, window = int(top_k), int(ratio), int(window_size)
    limit = max(top_k, 1024) if fault("p27-metadata-top-k") else top_k
    at = 0
    for b in range(len(seq_len)):
        n, new = int(seq_len[b]), int(extend_len[b])
        first = n - min(n, new + window - 1)
        for p in range(n - new, n):
            row, k = indices[at], 0
            if ratio:
                k = min((p + 1) // ratio, limit, selected.shape[1])
            if variant("extend_rows") == "scalar":
                row[:] = -1
                for j in range(k):
                    row[j] = selected[at, j] + compressed_base[b] if selected[at, j] >= 0 else -1
                for j in range(min(p + 1, window)):
                    row[k + j] = window_base[b] + p - min(p, window - 1) + j - first
            else:
                row[:] = -1
                chosen = selected[at, :k]
                row[:k] = np.where(chosen >= 0, chosen + compressed_base[b], -1)
                w = min(p + 1, window, len(row) - k)
                row[k : k + w] = np.arange(w) + (window_base[b] + p - w + 1 - first)
            topk_length[at] = k + min(p + 1, window)
            at += 1
