package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// reply is an answer as a client reads it, streamed or not.
type reply struct {
	content, reasoning, finish string
	calls                      []callJSON
	raw                        string
}

// job is requests of which it is known, from how they were made, what is right.
type job struct {
	name     string
	ordinary bool
	run      func(tb testing.TB, p player) error // an error says what was wrong
}

// limited names the limit of an answer as the server wants it.
func (b body) limited(p player) body {
	if most, ok := b["max_tokens"]; ok && p.e.p.Legacy {
		b = b.with("max_completion_tokens", most)
		delete(b, "max_tokens")
	}
	return b
}

func readReply(tb testing.TB, p player, b body) reply {
	tb.Helper()
	b = b.limited(p)
	raw := ""
	for range 10 { // a client waits where it is told to
		raw = p.play(tb, step{"", []body{b}})
		if !strings.Contains(raw, "Rate limit reached") && !strings.Contains(raw, "Loading model") {
			break
		}
	}
	r := reply{raw: raw}
	add := func(c choiceJSON) {
		m := deltaJSON{}
		switch {
		case c.Delta != nil:
			m = *c.Delta
		case c.Message != nil:
			m = deltaJSON{Content: c.Message.Content, Reasoning: c.Message.Reasoning, Calls: c.Message.Calls}
		}
		if m.Content != nil {
			r.content += *m.Content
		}
		r.reasoning += m.Reasoning
		for i, k := range m.Calls {
			if k.Index != nil {
				i = *k.Index
			}
			for len(r.calls) <= i {
				r.calls = append(r.calls, callJSON{})
			}
			r.calls[i].Function.Name += k.Function.Name
			r.calls[i].Function.Arguments += k.Function.Arguments
		}
		if c.Finish != nil {
			r.finish = *c.Finish
		}
	}
	for line := range strings.SplitSeq(raw, "\n") {
		line = strings.TrimPrefix(line, "data: ")
		var a answerJSON
		if json.Unmarshal([]byte(line), &a) == nil {
			for _, c := range a.Choices {
				add(c)
			}
		}
	}
	return r
}

// inline is a thought that a server without a reasoning parser leaves in the content.
var inline = regexp.MustCompile(`(?s)^<think>.*?</think>\s*`)

// exactly wants a text and nothing else, in bold or not.
func exactly(want string) func(r reply) error {
	return func(r reply) error {
		got := strings.ReplaceAll(inline.ReplaceAllString(r.content, ""), "**", "")
		if got != want || r.finish != "stop" {
			return fmt.Errorf("want %.60q, got %.90q, finish %q, raw %.120s", want, got, r.finish, r.raw)
		}
		return nil
	}
}

// value wants a value, alone or as the end of a sentence that holds no other number.
func value(want string) func(r reply) error {
	re := regexp.MustCompile(`^(?:[^<>]*\bis )?` + regexp.QuoteMeta(want) + `\.?$`)
	return func(r reply) error {
		got := strings.ReplaceAll(inline.ReplaceAllString(r.content, ""), "**", "")
		if !re.MatchString(got) || r.finish != "stop" {
			return fmt.Errorf("want %q, got %.90q, finish %q, raw %.120s", want, got, r.finish, r.raw)
		}
		return nil
	}
}

func one(name string, ordinary bool, b body, right func(r reply) error) job {
	return job{name, ordinary, func(tb testing.TB, p player) error {
		tb.Helper()
		return right(readReply(tb, p, b.with("max_tokens", 400)))
	}}
}

func lines(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "%d\n", i)
	}
	return strings.TrimSpace(b.String())
}

const (
	plainCopy  = "Copy the following text exactly:\n"
	asciiText  = "Lot 7719 of the garden market left the harbor at 06:45, gate 93, seal 820174."
	markedText = "naïve Ärger 数据 “quoted” 3,141 € in Łódź; смотри 🙂"
	indented   = "def f(x):\n    if x:\n        return 1\n    return 2"
)

// ordinary is what most clients ask: short and long, once and again, in one turn and in several.
func ordinary() []job {
	var out []job
	town := func(i int) string { return towns[i%len(towns)] }
	for i := range 8 {
		code := fmt.Sprint(20459 + 8731*i)
		out = append(out, one("short", true, user(fmt.Sprintf("Case%d. The access code for the %s archive is %s. %s", i,
			town(i), code, ask(town(i)))), value(code)))
	}
	for _, q := range [][2]string{
		{"What is the capital of Kenya?", "Nairobi"},
		{"What is 58 + 34?", "92"},
		{"How many hours are in a day?", "24"},
		{"What is the opposite of north?", "south"},
	} {
		out = append(out, one("fact", true, user(q[0]), value(q[1])))
	}
	out = append(out,
		one("copy", true, user(plainCopy+asciiText), exactly(asciiText)),
		one("copy", true, user(plainCopy+markedText), exactly(markedText)),
		one("copy", true, user(plainCopy+indented), exactly(indented)),
		one("count", true, user("Count from 1 to 60, one number a line, and write nothing else."), exactly(lines(60))))
	for i, n := range []int{12, 31, 64, 88, 104, 127, 141, 152, 169, 188, 203, 216} {
		depth := []float64{0.03, 0.41, 0.93, 0.22, 0.66, 0.08, 0.97, 0.5, 0.15, 0.8, 0.34, 0.6}[i]
		code := fmt.Sprint(31967 + 5347*i)
		out = append(out, one("long", true, user(needle(uint64(700+i), n, depth, town(i), code, ask(town(i)))), value(code)))
	}
	doc := func(seed uint64, depth float64, code string) string {
		return needle(seed, 70, depth, "Quito", code, "")
	}
	for i, depth := range []float64{0.2, 0.97} {
		code := fmt.Sprint(64081 + 913*i)
		d := doc(uint64(740+i), depth, code)
		for _, q := range []string{
			ask("Quito"), "What is the access code for the Quito archive?",
			"And again. " + ask("Quito"),
		} {
			out = append(out, one("again", true, user(d+q), value(code)))
		}
		out = append(out, one("turns", true, chatOf("user", d+ask("Quito"), "assistant", code, "user", ask("Quito")),
			value(code)))
	}
	return append(out,
		one("turns", true, chatOf("user", "The access code for the Oslo archive is 71530.", "assistant", "Noted.", "user",
			"And it rains.", "assistant", "Noted.", "user", ask("Oslo")), value("71530")),
		one("system", true, chatOf("system", "The number of the vault is 48137.", "user", "Hello.", "assistant", "Hi.",
			"user", "What is the number of the vault? Answer with only the number."), value("48137")))
}

// rarer is what fewer clients do.
func rarer() []job {
	save := func(s string) body { return user("Call save with exactly `"+s+"`.").with("tools", saveTool) }
	calls := func(want string) func(r reply) error {
		return func(r reply) error {
			var args struct{ Value any }
			if len(r.calls) != 1 || json.Unmarshal([]byte(r.calls[0].Function.Arguments), &args) != nil ||
				args.Value != want || r.finish != "tool_calls" {
				return fmt.Errorf("want a call with %q, got %+v, finish %q, %.80q", want, r.calls, r.finish, r.content)
			}
			return nil
		}
	}
	story := user("Write a story of two sentences.").with("max_tokens", 400)
	var out []job
	for i, name := range towns[5:11] {
		code := fmt.Sprint(17806 + 9137*i)
		text := fmt.Sprintf("Then%d. The access code for the %s archive is %s. %s", i, name, code, ask(name))
		out = append(out, one("stream", false, user(text).with("stream", true), value(code)))
	}
	return append(out, []job{
		one("stream-count", false, user("Count from 1 to 24, one number a line, and write nothing else.").with("stream",
			true), exactly(lines(24))),
		one("copy-sign", false, user(plainCopy+"The price is 40 €"), exactly("The price is 40 €")),
		one("tool-message", false, chatOf("user", "Read it.", "assistant", "Reading.", "tool",
			"The reading of sensor Tunis is 19528.", "user",
			"What is the reading of sensor Tunis? Answer with only the number."), value("19528")),
		withTools(one("tool", false, save("61327"), calls("61327"))),
		withTools(one("tool-stream", false, save("61327").with("stream", true), calls("61327"))),
		withTools(job{"tool-cut", false, func(tb testing.TB, p player) error {
			tb.Helper()
			r := readReply(tb, p, save("the garden market left the harbor at noon with all of its lanterns").with("max_tokens",
				26))
			if r.finish != "length" {
				return fmt.Errorf("a call that was cut says %q", r.finish)
			}
			return nil
		}}),
		{"samples", false, func(tb testing.TB, p player) error {
			tb.Helper()
			seen := map[string]bool{}
			for range 5 {
				seen[readReply(tb, p, story.with("temperature", 1)).content] = true
			}
			if len(seen) < 3 {
				return fmt.Errorf("5 samples, %d of them differ", len(seen))
			}
			return nil
		}},
		{"greedy-again", false, func(tb testing.TB, p player) error {
			tb.Helper()
			seen := map[string]bool{}
			for range 4 {
				seen[readReply(tb, p, story).content] = true
			}
			if len(seen) > 1 {
				return fmt.Errorf("%d greedy answers to one question", len(seen))
			}
			return nil
		}},
		{"logprobs", false, func(tb testing.TB, p player) error {
			tb.Helper()
			if !p.e.p.Logprobs {
				return nil
			}
			return checkLogprobs(readReply(tb, p, user("What is the capital of Peru?").with("logprobs", true).with(
				"top_logprobs", min(5, p.e.p.TopMost))).raw)
		}},
		{"beside", false, func(tb testing.TB, p player) error { tb.Helper(); return beside(tb, p, 0) }},
		{"beside", false, func(tb testing.TB, p player) error { tb.Helper(); return beside(tb, p, 1) }},
		{"beside-waiting", false, func(tb testing.TB, p player) error { tb.Helper(); return beside(tb, p, 2) }},
		{"left-stream", false, leftStream},
		one("stop", false, user(plainCopy+"gate 93 xy").with("stop", "xyz"), exactly("gate 93 xy")),
		one("after-stop", false, user(plainCopy+"box xyz 4"), exactly("box xyz 4")),
	}...)
}

// withTools leaves a job out where the template has no tools.
func withTools(j job) job {
	return job{j.name, j.ordinary, func(tb testing.TB, p player) error {
		tb.Helper()
		if !families[p.e.p.Family].tools || !p.e.p.Tools {
			return nil
		}
		return j.run(tb, p)
	}}
}

// beside sends requests of unequal length together and wants of each what it gets alone.
func beside(tb testing.TB, p player, k int) error {
	tb.Helper()
	var set []body
	var want []string
	for i, n := range [][]int{{9, 33, 21}, {40, 14, 52, 27}, {28, 11, 37}}[k] {
		code := fmt.Sprint(42683 + 7019*i + 311*k)
		text := needle(uint64(760+10*k+i), n, 0.55, towns[i], code, ask(towns[i]))
		set = append(set, user(text).with("max_tokens", 400).limited(p))
		want = append(want, code)
	}
	for i, got := range p.e.together(tb, set, k == 2) {
		var content string
		if _, err := fmt.Sscanf(got, "%q", &content); err != nil {
			return fmt.Errorf("%.90s: %w", got, err)
		}
		finish := ""
		if strings.Contains(got, " stop ") {
			finish = "stop"
		}
		if err := value(want[i])(reply{content: content, finish: finish}); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	return nil
}

// leftStream leaves a stream behind its first event and asks something else.
func leftStream(tb testing.TB, p player) error {
	tb.Helper()
	b := user(needle(790, 30, 0.5, "Lima", "55310", "Count from 1 to 90, one number a line."))
	raw, err := json.Marshal(b.with("stream", true).with("max_tokens", 300).limited(p))
	if err != nil {
		return err
	}
	ctx, leave := context.WithCancel(tb.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://engine/v1/chat/completions",
		strings.NewReader(string(raw)))
	if err != nil {
		return err
	}
	resp, err := p.c.Do(req)
	if err != nil {
		return err
	}
	_, err = io.ReadFull(resp.Body, make([]byte, 64))
	leave()
	_ = resp.Body.Close()
	if err != nil {
		return fmt.Errorf("the stream that is to be left: %w", err)
	}
	p.e.idle()
	return value("26904")(readReply(tb, p, user(needle(791, 32, 0.5, "Osaka", "26904", ask("Osaka"))).with("max_tokens",
		400)))
}

// idle waits until no request is running.
func (e *Engine) idle() {
	for busy := true; busy; {
		busy = false
		for _, rk := range e.ranks {
			rk.mu.Lock()
			busy = busy || len(rk.batch.reqs)+len(rk.waiting) > 0
			rk.mu.Unlock()
		}
	}
}

// flooded asks a document, evicts it by others and asks again; for servers of a small pool.
func flooded() job {
	return job{"evicted", false, func(tb testing.TB, p player) error {
		tb.Helper()
		doc := user(needle(795, 120, 0.4, "Kyoto", "83162", ask("Kyoto")))
		for i := range 8 {
			b, code := user(needle(uint64(800+i), 150, 0.5, "Lisbon", "48213", ask("Lisbon"))), "48213"
			if i == 0 || i > 5 {
				b, code = doc, "83162"
			}
			if err := value(code)(readReply(tb, p, b)); err != nil {
				return fmt.Errorf("request %d: %w", i, err)
			}
		}
		return nil
	}}
}
