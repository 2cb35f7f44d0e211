#!/usr/bin/env python3
"""A stand-in for the five patches of this example: the operators that they replace, computed rightly.

    ASSAY_CANDIDATE="python3 examples/suspects/worker.py" go tool mage kernels
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters", "python"))
import assay_worker  # noqa: E402
import reference_indexer  # noqa: E402,F401
import reference_mhc  # noqa: E402,F401
import reference_route  # noqa: E402,F401
import reference_sparse  # noqa: E402,F401

REPLACED = ("sparse_attention", "indexer_logits_paged", "indexer_logits", "mhc_pre", "moe_gate")
assay_worker.serve("five-patches", "1", "cpu", {name: o for name, o in assay_worker._OPS.items() if name in REPLACED})
