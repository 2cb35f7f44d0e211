"""Small quantised tensors made and decoded by the libraries that own the formats, for vectors_test.go.

Each file holds one module "m" as the library stores it, the library's own decode under "decoded" (fp32), and the
quantization_config under which it is stored in the metadata "config". Nothing here is arithmetic of ours.

    pip install torch compressed-tensors bitsandbytes "mlx[cpu]" torchao transformers gptqmodel(--no-deps)
    pip install --no-deps auto-gptq autoawq nvidia-modelopt
    python vectors.py        # writes *.safetensors beside it
"""
import json, os, sys, types, warnings
import torch
from safetensors.torch import save_file

warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
gen = torch.Generator().manual_seed(20261201)


def weight(rows, cols):
    w = torch.randn(rows, cols, generator=gen) * 0.02
    return w * torch.exp(0.3 * torch.randn(rows, 1, generator=gen))


def write(name, tensors, decoded, config, by, extra=None):
    out = {k: v.contiguous() for k, v in tensors.items()}
    out["decoded"] = decoded.detach().to(torch.float32).contiguous()
    meta = {"config": json.dumps(config), "by": by}
    meta.update(extra or {})
    save_file(out, os.path.join(HERE, name + ".safetensors"), meta)
    print(name, {k: (str(v.dtype)[6:], tuple(v.shape)) for k, v in out.items()})


def compressed():
    import compressed_tensors
    from compressed_tensors.compressors.base import BaseCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    from compressed_tensors.quantization.utils import calculate_qparams
    by = "compressed-tensors " + compressed_tensors.__version__

    def qparams(w, args):
        s = args.strategy
        s = s.value if hasattr(s, "value") else s
        if s == "tensor":
            lo, hi = w.min().reshape(1), w.max().reshape(1)
        elif s == "channel":
            lo, hi = w.amin(1, keepdim=True), w.amax(1, keepdim=True)
        elif s in ("group", "tensor_group"):
            x = w.reshape(w.shape[0], -1, args.group_size)
            lo, hi = x.amin(2), x.amax(2)
        else:
            b = args.block_structure
            pad = torch.nn.functional.pad(w, (0, -w.shape[1] % b[1], 0, -w.shape[0] % b[0]))
            x = pad.reshape(pad.shape[0] // b[0], b[0], pad.shape[1] // b[1], b[1])
            lo, hi = x.amin((1, 3)), x.amax((1, 3))
        return lo, hi

    def make(name, form, shape, global_scale=False, **kw):
        args = QuantizationArgs(**kw)
        scheme = QuantizationScheme(targets=["Linear"], weights=args)
        w = weight(*shape).to(torch.bfloat16 if not global_scale else torch.float32)
        lo, hi = qparams(w, args)
        state = {"weight": w}
        g = None
        if global_scale:
            g = (448.0 * 6.0 / w.abs().max()).to(torch.float32).reshape(1)
            state["weight_global_scale"] = g
        scale, zp = calculate_qparams(lo, hi, args, global_scale=g) if global_scale else calculate_qparams(lo, hi, args)
        state["weight_scale"], state["weight_zero_point"] = scale, zp
        comp = BaseCompressor.get_value_from_registry(form)
        stored = comp.compress(state, scheme)
        back = comp.decompress(dict(stored), scheme)["weight"]
        conf = args.model_dump(exclude_none=True, mode="json")
        write(name, {"m." + k: v for k, v in stored.items() if v is not None}, back,
              {"quantization_config": {"quant_method": "compressed-tensors", "format": form, "ignore": ["lm_head"],
               "config_groups": {"group_0": {"targets": ["Linear"], "weights": conf}}}}, by)

    make("ct-fp8-tensor", "float-quantized", (16, 64), num_bits=8, type="float", strategy="tensor")
    make("ct-fp8-channel", "float-quantized", (16, 64), num_bits=8, type="float", strategy="channel")
    make("ct-fp8-block", "float-quantized", (40, 56), num_bits=8, type="float", strategy="block", block_structure=[16, 16])
    make("ct-int8-channel", "int-quantized", (16, 64), num_bits=8, type="int", strategy="channel")
    make("ct-w4a16", "pack-quantized", (16, 64), num_bits=4, type="int", strategy="group", group_size=32)
    make("ct-w4a16-asym", "pack-quantized", (16, 64), num_bits=4, type="int", strategy="group", group_size=32, symmetric=False)
    make("ct-w8a16", "pack-quantized", (16, 64), num_bits=8, type="int", strategy="channel")
    make("ct-nvfp4", "nvfp4-pack-quantized", (16, 64), True, num_bits=4, type="float", strategy="tensor_group", group_size=16,
         scale_dtype=torch.float8_e4m3fn, zp_dtype=torch.float8_e4m3fn)
    make("ct-mxfp4", "mxfp4-pack-quantized", (16, 64), num_bits=4, type="float", strategy="group", group_size=32,
         scale_dtype=torch.uint8, zp_dtype=torch.uint8)
    make("ct-mxfp8", "mxfp8-quantized", (16, 64), num_bits=8, type="float", strategy="group", group_size=32,
         scale_dtype=torch.uint8, zp_dtype=torch.uint8)


def bnb():
    import bitsandbytes as b
    from bitsandbytes import functional as F
    by = "bitsandbytes " + b.__version__
    for nested in (False, True):
        w = weight(16, 2048) if nested else weight(16, 64)
        q, st = F.quantize_4bit(w, blocksize=64, quant_type="nf4", compress_statistics=nested)
        t = {"m.weight": q}
        t.update({"m.weight." + k: v for k, v in st.as_dict(packed=True).items()})
        back = F.dequantize_4bit(q, st)
        if nested:
            back = back[:2]  # the head decides; the file stays small
        write("bnb-nf4" + ("-nested" if nested else ""), t, back, {"quantization_config": {
            "quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4",
            "bnb_4bit_use_double_quant": nested}}, by)
    w = weight(16, 64).to(torch.float16)
    q, scb, _ = F.int8_vectorwise_quant(w)
    write("bnb-int8", {"m.weight": q, "m.SCB": scb}, F.int8_vectorwise_dequant(q, scb),
          {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}}, by)


def mlx():
    import mlx.core as mx, numpy as np, importlib.metadata as md
    for bits, group in ((4, 64), (3, 32), (6, 64), (8, 32)):
        w = mx.array(weight(16, 128).numpy())
        q, s, z = mx.quantize(w, group_size=group, bits=bits)
        d = mx.dequantize(q, s, z, group_size=group, bits=bits)
        tt = lambda a: torch.from_numpy(np.array(a))
        write(f"mlx-{bits}bit", {"m.weight": tt(q), "m.scales": tt(s), "m.biases": tt(z)}, tt(d),
              {"quantization": {"group_size": group, "bits": bits}}, "mlx " + md.version("mlx"))


def gptq():
    """AutoGPTQ's CUDA layer packs and dequantises in plain torch; a group index in order, and one shuffled."""
    import importlib.util, importlib.metadata as md
    spec = importlib.util.find_spec("auto_gptq")
    src = os.path.join(os.path.dirname(spec.origin), "nn_modules", "qlinear", "qlinear_cuda.py")
    text = open(src).read().replace("import transformers", "import transformers, transformers.pytorch_utils")
    text = text.replace("import autogptq_cuda_256", "raise ImportError").replace("import autogptq_cuda_64", "raise ImportError")
    mod = types.ModuleType("qlinear_cuda")
    exec(compile(text, src, "exec"), mod.__dict__)
    for name, bits, order in (("gptq-4bit", 4, False), ("gptq-4bit-actorder", 4, True), ("gptq-8bit", 8, False), ("gptq-3bit", 3, False)):
        rows, cols, g = 32, 64, 32
        lin = torch.nn.Linear(cols, rows, bias=False)
        lin.weight.data = weight(rows, cols)
        idx = torch.arange(cols) // g
        if order:
            idx = idx[torch.randperm(cols, generator=gen)]
        scales, zeros = torch.zeros(rows, cols // g), torch.zeros(rows, cols // g)
        for k in range(cols // g):
            x = lin.weight.data[:, idx == k]
            lo, hi = x.amin(1).clamp(max=0), x.amax(1).clamp(min=0)
            scales[:, k] = ((hi - lo) / (2**bits - 1)).to(torch.float16).float()
            zeros[:, k] = torch.clamp(torch.round(-lo / scales[:, k]), 1, 2**bits - 1)
        full = torch.zeros_like(lin.weight.data)
        for c in range(cols):
            s, z = scales[:, idx[c]], zeros[:, idx[c]]
            full[:, c] = (torch.clamp(torch.round(lin.weight.data[:, c] / s) + z, 0, 2**bits - 1) - z) * s
        lin.weight.data = full.half()
        q = mod.QuantLinear(bits, g, cols, rows, False)
        q.pack(lin, scales, zeros, idx.to(torch.int32))
        back = q(torch.eye(cols, dtype=torch.float16)).float()  # the forward of the identity is the transposed weight
        write(name, {"m.qweight": q.qweight, "m.qzeros": q.qzeros, "m.scales": q.scales, "m.g_idx": q.g_idx},
              back, {"quantization_config": {"quant_method": "gptq", "bits": bits, "group_size": g, "desc_act": order,
                     "sym": False, "checkpoint_format": "gptq"}}, "auto-gptq " + md.version("auto-gptq"))


def awq():
    import importlib.metadata as md
    for p in sys.path:
        if os.path.exists(os.path.join(p, "awq", "utils", "packing_utils.py")):
            base = os.path.join(p, "awq")
    load = lambda f: (lambda m: (exec(compile(open(f).read(), f, "exec"), m.__dict__), m)[1])(types.ModuleType("x"))
    pack = load(os.path.join(base, "utils", "packing_utils.py"))
    src = open(os.path.join(base, "modules", "linear", "gemm.py")).read()
    src = src[src.index("class WQLinear_GEMM"):]
    src = src[:src.index("    def forward")]
    ns = {"nn": torch.nn, "torch": torch, "get_best_device": lambda: "cpu"}
    exec(compile(src, "gemm.py", "exec"), ns)
    rows, cols, g = 32, 64, 32
    lin = torch.nn.Linear(cols, rows, bias=False)
    x = weight(rows, cols).reshape(rows, -1, g)
    lo, hi = x.amin(2).clamp(max=0), x.amax(2).clamp(min=0)
    scales = ((hi - lo) / 15).half()
    zeros = torch.clamp(torch.round(-lo / scales.float()), 0, 15)
    code = torch.clamp(torch.round(x / scales.float()[..., None]) + zeros[..., None], 0, 15)
    lin.weight.data = ((code - zeros[..., None]) * scales.float()[..., None]).reshape(rows, cols).half()
    q = ns["WQLinear_GEMM"].from_linear(lin, 4, g, scales=scales.t().contiguous(), zeros=zeros.t().contiguous())
    back = pack.dequantize_gemm(q.qweight, q.qzeros, q.scales, 4, g)
    write("awq-gemm", {"m.qweight": q.qweight, "m.qzeros": q.qzeros, "m.scales": q.scales}, back,
          {"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": g, "zero_point": True, "version": "gemm"}},
          "autoawq " + md.version("autoawq"))


def modelopt():
    import importlib.metadata as md
    from modelopt.torch.quantization.qtensor.nvfp4_tensor import NVFP4QTensor
    from modelopt.torch.quantization.qtensor.mxfp4_tensor import MXFP4QTensor
    by = "nvidia-modelopt " + md.version("nvidia-modelopt")
    w = weight(16, 64)
    q, s, s2 = NVFP4QTensor.quantize(w.clone(), 16)
    back = q.dequantize(dtype=torch.float32, scale=s, double_scale=s2, block_sizes={-1: 16})
    write("modelopt-nvfp4", {"m.weight": q._quantized_data, "m.weight_scale": s, "m.weight_scale_2": s2.reshape(())}, back,
          {"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]}}, by)
    q, s = MXFP4QTensor.quantize(w.clone(), 32)
    back = q.dequantize(dtype=torch.float32, scale=s, block_sizes={-1: 32})
    write("modelopt-mxfp4", {"m.weight": q._quantized_data, "m.weight_scale": s.reshape(16, 2)}, back,
          {"quantization_config": {"quant_method": "modelopt", "quant_algo": "MXFP4"}}, by)


def gptoss():
    import transformers
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors
    E, O, I = 2, 16, 64
    blocks = torch.randint(0, 256, (E, O, I // 32, 16), generator=gen, dtype=torch.uint8)
    scales = torch.randint(112, 124, (E, O, I // 32), generator=gen, dtype=torch.uint8)
    back = convert_moe_packed_tensors(blocks.clone(), scales.clone(), dtype=torch.float32)
    write("gptoss-mxfp4", {"m_blocks": blocks, "m_scales": scales}, back.transpose(1, 2).reshape(E * O, I),
          {"model_type": "gpt_oss", "quantization_config": {"quant_method": "mxfp4"}}, "transformers " + transformers.__version__)


def torchao():
    import torchao
    from torchao.prototype.safetensors.safetensors_support import flatten_tensor_state_dict
    from torchao.quantization import quantize_, Float8WeightOnlyConfig, Int8WeightOnlyConfig
    for name, conf in (("torchao-float8", Float8WeightOnlyConfig()), ("torchao-int8", Int8WeightOnlyConfig(version=2))):
        lin = torch.nn.Sequential(torch.nn.Linear(64, 16, bias=False))
        lin[0].weight.data = weight(16, 64).to(torch.bfloat16)
        quantize_(lin, conf)
        t, meta = flatten_tensor_state_dict({"m.weight": lin[0].weight})
        back = lin[0].weight.dequantize().float()
        write(name, t, back, {"quantization_config": {"quant_method": "torchao"}}, "torchao " + torchao.__version__, meta)


for f in (compressed, bnb, mlx, gptq, awq, modelopt, gptoss, torchao):
    if len(sys.argv) > 1 and f.__name__ not in sys.argv[1:]:
        continue
    try:
        f()
    except Exception as e:
        import traceback
        print("FAILED", f.__name__)
        traceback.print_exc(limit=4)
