package engine

import (
	"encoding/json"
	"regexp"
	"strings"
)

// delta is what one event adds to an answer.
type delta struct {
	content, reasoning string
	tools              []toolDelta
	tokens             []emitted
}

type toolDelta struct {
	index    int
	id, name string
	args     string
	whole    bool
}

func (d delta) empty() bool { return d.content == "" && d.reasoning == "" && len(d.tools) == 0 }

// toolOps are the decisions of the parser of tool calls that a bug can get wrong.
type toolOps struct {
	arguments func(raw string) string       // arguments of a finished call
	more      func(sent, raw string) string // what a stream sends of arguments that have grown
	index     func(calls int) int           // number of the call that begins
	hidesCut  bool                          // an answer with a call says that it is finished when it was cut
}

func soundTools() toolOps {
	return toolOps{
		arguments: func(raw string) string { return raw },
		more:      func(sent, raw string) string { return raw[len(sent):] },
		index:     func(n int) int { return n },
	}
}

// reasonOps are the decisions of the reasoning parser that a bug can get wrong.
type reasonOps struct {
	start     func() bool // whether an answer begins inside a thought
	inline    bool        // tags stay in the content
	end       func()      // an answer is over
	onlyField string      // the one name under which earlier reasoning is read; empty: both
	// closes says whether the end of a thought is seen that is token number place of its event; nil: always
	closes func(place int) bool
}

func soundReason(p Params) reasonOps {
	return reasonOps{
		start: func() bool { return false }, inline: p.InlineThoughts, end: func() {},
	}
}

// assembler makes an answer of tokens: text, thoughts, calls.
type assembler struct {
	m        *machine
	det      detok
	stops    []string
	stream   bool
	thinking bool
	calling  bool
	raw      bool // no parsers: a text completion
	calls    int
	buffer   string // of the call that is being written
	sent     string
	named    bool
	held     string // text that may begin a stop string
	stopped  bool
	began    bool
	pushed   int // tokens
}

func (m *machine) assemble(stops []string, stream, raw bool) *assembler {
	a := &assembler{m: m, det: detok{m: m}, stops: stops, stream: stream, raw: raw}
	if !raw {
		a.thinking = m.rsn.start()
	}
	return a
}

// push adds a token.
func (a *assembler) push(e emitted) delta {
	a.pushed++
	d := delta{tokens: []emitted{e}}
	if a.stopped {
		return delta{}
	}
	switch c := a.m.lex.class(e.tok); {
	case a.raw:
	case c == spThink && !a.m.rsn.inline:
		a.thinking = true
		return d
	case c == spThinkEnd && !a.m.rsn.inline:
		a.thinking = a.stream && a.m.rsn.closes != nil && !a.m.rsn.closes((a.pushed-1)%a.m.p.Interval)
		return d
	case c == spThink || c == spThinkEnd:
		d.content = a.m.lex.names[c]
		return d
	case c == spCall:
		a.calling, a.buffer, a.sent, a.named = true, "", "", false
		return d
	case c == spCallEnd && a.calling:
		d.tools = append(d.tools, a.call(true)...)
		a.calling = false
		a.calls++
		return d
	}
	a.text(a.det.push(e.tok, a.stream), &d)
	return d
}

func (a *assembler) text(text string, d *delta) {
	if text == "" {
		return
	}
	switch {
	case a.calling:
		a.buffer += text
		d.tools = append(d.tools, a.call(false)...)
		return
	case a.thinking:
		d.reasoning += text
		return
	}
	if !a.began && !a.raw { // parsers drop the line breaks behind a thought
		if text = strings.TrimLeft(text, "\n"); text == "" {
			return
		}
		a.began = true
	}
	if len(a.stops) == 0 {
		d.content += text
		return
	}
	all := a.held + text
	if i := a.m.stp.find(all, a.stops); i >= 0 {
		d.content += all[:i]
		a.held, a.stopped = "", true
		return
	}
	n := len(all) - a.m.stp.hold(all, a.stops)
	d.content += all[:n]
	a.held = all[n:]
}

// finish returns what was held back.
func (a *assembler) finish() delta {
	d := delta{}
	if a.stopped {
		return d
	}
	a.text(a.det.flush(), &d)
	d.content += a.m.stp.rest(a.held)
	a.held = ""
	if a.calling {
		d.tools = append(d.tools, a.call(true)...)
		a.calls++
		a.calling = false
	}
	a.m.rsn.end()
	return d
}

var (
	reCallName = regexp.MustCompile(`"name": ?"([^"]*)"`)
	reCallArgs = regexp.MustCompile(`"(?:arguments|parameters)": ?`)
)

// call reads the call in the buffer and returns what is new of it.
func (a *assembler) call(done bool) []toolDelta {
	var out []toolDelta
	name := reCallName.FindStringSubmatch(a.buffer)
	if name == nil {
		return nil
	}
	k := a.m.tls.index(a.calls)
	if !a.named {
		a.named = true
		out = append(out, toolDelta{index: k, id: "call_" + name[1] + string(rune('a'+a.calls)), name: name[1]})
	}
	loc := reCallArgs.FindStringIndex(a.buffer)
	if loc == nil {
		return out
	}
	raw := strings.TrimRight(a.buffer[loc[1]:], "\n ")
	switch {
	case done && json.Valid([]byte(strings.TrimSuffix(raw, "}"))):
		raw = strings.TrimSuffix(raw, "}")
	case !done: // the last brace may be that of the call
		raw = strings.TrimRight(raw, "}")
	}
	if !a.stream {
		if done {
			out = append(out, toolDelta{index: k, args: a.m.tls.arguments(raw), whole: true})
		}
		return out
	}
	if len(raw) > len(a.sent) {
		if more := a.m.tls.more(a.sent, raw); more != "" {
			out = append(out, toolDelta{index: k, args: more})
		}
		a.sent = raw
	}
	return out
}

// streamOps are the decisions of stream assembly that a bug can get wrong.
type streamOps struct {
	join   func(waiting, next delta) delta // two deltas that go out in one event
	last   func(tail delta) delta          // what of the tail goes out before the end
	events func(d delta, first bool) []delta
	pieces func(n int, finish string) int // of n pieces of text in the queue when the end arrives: how many are kept
}

func soundStream() streamOps {
	return streamOps{
		join: func(w, n delta) delta {
			w.content += n.content
			w.reasoning += n.reasoning
			w.tools = append(w.tools, n.tools...)
			w.tokens = append(w.tokens, n.tokens...)
			return w
		},
		last:   func(t delta) delta { return t },
		events: func(d delta, _ bool) []delta { return []delta{d} },
		pieces: func(n int, _ string) int { return n },
	}
}
