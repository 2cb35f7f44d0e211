"""Faults planted around real kernels, one an operator: what an integration gets wrong, run on the device. A judge that accepts
a facet of this worker is broken; its tape is replayed in the tests. Needs the sources of SGLang and Liger."""
from engine import assay_worker, need, op, serve

import liger  # noqa: E402, F401
import sglang_triton  # noqa: E402

REAL = {name: assay_worker._OPS[name]["function"] for name in assay_worker._OPS}
assay_worker._OPS.clear()


def run(call, name):
    """The real adapter on the call as it stands now."""
    return REAL[name](**call.arguments(REAL[name]))


def edited(call, name, **inputs):
    call.inputs = {**call.inputs, **{k: v for k, v in inputs.items() if k in call.inputs}}
    return run(call, name)


@op("merge_state", dtypes=["F32"], attrs={"lse_base": ["e"], "out_lse_base": ["e"], "empty_lse": ["-inf"]})
def base_two(call):
    """Natural log-sum-exps are read as if they were base 2."""
    i, ln2 = call.inputs, 0.6931471805599453
    return edited(call, "merge_state", prefix_lse=i["prefix_lse"] * ln2, suffix_lse=i["suffix_lse"] * ln2)


@op("rms_norm", dtypes=["BF16"])
def gemma_gain(call):
    """The gain is 1 + w, as Gemma has it."""
    need("weight" in call.inputs and "residual" not in call.inputs, "a gain, no residual")
    return edited(call, "rms_norm", weight=call.inputs["weight"] + 1)


@op("block_fp8_gemm", dtypes=["F8_E4M3"])
def stale_scale(call):
    """The scales of the last block of K are those of the first."""
    s = call.inputs["x_scale"].clone()
    s[:, -1] = s[:, 0]
    need(s.shape[1] > 1, "two blocks")
    return edited(call, "block_fp8_gemm", x_scale=s)


@op("rope", dtypes=["F32"])
def next_position(call):
    """Positions are counted from one."""
    need("cos_sin_cache" not in call.inputs, "no cache")
    return edited(call, "rope", positions=call.inputs["positions"] + 1)


@op("mhc_post")
def transposed(call):
    """The mixing matrix is handed over transposed."""
    return edited(call, "mhc_post", comb=call.inputs["comb"].transpose(1, 2).contiguous())


@op("moe_gate", dtypes=["F32"])
def no_renormalisation(call):
    """Weights are not renormalised where the model asks for it."""
    need(call.attrs["renormalise"] and "num_token_non_padded" not in call.inputs, "renormalised")
    call.attrs = {**call.attrs, "renormalise": False}
    return run(call, "moe_gate")


@op("moe_combine", dtypes=["F32"])
def no_scaling(call):
    """The routed scaling factor is forgotten."""
    need("shared_out" not in call.inputs, "no shared expert")
    call.attrs = {**call.attrs, "routed_scaling": 1.0}
    return run(call, "moe_combine")


@op("gqa_attention", facets=[{"dtypes": ["BF16"], "layout": "paged", "phase": "decode"}], made_for={"dim": [64], "values": [64]})
def short_by_one(call):
    """The newest token is not seen: lengths are read before it is counted."""
    i = call.inputs
    need("seq_lens" in i and call.attrs["window_left"] < 0 and bool((i["seq_lens"] > 1).all()), "two keys or more")
    return edited(call, "gqa_attention", seq_lens=i["seq_lens"] - 1)


if __name__ == "__main__":
    serve("planted", sglang_triton.VERSION + " of SGLang, one fault an operator")
