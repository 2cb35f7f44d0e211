"""Top-k by radix: the byte in which the k-th largest key lies is found four times, then ties are taken in order."""
import numpy as np

from base import RNG, f32, fault, kernel, variant


def sortable(scores):
    """uint32 keys that order like the scores; -0 and +0 are one."""
    bits = np.ascontiguousarray(f32(scores) + np.float32(0)).view(np.uint32)
    if fault("i03-minus-zero-below"):
        bits = np.ascontiguousarray(f32(scores)).view(np.uint32)
    return np.where(bits >> np.uint32(31) == 1, ~bits, bits | np.uint32(0x80000000)).astype(np.uint32)


def largest(scores, k, highest):
    """Indices of the k largest scores, in the order of their place."""
    n = len(scores)
    if n <= k:
        return np.arange(n)
    key = sortable(scores)
    alive, taken, need = np.arange(n), np.zeros(n, bool), k
    for shift in (24, 16, 8, 0):
        digit = (key[alive] >> np.uint32(shift)) & np.uint32(255)
        count = np.bincount(digit, minlength=256)
        above = np.cumsum(count[::-1])[::-1]  # keys whose digit is at least this
        pivot = int(np.flatnonzero(above >= need)[-1])
        taken[alive[digit > pivot]] = True
        need -= int(above[pivot + 1]) if pivot < 255 else 0
        alive = alive[digit == pivot]
    taken[alive[len(alive) - need :] if highest else alive[:need]] = True
    return np.flatnonzero(taken)


def ordered(chosen, scores, mode):
    if mode == "shuffled":
        return RNG.permutation(chosen)
    if mode == "descending":
        return chosen[np.argsort(-f32(scores)[chosen], kind="stable")] if len(scores) > len(chosen) else chosen[::-1]
    return chosen


@kernel("topk")
def topk(scores, lengths, indices, top_k, tie_break="any"):
    for t in range(len(lengths)):
        n = int(lengths[t])
        chosen = ordered(largest(scores[t, :n], int(top_k), tie_break == "highest-index"), scores[t, :n], variant("topk"))
        if fault("r01-index-uint16"):
            chosen = chosen & 0xFFFF
        indices[t, : len(chosen)] = chosen
        indices[t, len(chosen) :] = -1


@kernel("topk_pages")
def topk_pages(scores, lengths, block_table, request, indices, top_k, page_size, tie_break="any"):
    size = int(page_size)
    for t in range(len(lengths)):
        n, table = int(lengths[t]), block_table[int(request[t])]
        chosen = ordered(largest(scores[t, :n], int(top_k), tie_break == "highest-index"), scores[t, :n], variant("topk_pages"))
        rows = table[chosen // size].astype(np.int64) * size + chosen % size
        if fault("p02-half-of-the-list") and len(rows) > 1024:
            indices[t, :1024] = rows[:1024]
            continue
        indices[t, : len(rows)] = rows
        indices[t, len(rows) :] = -1
