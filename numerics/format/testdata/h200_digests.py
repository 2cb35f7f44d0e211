"""Digests of NVIDIA's PTX cvt instructions over all 2^32 fp32 words, for format_test.TestHardwareDigests.

Needs a Hopper GPU and CuPy: OUT=<folder> python3 h200_digests.py. The digest of a conversion is the sha256 of 256
sha256 sums, one for each 2^24 codes in ascending order of the input word, as in exhaustive_test.go. For NaN inputs,
whose codes PTX and ml_dtypes define differently, the code under "nan" is written instead; which codes the hardware
gave there is listed under "nan-codes".
"""
import hashlib, json, os, re
from concurrent.futures import ThreadPoolExecutor
import cupy as cp, numpy as np

ROWS = [  # conversion of steps_test.go, instruction, operands, output register, its bits, code for NaN inputs
    ("bf16.rn.overflow", "cvt.rn.bf16.f32 %0, %1;", "h", 16, 0x7FC0),
    ("bf16.rz.overflow", "cvt.rz.bf16.f32 %0, %1;", "h", 16, 0x7FC0),
    ("fp16.rn.overflow", "cvt.rn.f16.f32 %0, %1;", "h", 16, 0x7E00),
    ("fp16.rn.saturate", "cvt.rn.satfinite.f16.f32 %0, %1;", "h", 16, 0x7E00),
    ("e4m3fn.rn.saturate", "{.reg .f32 z; mov.f32 z, 0f00000000; cvt.rn.satfinite.e4m3x2.f32 %0, z, %1;}", "h", 8, 0x7F),
    ("e5m2.rn.saturate", "{.reg .f32 z; mov.f32 z, 0f00000000; cvt.rn.satfinite.e5m2x2.f32 %0, z, %1;}", "h", 8, 0x7E),
    ("tf32.rn.overflow", "cvt.rn.tf32.f32 %0, %1;", "r", 32, 0x7FC00000),
    ("tf32.rna.overflow", "cvt.rna.tf32.f32 %0, %1;", "r", 32, 0x7FC00000),
    ("tf32.rz.overflow", "cvt.rz.tf32.f32 %0, %1;", "r", 32, 0x7FC00000),
]
TYPE = {8: ("unsigned char", np.uint8), 16: ("unsigned short", np.uint16), 32: ("unsigned", np.uint32)}
SRC = r'''
extern "C" __global__ void conv(OUTT* y, OUTT* raw, unsigned first, unsigned nan, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
  unsigned w = first + i; float a = __uint_as_float(w); REGT u;
  asm("INSN" : "=REG"(u) : "f"(a));
  bool isnan = (w & 0x7fffffffu) > 0x7f800000u;
  raw[i] = (OUTT)u; y[i] = isnan ? (OUTT)nan : (OUTT)u; }'''
N = 1 << 24
out = {}
for name, insn, reg, bits, nan in ROWS:
    ctype, dtype = TYPE[bits]
    src = SRC.replace("OUTT", ctype).replace("REGT", "unsigned short" if reg == "h" else "unsigned").replace("INSN", insn).replace("=REG", "=" + reg)
    try:
        k = cp.RawModule(code=src, options=("--gpu-architecture=sm_90a",)).get_function("conv")
    except Exception as e:
        print("NOT COMPILED", name, repr(e)[:300]); continue
    y, raw = cp.zeros(N, dtype=dtype), cp.zeros(N, dtype=dtype)
    nan_codes = {}
    with ThreadPoolExecutor(12) as pool:
        jobs = []
        for seg in range(256):
            k((N // 256,), (256,), (y, raw, np.uint32(seg << 24), np.uint32(nan), np.int32(N)))
            host = y.get()
            if seg in (0x7F, 0xFF):  # the NaN words lie in these two segments, in their upper halves
                v, cnt = np.unique(raw[N // 2 + 1:].get(), return_counts=True)
                for a, b in zip(v[:4], cnt[:4]):
                    nan_codes[hex(int(a))] = nan_codes.get(hex(int(a)), 0) + int(b)
                nan_codes["distinct"] = nan_codes.get("distinct", 0) + len(v)
            jobs.append(pool.submit(lambda b: hashlib.sha256(b).digest(), host.tobytes()))
            if len(jobs) % 24 == 0: [j.result() for j in jobs]
        all_ = hashlib.sha256(b"".join(j.result() for j in jobs)).hexdigest()
    out[name] = {"instruction": re.search(r"cvt[.\w]+", insn).group(), "sha256": all_, "nan": hex(nan), "nan-codes": nan_codes}
    print(name, out[name], flush=True)
json.dump({"source": "NVIDIA H200, PTX cvt, all 2^32 fp32 words", "conversions": out}, open(os.environ["OUT"] + "/h200_digests.json", "w"), indent=2, sort_keys=True)
