package engine

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// continueText is the next token of a text completion: known facts, what followed the same words earlier in the text,
// or
// a word of near frequency.
func (m *machine) continueText(req *request, v *view, need bool) dist {
	seen := m.visible(req, v)
	d := m.follow(seen)
	if !need {
		d.cands = nil
	}
	return d
}

// visible is prompt and answer as they stand in memory, -1 for what cannot be seen.
func (m *machine) visible(req *request, v *view) []int32 {
	out := make([]int32, 0, req.total())
	for i, t := range req.prompt {
		if i+1 < len(v.offs) && v.text[v.offs[i]] == 0 && v.offs[i+1] == v.offs[i]+1 {
			t = -1
		} else if i+1 < len(v.offs) && string(v.text[v.offs[i]:v.offs[i+1]]) != m.lex.view[t] {
			t = m.lookup(string(v.text[v.offs[i]:v.offs[i+1]]))
		}
		out = append(out, t)
	}
	return append(out, v.tail...)
}

func (m *machine) lookup(text string) int32 {
	if id, ok := m.lex.rank[text]; ok {
		return id
	}
	return -1
}

// follow is the distribution of what follows ids.
func (m *machine) follow(ids []int32) dist {
	n := len(ids)
	var tail uint64
	for _, t := range ids[max(0, n-4):] {
		tail = mix(tail, uint64(uint32(t)))
	}
	d := dist{hash: mix(tail, m.seed)}
	if text := m.tailText(ids, 16); strings.HasSuffix(text, " is") {
		if value, ok := complete(text); ok {
			if first := m.tok.encode(" " + value); len(first) > 0 {
				d.best = first[0]
				return m.spread(d, []alt{{d.best, 0}}, 4)
			}
		}
	}
	// induction: the longest run of up to 8 tokens that stood here before
	best, at := 0, -1
	for i := n - 2; i >= 0 && n > 1; i-- {
		if ids[i] != ids[n-1] || ids[i] < 0 {
			continue
		}
		k := 1
		for k < 8 && i-k >= 0 && ids[i-k] == ids[n-1-k] && ids[i-k] >= 0 {
			k++
		}
		if k > best {
			if best, at = k, i+1; k == 8 {
				break
			}
		}
	}
	guess := int32(256 + d.hash%uint64(m.lex.base-256))
	if n > 0 && ids[n-1] >= 0 && ids[n-1] < m.lex.base {
		guess = m.lookalike(ids[n-1], d.hash)
	}
	if at >= 0 && ids[at] >= 0 {
		d.best = ids[at]
		return m.spread(d, []alt{{ids[at], 0}, {guess, -0.6 * float64(best)}}, 0.8*float64(best))
	}
	d.best = guess
	return m.spread(d, []alt{{guess, 0}}, 0.8)
}

func (m *machine) tailText(ids []int32, n int) string {
	var b strings.Builder
	for _, t := range ids[max(0, len(ids)-n):] {
		if t >= 0 && t < m.lex.base {
			b.WriteString(m.lex.text[t])
		}
	}
	return b.String()
}

// scorePrompt gives every token of the prompt its log-probability under what stands before it, as a prefill does.
func (m *machine) scorePrompt(rk *rank, q query) {
	req := q.request
	v, _ := m.look(rk, q)
	seen := m.visible(req, v)
	top := max(1, req.logprobs)
	for i, t := range req.prompt {
		if i == 0 {
			req.promptLP = append(req.promptLP, emitted{tok: t, lp: math.NaN()})
			continue
		}
		d := m.follow(seen[:i])
		lp, alts := m.promptValue(d, t, top)
		req.promptLP = append(req.promptLP, emitted{tok: t, lp: lp, top: alts})
	}
}

func (m *machine) promptValue(d dist, tok int32, top int) (float64, []alt) {
	z := d.logZ()
	lp := d.cands[len(d.cands)-1].lp - restLogit - math.Log(float64(m.lex.size)) - z - 2*unit(mix(d.hash, uint64(tok)))
	var alts []alt
	for i, c := range d.cands {
		if c.tok == tok {
			lp = c.lp - z
		}
		if i < top {
			alts = append(alts, alt{c.tok, m.lps.value(c.lp - z)})
		}
	}
	slices.SortStableFunc(alts, func(a, b alt) int { return cmp.Compare(b.lp, a.lp) })
	return m.lps.value(lp), alts
}
