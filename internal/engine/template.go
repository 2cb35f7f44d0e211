package engine

import (
	"encoding/json"
	"fmt"
	"strings"
)

// message is one entry of a chat.
type message struct {
	Role      string
	Parts     []part
	Reasoning string
	Calls     []call
	Listed    bool // the content was a list of parts
}

// part is text or a picture.
type part struct {
	Text   string
	Colour int // of the picture, -1 for text
}

// call is a tool call in the history.
type call struct{ Name, Arguments string }

func (m message) text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Colour < 0 {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// family is a chat format.
type family struct {
	special   bool   // roles are tokens (DeepSeek) and not text behind one
	bos       bool   // a prompt begins with a token
	headed    bool   // the role ends in a token (Llama 3) and not in a line break
	model     string // role of the answers
	system    bool   // has a system role; otherwise its text goes before the first user turn
	developer bool   // the developer role is the system's
	tools     bool
	thinks    bool // writes and reads think tags
	names     map[special]string
}

var families = map[string]family{
	"chatml": {model: "assistant", system: true, developer: true, tools: true, names: map[special]string{
		spBOS: "<|endoftext|>", spEOS: "<|endoftext|>", spStart: "<|im_start|>", spEnd: "<|im_end|>", spThink: "<think>",
		spThinkEnd: "</think>", spCall: "<tool_call>", spCallEnd: "</tool_call>", spToolOut: "<tool_response>",
		spToolEnd: "</tool_response>", spImage: "<|image_pad|>", spUser: "<|box_start|>", spAssistant: "<|box_end|>",
	}},
	"qwen3": {model: "assistant", system: true, developer: true, tools: true, thinks: true, names: map[special]string{
		spBOS: "<|endoftext|>", spEOS: "<|endoftext|>", spStart: "<|im_start|>", spEnd: "<|im_end|>", spThink: "<think>",
		spThinkEnd: "</think>", spCall: "<tool_call>", spCallEnd: "</tool_call>", spToolOut: "<tool_response>",
		spToolEnd: "</tool_response>", spImage: "<|image_pad|>", spUser: "<|box_start|>", spAssistant: "<|box_end|>",
	}},
	"llama3": {
		bos: true, headed: true, model: "assistant", system: true, developer: true, tools: true, names: map[special]string{
			spBOS: "<|begin_of_text|>", spEOS: "<|end_of_text|>", spStart: "<|start_header_id|>", spHead: "<|end_header_id|>",
			spEnd: "<|eot_id|>", spCall: "<|python_tag|>", spCallEnd: "<|eom_id|>", spThink: "<think>", spThinkEnd: "</think>",
			spToolOut: "<|ipython|>", spToolEnd: "<|ipython_end|>", spImage: "<|image|>", spUser: "<|u|>",
			spAssistant: "<|a|>",
		},
	},
	"deepseek": {
		special: true, bos: true, model: "assistant", system: true, developer: true, tools: true, names: map[special]string{
			spBOS: "<｜begin▁of▁sentence｜>", spEOS: "<｜end▁of▁sentence｜>", spUser: "<｜User｜>",
			spAssistant: "<｜Assistant｜>",
			spCall:      "<｜tool▁call▁begin｜>", spCallEnd: "<｜tool▁call▁end｜>",
			spToolOut: "<｜tool▁output▁begin｜>",
			spToolEnd: "<｜tool▁output▁end｜>", spThink: "<think>", spThinkEnd: "</think>", spStart: "<｜start｜>",
			spEnd: "<｜end｜>", spImage: "<｜image｜>",
		},
	},
	"gemma": {bos: true, model: "model", names: map[special]string{
		spBOS: "<bos>", spEOS: "<eos>", spStart: "<start_of_turn>", spEnd: "<end_of_turn>", spThink: "<think>",
		spThinkEnd: "</think>", spImage: "<image_soft_token>", spCall: "<tool>", spCallEnd: "</tool>", spUser: "<unused1>",
		spAssistant: "<unused2>", spToolOut: "<unused3>", spToolEnd: "<unused4>",
	}},
}

// templateOps are the decisions of the chat template that a bug can get wrong.
type templateOps struct {
	fam      family
	pick     func(msgs []message) []message // messages that the loop sees
	system   func(role string, at int) bool // whether a message is rendered by the branch of the system role
	known    func(role string) bool         // whether any branch renders a role
	tools    bool                           // tools are rendered
	generate func(tools int) bool           // the prompt ends in the head of the answer
	parts    func(p []part) []part          // parts of a content list that are rendered
	thoughts func(m message, later bool) (text string, closed, write bool)
	bos      int  // tokens that begin a prompt
	carry    bool // the namespace outlives the request
	fallback bool // another model's template is used, whose tags are text to this one
}

func soundTemplate(p Params) templateOps {
	fam := families[p.Family]
	t := templateOps{
		fam:      fam,
		pick:     func(msgs []message) []message { return msgs },
		system:   func(role string, _ int) bool { return role == "system" || role == "developer" },
		known:    func(string) bool { return true },
		tools:    fam.tools && p.Tools,
		generate: func(int) bool { return true },
		parts:    func(p []part) []part { return p },
		thoughts: func(m message, later bool) (string, bool, bool) {
			return m.Reasoning, true, fam.thinks && m.Reasoning != "" && (later && p.KeepThoughts || !later)
		},
	}
	if fam.bos {
		t.bos = 1
	}
	return t
}

// chat is what a template renders.
type chat struct {
	msgs     []message
	tools    []toolSpec
	open     bool // add the head of the answer
	goOn     bool // the last message is an answer to go on with
	noThink  bool
	leftover string // system text of an earlier request, where the namespace outlives it
}

type toolSpec struct {
	Raw  json.RawMessage
	Name string
}

// render returns the ids of a chat.
func (m *machine) render(c chat) []int32 {
	t := m.tmpl
	w := &writer{m: m}
	if t.fallback {
		return m.renderFallback(c)
	}
	for range t.bos {
		w.special(spBOS)
	}
	msgs := t.pick(c.msgs)
	tools := ""
	if t.tools && len(c.tools) > 0 {
		var b strings.Builder
		b.WriteString("# Tools\n\nYou may call these functions:\n<tools>\n")
		for _, s := range c.tools {
			b.Write(s.Raw)
			b.WriteByte('\n')
		}
		b.WriteString("</tools>\nA call is a JSON object with name and arguments.")
		tools = b.String()
	}
	lead := "" // text for families without a system role
	if c.leftover != "" && (len(msgs) == 0 || !t.system(msgs[0].Role, 0)) {
		w.system(c.leftover)
	}
	if tools != "" && (len(msgs) == 0 || !t.system(msgs[0].Role, 0)) {
		w.system(tools)
		tools = ""
	}
	lastUser := 0
	for i, msg := range msgs {
		if msg.Role == "user" {
			lastUser = i
		}
	}
	for i, msg := range msgs {
		msg.Parts = t.parts(msg.Parts)
		switch {
		case t.system(msg.Role, i):
			text := msg.text()
			if i == 0 && tools != "" {
				text, tools = text+"\n\n"+tools, ""
			}
			if !t.fam.system {
				lead += text + "\n\n"
				continue
			}
			w.system(text)
		case !t.known(msg.Role):
		case msg.Role == "user":
			w.open("user")
			w.text(lead)
			lead = ""
			w.parts(msg.Parts)
			w.close("user")
		case msg.Role == "assistant":
			w.open(t.fam.model)
			if text, closed, write := t.thoughts(msg, i < lastUser); write {
				w.special(spThink)
				w.text("\n" + text + "\n")
				if closed {
					w.special(spThinkEnd)
					w.text("\n\n")
				}
			}
			w.parts(msg.Parts)
			for _, k := range msg.Calls {
				w.special(spCall)
				w.text(fmt.Sprintf("\n{\"name\": %q, \"arguments\": %s}\n", k.Name, k.Arguments))
				w.special(spCallEnd)
			}
			if !c.goOn || i < len(msgs)-1 {
				w.close("assistant")
			}
		case msg.Role == "tool":
			w.open("user")
			w.special(spToolOut)
			w.text("\n" + msg.text() + "\n")
			w.special(spToolEnd)
			w.close("user")
		}
	}
	if c.open && !c.goOn && t.generate(len(c.tools)) {
		w.open(t.fam.model)
		if t.fam.thinks && (c.noThink || m.p.Think == 0) {
			w.special(spThink)
			w.text("\n\n")
			w.special(spThinkEnd)
			w.text("\n\n")
		}
	}
	return w.ids
}

// writer collects the ids of a rendered chat.
type writer struct {
	m   *machine
	ids []int32
}

func (w *writer) special(s special) { w.ids = append(w.ids, w.m.lex.id(s)) }

// text encodes plain text; think tags in it become tokens, as every tokenizer of a chat does it.
func (w *writer) text(s string) {
	for {
		i, tag := strings.Index(s, "<think>"), spThink
		if j := strings.Index(s, "</think>"); j >= 0 && (i < 0 || j < i) {
			i, tag = j, spThinkEnd
		}
		if i < 0 || !w.m.tmpl.fam.thinks {
			w.ids = append(w.ids, w.m.tok.encode(s)...)
			return
		}
		w.ids = append(w.ids, w.m.tok.encode(s[:i])...)
		w.special(tag)
		s = s[i+len(w.m.lex.names[tag]):]
	}
}

func (w *writer) parts(parts []part) {
	for _, p := range parts {
		if p.Colour < 0 {
			w.text(p.Text)
			continue
		}
		for range 8 {
			w.ids = append(w.ids, w.m.lex.image(p.Colour))
		}
	}
}

func (w *writer) system(text string) {
	fam := w.m.tmpl.fam
	switch {
	case fam.special || !fam.system:
		w.text(text + "\n\n")
	default:
		w.open("system")
		w.text(text)
		w.close("system")
	}
}

func (w *writer) open(role string) {
	fam := w.m.tmpl.fam
	switch {
	case fam.special && role == "user":
		w.special(spUser)
	case fam.special:
		w.special(spAssistant)
	default:
		w.special(spStart)
		w.text(role)
		if fam.headed {
			w.special(spHead)
			w.text("\n\n")
		} else {
			w.text("\n")
		}
	}
}

func (w *writer) close(role string) {
	fam := w.m.tmpl.fam
	switch {
	case fam.special && role == "assistant":
		w.special(spEOS)
	case fam.special:
	case fam.headed:
		w.special(spEnd)
	default:
		w.special(spEnd)
		w.text("\n")
	}
}
