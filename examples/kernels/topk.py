#!/usr/bin/env python3
"""A kernel as a candidate, in one minute: top-k in numpy.

    ASSAY_CANDIDATE="python3 examples/kernels/topk.py" go tool mage kernels
    ASSAY_CANDIDATE="python3 examples/kernels/topk.py stash" go tool mage kernels

The second one has a bug that the field had (vllm-project/vllm#55314): keys that share the coarse bin of the k-th score are stashed
by arrival, and the stash is too small.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters", "python"))
from assay_worker import op, serve  # noqa: E402

STASH = 64 if "stash" in sys.argv[1:] else None


def best(row, k):
    """Positions of the k largest, ties to the lowest position."""
    order = np.argsort(-row, kind="stable")
    if STASH is None:
        return order[:k]
    coarse = (row.view(np.uint32) >> 16).astype(np.int64)  # sign, exponent, seven bits
    last = coarse[order[k - 1]]
    above = [i for i in order[:k] if coarse[i] != last]
    stash = np.flatnonzero(coarse == last)[:STASH]  # arrivals, not values
    rest = stash[np.argsort(-row[stash], kind="stable")][: k - len(above)]
    return np.concatenate([np.array(above, int), rest])


@op("topk", dtypes=["F32"], attrs={"tie_break": ["lowest-index", "any"]})
def topk(scores, lengths, indices, top_k):
    indices[...] = -1
    for t, visible in enumerate(lengths):
        k = min(int(top_k), int(visible))
        if visible <= top_k:
            chosen = np.arange(visible)  # never ranked
        else:
            chosen = best(np.ascontiguousarray(scores[t, :visible]), k)
        indices[t, : len(chosen)] = chosen
    return "numpy argsort"


serve("example-topk", "1", "cpu")
