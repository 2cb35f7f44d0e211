"""Routers that take the best expert k times, and the sum of what the experts return."""
import numpy as np

from base import F32, RNG, f32, fault, kernel, order, variant


def scored(logits, how):
    """[T, E] float32 -> s"""
    z = f32(logits)
    if how == "softmax":
        top = z.max(-1, keepdims=True)
        e = np.exp(z - np.where(np.isfinite(top), top, F32(0)))
        return e / e.sum(-1, keepdims=True, dtype=np.float32)
    small = np.exp(-np.abs(z))
    if how == "sigmoid":
        return np.where(z >= 0, F32(1), small) / (F32(1) + small)
    return np.sqrt(np.maximum(z, F32(0)) + np.log1p(small))


def weighed(s, renormalise, floor, scaling):
    if renormalise:
        s = s / (s.sum(1, keepdims=True, dtype=np.float32) + F32(floor))
    return s * F32(scaling)


@kernel("moe_gate")
def moe_gate(
    logits, topk_weights, topk_ids, scoring_func, top_k, bias=None, num_token_non_padded=None, n_group=1, topk_group=1,
    renormalise=False, renormalise_floor=0.0, routed_scaling=1.0,
):
    n = len(logits)
    if num_token_non_padded is not None:
        n = min(n, int(num_token_non_padded[0]))
    topk_ids[n:] = -1
    if variant("moe_gate") == "shuffled":
        topk_weights[n:] = 3.5
    if n == 0:
        return
    s = scored(logits[:n], scoring_func)
    choice = s + f32(bias) if bias is not None else s.copy()
    experts, k, groups = choice.shape[1], int(top_k), int(n_group)
    choice = np.where(np.isnan(choice), -np.inf, choice).astype(np.float32)
    if fault("p04-padding-lanes"):
        choice = np.where(np.isfinite(f32(logits[:n])), choice, -np.inf)
    if fault("i10-experts-beyond-256") and experts > 256:
        choice[:, 256:] = -np.inf
    banned = np.zeros(choice.shape, bool)
    for t in range(n if groups > 1 else 0):
        parts = choice[t].reshape(groups, -1)
        ranks = np.sort(parts, 1)[:, ::-1]
        rank = ranks[:, 0] + ranks[:, 1] if bias is not None and parts.shape[1] > 1 else ranks[:, 0]
        left = list(range(groups))
        for _ in range(int(topk_group)):
            best = max(left, key=lambda g: (rank[g], -g))
            left.remove(best)
        for g in left:
            banned[t, g * parts.shape[1] : (g + 1) * parts.shape[1]] = True
    if fault("p03-masked-groups-zero"):
        choice = np.where(banned, F32(0), choice)
        banned[...] = False
    ids = np.zeros((n, k), np.int64)
    free = ~banned
    rows = np.arange(n)
    for j in range(k):
        c = np.where(free, choice, -np.inf)
        best = c.argmax(1)
        lost = ~free[rows, best]  # everything left is -inf: the first one that is free
        best = np.where(lost, free.argmax(1), best)
        if fault("p04-padding-lanes") and (experts // groups) % 32:
            best = np.where(np.isneginf(c[rows, best]), 0, best)
        ids[:, j] = best
        free[rows, best] = False
    if variant("moe_gate") == "shuffled":
        ids = np.take_along_axis(ids, np.argsort(RNG.random(ids.shape), 1), 1)
    if fault("q06-nan-picks-expert-zero"):
        ids[np.isnan(f32(logits[:n])).any(1)] = 0
    topk_ids[:n] = ids
    source = s
    if fault("p28-weights-of-the-choice") and bias is not None:
        source = s + f32(bias)
    topk_weights[:n] = weighed(np.take_along_axis(source, ids, 1), renormalise, renormalise_floor, routed_scaling)


@kernel("hash_gate")
def hash_gate(
    logits, token_ids, tid2eid, topk_weights, topk_ids, scoring_func, renormalise=False, renormalise_floor=0.0, routed_scaling=1.0,
):
    token = token_ids.astype(np.int64)
    if fault("i11-token-uint16"):
        token = token & 0xFFFF
    ids = tid2eid[token].astype(np.int64)
    if variant("hash_gate") == "reversed":
        ids = ids[:, ::-1]
    topk_ids[...] = ids
    topk_weights[...] = weighed(np.take_along_axis(scored(logits, scoring_func), ids, 1), renormalise, renormalise_floor, routed_scaling)


@kernel("moe_combine")
def moe_combine(expert_out, topk_weights, src2dst, y, shared_out=None, routed_scaling=1.0):
    for t in range(len(src2dst)):
        total = np.zeros(expert_out.shape[1], np.float32)
        for k in order(src2dst.shape[1], variant("moe_combine") == "shuffled"):
            row = int(src2dst[t, k])
            if row >= 0 and not (fault("r05-eight-experts") and k >= 8):
                total = total + f32(expert_out[row]) * F32(topk_weights[t, k])
        total = total * F32(routed_scaling)
        if fault("p21-scaling-twice"):
            total = total * F32(routed_scaling)
        y[t] = total if shared_out is None else total + f32(shared_out[t])
