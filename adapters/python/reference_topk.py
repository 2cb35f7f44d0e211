#!/usr/bin/env python3
"""A second implementation of top-k selection, in numpy, written from its rule.

Row t has the min(top_k, lengths[t]) largest of its first lengths[t] scores, each once, then -1. Ties at the last slot go to
the lower or the higher index, or to any. topk_pages looks the chosen keys up in a page table (docs/sources.md, SGLang and
DeepSelect).
"""
import numpy as np

from assay_worker import serve
from reference_numbers import reference, rows_of_tokens

PATH = "numpy lexsort"


def best(scores, k, tie_break):
    """Indices of the k largest of scores [n], all of them where n is at most k and nothing is ranked."""
    n = len(scores)
    if n <= k:
        return np.arange(n)
    index = np.arange(n)
    return np.lexsort((-index if tie_break == "highest-index" else index, -scores))[:k]


@reference("topk")
def topk(scores, lengths, indices, top_k, tie_break="any"):
    indices[...] = -1
    for t, n in enumerate(lengths.tolist()):
        chosen = best(scores[t, :n], int(top_k), tie_break)
        indices[t, : len(chosen)] = chosen
    return PATH


@reference("topk_pages")
def topk_pages(scores, lengths, block_table, request, indices, top_k, page_size, tie_break="any"):
    indices[...] = -1
    for t, n in enumerate(lengths.tolist()):
        chosen = best(scores[t, :n], int(top_k), tie_break)
        indices[t, : len(chosen)] = rows_of_tokens(block_table[request[t]], int(page_size), chosen)
    return PATH


if __name__ == "__main__":
    serve("numpy-reference-topk", np.__version__)
