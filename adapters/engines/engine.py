"""What the adapters of engines share: where an engine's kernels come from, and its operators on the device.

An engine that is installed is imported. Otherwise ENGINE_SOURCES names a folder that holds its package as the wheel has it
(sglang/, vllm/, ...; the .py files of the kernels suffice); modules around the kernels that are not there are replaced by
stubs, so that a kernel's file is imported without its engine. Nothing of an engine is in this repository.

ENGINE_DEVICE is the torch device, cuda by default; with TRITON_INTERPRET=1 ENGINE_DEVICE=cpu a Triton adapter runs without a
GPU. Operators named on the command line are offered alone.
"""
import importlib.metadata
import importlib.util
import json
import os
import sys

sys.stdout = sys.stderr  # engines print while they are imported; serve() keeps the protocol's stream
HERE = os.path.dirname(os.path.abspath(__file__))
for folder in (HERE, os.path.join(HERE, "..", "python")):
    sys.path.insert(0, folder)

import torch  # noqa: E402

import assay_worker  # noqa: E402
import stubs  # noqa: E402
from assay_worker import Unsupported  # noqa: E402

SOURCES = os.environ.get("ENGINE_SOURCES", "")
DEVICE = os.environ.get("ENGINE_DEVICE", "cuda")
ONLY = [a for a in sys.argv[1:] if not a.startswith("-")]
FP8 = torch.float8_e4m3fn
if os.environ.get("TRITON_INTERPRET") == "1":
    torch.cuda.get_device_capability = lambda *a: (9, 0)


def find(package, distribution, overrides=None):
    """Makes a package importable and returns its version: installed, or from ENGINE_SOURCES; with overrides (a dict, which may
    be empty) what the package lacks there is replaced by stubs."""
    if SOURCES and os.path.isdir(os.path.join(SOURCES, package)):
        sys.path.insert(0, SOURCES)
        if overrides is not None:
            stubs.install(package, overrides)
        with open(os.path.join(SOURCES, "VERSIONS.json"), encoding="utf-8") as f:
            return json.load(f).get(distribution, "unknown")
    if importlib.util.find_spec(package) is None:
        sys.exit(f"{package} is not installed; install {distribution}, or let ENGINE_SOURCES name a folder with {package}/ in it")
    return importlib.metadata.version(distribution)


def wanted(*names):
    """Whether one of some operators is offered: what only the others need is not imported."""
    return not ONLY or any(n in ONLY for n in names)


def op(name, **declared):
    """assay_worker.op on the device."""
    return assay_worker.op(name, torch=DEVICE, **declared) if wanted(name) else (lambda function: function)


def need(ok, why):
    """Answers "unsupported" where the kernel has no such call."""
    if not ok:
        raise Unsupported(why)


def absent(call, *names):
    """Answers "unsupported" where the call has an operand or asks for an output that the kernel does not know."""
    for n in names:
        need(n not in call.inputs and n not in call.outputs, f"the kernel has no {n}")


def serve(name, version):
    """Answers calls; the versions of torch, Triton and CUDA are part of what it says of itself."""
    try:
        import triton

        tri = f", Triton {triton.__version__}"
    except ImportError:
        tri = ""
    cuda = torch.cuda.is_available() and DEVICE != "cpu"
    device = torch.cuda.get_device_name() if cuda else "no GPU: " + ("Triton's interpreter" if tri else DEVICE)
    assay_worker.serve(name, f"{version} (torch {torch.__version__}{tri})", device)


def compare_with_do_bench(path):
    """Appends to a file, for every timed call, Triton's do_bench beside our median."""
    import assay_time
    from triton.testing import do_bench

    ours = assay_time.measure

    def both(device, launches, first, repeats, marked=True):
        times = ours(device, launches, first, repeats, marked)
        theirs = do_bench(lambda: [launch() for launch in launches], return_mode="median") * 1e3
        median = sorted(times["samples_us"])[len(times["samples_us"]) // 2]
        with open(path, "a", encoding="utf-8") as f:
            f.write(json.dumps({"worker": os.path.basename(sys.argv[0]), "call": assay_worker.CURRENT, "us": median, "do_bench_us": theirs, "how": times["how"]}) + "\n")
        return times

    assay_time.measure = both


if os.environ.get("ENGINE_DO_BENCH"):
    compare_with_do_bench(os.environ["ENGINE_DO_BENCH"])
