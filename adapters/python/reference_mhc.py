#!/usr/bin/env python3
"""A second implementation of the hyper-connection operators, in numpy and float64, written from their formulas.

    ASSAY_CANDIDATE="python3 adapters/python/reference_mhc.py"

With X_t the n streams of a token, an n x C matrix, and z_t = F vec(X_t) / sqrt(mean(vec(X_t)^2) + norm_eps):

    pre = sigmoid(s0 z[:n] + b[:n]) + eps,  post = 2 sigmoid(s1 z[n:2n] + b[n:2n]),  comb = S(s2 z[2n:] + b[2n:])
    y = pre' X                              before a sublayer (mhc_pre) and, with rows pre alone, after the last one (mhc_head)
    X' = post f' + comb' X                  after a sublayer (mhc_post)

S is Sinkhorn's scaling: softmax over rows plus eps; then columns, rows, columns, ..., columns are divided by their sum plus
eps, `sinkhorn_iterations` column steps in all (DeepSeek-V4 inference/kernel.py hc_split_sinkhorn; docs/sources.md, mHC). The
operator `sinkhorn` is S alone, or TransformerEngine's: exp of the logits, then so many times a column and a row step, no eps.
"""
import numpy as np

from assay_worker import op, serve

MODES = ("eager", "graph")  # there is nothing to capture: in graph mode, too, every call is computed anew
DTYPES = ("F32", "BF16")  # of the streams and what becomes of them; gates, weights and comb are F32


def f64(x):
    """In float64; np.float64(x) would drop the axes of a single element."""
    return np.asarray(x, dtype=np.float64)


def sigmoid(z):
    return np.exp(-np.logaddexp(0, -z))


def sinkhorn(logits, steps, eps):
    """logits [..., n, n] -> nearly doubly stochastic [..., n, n]; axis -2 is the row."""
    p = np.exp(logits - logits.max(-1, keepdims=True))
    p = p / p.sum(-1, keepdims=True) + eps
    for axis in [-2] + [-1, -2] * (steps - 1):
        p = p / (p.sum(axis, keepdims=True) + eps)
    return p


def sinkhorn_log(logits, steps):
    """The same limit from exp of the logits, each step a column and then a row, in log space."""
    for axis in [-2, -1] * steps:
        logits = logits - np.logaddexp.reduce(logits, axis=axis, keepdims=True)
    return np.exp(logits)


def mixes(x, fn, norm_eps):
    """[T, n, C], [M, n·C] -> [T, M]"""
    x, fn = f64(x).reshape(len(x), fn.shape[1]), f64(fn)
    return np.einsum("tk,mk->tm", x, fn) / np.sqrt(np.square(x).mean(1, keepdims=True) + norm_eps)


def collapse(weights, x):
    """[T, n], [T, n, C] -> [T, C]"""
    return np.einsum("tj,tjc->tc", weights, f64(x))


@op("mhc_pre", dtypes=DTYPES, modes=MODES)
def mhc_pre(x, fn, scale, base, y, post, comb, sinkhorn_iterations, hc_eps, norm_eps):
    n = x.shape[1]
    z = mixes(x, fn, norm_eps) * np.repeat(f64(scale), [n, n, n * n]) + f64(base)
    y[...] = collapse(sigmoid(z[:, :n]) + hc_eps, x)
    post[...] = 2 * sigmoid(z[:, n : 2 * n])
    comb[...] = sinkhorn(z[:, 2 * n :].reshape(comb.shape), int(sinkhorn_iterations), hc_eps)
    return "numpy float64"


@op("mhc_post", dtypes=DTYPES, modes=MODES)
def mhc_post(f, post, comb, x, out):
    out[...] = np.einsum("tk,tc->tkc", f64(post), f64(f)) + np.einsum("tjk,tjc->tkc", f64(comb), f64(x))
    return "numpy float64"


@op("mhc_head", dtypes=DTYPES, modes=MODES)
def mhc_head(x, fn, scale, base, y, hc_eps, norm_eps):
    z = mixes(x, fn, norm_eps) * f64(scale)[0] + f64(base)
    y[...] = collapse(sigmoid(z) + hc_eps, x)
    return "numpy float64"


@op("sinkhorn", modes=MODES)
def sinkhorn_alone(logits, comb, variant, iterations, hc_eps=0.0):
    if variant == "log":
        comb[...] = sinkhorn_log(f64(logits), int(iterations))
    else:
        comb[...] = sinkhorn(f64(logits), int(iterations), hc_eps)
    return "numpy float64"


if __name__ == "__main__":
    serve("numpy-reference", np.__version__)
