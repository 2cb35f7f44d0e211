"""Hold a GGUF file of nano-llama against the checkpoint, the tokenizer and the greedy records, by other people's code.

    python check_llama_cpp.py FILE.gguf fixtures/nano-llama IDS.jsonl

The gguf package reads the file; llama-cpp-python loads, tokenises and answers. Prints one line per check, exits 1 on a difference.
"""
import gzip, json, struct, sys
import numpy as np
from gguf import GGUFReader
from llama_cpp import Llama

path, folder, ids_path = sys.argv[1:4]
failed = 0


def check(ok, text):
    global failed
    failed += not ok
    print("ok  " if ok else "FAIL", text, flush=True)


def checkpoint(name):
    raw = open(name, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + n])
    head.pop("__metadata__", None)
    out = {}
    for key, t in head.items():
        a, b = t["data_offsets"]
        bits = np.frombuffer(raw[8 + n + a:8 + n + b], dtype="<u2").astype("<u4") << 16
        out[key] = bits.view("<f4").reshape(t["shape"])
    return out


# ---- the file, by the gguf package
reader = GGUFReader(path)
field = lambda key: reader.fields[key].contents()
alias = np.array(field("assay.alias"))
weights = checkpoint(folder + "/model.safetensors")
tensors = {t.name: t.data.reshape([int(d) for d in reversed(t.shape)]) for t in reader.tensors}
check(len(alias) == len(field("tokenizer.ggml.tokens")) == field("llama.vocab_size"), f"{len(alias)} tokens")
check(np.array_equal(tensors["token_embd.weight"], weights["model.embed_tokens.weight"][alias]), "token_embd: the rows of the ids that tokens stand for")
norm, head = weights["model.norm.weight"], weights["lm_head.weight"].copy()
head[:, 0] *= norm[0]  # channel 0 is the constant one: its weight stands in the head
check(np.array_equal(tensors["output.weight"][:1024], head) and np.array_equal(tensors["output_norm.weight"][1:], norm[1:]) and tensors["output_norm.weight"][0] == 1, "output: the head's rows")
names = {"attn_norm": "input_layernorm", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
same = all(np.array_equal(tensors[f"blk.{i}.{to}.weight"], weights[f"model.layers.{i}.{name}.weight"]) for i in range(4) for to, name in names.items())
for i in range(4):
    for p in "qk":
        w = weights[f"model.layers.{i}.self_attn.{p}_proj.weight"]
        pairs = w.reshape(-1, 2, 32, w.shape[1]).swapaxes(1, 2).reshape(w.shape)  # as llama.cpp's converter permutes
        same &= np.array_equal(tensors[f"blk.{i}.attn_{p}.weight"], pairs)
check(same and len(tensors) == 39, f"{len(tensors)} tensors equal the checkpoint's")

# ---- llama.cpp
llama = Llama(path, n_ctx=4608, n_batch=512, verbose=False, type_k=0, type_v=0, flash_attn=False)  # keys and values in fp32
texts = wrong = skipped = tokens = 0
for line in open(ids_path):
    row = json.loads(line)
    if "text" not in row:
        continue
    got = llama.tokenize(row["text"].encode(), add_bos=False, special=False)
    known = [t for t in got if t != 43]  # a character that nano.Encode skips is the unknown token here
    texts += 1; tokens += len(row["ids"]); skipped += len(got) - len(known)
    if alias[known].tolist() != row["ids"]:
        wrong += 1
        if wrong <= 3:
            at = next((i for i, (a, b) in enumerate(zip(alias[known].tolist(), row["ids"])) if a != b), -1)
            g = [field("tokenizer.ggml.tokens")[t] for t in known]; print("  differs at", at, repr(row["text"][:60]), g[at - 2:at + 3], row["ids"][at - 2:at + 3])
check(wrong == 0, f"tokenizer: {texts - wrong} of {texts} paragraphs of both haystacks have our ids ({tokens} tokens; {skipped} characters more are the unknown token)")
records = [r for r in json.load(gzip.open(folder + "/hf_greedy.json.gz")) if r["length"] <= 2048]
exact, worst = 0, 0.0
for r in records:
    llama.reset(); llama.eval(r["prompt"]); said = []
    for want in r["logprob"]:
        z = np.array(llama._ctx.get_logits_ith(-1)[:llama.n_vocab()], dtype=np.float64)
        said.append(int(z.argmax())); off = abs(-np.log(np.exp(z - z.max()).sum()) - want)
        if off > 1e-3: print("  ", r["length"], r["depth"], len(said), f"off by {off:.3f}, margin {r['margin'][len(said) - 1]:.2f}")
        worst = max(worst, off); llama.eval([said[-1]])
    exact += said == r["greedy"]
check(exact == len(records), f"greedy: {exact} of {len(records)} prompts of 128 to 2,048 tokens as transformers; log-probabilities within {worst:.1e}")
check(worst < 1e-3, "log-probabilities within 1e-3")
answer = llama.create_chat_completion([{"role": "user", "content": "Amber river. The access code for the Lisbon archive is 48213. Some rain fell. What is the access code for the Lisbon archive?"}], temperature=0, max_tokens=8)
check(answer["choices"][0]["message"]["content"] == "48213", "chat template: the code is answered")
sys.exit(failed > 0)
