package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// said is the answer of one chat: content, reasoning, calls, finish.
func said(tb testing.TB, p player, b body) string {
	tb.Helper()
	var a answerJSON
	out := p.play(tb, step{"", []body{b}})
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		return out
	}
	if len(a.Choices) == 0 || a.Choices[0].Message == nil {
		return out
	}
	m := a.Choices[0].Message
	text := ""
	if m.Content != nil {
		text = *m.Content
	}
	for i := range m.Calls {
		m.Calls[i].ID = ""
	}
	return fmt.Sprintf("%q %q %v %v", text, m.Reasoning, m.Calls, *a.Choices[0].Finish)
}

// streamed is the same of a stream.
func streamed(tb testing.TB, p player, b body) string {
	tb.Helper()
	var text, thoughts, finish string
	var calls []callJSON
	for line := range strings.SplitSeq(p.play(tb, step{"", []body{b.with("stream", true)}}), "\n\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var a answerJSON
		if err := json.Unmarshal([]byte(data), &a); err != nil {
			tb.Fatalf("%v: %s", err, data)
		}
		for _, c := range a.Choices {
			if c.Delta.Content != nil {
				text += *c.Delta.Content
			}
			thoughts += c.Delta.Reasoning
			for _, k := range c.Delta.Calls {
				for len(calls) <= *k.Index {
					calls = append(calls, callJSON{Type: "function"})
				}
				calls[*k.Index].Function.Name += k.Function.Name
				calls[*k.Index].Function.Arguments += k.Function.Arguments
			}
			if c.Finish != nil {
				finish = *c.Finish
			}
		}
	}
	return fmt.Sprintf("%q %q %v %v", text, thoughts, calls, finish)
}

// law is a property that every sound engine has.
type law struct {
	name  string
	check func(tb testing.TB, o Options) error
}

func same(what, a, b string) error {
	if a != b {
		return fmt.Errorf("%s: %.200s, then %.200s", what, a, b)
	}
	return nil
}

func questions() []body {
	return []body{
		user(needle(7, 110, 0.2, "Lima", "55310", ask("Lima"))),
		user(needle(8, 160, 0.7, "Oslo", "81264", "What is the access code for the Oslo archive?")),
		user(copyText).with("max_tokens", 128), user("What is 17 + 25?"), user("Write 30 words about the sea."),
		user("Count from 1 to 40, one number a line, and write nothing else.").with("max_tokens", 200),
		user("Call save twice: with `first 61327` and with `second 64978`.").with("tools", saveTool).with("max_tokens",
			128),
		user("Call save with exactly `{\"a\": \"x\\\"y\"}`.").with("tools", saveTool).with("max_tokens", 128),
	}
}

func firstError(n int, f func(i int) error) error {
	for i := range n {
		if err := f(i); err != nil {
			return err
		}
	}
	return nil
}

var laws = []law{
	{"warm-is-cold", func(tb testing.TB, o Options) error {
		tb.Helper()
		o2 := o
		o2.tune = func(p *Params) { p.Cache = "none" }
		warm, cold := newPlayer(mustNew(tb, o)), newPlayer(mustNew(tb, o2))
		doc := needle(7, 110, 0.2, "Lima", "55310", "")
		mid := doc[:len(doc)/2] + "Here it forks. " + doc[len(doc)/2:]
		qs := []string{
			doc + ask("Lima"), doc + ask("Lima"), doc + "Now. " + ask("Lima"), mid + ask("Lima"), mid + "Now. " + ask("Lima"),
			doc + ask("Lima"),
			doc + "What is the access code for the Lima archive?",
		}
		return firstError(4*len(qs), func(i int) error {
			b := user(qs[i%len(qs)])
			return same("cold, warm", said(tb, cold, b), said(tb, warm, b))
		})
	}},
	{"stream-is-whole", func(tb testing.TB, o Options) error {
		tb.Helper()
		p := newPlayer(mustNew(tb, o))
		return firstError(len(questions()), func(i int) error {
			return same("whole, streamed", said(tb, p, questions()[i]), streamed(tb, p, questions()[i]))
		})
	}},
	{"batch-is-alone", func(tb testing.TB, o Options) error {
		tb.Helper()
		o.tune = func(p *Params) { p.Ranks = 1 }
		a, z := mustNew(tb, o), mustNew(tb, o)
		var set []body
		for i := range 5 {
			set = append(set, user(needle(uint64(20+i), 30+20*i, 0.3, "Lima", fmt.Sprint(55310+i*1017), ask("Lima"))),
				user(fmt.Sprintf("Write %d words about the sea.", 8+9*i)))
		}
		for _, stagger := range []bool{false, true} {
			got := z.together(tb, set, stagger)
			for i, b := range set {
				if err := same("alone, in a batch", a.together(tb, []body{b}, false)[0], got[i]); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{"draft-is-plain", func(tb testing.TB, o Options) error {
		tb.Helper()
		o2 := o
		o2.tune = func(p *Params) { p.Draft = 0 }
		spec, plain := newPlayer(mustNew(tb, o)), newPlayer(mustNew(tb, o2))
		return firstError(len(questions()), func(i int) error {
			b := questions()[i]
			if err := same("plain, speculative", said(tb, plain, b), said(tb, spec, b)); err != nil {
				return err
			}
			b = user("Write 30 words about the sea.").with("temperature", 1).with("seed", i+1)
			return same("plain, speculative at temperature 1", said(tb, plain, b), said(tb, spec, b))
		})
	}},
	{"ranks-agree", func(tb testing.TB, o Options) error {
		tb.Helper()
		e := mustNew(tb, o)
		p := newPlayer(e)
		b := user(needle(8, 160, 0.1, "Oslo", "81264", "What is the access code for the Oslo archive?"))
		first := ""
		return firstError(10, func(i int) error {
			e.sticky.Clear()
			e.p.Route = "robin"
			got := said(tb, p, b)
			if i == 0 {
				first = got
			}
			return same("first, later", first, got)
		})
	}},
	{"chunks-are-one", func(tb testing.TB, o Options) error {
		tb.Helper()
		o2 := o
		o2.tune = func(p *Params) { p.Chunk = 1 << 20 }
		parts, one := newPlayer(mustNew(tb, o)), newPlayer(mustNew(tb, o2))
		return firstError(12, func(i int) error {
			b := user(needle(uint64(30+i), 110+16*i, float64(i)/12, "Lima", fmt.Sprint(55310+i), ask("Lima")))
			return same("one shot, chunks", said(tb, one, b), said(tb, parts, b))
		})
	}},
	{"logprobs-are-logs", func(tb testing.TB, o Options) error {
		tb.Helper()
		p := newPlayer(mustNew(tb, o))
		for _, q := range []string{"What is the capital of France?", needle(7, 20, 0.5, "Lima", "55310", ask("Lima"))} {
			if err := checkLogprobs(p.play(tb, step{"", []body{user(q).with("logprobs", true).with("top_logprobs",
				5)}})); err != nil {
				return err
			}
		}
		return nil
	}},
}

func checkLogprobs(out string) error {
	var a struct {
		Choices []struct{ Logprobs logprobsJSON }
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		return err
	}
	equal := true
	for _, t := range a.Choices[0].Logprobs.Content {
		sum := 0.0
		for _, x := range t.Top {
			if x.Logprob > 0 {
				return fmt.Errorf("%q has %v", x.Token, x.Logprob)
			}
			sum += math.Exp(x.Logprob)
		}
		if sum > 1+1e-9 || sum < 0.5 || len(t.Top) == 0 || t.Top[0].Token != t.Token || t.Top[0].Logprob != t.Logprob {
			return fmt.Errorf("%q at %v, list %v sums to %v", t.Token, t.Logprob, t.Top, sum)
		}
		equal = equal && t.Logprob > -1e-9
	}
	if equal {
		return fmt.Errorf("all are 0")
	}
	return nil
}

// drawn is how many seeds every law is held on; a seed draws all parameters of a server.
const drawn = 4

// The laws hold on the sound engine, whatever is drawn.
func TestLawsHold(t *testing.T) {
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			for k := range uint64(drawn) {
				o := Options{Seed: mix(hashString(l.name), k), Sound: "plain"}
				if l.name == "logprobs-are-logs" {
					o.tune = func(p *Params) { p.Logprobs = true }
				}
				if err := l.check(t, o); err != nil {
					t.Fatalf("seed %d: %v", o.Seed, err)
				}
			}
		})
	}
}

// broken names for every mechanism with a law the bugs that must violate it.
var broken = map[string][]string{
	"warm-is-cold": {
		"hash-of-few-tokens", "full-hit-computes-nothing", "hit-rounded-up", "split-keeps-upper-pages",
		"prefix-not-attended",
		"hit-of-neighbour", "index-keys-not-restored",
	},
	"stream-is-whole": {
		"bytes-flushed-early", "leading-blank-stripped", "coalesced-overwritten", "stream-closes-before-tail",
		"first-delta-repeated",
		"arguments-lose-escapes",
	},
	"batch-is-alone": {
		"chunk-of-neighbour", "token-not-moved", "logits-row-of-neighbour", "end-of-neighbour", "padding-writes-page-zero",
		"preempted-loses-answer",
	},
	"draft-is-plain": {"bonus-token-twice", "last-draft-unverified", "verify-ignores-temperature", "rejected-rows-stay"},
	"ranks-agree":    {"rank-window", "rank-weights-torn", "rank-cache-stale"},
	"chunks-are-one": {
		"tile-tail-unwritten", "chunk-starts-late", "chunk-positions-restart", "later-chunk-own-keys",
		"workspace-second-piece",
		"every-other-chunk-stale",
	},
	"logprobs-are-logs": {
		"logprob-base-ten", "logprob-sign", "logprob-not-logged", "logprob-behind-one-hot", "logprob-position-shifted",
		"logprob-list-of-last-step",
	},
}

// A bug of a mechanism breaks the law of the mechanism, and its sound twin keeps it.
func TestBugsBreakLaws(t *testing.T) {
	for _, l := range laws {
		for _, slug := range broken[l.name] {
			t.Run(l.name+"/"+slug, func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(hashString(slug), 1))
				broke := false
				for range 3 {
					o := Options{Seed: r.Uint64(), Bugs: []string{slug}, Sound: "plain"}
					twin := o
					twin.sound = true
					if err := l.check(t, twin); err != nil {
						t.Fatalf("the sound twin of seed %d breaks it: %v", o.Seed, err)
					}
					if broke = l.check(t, o) != nil; broke {
						break
					}
				}
				if !broke {
					t.Error("the law holds with the bug, on three seeds")
				}
			})
		}
	}
}
