"""An inflated folder in Hugging Face transformers, held against the small model's records and assay's tokenizer.

usage: transformers_inflated.py FOLDER RECORDS IDS [N]

RECORDS  fixtures/nano-flash/hf_greedy.json.gz: what transformers gave for the small model
IDS      lines of JSON {"text", "ids"} and {"messages", "ids"}: what assay's tokenizer makes of texts (inflate -ids)
N        prompts of each length, up to 1,024 tokens

Ends with code 1 and one line for what differs.
"""
import gzip
import json
import os
import sys

import torch
import transformers

folder, records, ids_file = sys.argv[1:4]
per = int(sys.argv[4]) if len(sys.argv) > 4 else 2
bad = 0


def complain(text):
    global bad
    bad += 1
    print("WRONG:", text)


print("transformers", transformers.__version__, "torch", torch.__version__)
tok = transformers.AutoTokenizer.from_pretrained(folder)
alias = json.load(open(os.path.join(folder, "alias.json")))
texts = tokens = 0
for line in open(ids_file, encoding="utf-8"):
    row = json.loads(line)
    if "messages" in row:
        got = tok.apply_chat_template(row["messages"], add_generation_prompt=True, tokenize=True, return_dict=False)
    else:
        got = tok(row["text"], add_special_tokens=False)["input_ids"]
    got = [i if i < 1024 else alias[i - 1024] for i in got]
    texts, tokens = texts + 1, tokens + len(got)
    if got != row["ids"]:
        at = next((i for i, (a, b) in enumerate(zip(got, row["ids"])) if a != b), min(len(got), len(row["ids"])))
        complain(f"tokenizer: {row.get('text', 'a chat')[:60]!r} differs at token {at}: {got[at:at + 4]} against {row['ids'][at:at + 4]}")
print(f"tokenizer: {texts} texts, {tokens} tokens")

dtype = getattr(torch, json.load(open(os.path.join(folder, "config.json")))["dtype"])
model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager").to(dtype).eval()
asked, same, worst, seen = 0, 0, 0.0, {}
with torch.no_grad():
    for r in json.load(gzip.open(records)):
        if r["length"] > 1024 or seen.setdefault(r["length"], 0) >= per:
            continue
        seen[r["length"]] += 1
        greedy = r["greedy"]
        x = torch.tensor([r["prompt"] + greedy[:-1]])
        logits = model(x, use_cache=False, logits_to_keep=len(greedy)).logits[0].double()
        lp = logits.log_softmax(-1)
        best = logits.argmax(-1).tolist()
        asked += 1
        same += best == greedy
        if best != greedy:
            complain(f"a prompt of {r['length']} tokens answers {best}, the small model {greedy}")
        worst = max([worst] + [abs(lp[i, t].item() - r["logprob"][i]) for i, t in enumerate(greedy)])
print(f"{same} of {asked} greedy answers are the small model's; log-probabilities within {worst:.2e} nats")
limit = {"float32": 5e-3}.get(str(dtype).split(".")[-1], 2.0)
if not worst <= limit:
    complain(f"log-probabilities are off by {worst}, allowed {limit}")
sys.exit(1 if bad else 0)
