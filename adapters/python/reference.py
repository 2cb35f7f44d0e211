#!/usr/bin/env python3
"""A second implementation of every operator, in numpy and float64, written from the formulas and not from assay's Go code.

    ASSAY_CANDIDATE="python3 adapters/python/reference.py" go test ./kernels_test

One module a suite declares its operators; each is a worker of its own, too. Needs Python 3.9 and numpy.
"""
import numpy as np

import reference_compressor  # noqa: F401
import reference_dense  # noqa: F401
import reference_gemm  # noqa: F401
import reference_indexer  # noqa: F401
import reference_mhc  # noqa: F401
import reference_norm  # noqa: F401
import reference_route  # noqa: F401
import reference_sparse  # noqa: F401
import reference_topk  # noqa: F401
from assay_worker import serve

if __name__ == "__main__":
    serve("numpy-reference", np.__version__)
