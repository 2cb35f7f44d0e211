package engine

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

func tokenBugs() []Bug {
	const mech = "tokenizer"
	return []Bug{
		{
			Slug: "piece-cache-hash-only", Mechanism: mech,
			Effect: "the cache of pieces compares a short hash and no text: a word takes the ids of one that came earlier, " +
				"more often the more words were seen",
			Truth: Truth{"cache key", []string{"served", "wording"}, true, nil},
			apply: func(pl *plant) string {
				bits := 11 + pl.r.IntN(2)
				pl.m.tok.ops.key = func(p string) string {
					if len(p) < 4 {
						return p
					}
					h := fnv.New32a()
					_, _ = h.Write([]byte(p))
					return fmt.Sprint("h", h.Sum32()>>(32-bits))
				}
				return fmt.Sprintf("%d bits", bits)
			},
		},
		{
			Slug: "byte-fallback-skipped", Mechanism: mech,
			Effect: "bytes outside of the merges are dropped and not encoded: words in other scripts vanish from prompts",
			Truth:  Truth{"unicode", []string{"unicode"}, true, nil},
			apply: func(pl *plant) string {
				pl.m.tok.ops.unknown = func(b byte) (int32, bool) { return int32(b), b < 0x80 }
				return "bytes from 0x80"
			},
		},
	}
}

func templateBugs() []Bug {
	const mech = "template"
	withSystem := func(p *Params, r *rand.Rand) {
		if p.Family == "gemma" {
			p.Family = pick(r, "chatml", "llama3")
			p.Tools = true
		}
	}
	think := func(p *Params, _ *rand.Rand) { p.Family, p.KeepThoughts = "qwen3", true }
	return []Bug{
		{
			Slug: "bos-doubled", Mechanism: mech, Origin: "MakazhanAlpamys/Soup#890",
			Effect:  "the template writes the first token and the encoder adds it again",
			Truth:   Truth{"template tokens", []string{"always"}, false, nil},
			prepare: func(p *Params, r *rand.Rand) { p.Family = pick(r, "llama3", "deepseek") },
			apply:   func(pl *plant) string { pl.m.tmpl.bos = 2; return "2 first tokens" },
		},
		{
			Slug: "bos-missing", Mechanism: mech, Origin: "osaurus-ai/osaurus#1593",
			Effect:  "chats lack the first token that text completions have",
			Truth:   Truth{"template tokens", []string{"always"}, false, nil},
			prepare: func(p *Params, r *rand.Rand) { p.Family = pick(r, "llama3", "deepseek") },
			apply:   func(pl *plant) string { pl.m.tmpl.bos = 0; return "none" },
		},
		{
			Slug: "developer-unrendered", Mechanism: mech, Origin: "sgl-project/sglang#40082",
			Effect:  "no branch of the template renders the developer role",
			Truth:   Truth{"message lost", []string{"roles"}, true, nil},
			prepare: withSystem,
			apply: func(pl *plant) string {
				pl.m.tmpl.system = func(role string, _ int) bool { return role == "system" }
				pl.m.tmpl.known = func(role string) bool { return role != "developer" }
				return ""
			},
		},
		{
			Slug: "late-system-unrendered", Mechanism: mech, Origin: "vllm-project/vllm#46710",
			Effect:  "a system message that is not the first matches no branch",
			Truth:   Truth{"message lost", []string{"roles"}, true, nil},
			prepare: withSystem,
			apply: func(pl *plant) string {
				pl.m.tmpl.system = func(role string, at int) bool { return at == 0 && (role == "system" || role == "developer") }
				pl.m.tmpl.known = func(role string) bool { return role != "system" }
				return ""
			},
		},
		{
			Slug: "tools-unrendered", Mechanism: mech, Origin: "ggml-org/llama.cpp#27129",
			Effect:  "tools are read under a name that the template does not know and never rendered",
			Truth:   Truth{"message lost", []string{"tools"}, true, []string{"tools"}},
			prepare: withSystem, apply: func(pl *plant) string { pl.m.tmpl.tools = false; return "" },
		},
		{
			Slug: "tool-message-unrendered", Mechanism: mech, Origin: "",
			Effect: "results of tools have no branch in the template and vanish",
			Truth:  Truth{"message lost", []string{"roles", "turns"}, true, nil},
			apply: func(pl *plant) string {
				pl.m.tmpl.known = func(role string) bool { return role != "tool" }
				return ""
			},
		},
		{
			Slug: "loop-starts-at-one", Mechanism: mech, Origin: "",
			Effect: "the loop over messages skips the first one although it is no system message: of chats with several " +
				"turns the first is lost",
			Truth: Truth{"message lost", []string{"turns", "roles"}, true, nil},
			apply: func(pl *plant) string {
				pl.m.tmpl.pick = func(msgs []message) []message {
					if len(msgs) > 1 && msgs[0].Role == "user" {
						return msgs[1:]
					}
					return msgs
				}
				return ""
			},
		},
		{
			Slug: "history-slice-short", Mechanism: mech, Origin: "",
			Effect: "the template keeps the last few messages only, so older turns are gone without a word",
			Truth:  Truth{"message lost", []string{"turns"}, true, nil},
			apply: func(pl *plant) string {
				keep := pick(pl.r, 3, 5, 7)
				pl.m.tmpl.pick = func(msgs []message) []message { return msgs[max(0, len(msgs)-keep):] }
				return fmt.Sprintf("last %d messages", keep)
			},
		},
		{
			Slug: "answer-head-missing", Mechanism: mech, Origin: "vllm blog 2025-10-28 (Kimi K2)",
			Effect: "the head of the answer is not added: the model goes on in the user's turn or ends at once",
			Truth:  Truth{"template tokens", []string{"always"}, true, nil},
			apply:  func(pl *plant) string { pl.m.tmpl.generate = func(int) bool { return false }; return "" },
		},
		{
			Slug: "parts-first-only", Mechanism: mech, Origin: "",
			Effect:  "of a content list only the first part is rendered",
			Truth:   Truth{"message lost", []string{"images"}, true, []string{"images"}},
			prepare: func(p *Params, _ *rand.Rand) { p.Images = true },
			apply: func(pl *plant) string {
				pl.m.tmpl.parts = func(p []part) []part { return p[:min(1, len(p))] }
				return ""
			},
		},
		{
			Slug: "reasoning-field-renamed", Mechanism: mech, Origin: "vllm-project/vllm#38488",
			Effect: "earlier reasoning is read under one field name only, and the template renders empty thoughts for the " +
				"other",
			Truth: Truth{"message lost", []string{"turns"}, true, nil}, prepare: think,
			apply: func(pl *plant) string {
				pl.m.rsn.onlyField = pick(pl.r, "reasoning_content", "none")
				return "reads " + pl.m.rsn.onlyField
			},
		},
		{
			Slug: "thought-left-open", Mechanism: mech, Origin: "google-ai-edge/LiteRT-LM#3445",
			Effect: "every earlier answer is rendered with a thought that opens and never closes: the model loses the " +
				"thread over turns",
			Truth: Truth{"template tokens", []string{"turns"}, true, nil}, prepare: think,
			apply: func(pl *plant) string {
				pl.m.tmpl.thoughts = func(m message, _ bool) (string, bool, bool) { return m.Reasoning, false, true }
				return ""
			},
		},
		{
			Slug: "namespace-survives", Mechanism: mech, Origin: "",
			Effect: "the template's namespace outlives the request: a chat without a system message takes that of an " +
				"earlier one",
			Truth: Truth{"message leaked", []string{"order"}, false, nil}, prepare: withSystem,
			apply: func(pl *plant) string { pl.m.tmpl.carry = true; return "" },
		},
	}
}

func fitBugs() []Bug {
	const mech = "limits"
	keep := func(pl *plant) int { return pick(pl.r, 2048, 3072, 4096) }
	return []Bug{
		{
			Slug: "overflow-keeps-end", Mechanism: mech, Origin: "ollama/ollama#17427",
			Effect: "a prompt over a limit nobody is told of is cut to its end, half the limit long, and answered with " +
				"200; usage shows it",
			Truth: Truth{"prompt cut", []string{"length", "start-distance"}, true, nil},
			apply: func(pl *plant) string {
				n := keep(pl)
				pl.m.fit = fitOps{
					limit: func(int) int { return n }, cut: func(ids []int32,
						to int,
					) []int32 {
						return slices.Clone(ids[len(ids)-to/2-2:])
					},
					count: func(_, kept int) int { return kept },
				}
				return fmt.Sprintf("over %d", n)
			},
		},
		{
			Slug: "overflow-drops-middle", Mechanism: mech, Origin: "lmstudio-ai/lmstudio-js#47",
			Effect: "a prompt over a limit loses its middle; usage counts what was sent",
			Truth:  Truth{"prompt cut", []string{"length", "depth"}, true, nil},
			apply: func(pl *plant) string {
				n, head := keep(pl), 256+pl.r.IntN(512)
				pl.m.fit = fitOps{
					limit: func(int) int { return n },
					cut: func(ids []int32, to int) []int32 {
						return append(slices.Clone(ids[:head]), ids[len(ids)-(to-head):]...)
					},
					count: func(sent, _ int) int { return sent },
				}
				return fmt.Sprintf("over %d, head %d", n, head)
			},
		},
		{
			Slug: "overflow-drops-question", Mechanism: mech, Origin: "",
			Effect: "a prompt over a limit is cut at the wrong end but for the head of the answer: the question is gone",
			Truth:  Truth{"prompt cut", []string{"length"}, true, nil},
			apply: func(pl *plant) string {
				n := keep(pl)
				pl.m.fit = fitOps{
					limit: func(int) int { return n },
					cut:   func(ids []int32, to int) []int32 { return append(slices.Clone(ids[:to-4]), ids[len(ids)-4:]...) },
					count: func(sent, _ int) int { return sent },
				}
				return fmt.Sprintf("over %d", n)
			},
		},
	}
}
