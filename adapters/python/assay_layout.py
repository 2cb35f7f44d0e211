"""What an adapter does around a kernel: padding, page layouts, rotary tables, bases of a log-sum-exp.

Every function takes numpy arrays or torch tensors, of one kind in a call, and returns the same kind on the same device.
"""
import math

import numpy as np


def _torch(x):
    """torch where x is a tensor of it, else None."""
    if isinstance(x, np.ndarray):
        return None
    import torch

    return torch


def up(n, multiple):
    """The smallest multiple that is not below n."""
    return -(-n // multiple) * multiple


def filled(x, shape, value):
    """An array of x's kind, dtype and device that holds value; fp8 dtypes hold bytes."""
    torch = _torch(x)
    if torch is None:
        return np.full(shape, value, x.dtype)
    if x.dtype.itemsize == 1 and x.dtype.is_floating_point:
        return torch.full(shape, value, dtype=torch.uint8, device=x.device).view(x.dtype)
    return torch.full(shape, value, dtype=x.dtype, device=x.device)


def pad(x, dim, n, value=0):
    """x with dimension dim filled up to n; x itself, contiguous, where it is that long."""
    if x.shape[dim] == n:
        return np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x.contiguous()
    shape = list(x.shape)
    shape[dim] = n
    out = filled(x, shape, value)
    raw = (lambda t: t) if isinstance(x, np.ndarray) or x.dtype.itemsize > 1 or not x.dtype.is_floating_point else (lambda t: t.view(_torch(x).uint8))
    raw(out)[tuple(slice(0, s) for s in x.shape)] = raw(x)
    return out


def token_slots(page_table, lens, page_size):
    """Slots of every token, request after request, for kernels whose pages hold one token: (indptr [B+1] int32, slots int64).
    Token j of request b is slot page_table[b, j div page_size] * page_size + j mod page_size."""
    torch = _torch(lens)
    n = lens.astype(np.int64) if torch is None else lens.long()
    ends = np.cumsum(n) if torch is None else torch.cumsum(n, 0)
    indptr = filled(lens, (len(lens) + 1,), 0)
    indptr[1:] = ends
    if len(lens) == 0 or int(ends[-1]) == 0:
        return indptr, (np.zeros(0, np.int64) if torch is None else torch.zeros(0, dtype=torch.int64, device=lens.device))
    if torch is None:
        request = np.repeat(np.arange(len(lens)), n)
        j = np.arange(int(ends[-1])) - np.repeat(ends - n, n)
        page = page_table[request, j // page_size].astype(np.int64)
    else:
        request = torch.repeat_interleave(torch.arange(len(lens), device=lens.device), n)
        j = torch.arange(int(ends[-1]), device=lens.device) - torch.repeat_interleave(ends - n, n)
        page = page_table[request, j // page_size].long()
    return indptr, page * page_size + j % page_size


def repage(pages, block_table, lens, page_size, width, new_page, new_width):
    """Copies the fp8 index keys that requests see into pages of another size: (pages [P', new_page·(new_width+4)] U8, table
    [B, W'] int32). A page of n tokens is n·width code bytes, then n fp32 scales; channels beyond width are 0."""
    torch = _torch(pages)
    xp = np if torch is None else torch
    kind = {} if torch is None else {"device": pages.device}
    w = max(1, -(-int(lens.max()) // new_page)) if len(lens) else 1
    pool = filled(pages, (len(lens) * w + 1, new_page * (new_width + 4)), 0)
    table = xp.arange(1, len(lens) * w + 1, dtype=xp.int32, **kind).reshape(len(lens), w)
    _, slots = token_slots(block_table, lens, page_size)
    _, to = token_slots(table, lens, new_page)
    if len(slots) == 0:
        return pool, table
    chan, four = xp.arange(width, **kind), xp.arange(4, **kind)

    def bytes_of(slot, page, dims):
        p, t = slot // page, slot % page
        return p[:, None], (t * dims)[:, None] + chan, (page * dims + 4 * t)[:, None] + four

    p, codes, scales = bytes_of(slots, page_size, width)
    q, new_codes, new_scales = bytes_of(to, new_page, new_width)
    pool[q, new_codes] = pages[p, codes]
    pool[q, new_scales] = pages[p, scales]
    return pool, table


def cos_sin(call, x):
    """cos and sin [T, pairs] in fp32 for a rope call: from its table, its inverse frequencies, or its base."""
    torch = _torch(x)
    if "cos_sin_cache" in call.inputs:
        cache, pos = call.inputs["cos_sin_cache"], call.inputs["positions"]
        rows = cache[pos if torch is None else pos.long()]
        half = rows.shape[1] // 2
        return rows[:, :half], rows[:, half:]
    # The angle is position times frequency: the exact product, or fp32's of the frequency rounded to fp32.
    r, wide = int(call.attrs["rotary_dim"]), call.attrs.get("angle") == "float64"
    inv, pos = call.inputs.get("inv_freq"), call.inputs["positions"]
    if inv is None:
        inv = float(call.attrs["rope_theta"]) ** -(np.arange(0, r, 2) / r)
        inv = inv if torch is None else torch.from_numpy(inv).to(x.device)
    if torch is None:
        kind = np.float64 if wide else np.float32
        angle = pos.astype(kind)[:, None] * inv.astype(kind)[None, :]
        return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    kind = torch.float64 if wide else torch.float32
    angle = pos.to(kind)[:, None] * inv.to(kind)[None, :]
    return angle.cos().float(), angle.sin().float()


def in_base(lse, has, wants):
    """A log-sum-exp of base has ("e" or "2") in base wants."""
    if has == wants:
        return lse
    return lse * (math.log2(math.e) if wants == "2" else math.log(2))


def mla_scale(attrs, rope_dim):
    """The softmax scale of mla_attention: (N + E)^-1/2 m^2, m by YaRN."""
    f = attrs["rope_factor"]
    m = 0.1 * attrs["mscale"] * math.log(f) + 1 if f > 1 else 1.0
    return (attrs["qk_nope_head_dim"] + rope_dim) ** -0.5 * m * m


def one_query_each(qo_indptr):
    """Whether every request has exactly one query."""
    return bool(((qo_indptr[1:] - qo_indptr[:-1]) == 1).all())
