"""Dense attention: online softmax over tiles of keys, split over ranges of keys and combined, pages gathered one by one."""
import numpy as np

from base import F32, code_e4m3, f32, fault, kernel, order, power_above, round_e4m3, to_bf16, variant

LN2 = F32(np.log(2))


def visible(p, n, causal, left, right):
    """First and one past the last key that the query at position p sees of n."""
    hi = min(n, p + 1) if causal else n
    if right >= 0:
        hi = min(hi, p + 1 + right)
    lo = max(0, p - left) if left >= 0 else 0
    return lo, max(lo, hi)


def tiles(lo, hi, splits):
    """Cuts lo..hi into ranges of near equal length and each of these into tiles."""
    n = hi - lo
    splits = max(1, min(splits, n))
    width = 64 if n <= 4096 else 1024
    for s in range(splits):
        a, b = lo + n * s // splits, lo + n * (s + 1) // splits
        yield [(t, min(t + width, b)) for t in range(a, b, width)]


def online(q, keys, values, parts, scale, precise=False, p_bf16=False):
    """One state (o, log-sum-exp) of q [G, R, D] over keys [n, G, D] and values [n, G, V], tile after tile."""
    kind = np.float64 if precise else np.float32
    q = q.astype(kind)
    m = np.full(q.shape[:2], -np.inf, kind)
    d = np.zeros(q.shape[:2], kind)
    o = np.zeros(q.shape[:2] + (values.shape[-1],), kind)
    for a, b in parts:
        k = keys[a:b].astype(kind).transpose(1, 2, 0)
        z = np.matmul(q, k) * kind(scale)
        top = np.maximum(m, z.max(-1))
        keep = np.exp(m - top)
        p = np.exp(z - top[..., None])
        d = d * keep + p.sum(-1)
        if p_bf16:
            p = to_bf16(p)
        o = o * keep[..., None] + np.matmul(p, values[a:b].astype(kind).transpose(1, 0, 2))
        m = top
    return o / d[..., None], m + np.log(d)


def combine(states, sink=None):
    """States over disjoint keys -> o, log-sum-exp; the sink [G, R] joins the denominator alone."""
    top = np.max([s[1] for s in states], axis=0)
    weight = [np.exp(s[1] - top) for s in states]
    total = sum(weight)
    lse = top + np.log(total)
    o = sum(w[..., None] * s[0] for w, s in zip(weight, states)) / total[..., None]
    if sink is not None:
        with np.errstate(over="ignore"):
            o = o / (1 + np.exp(sink - lse))[..., None]
    return o, lse


def attend(q, keys, values, lo, hi, scale, splits, sink, mode, tail=0):
    precise = mode in ("float64", "two-pass")
    states = []
    parts = list(tiles(lo, hi, splits))
    if mode == "two-pass":
        parts = [[(lo, hi)]]
    for i in order(len(parts), mode == "shuffled"):
        states.append(online(q, keys, values, parts[i], scale, precise, mode == "p-bf16"))
    if tail:  # fault: keys that pad the last block have score 0 and value 0
        z = np.zeros(q.shape[:2], np.float32) + F32(np.log(tail))
        states.append((np.zeros(q.shape[:2] + (values.shape[-1],), np.float32), z))
    if mode == "reversed":
        states = states[::-1]
    return combine(states, sink)


def pages_of(cache, table, n, page_size):
    """The first n tokens of a request, page after page."""
    out = np.empty((n,) + cache.shape[2:], np.float32)
    if fault("i01-mla-page-uint16"):
        table = table.astype(np.int64) % 65536
    if fault("q01-gqa-block-id-uint16"):
        table = table.astype(np.int64) % 65536
    if page_size == 1:
        out[:] = cache[table[:n], 0]
        return out
    for i in range(0, n, page_size):
        m = min(page_size, n - i)
        out[i : i + m] = cache[int(table[i // page_size]), :m]
        if fault("q04-pages-beyond-128") and m > 128:
            out[i + 128 : i + m] = cache[int(table[i // page_size]), np.arange(128, m) % 128]
    return out


@kernel("gqa_attention")
def gqa_attention(
    call, q, qo_indptr, softmax_scale, o, lse=None, k=None, v=None, kv_indptr=None, k_cache=None, v_cache=None, page_table=None,
    seq_lens=None, sink=None, k_scale=1.0, v_scale=1.0, causal=False, window_left=-1, window_right=-1, page_size=0, num_splits=1, lse_base="e",
):
    ragged = kv_indptr is not None
    fp8 = call.dtypes["k" if ragged else "k_cache"] == "F8_E4M3"
    mode, left, right, splits = variant("gqa_attention"), int(window_left), int(window_right), max(1, int(num_splits or 1))
    if fault("p01-window-mirrored") and causal and left >= 0:
        causal, right = False, left
    lens = np.diff(kv_indptr) if ragged else seq_lens
    if fault("i17-graph-captured-lengths") and call.mode == "graph" and call.capture_with is not None and not ragged:
        old = call.capture_with.inputs.get("seq_lens")
        if old is not None:
            lens = np.minimum(lens, np.resize(old, len(lens)))
    heads, groups = q.shape[1], (k if ragged else k_cache).shape[1 if ragged else 2]
    shared = None if sink is None else f32(sink).reshape(groups, -1)
    if mode == "five-splits":
        splits = 5
    for b in range(len(qo_indptr) - 1):
        a, e, n = int(qo_indptr[b]), int(qo_indptr[b + 1]), int(lens[b])
        if e == a:
            continue
        if ragged:
            at = int(kv_indptr[b])
            keys, values = f32(k[at : at + n]), f32(v[at : at + n])
        else:
            keys = pages_of(k_cache, page_table[b], n, int(page_size))
            values = pages_of(v_cache, page_table[b], n, int(page_size))
        if fp8 and not (fault("p07-paged-descale-dropped") and not ragged):
            keys, values = keys * F32(k_scale), values * F32(v_scale)
        if n == 0 and fault("p30-empty-kv-unwritten") and ragged:
            continue
        for t in range(a, e):
            lo, hi = visible(n - (e - a) + t - a, n, causal, left, right)
            row = f32(q[t]).reshape(groups, heads // groups, -1)
            if hi == lo:
                o[t] = 0
                if lse is not None:
                    lse[t] = F32(-49993.977) if fault("p09-empty-lse-finite") and not ragged else -np.inf
                continue
            tail = (-n) % 64 if fault("p26-tail-block-of-zeros") and hi == n and not ragged else 0
            out, total = attend(row, keys, values, lo, hi, F32(softmax_scale), splits, shared, mode, tail)
            to = t
            if fault("p11-combine-first-sequence") and splits > 1 and int(np.diff(qo_indptr).max()) > 1:
                to = t - a  # the combine's batch stride is 0: every sequence is folded onto the first
            if fault("q03-masked-tile-nan") and left >= 0 and lo >= 64:
                out = out * F32(np.nan)  # a whole tile before the window: exp(-inf - -inf)
            if fault("q05-sixteen-pages") and not ragged and heads == 16 * groups and n % int(page_size) and n // int(page_size) == 15:
                out = out * F32(np.nan)
            o[to] = out.reshape(heads, -1)
            if fault("q02-head-collision") and heads // groups > 1:
                share = heads // groups
                index = np.arange(heads) % share * share + np.arange(heads) // share
                o[to] = 0
                o[to, index[index < heads]] = out.reshape(heads, -1)[index[index < heads]]
            if lse is not None:
                lse[t] = (total / LN2 if lse_base == "2" else total).reshape(heads)
    rows = int(qo_indptr[-1])
    if lse is not None and fault("p10-split-lse-transposed") and splits > 1 and heads > groups and int(np.diff(qo_indptr).max()) == 1:
        lse[:rows] = lse[:rows].T.copy().reshape(rows, heads)


@kernel("mla_attention")
def mla_attention(
    call, q_nope, q_pe, qo_indptr, ckv_cache, kpe_cache, page_table, seq_lens, qk_nope_head_dim, page_size, o, lse=None, rope_factor=1.0,
    mscale=0.0, k_scale=1.0, causal=False, num_splits=1, lse_base="e",
):
    m = 0.1 * mscale * np.log(rope_factor) + 1 if rope_factor > 1 else 1.0
    scale = F32((qk_nope_head_dim + q_pe.shape[-1]) ** -0.5 * m * m)
    mode = variant("mla_attention")
    splits = 7 if mode == "seven-splits" else max(1, int(num_splits or 1))
    for b in range(len(qo_indptr) - 1):
        a, e, n = int(qo_indptr[b]), int(qo_indptr[b + 1]), int(seq_lens[b])
        if e == a:
            continue
        c = pages_of(ckv_cache, page_table[b], n, int(page_size))
        r = pages_of(kpe_cache, page_table[b], n, int(page_size))
        if call.dtypes["ckv_cache"] == "F8_E4M3":
            c, r = c * F32(k_scale), r * F32(k_scale)
        keys = np.concatenate([c, r], 1)[:, None]
        for t in range(a, e):
            lo, hi = visible(n - (e - a) + t - a, n, causal, -1, -1)
            if hi == lo:
                o[t] = 0
                if lse is not None:
                    lse[t] = -np.inf
                continue
            row = np.concatenate([f32(q_nope[t]), f32(q_pe[t])], 1)[None]
            out, total = attend(row, keys, c[:, None], lo, hi, scale, splits, None, mode)
            o[t] = out[0]
            if lse is None:
                continue
            if fault("p29-lse-without-mscale"):
                top = (np.matmul(row, keys[lo:hi].transpose(1, 2, 0)) * scale).max(-1)
                total = total - top + top / F32(m * m)
            two = lse_base == "2" and not (fault("r04-split-lse-natural") and splits > 1)
            lse[t] = (total / LN2 if two else total)[0]


@kernel("kv_write")
def kv_write(call, k, v, slot_mapping, k_cache, v_cache, page_size, full_to_swa=None, k_scale=1.0, v_scale=1.0):
    size = int(page_size)
    if fault("r07-page-shift"):
        size = 1 << (size.bit_length() - 1)
    if fault("p06-v-by-k-scale"):
        v_scale = k_scale
    for t in range(len(slot_mapping)):
        slot = int(slot_mapping[t])
        if slot < 0:
            continue
        if full_to_swa is not None:
            slot = int(full_to_swa[slot])
            if slot < 0:
                continue
        for name, cache, x, scale in (("k_cache", k_cache, k[t], F32(k_scale)), ("v_cache", v_cache, v[t], F32(v_scale))):
            if call.output_dtypes[name] == "F8_E4M3":
                x = f32(x)
                with np.errstate(over="ignore"):
                    x = x * (F32(1) / scale) if variant("kv_write") == "reciprocal" else x / scale
                x = round_e4m3(x)
            cache[min(slot // size, len(cache) - 1), slot % size] = x


@kernel("mla_kv_write")
def mla_kv_write(latent, k_pe, slot_mapping, kv_cache, page_size, ue8m0_scales=False):
    size = int(page_size)
    for t in range(len(slot_mapping)):
        slot = int(slot_mapping[t])
        if slot < 0:
            continue
        row = np.empty(656, np.uint8)
        for g in range(4):
            x = f32(latent[t, 128 * g : 128 * g + 128])
            floor = F32(0) if fault("q08-no-amax-floor") else F32(1e-4)
            s = np.maximum(np.abs(x).max(), floor) / F32(448)
            if ue8m0_scales:
                s = np.ldexp(F32(1), power_above(s)).astype(np.float32)
            scaled = x * (F32(1) / s) if variant("mla_kv_write") == "reciprocal" else x / s
            row[128 * g : 128 * g + 128] = code_e4m3(scaled)
            row[512 + 4 * g : 516 + 4 * g] = np.frombuffer(np.array(s, "<f4").tobytes(), np.uint8)
        bits = np.ascontiguousarray(k_pe[t], np.float32).view(np.uint32) >> np.uint32(16)
        row[528:] = bits.astype("<u2").view(np.uint8)
        kv_cache[slot // size, slot % size] = row


@kernel("page_table")
def page_table_of(call, req_to_token, req_pool_indices, seq_lens, qo_indptr, kv_indptr, kv_last_page_len, slot_mapping, page_size, window_size=0):
    size, window, pages_out = int(page_size), int(window_size), call.outputs["page_table"]
    vector = variant("page_table") == "vector"
    pages_out[...] = -1
    kv_indptr[0] = 0
    for b in range(len(seq_lens)):
        n, row = int(seq_lens[b]), req_to_token[int(req_pool_indices[b])]
        count = (n + size - 1) // size
        if vector:
            pages_out[b, :count] = row[np.arange(count) * size] // size
        else:
            for i in range(count):
                pages_out[b, i] = int(row[i * size]) // size
        kv_indptr[b + 1] = kv_indptr[b] + count
        last = n - (count - 1) * size if count else 0
        if fault("i23-full-last-page-zero"):
            last = n % size
        kv_last_page_len[b] = last
        a, e = int(qo_indptr[b]), int(qo_indptr[b + 1])
        for t in range(a, e):
            p = n - (e - a) + t - a
            slot_mapping[t] = -1 if window > 0 and p < n - window else int(row[p])


@kernel("window_mask")
def window_mask(qo_indptr, seq_lens, mask, causal=False, window_left=-1, window_right=-1):
    left, right = int(window_left), int(window_right)
    if fault("i22-window-right-zero") and right == 0:
        right = -1
    keys = np.arange(mask.shape[1])
    for b in range(len(seq_lens)):
        a, e, n = int(qo_indptr[b]), int(qo_indptr[b + 1]), int(seq_lens[b])
        for t in range(a, e):
            p = n - (e - a) + t - a
            if variant("window_mask") == "range":
                lo, hi = visible(p, n, causal, left, right)
                mask[t] = 0
                mask[t, lo:hi] = 1
                continue
            see = keys < n
            if causal:
                see = see & (keys <= p)
            if left >= 0:
                see = see & (keys >= p - left)
            if right >= 0:
                see = see & (keys <= p + right)
            mask[t] = see
