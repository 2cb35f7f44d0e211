#!/usr/bin/env python3
"""An outsider's worker: every operator again, in float32, tile by tile, with faults that the authors of the suite did not plant.

    ASSAY_CANDIDATE="python3 kernels_test/outsider/worker/worker.py --ops topk --fault i03-minus-zero-below" go tool mage kernels

--fault ID switches one fault of faults.json on, --variants "op=name,op=name" (or "all") other right ways of computing, --ops
limits what is offered. Python 3.9, numpy.
"""
import argparse
import json
import os

import numpy as np

import base

import attention  # noqa: F401  isort: skip
import compressor  # noqa: F401
import gemm  # noqa: F401
import indexer  # noqa: F401
import mhc  # noqa: F401
import norm  # noqa: F401
import route  # noqa: F401
import select_rows  # noqa: F401
import sparse  # noqa: F401
from assay_worker import serve

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--ops", default="")
    args.add_argument("--fault", default="")
    args.add_argument("--variants", default="")
    args = args.parse_args()
    with open(os.path.join(HERE, "..", "faults.json"), encoding="utf-8") as f:
        table = json.load(f)
    names = [n for n in args.ops.split(",") if n] or list(base.KERNELS)
    if args.fault:
        found = [f for f in table["faults"] if f["id"] == args.fault]
        if not found:
            raise SystemExit(f"{args.fault!r} is not in faults.json")
        base.FAULTS.add(args.fault)
        names = [n for n in args.ops.split(",") if n] or [found[0]["operator"]]
    extra = {}
    for item in [v for v in args.variants.split(",") if v]:
        operator, name = item.split("=")
        found = [v for v in table["sound"] if (v["operator"], v["variant"]) == (operator, name)]
        if not found:
            raise SystemExit(f"{item!r} is no sound variant of faults.json")
        base.VARIANTS[operator] = name
        extra[operator] = found[0].get("hello", {})
    base.declare(names, extra)
    serve("outsider", np.__version__)


if __name__ == "__main__":
    main()
