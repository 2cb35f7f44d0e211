#!/usr/bin/env python3
"""A second implementation of the experts' router, in numpy and float64, written from its formulas.

A token's experts are the top_k of c = s + bias (moe_gate), of the best groups alone where there are groups, or the row of its id
in a table (hash_gate); their weights come from s. moe_combine sums what they return. DeepSeek-V3.2 and -V4 inference/model.py
Gate; TileKernels torch/moe.py (docs/sources.md).
"""
import numpy as np

from assay_worker import serve
from reference_numbers import PATH, f64, reference, store


def scores(logits, scoring_func):
    z = f64(logits)
    if scoring_func == "sigmoid":
        return np.exp(-np.logaddexp(0, -z))
    if scoring_func == "sqrtsoftplus":
        return np.sqrt(np.logaddexp(0, z))
    z = np.exp(z - z.max(-1, keepdims=True))
    return z / z.sum(-1, keepdims=True)


def weigh(s, ids, renormalise, floor, scaling):
    """Weights of the experts ids [T, K] with scores s [T, E]."""
    chosen = np.take_along_axis(s, ids, 1)
    return scaling * (chosen / (chosen.sum(1, keepdims=True) + floor) if renormalise else chosen)


def first_best(c, k):
    """Indices of the k largest of every row, the lower one of equals."""
    return np.argsort(-c, axis=1, kind="stable")[:, :k]


def within_groups(c, groups, kept, biased):
    """c with -inf for the experts of all but the kept best groups. NaN ranks last."""
    parts = c.reshape(len(c), groups, -1)
    ordered = -np.sort(-parts, axis=2)
    rank = ordered[..., :2].sum(2) if biased else ordered[..., 0]
    best = first_best(rank, kept)
    out = np.full(parts.shape, -np.inf)
    rows = np.arange(len(c))[:, None]
    out[rows, best] = parts[rows, best]
    return out.reshape(c.shape)


@reference("moe_gate", attrs={"bias_in": ["choice", "logit"]})
def moe_gate(
    call, logits, topk_ids, scoring_func, top_k, bias=None, num_token_non_padded=None, n_group=1, topk_group=1, renormalise=False,
    renormalise_floor=0.0, routed_scaling=1.0, bias_in="choice",
):
    n = len(logits) if num_token_non_padded is None else min(len(logits), int(num_token_non_padded[0]))
    topk_ids[n:] = -1
    if bias_in == "logit":  # a part of the logit, in fp32
        logits, bias = f64(logits) + f64(bias), None
    s = scores(logits[:n], scoring_func)
    c = s if bias is None else s + f64(bias)
    if n_group > 1:
        c = within_groups(c, int(n_group), int(topk_group), bias is not None)
    ids = first_best(c, int(top_k))
    topk_ids[:n] = ids
    store(call, "topk_weights", weigh(s, ids, renormalise, renormalise_floor, routed_scaling), slice(0, n))
    return PATH


@reference("hash_gate")
def hash_gate(call, logits, token_ids, tid2eid, topk_ids, scoring_func, renormalise=False, renormalise_floor=0.0, routed_scaling=1.0):
    ids = tid2eid[token_ids]
    topk_ids[...] = ids
    store(call, "topk_weights", weigh(scores(logits, scoring_func), ids.astype(np.int64), renormalise, renormalise_floor, routed_scaling))
    return PATH


@reference("moe_combine")
def moe_combine(call, expert_out, topk_weights, src2dst, shared_out=None, routed_scaling=1.0):
    here = src2dst >= 0
    rows = np.zeros(src2dst.shape + expert_out.shape[1:])
    rows[here] = f64(expert_out[src2dst[here]]) * f64(topk_weights[here])[:, None]
    y = routed_scaling * rows.sum(1)
    store(call, "y", y if shared_out is None else y + f64(shared_out))
    return PATH


if __name__ == "__main__":
    serve("numpy-reference-route", np.__version__)
