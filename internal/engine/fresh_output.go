package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"unicode/utf8"
)

func freshText() []Bug {
	return []Bug{
		{
			Slug: "last-sign-held", Mechanism: "detokeniser", Origin: "",
			Effect: "a sign beyond ASCII waits for marks that may follow it, and what waits at the end is dropped: answers " +
				"lose such a last sign",
			Truth: Truth{"unicode", []string{"unicode"}, true, nil},
			Stated: Statement{
				Accept: []string{"unicode-lost", "cut-answer"}, Visible: "answers that end in a sign beyond ASCII",
			},
			apply: func(pl *plant) string {
				pl.m.det.ready = func(held string) int {
					n := wholeRunes(held)
					if r, size := utf8.DecodeLastRuneInString(held[:n]); n > 0 && r >= utf8.RuneSelf {
						return n - size
					}
					return n
				}
				pl.m.det.tail = func(string) string { return "" }
				return ""
			},
		},
		{
			Slug: "blank-deltas-skipped", Mechanism: "stream", Origin: "",
			Effect: "deltas that are empty after trimming are not sent: streams lose line breaks and blanks that come alone",
			Truth:  Truth{"stream", []string{"stream"}, true, []string{"stream"}},
			prepare: func(p *Params, _ *rand.Rand) {
				p.Interval = 1
			},
			Stated: Statement{
				Accept: []string{"stream-layer"}, Visible: "streams with line breaks that are tokens of their own",
			},
			apply: func(pl *plant) string {
				pl.m.str.events = func(d delta, _ bool) []delta {
					if d.content != "" && strings.TrimSpace(d.content) == "" {
						return nil
					}
					return []delta{d}
				}
				return ""
			},
		},
		{
			Slug: "start-of-a-stop-dropped", Mechanism: "stop", Origin: "ggml-org/llama.cpp#9867",
			Effect: "text that may begin a stop string is held back, and dropped when the answer ends there",
			Truth:  Truth{"early end", []string{"wording"}, true, []string{"stream"}},
			Stated: Statement{
				Accept:  []string{"cut-answer", "stream-layer"},
				Visible: "requests with a stop string that begins as the answer ends",
			},
			apply: func(pl *plant) string { pl.m.stp.rest = func(string) string { return "" }; return "" },
		},
		{
			Slug: "stops-pile-up", Mechanism: "stop", Origin: "",
			Effect: "stop strings are appended to the list of the server's defaults: every later answer ends at them too",
			Truth:  Truth{"early end", []string{"order", "wording"}, true, []string{"sampling"}},
			Stated: Statement{
				Accept:  []string{"cut-answer", "slot-mix-up"},
				Visible: "after any request with a stop string, answers that contain it",
			},
			apply: func(pl *plant) string {
				var mu sync.Mutex
				var kept []string
				pl.m.stp.carry = func(stops []string) []string {
					mu.Lock()
					defer mu.Unlock()
					kept = append(kept, stops...)
					return append([]string(nil), kept...)
				}
				return ""
			},
		},
		{
			Slug: "end-token-printed", Mechanism: "stop", Origin: "huggingface/text-generation-inference#1254",
			Effect: "the token that ends an answer is part of its text: every answer closes with a tag",
			Truth:  Truth{"stop token", []string{"always"}, true, nil},
			Stated: Statement{Accept: []string{"special-token-leak"}, Visible: "any answer that ends by itself"},
			apply: func(pl *plant) string {
				pl.m.stp.shown = true
				pl.m.det.hidden = func(s special) bool { return s != spEOS && s != spEnd }
				return ""
			},
		},
	}
}

func freshParsers() []Bug {
	think := func(p *Params, r *rand.Rand) {
		p.Family, p.Tools, p.Think, p.InlineThoughts = "qwen3", true, 30+r.IntN(30), false
	}
	withTools := func(p *Params, r *rand.Rand) {
		p.Tools = true
		if p.Family == "gemma" {
			p.Family = pick(r, "chatml", "llama3", "deepseek")
		}
	}
	return []Bug{
		{
			Slug: "close-tag-inside-event", Mechanism: "reasoning parser", Origin: "",
			Effect: "the end of a thought is looked for at the start of an event only: where it falls inside of one, the " +
				"streamed answer is filed as reasoning",
			Truth: Truth{"parser state", []string{"stream"}, true, []string{"stream"}},
			prepare: func(p *Params, r *rand.Rand) {
				think(p, r)
				p.Interval = pick(r, 2, 3, 4)
			},
			Stated: Statement{
				Accept: []string{"filed-as-reasoning", "stream-layer"}, Visible: "streams of a model that reasons",
			},
			apply: func(pl *plant) string {
				pl.m.rsn.closes = func(place int) bool { return place == 0 }
				return fmt.Sprintf("events of %d tokens", pl.m.p.Interval)
			},
		},
		{
			Slug: "skipped-thought-filed", Mechanism: "reasoning parser", Origin: "sgl-project/sglang#37644",
			Effect: "the parser begins inside of a thought, and the model sometimes answers without one: those answers are " +
				"filed as reasoning",
			Truth:   Truth{"parser state", []string{"wording"}, true, nil},
			prepare: think,
			equip:   func(t *traits, r *rand.Rand) { t.skip = 0.2 + 0.2*r.Float64() },
			Stated: Statement{
				Accept: []string{"filed-as-reasoning"}, Visible: "a share of the answers of a model that reasons",
			},
			apply: func(pl *plant) string {
				pl.m.rsn.start = func() bool { return true }
				return fmt.Sprintf("%.2f of the answers have no thought", pl.m.traits.skip)
			},
		},
		{
			Slug: "numeric-strings-unquoted", Mechanism: "tool parser", Origin: "",
			Effect: "arguments are read and written again by types that are guessed: strings of digits become numbers",
			Truth:  Truth{"tool call", []string{"tools"}, true, []string{"tools"}}, prepare: withTools,
			Stated: Statement{
				Accept: []string{"tool-parser", "unexplained"}, Visible: "calls that are not streamed, with a string of digits",
			},
			apply: func(pl *plant) string {
				pl.m.tls.arguments = func(raw string) string {
					var args map[string]json.RawMessage
					if json.Unmarshal([]byte(raw), &args) != nil {
						return raw
					}
					for k, v := range args {
						if s := strings.Trim(string(v), `"`); len(s)+2 == len(v) && allDigits(s) {
							args[k] = json.RawMessage(s)
						}
					}
					out, err := json.Marshal(args)
					if err != nil {
						return raw
					}
					return string(out)
				}
				return ""
			},
		},
		{
			Slug: "cut-call-says-done", Mechanism: "tool parser", Origin: "vllm-project/vllm#53269",
			Effect: "an answer with a call says tool_calls whatever ended it: a call that the limit cut looks finished",
			Truth:  Truth{"tool call", []string{"tools"}, true, []string{"tools"}}, prepare: withTools,
			Stated: Statement{
				Accept: []string{"tool-parser"}, Visible: "calls that are longer than the limit of the answer",
			},
			apply: func(pl *plant) string { pl.m.tls.hidesCut = true; return "" },
		},
	}
}
