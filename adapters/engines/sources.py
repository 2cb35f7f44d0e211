"""Takes the files of an engine's Triton kernels out of its wheel, for ENGINE_SOURCES, so that nothing is installed:

    python3 adapters/engines/sources.py /tmp/src sglang==0.5.23 vllm==0.33.0

A wheel is a path, or a requirement that pip downloads. The folder is made when all is there, and must not exist before.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

# What the adapters import of each distribution; what lies around these files is stubbed (stubs.py), so that packages'
# __init__.py stay out.
KERNELS = {
    "sglang": r"sglang/kernels/ops/.*|sglang/srt/batch_invariant_ops/batch_invariant_ops",
    "vllm": r"vllm/v1/attention/ops/(triton_merge_attn_states|triton_decode_attention|rocm_aiter_mla_sparse)"
            r"|vllm/model_executor/layers/quantization/utils/fp8_utils",
}


def download(requirement, folder):
    """The path of the wheel of a requirement, by pip."""
    done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", folder, requirement],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    wheels = [n for n in os.listdir(folder) if n.endswith(".whl")]
    if done.returncode or len(wheels) != 1:
        raise SystemExit(f"pip does not download {requirement}: {done.stderr.strip()[-300:] or 'no wheel came'}")
    return os.path.join(folder, wheels[0])


def extract(wheel, out):
    """Writes the kernel files of a wheel below out and returns its distribution and version."""
    name, version = os.path.basename(wheel).split("-")[:2]
    if name not in KERNELS:
        raise SystemExit(f"{wheel}: no adapter reads files of {name!r}; known are {', '.join(KERNELS)}")
    pattern = re.compile(f"({KERNELS[name]})\\.py")
    with zipfile.ZipFile(wheel) as z:
        files = [n for n in z.namelist() if pattern.fullmatch(n) and not n.endswith("__init__.py")]
        if not files:
            raise SystemExit(f"{wheel} has none of the files that the adapter of {name} reads: was it written for another version?")
        z.extractall(out, files)
    return name, version


def main(arguments):
    if len(arguments) < 2:
        raise SystemExit(__doc__)
    out = os.path.abspath(arguments[0])
    if os.path.exists(out):
        raise SystemExit(f"{out} exists: name a folder that does not")
    os.makedirs(os.path.dirname(out), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(out)) as scratch:
        made, versions = os.path.join(scratch, "sources"), {}
        for i, what in enumerate(arguments[1:]):
            folder = os.path.join(scratch, str(i))
            os.mkdir(folder)
            name, version = extract(what if what.endswith(".whl") else download(what, folder), made)
            versions[name] = version
        with open(os.path.join(made, "VERSIONS.json"), "w", encoding="utf-8") as f:
            json.dump(versions, f)
        os.rename(made, out)
    print(f"{out}: " + ", ".join(f"{n} {v}" for n, v in versions.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
