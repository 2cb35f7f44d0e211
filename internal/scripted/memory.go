package scripted

import (
	"strconv"
	"strings"
)

// said is the first answer that was given on a prefix.
func (e *Engine) said(prefix uint64) (answer, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a, ok := e.firsts[prefix]
	return a, ok
}

func (e *Engine) owner(page uint64) (owner, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	o, ok := e.owners[page]
	return o, ok
}

// poisoned reports whether a prefix is bad; bad decides when it is asked for the first time.
func (e *Engine) poisoned(prefix uint64, bad bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if was, known := e.bad[prefix]; known {
		return was
	}
	if len(e.bad) < maxMemory {
		e.bad[prefix] = bad
	}
	return bad
}

// lastOther is the newest answer to another prompt.
func (e *Engine) lastOther(key uint64) (answer, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.last {
		if l.key != 0 && l.key != key {
			return l.out, true
		}
	}
	return answer{}, false
}

// takeAborted gives the text of a stream that its client cut, as often as shows says.
func (e *Engine) takeAborted(shows int) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.aborted) > 0 {
		s := e.aborted[0]
		if e.shown++; e.shown >= shows {
			e.aborted, e.shown = e.aborted[1:], 0
		}
		if s != "" {
			return s, true
		}
	}
	return "", false
}

// cut notes that a client left in the middle of its answer.
func (e *Engine) cut(c *call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.aborted) < 64 {
		e.aborted = append(e.aborted, c.out.text)
	}
}

// remember keeps what later requests may be mixed up with, and fills the cache.
func (e *Engine) remember(c *call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cache.insert(c.chain, c.spoiled)
	if e.last[0].key != c.key {
		e.last[1] = e.last[0]
	}
	e.last[0].key, e.last[0].out = c.key, c.out
	for _, a := range e.faults {
		switch a.ID {
		case "FK20":
			if len(e.firsts) > maxMemory {
				e.firsts = map[uint64]answer{}
			}
			if k := c.prefixKey(a.par["hit"]); c.p.n() > a.par["hit"] {
				if _, ok := e.firsts[k]; !ok {
					e.firsts[k] = c.out
				}
			}
		case "FK21":
			if len(e.owners) > maxMemory {
				e.owners = map[uint64]owner{}
			}
			for _, page := range c.chain {
				if _, ok := e.owners[page]; !ok {
					_, adapter := splitModel(c.r.Model)
					e.owners[page] = owner{images: c.p.images, adapter: adapter}
				}
			}
		}
	}
}

// maxWords bounds the vocabulary.
const maxWords = 4 * maxMemory

// learn gives the ids of a prompt's tokens, numbered as they are first seen, and keeps their texts, so that a prompt of
// ids can be read.
func (e *Engine) learn(p *prompt) []int {
	e.mu.Lock()
	defer e.mu.Unlock()
	ids := make([]int, p.n())
	for i := range ids {
		word := p.slice(i, i+1)
		id, known := e.ids[word]
		if !known {
			if len(e.words) == maxWords {
				ids[i] = maxWords // what was seen too late has no id of its own, and is read as a number
				continue
			}
			word = strings.Clone(word) // a part would keep the whole prompt
			id = len(e.words)
			e.words = append(e.words, word)
			e.ids[word] = id
		}
		ids[i] = id
	}
	return ids
}

// spell is the text of ids that /tokenize has given, BOS aside; others read as a number.
func (e *Engine) spell(ids []int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, id := range ids {
		switch {
		case id < 0 || id >= len(e.words):
			b.WriteString(" " + strconv.Itoa(id))
		case e.words[id] != bosToken:
			b.WriteString(e.words[id])
		}
	}
	return b.String()
}
