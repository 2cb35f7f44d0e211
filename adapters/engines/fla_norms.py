"""flash-linear-attention's norms (Triton). ENGINE_SOURCES or an installed fla-core; written against 0.6.0."""
from importlib import import_module

from engine import absent, find, op, serve

VERSION = find("fla", "fla-core")
norms = import_module("fla.modules.norm.layernorm")


@op("rms_norm", dtypes=["F32", "BF16"])
def rms_norm(call, x, y, norm_eps):
    absent(call, "residual")
    if x.shape[0]:
        flat = x.reshape(-1, x.shape[-1]).contiguous()
        y.copy_(call.launch(norms.layer_norm_fwd, flat, call.inputs.get("weight"), None, norm_eps, is_rms_norm=True)[0].view(x.shape))
    return "layer_norm_fwd rms"


@op("layer_norm", dtypes=["F32", "BF16"])
def layer_norm(call, x, y, norm_eps):
    if x.shape[0]:
        y.copy_(call.launch(norms.layer_norm_fwd, x.contiguous(), call.inputs.get("weight"), call.inputs.get("bias"), norm_eps)[0])
    return "layer_norm_fwd"


if __name__ == "__main__":
    serve("fla", VERSION)
