#!/usr/bin/env python3
"""Record the hidden states of one forward pass of a Hugging Face DeepSeek-V4 model for assay's precision pillar.

Usage:

    python3 capture.py MODEL_FOLDER OUT.safetensors --ids prompt.json [--last 24] [--code 8,12,6]
                       [--device cuda] [--dtype bfloat16]

prompt.json is a JSON list of token ids. --code gives the token ids of the answer if the prompt contains one (a needle):
its rank in the indexer's order is then reported. --last N keeps the last N positions of per-token tensors and all
compressed rows (0, the default, keeps all): long prompts are what makes selection choose, and one row of V4-Flash's residual is
64 kB per hyper-connection. A short pass with all positions and a long one with the last ones complement each other.

The file has the form of fixtures/nano-v4/hf_trace_067.safetensors, which is a committed example: every tensor under the
name of its module with ".in.<i>" or ".out[.<i>]", "prompt" and "code" as int32, and the metadata length,
kept_last_positions and source. Floats are stored as fp32. Read it with `precision.Captured(os.DirFS(folder), "OUT.safetensors")`.

Needs torch and transformers, which are imported only when a model is run; writing the file needs the standard library
alone. Attention weights are recorded only with the eager implementation, which this script asks for.
"""
import argparse
import json
import os
import struct
import sys
import tempfile

# Modules of a layer whose outputs are kept, and those whose inputs are, too. The names are transformers'
# (models/deepseek_v4/modeling_deepseek_v4.py).
OUTPUTS = (
    "attn_hc", "ffn_hc", "input_layernorm", "post_attention_layernorm", "self_attn", "mlp", "mlp.gate",
    "self_attn.q_a_norm", "self_attn.compressor.indexer", "self_attn.compressor.indexer.scorer",
    "self_attn.compressor.indexer.kv_norm",
)
INPUTS = ("attn_hc", "ffn_hc", "hc_head", "scorer")


def wanted(module):
    """Tell whether a module's output and its input are kept."""
    _, inside, rest = module.partition("layers.")
    _, _, tail = rest.partition(".")
    out = module == "model.hc_head" or bool(inside) and tail in OUTPUTS
    return out, out and module.endswith(INPUTS)


def flatten(name, value, is_tensor):
    """Give (name, tensor) pairs of a module's input or output; tuples become name.0, name.1 and so on."""
    if is_tensor(value):
        yield name, value
    elif isinstance(value, (tuple, list)):
        for i, part in enumerate(value):
            if is_tensor(part):
                yield f"{name}.{i}", part


def token_axis(shape, length):
    """Give the axis of shape that runs over the tokens, or None for compressed rows.

    It is the first after a batch of one, the third of [1, heads, tokens, ...], or the first where the batch was folded away.
    """
    if len(shape) >= 2 and shape[0] == 1 and shape[1] == length:
        return 1
    if len(shape) == 4 and shape[2] == length:
        return 2
    if len(shape) == 2 and shape[0] == length:
        return 0
    return None


def write_safetensors(path, tensors, metadata):
    """Write [(name, dtype, shape, bytes)] whole or not at all. dtype is F32 or I32, bytes little-endian."""
    header, at = {"__metadata__": metadata}, 0
    for name, dtype, shape, raw in tensors:
        count = 4
        for n in shape:
            count *= n
        if dtype not in ("F32", "I32") or count != len(raw):
            raise ValueError(f"{name}: {len(raw)} bytes do not fill {dtype} {list(shape)}")
        if name in header:
            raise ValueError(f"{name} is given twice")
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(raw)]}
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".capture-")
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(struct.pack("<Q", len(text)) + text)
            for _, _, _, raw in tensors:
                f.write(raw)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def int32s(name, values):
    return name, "I32", [len(values)], struct.pack(f"<{len(values)}i", *values)


def record(model, ids, last, torch):
    """Run the model once over ids and return the kept tensors by name, as fp32 or int32 on the CPU."""
    kept, hooks = {}, []

    def keep(name, value):
        for key, t in flatten(name, value, torch.is_tensor):
            t = t.detach()
            axis = token_axis(t.shape, len(ids))
            if last and axis is not None:
                t = t.narrow(axis, len(ids) - last, last)
            kind = torch.float32 if t.is_floating_point() else torch.int32
            kept[key] = t.to(kind).contiguous().cpu()

    def hook(name, with_input):
        def after(_module, inputs, _keywords, output):
            keep(name + ".out", output)
            if with_input:
                keep(name + ".in", inputs)
        return after

    for name, module in model.named_modules():
        out, into = wanted(name)
        if out:
            hooks.append(module.register_forward_hook(hook(name, into), with_kwargs=True))
    try:
        with torch.no_grad():
            model(torch.tensor([ids], device=next(model.parameters()).device), use_cache=True)
    finally:
        for h in hooks:
            h.remove()
    return kept


def parse(argv):
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("model")
    p.add_argument("out")
    p.add_argument("--ids", required=True, help="JSON file with a list of token ids")
    p.add_argument("--last", type=int, default=0, help="positions to keep of per-token tensors, 0 for all")
    p.add_argument("--code", default="", help="token ids of the answer, separated by commas")
    p.add_argument("--device", default="cpu")
    p.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    return p.parse_args(argv)


def main(argv):
    a = parse(argv)
    with open(a.ids, encoding="utf-8") as f:
        ids = json.load(f)
    if not ids or not all(isinstance(i, int) and i >= 0 for i in ids):
        sys.exit(f"{a.ids} must hold a JSON list of token ids")
    if not 0 <= a.last <= len(ids):
        sys.exit(f"--last {a.last} is not from 0 to the {len(ids)} tokens of the prompt")
    last = 0 if a.last == len(ids) else a.last
    code = [int(c) for c in a.code.split(",") if c]

    import torch
    import transformers

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    model = transformers.AutoModelForCausalLM.from_pretrained(
        a.model, dtype=getattr(torch, a.dtype), attn_implementation="eager").to(a.device).eval()
    tensors = [
        (name, "I32" if t.dtype == torch.int32 else "F32", list(t.shape), t.numpy().tobytes())
        for name, t in sorted(record(model, ids, last, torch).items())
    ]
    tensors.append(int32s("prompt", ids))
    if code:
        tensors.append(int32s("code", code))
    write_safetensors(a.out, tensors, {
        "source": f"transformers {transformers.__version__} {type(model).__name__}, {a.dtype}, TF32 off",
        "length": str(len(ids)), "kept_last_positions": str(last),
    })
    print(f"{a.out}: {len(tensors)} tensors of {len(ids)} tokens")


if __name__ == "__main__":
    main(sys.argv[1:])
