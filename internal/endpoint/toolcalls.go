package endpoint

import (
	"encoding/json"
	"fmt"
)

// toolDelta is one piece of a tool call, or a whole one. Index and ID are unreliable: some servers send index 0
// for every call, none at all, or the id with the first piece only; some repeat the name with every piece.
type toolDelta struct {
	Index    number          `json:"index"`
	ID       json.RawMessage `json:"id"`
	Function json.RawMessage `json:"function"`
}

// calls joins pieces into calls, keyed by id, then by index, then by order.
type calls struct {
	list  []ToolCall
	index []int // index of list[i] as first sent, -1 for none
}

func (c *calls) add(deltas []toolDelta) {
	for _, d := range deltas {
		var f struct {
			Name json.RawMessage `json:"name"`
			Args json.RawMessage `json:"arguments"`
		}
		_ = json.Unmarshal(d.Function, &f) // a function of another shape leaves both empty: the call stays without a name
		name, id, args := argText(f.Name), argText(d.ID), argText(f.Args)
		i := c.find(id, d.Index, name, args)
		t := &c.list[i]
		if t.ID == "" {
			t.ID = id
		}
		if t.Name == "" {
			t.Name = name
		}
		t.Arguments += args
	}
}

// find returns the place of the call that a piece belongs to, a new one when it begins a call.
func (c *calls) find(id string, index number, name, args string) int {
	if id != "" {
		for i := range c.list {
			if c.list[i].ID == id {
				return i
			}
		}
		return c.open(index)
	}
	last := len(c.list) - 1
	if index.ok {
		found := -1
		for i, at := range c.index {
			if at == int(index.v) {
				found = i // the latest, for servers that send index 0 for all
			}
		}
		if found < 0 {
			return c.open(index)
		}
		last = found
	}
	if last < 0 {
		return c.open(index)
	}
	// A name that comes again is a repetition while the arguments are unfinished, and another call after that.
	t := c.list[last]
	if name != "" && t.Name != "" && (name != t.Name || args != "" && isObject(t.Arguments)) {
		return c.open(index)
	}
	return last
}

func (c *calls) open(index number) int {
	at := -1
	if index.ok {
		at = int(index.v)
	}
	c.list, c.index = append(c.list, ToolCall{}), append(c.index, at)
	return len(c.list) - 1
}

// done returns the calls, redacted, with their validity; nil when there are none.
func (c *calls) done(redact func(string) string) (list []ToolCall, broken string) {
	for i := range c.list {
		t := &c.list[i]
		t.ID, t.Name, t.Arguments = redact(t.ID), redact(t.Name), redact(t.Arguments)
		if t.Valid = isObject(t.Arguments); !t.Valid && broken == "" {
			broken = fmt.Sprintf("the arguments of tool call %d (%q) are not a JSON object: %q", i, t.Name,
				shorten(t.Arguments, 80))
		}
	}
	return c.list, broken
}

func isObject(s string) bool {
	var v map[string]json.RawMessage
	return json.Unmarshal([]byte(s), &v) == nil && v != nil
}

// argText is the text of arguments, which the API gives as a string and some servers as an object; of an id or a
// name in the same way.
func argText(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
