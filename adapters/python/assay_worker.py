"""Turns functions into an assay worker: a process that speaks the worker protocol, version 1 (adapters/README.md).

    from assay_worker import op, serve

    @op("mhc_head", dtypes=["F32"])
    def head(x, fn, scale, base, y, hc_mult, norm_eps, hc_eps):
        y[...] = my_kernel(x, fn, scale, base, hc_mult, norm_eps, hc_eps)
        return "my kernel, 128 threads"            # optional: which path ran

    serve("my-kernels", "0.1", "NVIDIA H200")

A parameter is an operand, an output or an attribute by its name; one named "call" is the Call itself. Outputs are allocated
and prefilled already: write into them. Raise Unsupported for what the kernel does not offer. With @op(..., torch="cuda")
operands and outputs are torch tensors on that device; otherwise they are numpy arrays, with bf16, fp8 and e8m0 as float32.

Needs Python 3.9 or later and numpy, and torch only where an operator asks for it.
"""
import hashlib
import inspect
import json
import os
import struct
import sys
import time
import traceback

import numpy as np

PROTOCOL = 1

# Bits of "nan": a quiet NaN, with a payload that no arithmetic produces where there is room for one.
NAN = {"F64": 0x7FFC5A55A5A55A5A, "F32": 0x7FC5A55A, "BF16": 0x7FC5, "F16": 0x7E5A, "F8_E4M3": 0x7F, "F8_E5M2": 0x7F}

# Stored form of each dtype; those in DECODED are shown as float32.
STORED = {
    "BOOL": "<u1", "U8": "<u1", "I8": "<i1", "I16": "<i2", "U16": "<u2", "I32": "<i4", "U32": "<u4", "I64": "<i8", "U64": "<u8",
    "F16": "<f2", "F32": "<f4", "F64": "<f8", "BF16": "<u2", "F8_E4M3": "<u1", "F8_E5M2": "<u1", "F8_E8M0": "<u1",
}
DECODED = ("BF16", "F8_E4M3", "F8_E5M2", "F8_E8M0")


class Unsupported(Exception):
    """Raised for a call that the kernel does not offer; the message says why."""


# --- number formats ---


def _values_of_fp8(dtype):
    """The 128 non-negative values of an fp8 format by code, with what lies one step beyond the largest in place of inf or NaN."""
    mantissa, bias = (3, 7) if dtype == "F8_E4M3" else (2, 15)
    code = np.arange(128)
    e, m = code >> mantissa, code & ((1 << mantissa) - 1)
    return np.where(e == 0, np.ldexp(m / 2.0**mantissa, 1 - bias), np.ldexp(1 + m / 2.0**mantissa, e - bias))


def decode(dtype, bits):
    """Values of stored bits: float32 for the formats that numpy lacks, the bits themselves for all others."""
    if dtype == "BF16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    if dtype == "F8_E8M0":
        return np.where(bits == 255, np.nan, np.ldexp(1.0, bits.astype(np.int32) - 127)).astype(np.float32)
    if dtype in ("F8_E4M3", "F8_E5M2"):
        table = _values_of_fp8(dtype)
        if dtype == "F8_E4M3":
            table[0x7F] = np.nan
        else:
            table[0x7C], table[0x7D:] = np.inf, np.nan
        table = np.concatenate([table, -table]).astype(np.float32)
        return table[bits]
    return bits


def encode(dtype, values):
    """Stored bits of values: round to nearest, ties to even. What an fp8 format cannot hold becomes NaN (e4m3) or inf (e5m2)
    and is not clamped: clamp in the kernel where the operator says so."""
    if dtype == "BF16":
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        rounded = (bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1) >> 16).astype(np.uint16)
        return np.where((bits & 0x7FFFFFFF) > 0x7F800000, (bits >> 16 | 0x40).astype(np.uint16), rounded)
    if dtype in ("F8_E4M3", "F8_E5M2"):
        top = 0x7F if dtype == "F8_E4M3" else 0x7C  # the code one step beyond the largest value
        table = _values_of_fp8(dtype)[: top + 1]
        v = np.asarray(values, np.float64)
        size = np.abs(v)
        hi = np.clip(np.searchsorted(table, size), 1, top)
        lo = hi - 1
        below, above = size - table[lo], table[hi] - size
        code = np.where((above < below) | ((above == below) & (hi % 2 == 0)), hi, lo)
        code = np.where(size > table[top], top, code)
        code = np.where(np.isnan(v), 0x7F, code)
        return (code | np.where(np.signbit(v), 0x80, 0)).astype(np.uint8)
    if dtype == "F8_E8M0":
        raise Unsupported("outputs of dtype F8_E8M0 are not encoded; write them as U8")
    return np.asarray(values)


# --- safetensors ---


def read_safetensors(path):
    """name -> (dtype, shape, bytes) of every tensor of a file."""
    with open(path, "rb") as f:
        data = f.read()
    (n,) = struct.unpack("<Q", data[:8])
    out = {}
    for name, entry in json.loads(data[8 : 8 + n]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            out[name] = (entry["dtype"], tuple(entry["shape"]), data[8 + n + begin : 8 + n + end])
    return out


def write_safetensors(path, tensors):
    """Writes name -> (dtype, shape, bytes) beside path and renames it."""
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path + ".part", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in tensors.values():
            f.write(data)
    os.replace(path + ".part", path)


# --- calls ---


class _Numpy:
    """Operands and outputs as numpy arrays."""

    def load(self, dtype, data):
        if dtype not in STORED:
            raise Unsupported(f"dtype {dtype} is not read by this worker")
        return decode(dtype, np.frombuffer(data, STORED[dtype]).copy())

    def view(self, storage, offset, shape, strides):
        return np.lib.stride_tricks.as_strided(storage[offset:], shape, [s * storage.itemsize for s in strides])

    def store(self, dtype, tensor):
        return encode(dtype, tensor).astype(STORED[dtype], copy=False).tobytes()

    def wait(self):
        pass

    def timer(self):
        return None  # nothing but the host's clock: no times of kernels


class _Torch:
    """Operands and outputs as torch tensors of one device."""

    DTYPES = {
        "BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "F16": "float16", "F32": "float32",
        "F64": "float64", "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu",
    }

    def __init__(self, device):
        import torch

        self.torch, self.device, self._timer = torch, torch.device(device), None

    def load(self, dtype, data):
        kind = getattr(self.torch, self.DTYPES.get(dtype, ""), None)
        if kind is None:
            raise Unsupported(f"dtype {dtype} is not in this torch")
        if not data:
            return self.torch.empty(0, dtype=kind, device=self.device)
        return self.torch.frombuffer(bytearray(data), dtype=self.torch.uint8).to(self.device).view(kind)

    def view(self, storage, offset, shape, strides):
        return self.torch.as_strided(storage, shape, strides, offset)

    def store(self, dtype, tensor):
        return tensor.contiguous().reshape(-1).view(self.torch.uint8).cpu().numpy().tobytes() if tensor.numel() else b""

    def wait(self):
        if self.device.type == "cuda":
            self.torch.cuda.synchronize(self.device)

    def timer(self):
        if self.device.type != "cuda":
            return None
        if self._timer is None:
            from assay_time import Cuda

            self._timer = Cuda(self.torch, self.device)
        return self._timer


class Call:
    """One call: op, case, mode ("eager" or "graph"), attrs, inputs and outputs by name with their dtypes (dtypes,
    output_dtypes), and its companions: capture_with, a Call or None, and batch_with, a list of Calls that must run in the
    same launch."""

    def __init__(self, backend, line, payload, case):
        self.op, self.case, self.mode, self.attrs = line["op"], case, line.get("mode", "eager"), payload.get("attrs") or {}
        self.capture_with, self.batch_with = None, []
        self._backend, self._specs, self.write = backend, payload["outputs"], payload.get("write")
        self.clock = None  # set where the call's kernel is to be timed
        self._stored = read_safetensors(payload["inputs"])
        self._views = dict(payload.get("views") or {})
        used = {v["storage"] for v in self._views.values()}
        for name, (_, shape, _) in self._stored.items():  # a tensor that no view looks into is an operand itself
            if name not in used:
                self._views[name] = {"storage": name, "offset": 0, "shape": list(shape), "strides": _contiguous(shape)}
        self.output_dtypes = {name: o["dtype"] for name, o in self._specs.items()}
        self.dtypes = {name: self._stored[v["storage"]][0] for name, v in self._views.items()}
        for name, v in self._views.items():
            _check(name, v, int(np.prod(self._stored[v["storage"]][1], dtype=np.int64)))
        self.reset()

    def reset(self):
        """Operands as they came and outputs prefilled: every repeat starts from the same memory."""
        storage = {name: self._backend.load(dtype, data) for name, (dtype, _, data) in self._stored.items()}
        self.inputs = {n: self._backend.view(storage[v["storage"]], v["offset"], v["shape"], v["strides"]) for n, v in self._views.items()}
        self.outputs = {}
        for name, o in self._specs.items():
            self.outputs[name] = self._backend.view(
                self._backend.load(o["dtype"], _prefill(o)), 0, o["shape"], _contiguous(o["shape"])
            )

    def launch(self, function, *args, **kwargs):
        """function(*args, **kwargs), marked as the kernel: it alone is what times are taken of. It must give the same result
        from the same arguments every time."""
        return self.clock.run(function, args, kwargs) if self.clock else function(*args, **kwargs)

    def results(self):
        """name -> (dtype, shape, bytes) of the outputs."""
        return {n: (o["dtype"], o["shape"], self._backend.store(o["dtype"], self.outputs[n])) for n, o in self._specs.items()}

    def arguments(self, function):
        """The arguments of a function by the names of its parameters."""
        out = {}
        for name, p in inspect.signature(function).parameters.items():
            found = [d[name] for d in (self.inputs, self.outputs, self.attrs) if name in d]
            if name == "call":
                found = [self]
            if len(found) > 1:
                raise TypeError(f"{name!r} is more than one of operand, output and attribute; take call and choose")
            if found:
                out[name] = found[0]
            elif p.default is p.empty:
                raise Unsupported(f"the call has no operand, output or attribute {name!r}")
        return out


def _contiguous(shape):
    strides, step = [], 1
    for d in reversed(shape):
        strides.insert(0, step)
        step *= max(d, 1)
    return strides


def _check(name, v, n):
    last = v["offset"] + sum((d - 1) * s for d, s in zip(v["shape"], v["strides"]))
    if v["offset"] < 0 or 0 not in v["shape"] and last >= n:
        raise ValueError(f"view {name!r} reaches from element {v['offset']} to {last} of a storage of {n}")


def _prefill(o):
    """The bytes of an output before the call."""
    dtype = o["dtype"]
    if dtype not in STORED:
        raise Unsupported(f"outputs of dtype {dtype} are not written by this worker")
    if o["prefill"] == "nan" and dtype not in NAN:
        raise ValueError(f"dtype {dtype} has no NaN to prefill with")
    bits = NAN[dtype] if o["prefill"] == "nan" else int(o["prefill"], 16)
    width = np.dtype(STORED[dtype]).itemsize
    return bits.to_bytes(width, "little") * int(np.prod(o["shape"], dtype=np.int64))


# --- the worker ---

_OPS = {}
CURRENT = None  # the case of the call that is answered


def op(name, dtypes=("F32",), phases=("prefill", "decode", "extend"), modes=("eager",), batch=False, torch=None, facets=None, contract=None, attrs=None, made_for=None, nan=None):
    """Declares the function for one operator. dtypes are those of the main operands, as safetensors or torch spell them; weights,
    scales and indices beside them do not count. modes: with "graph" the function captures and replays where call.mode says so
    (call.capture_with is what to capture first). batch: it runs call.batch_with in the same launch. torch: a device. facets: a list
    of {"dtypes": [...], "out": ..., "layout": ..., "phase": ..., "mode": ...} where what is offered is no product of the lists.
    contract: the arithmetic that the kernel declares. attrs: {attribute: [values]} that are offered, such as lse_base=["e"]. made_for: {dimension: [sizes]} that the kernel is built for; cases are moved
    to these sizes. nan: "any" where results that depend on a NaN may be anything; without it they must be NaN."""

    def declare(function):
        _OPS[name] = {
            "function": function, "batch": batch, "torch": torch,
            "hello": {
                "dtypes": list(dtypes), "phases": list(phases), "modes": list(modes),
                **({"facets": list(facets)} if facets else {}), **({"contract": contract} if contract else {}),
                **({"attrs": {k: list(v) for k, v in attrs.items()}} if attrs else {}),
                **({"nan": nan} if nan else {}),
                **({"made_for": {k: list(v) for k, v in made_for.items()}} if made_for else {}),
            },
        }
        return function

    return declare


def _answer(line, ops, backends):
    global CURRENT
    CURRENT, entry = line["case"], ops.get(line["op"])
    if entry is None:
        raise Unsupported(f"operator {line['op']!r} is not in this worker")
    if line.get("mode", "eager") not in entry["hello"]["modes"]:
        raise Unsupported(f"mode {line['mode']!r} is not in {entry['hello']['modes']}")
    if line.get("batch_with") and not entry["batch"]:
        raise Unsupported("several cases in one launch are not in this worker")
    if entry["torch"] not in backends:
        backends[entry["torch"]] = _Torch(entry["torch"]) if entry["torch"] else _Numpy()
    backend = backends[entry["torch"]]
    call = Call(backend, line, line, line["case"])
    others = line.get("cases") or {}
    if line.get("capture_with"):
        call.capture_with = Call(backend, line, others[line["capture_with"]], line["capture_with"])
    call.batch_with = [Call(backend, line, others[case], case) for case in line.get("batch_with") or []]
    calls = [call, *call.batch_with]
    seconds, path, digests = [], None, []
    if line.get("time") and backend.timer():
        from assay_time import Clock

        call.clock = Clock(backend.wait)
    for i in range(line.get("repeat", 1)):
        if i > 0:
            for c in calls + [c for c in [call.capture_with] if c]:
                c.reset()
        arguments = call.arguments(entry["function"])
        backend.wait()
        start = time.perf_counter()
        path = entry["function"](**arguments)
        backend.wait()
        seconds.append(time.perf_counter() - start)
        results = [c.results() for c in calls]
        digest = hashlib.sha256()
        for r in results:
            for name in sorted(r):
                digest.update(r[name][2])
        digests.append(digest.hexdigest())
    for c, r in zip(calls, results):
        write_safetensors(c.write, r)
    reply = {"ok": True, "seconds": min(seconds), "path": path or entry["function"].__name__, "digests": digests}
    if call.clock:
        reply["times"] = _times(call, lambda: entry["function"](**arguments), seconds[0], backend.timer(), line["time"])
    return reply


def _times(call, function, first, timer, repeats):
    """Times of the kernels that the function marked with call.launch; of the whole function where it marked none."""
    from assay_time import measure

    clock, call.clock = call.clock, None
    if not clock.launches:
        return measure(timer, [function], first, repeats, marked=False)
    return measure(timer, clock.launches, clock.first, repeats)


def _reject(kind, error):
    return {"ok": False, "kind": kind, "message": f"{type(error).__name__}: {error}" if kind == "error" else str(error)}


def serve(name, version="0", device="cpu", ops=None):
    """Answers calls until standard input ends. Whatever is printed on the way, by C code too, goes to standard error."""
    ops = _OPS if ops is None else ops
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    backends = {}

    def say(reply):
        out.write(json.dumps(reply) + "\n")
        out.flush()

    for text in sys.stdin:
        line = json.loads(text)
        if line["op"] == "hello":
            say({"protocol": PROTOCOL, "name": name, "version": version, "device": device, "ops": {n: e["hello"] for n, e in ops.items()}})
            continue
        try:
            reply = _answer(line, ops, backends)
        except Unsupported as e:
            reply = _reject("unsupported", e)
        except Exception as e:
            traceback.print_exc()
            reply = _reject("error", e)
        say({"id": line["id"], **reply})
