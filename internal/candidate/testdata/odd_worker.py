"""A worker whose operators show what assay_worker.py does around them."""
import os
import sys

from assay_worker import Unsupported, op, serve

state = {"runs": 0}


@op("widen", dtypes=["F32", "F64", "F16", "BF16", "F8_E4M3", "F8_E5M2", "F8_E8M0"])
def widen(x, y):
    y[...] = x


@op("narrow")
def narrow(x, y):
    y[...] = x


@op("half", dtypes=["F32"])
def half(x, y):
    y[: len(y) // 2] = x[: len(y) // 2]


@op("rows")
def rows(a, b, y, factor, offset=10):
    print("launching")  # neither this
    os.write(1, b"from C\n")  # nor this may reach the protocol
    y[...] = a * factor + b + offset
    return "rows path"


@op("scribble")
def scribble(x, y):
    y[0] += 0 if y[0] == y[0] else 0
    y[...] = x
    x[...] = 7


@op("counter")
def counter(y):
    state["runs"] += 1
    y[...] = state["runs"]


@op("raises")
def raises(y):
    raise RuntimeError("shared memory exhausted")


@op("refuses")
def refuses(y, heads):
    raise Unsupported(f"heads must be 32 or 64, not {heads}")


@op("together", modes=["eager", "graph"], batch=True)
def together(call):
    calls = [call, *call.batch_with]
    for c in calls:
        c.outputs["y"][...] = c.inputs["x"] * len(calls)
    return f"{call.mode} after {call.capture_with.inputs['x'].tolist() if call.capture_with else None}"


@op("exits")
def exits(y):
    sys.exit(5)


if len(sys.argv) > 1:  # a torch device

    @op("torch", dtypes=["F32", "BF16", "F8_E4M3"], torch=sys.argv[1])
    def on_torch(x, y):
        y[: len(y) // 2] = x[: len(y) // 2].to(y.dtype)
        return str(x.dtype)


serve("odd", "1", "cpu")
