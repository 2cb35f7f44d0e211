package engine

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// eachText makes a change of every text of a message a decision about parts.
func eachText(change func(s string) string) func(p []part) []part {
	return func(p []part) []part {
		out := slices.Clone(p)
		for i := range out {
			if out[i].Colour < 0 {
				out[i].Text = change(out[i].Text)
			}
		}
		return out
	}
}

func freshLimits() []Bug {
	const mech = "limits"
	return []Bug{
		{
			Slug: "window-shared-by-slots", Mechanism: mech, Origin: "ggml-org/llama.cpp#11681",
			Effect: "the window is divided among the slots, and the server shows the whole: prompts are refused far below it",
			Truth:  Truth{"prompt refused", []string{"length"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) {
				p.Context, p.Slots = 32768, pick(r, 8, 16)
			},
			Stated: Statement{
				Accept:  []string{"window-split"},
				Visible: "prompts longer than 2,048 or 4,096 tokens that name a limit of the answer",
			},
			apply: func(pl *plant) string {
				n := pl.m.p.Slots
				pl.m.fit.limit = func(context int) int { return context / n }
				return fmt.Sprintf("%d slots", n)
			},
		},
		{
			Slug: "message-limit-in-bytes", Mechanism: mech, Origin: "",
			Effect: "a limit in tokens is compared with bytes: of a long message only the end is kept",
			Truth:  Truth{"prompt cut", []string{"length", "start-distance"}, true, nil},
			Stated: Statement{
				Accept: []string{"head-cut"}, Visible: "messages of more than 6,000 to 12,000 bytes, in what stands early",
			},
			apply: func(pl *plant) string {
				n := pick(pl.r, 6000, 8192, 12000)
				pl.m.tmpl.parts = eachText(func(s string) string { return strings.ToValidUTF8(s[max(0, len(s)-n):], "") })
				return fmt.Sprintf("%d bytes", n)
			},
		},
	}
}

// plainLetters maps letters with marks to those without.
var plainLetters = strings.NewReplacer(
	"ä", "a", "ö", "o", "ü", "u", "Ä", "A", "Ö", "O", "Ü", "U", "é", "e", "è", "e", "ê", "e",
	"ë", "e", "ï", "i", "î", "i", "í", "i", "á", "a", "à", "a", "â", "a", "ã", "a", "å", "a",
	"ó", "o", "ò", "o", "ô", "o", "õ", "o", "ú", "u", "ù", "u", "û", "u", "ñ", "n", "ç", "c",
	"ź", "z", "ż", "z", "ž", "z", "š", "s", "č", "c", "ć", "c", "ř", "r", "ý", "y", "ę", "e",
	"ą", "a", "ń", "n", "ő", "o", "ű", "u", "É", "E", "Ø", "O", "ø", "o", "ś", "s", "ğ", "g",
	"ş", "s", "ě", "e", "ů", "u", "й", "и", "ё", "е",
)

var reBlankRun = regexp.MustCompile(`[ \t]{2,}`)

func freshTemplate() []Bug {
	const mech = "template"
	return []Bug{
		{
			Slug: "template-of-another-family", Mechanism: mech, Origin: "",
			Effect: "the model's template is not found and ChatML is used: its tags are text to this model, which never " +
				"learns that it is its turn",
			Truth:   Truth{"template tokens", []string{"always"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) { p.Family, p.Tools = pick(r, "llama3", "deepseek"), true },
			Stated: Statement{
				Accept: []string{"generation-prompt", "always-broken"}, Visible: "any chat; text completions are right",
			},
			apply: func(pl *plant) string { pl.m.tmpl.fallback = true; return pl.m.p.Family },
		},
		{
			Slug: "system-with-first-turn-only", Mechanism: mech, Origin: "axolotl-ai-cloud/axolotl#3736",
			Effect: "the system message is rendered in chats of one turn only: from the second question on it is gone",
			Truth:  Truth{"message lost", []string{"turns", "roles"}, true, nil},
			Stated: Statement{
				Accept: []string{"message-dropped"}, Visible: "chats with a system message and two questions or more",
			},
			apply: func(pl *plant) string {
				pl.m.tmpl.pick = func(msgs []message) []message {
					asked := 0
					for _, m := range msgs {
						asked += btoi(m.Role == "user")
					}
					if asked > 1 && (msgs[0].Role == "system" || msgs[0].Role == "developer") {
						return msgs[1:]
					}
					return msgs
				}
				return ""
			},
		},
		{
			Slug: "tool-results-last", Mechanism: mech, Origin: "",
			Effect: "results of tools are collected and rendered behind all other messages: the question is not the last word",
			Truth:  Truth{"message lost", []string{"roles", "turns"}, true, nil},
			Stated: Statement{
				Accept: []string{"message-dropped", "wrong-prompt"}, Visible: "chats with a tool result and a question behind it",
			},
			apply: func(pl *plant) string {
				pl.m.tmpl.pick = func(msgs []message) []message {
					out := slices.Clone(msgs)
					slices.SortStableFunc(out, func(a, b message) int { return btoi(a.Role == "tool") - btoi(b.Role == "tool") })
					return out
				}
				return ""
			},
		},
		{
			Slug: "marks-stripped", Mechanism: "tokenizer", Origin: "",
			Effect: "the tokenizer falls back to a normaliser that strips marks from letters: words of many languages are " +
				"read as others",
			Truth: Truth{"unicode", []string{"unicode"}, true, nil},
			Stated: Statement{
				Accept: []string{"unicode-lost"}, Visible: "chats whose answers copy letters with marks, streamed or not",
			},
			apply: func(pl *plant) string {
				pl.m.tmpl.parts = eachText(plainLetters.Replace)
				return ""
			},
		},
		{
			Slug: "blank-runs-merged", Mechanism: "tokenizer", Origin: "",
			Effect: "the tokenizer falls back to a normaliser that merges runs of blanks: indented text comes back without",
			Truth:  Truth{"text lost", []string{"wording"}, true, nil},
			Stated: Statement{
				Accept: []string{"unexplained"}, Visible: "chats that copy text with two blanks or more in a row",
			},
			apply: func(pl *plant) string {
				pl.m.tmpl.parts = eachText(func(s string) string { return reBlankRun.ReplaceAllString(s, " ") })
				return ""
			},
		},
	}
}
