"""Prefill by Hugging Face transformers on the CPU, timed on request.

usage: transformers_prefill.py FOLDER

Prints one JSON line with versions, then answers each line of the standard input, {"threads": n, "ids": [...]}, by one of
its own: seconds of one prefill in fp32, the best token after it and its log-probability.
"""
import json
import platform
import sys
import time

import torch
import transformers
from transformers import DeepseekV4ForCausalLM

torch.set_grad_enabled(False)
model = DeepseekV4ForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32).eval()
versions = {"python": platform.python_version(), "torch": torch.__version__, "transformers": transformers.__version__,
            "attention": model.config._attn_implementation, "cpu": torch.backends.cpu.get_cpu_capability()}
print(json.dumps(versions), flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    torch.set_num_threads(ask["threads"])
    ids = torch.tensor([ask["ids"]])
    start = time.perf_counter()
    out = model(ids, use_cache=True, logits_to_keep=1)
    seconds = time.perf_counter() - start
    best = out.logits[0, -1].log_softmax(-1).max(-1)
    print(json.dumps({"seconds": seconds, "token": best.indices.item(), "logprob": best.values.item()}), flush=True)
