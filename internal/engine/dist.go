package engine

import (
	"cmp"
	"math"
	"slices"
)

// dist is a distribution over the next token: logits of the best and of a handful of others; the rest of the vocabulary
// shares what is left.
type dist struct {
	best  int32
	cands []alt // logits relative to the best, in lp; best first; nil when nobody will ask
	hash  uint64
}

// others is how many candidates a distribution lists: more than the 20 that servers show.
const others = 26

// restLogit is how far below the weakest candidate the rest of the vocabulary lies, all of it together.
const restLogit = 1.5

// logZ is the logarithm of the sum over all tokens.
func (d dist) logZ() float64 {
	z := 0.0
	for _, c := range d.cands {
		z += math.Exp(c.lp)
	}
	if n := len(d.cands); n > 0 {
		z += math.Exp(d.cands[n-1].lp - restLogit)
	}
	return math.Log(z)
}

// spread fills the candidates: the choices given, then look-alikes of the best token at growing distance.
func (m *machine) spread(d dist, choices []alt, margin float64) dist {
	d.cands = append(d.cands[:0:0], choices...)
	floor := 0.0
	for _, c := range choices[1:] {
		floor = min(floor, c.lp)
	}
	floor = min(floor, -margin)
	for j := 0; len(d.cands) < others; j++ {
		h := mix(d.hash, uint64(j)*977+uint64(uint32(d.best)))
		tok := m.lookalike(d.best, h)
		if slices.ContainsFunc(d.cands, func(c alt) bool { return c.tok == tok }) {
			tok = int32(256 + h>>20%uint64(int(m.lex.base)-256))
			if slices.ContainsFunc(d.cands, func(c alt) bool { return c.tok == tok }) {
				continue
			}
		}
		d.cands = append(d.cands, alt{tok, floor - 0.25*float64(len(d.cands)-len(choices)) - 0.2*unit(h)})
	}
	slices.SortStableFunc(d.cands, func(a, b alt) int { return cmp.Compare(b.lp, a.lp) })
	return d
}

// lookalike returns another token of the same kind: digits for digits, a word for a word.
func (m *machine) lookalike(tok int32, h uint64) int32 {
	if tok < 0 || tok >= m.lex.base {
		return int32(256 + (h>>13)%uint64(int(m.lex.base)-256))
	}
	t := m.lex.text[tok]
	if allDigits(t) {
		b := []byte(t)
		at := int(h>>9) % len(b)
		b[at] = '0' + byte((int(b[at]-'0')+1+int((h>>17)%9))%10)
		if id, ok := m.lex.rank[string(b)]; ok {
			return id
		}
	}
	if len(t) == 1 && letter(t[0]) && t[0] < 0x80 {
		return int32('a' + (int(t[0]|0x20-'a')+1+int(h>>11%25))%26)
	}
	// a token of a near rank has a near frequency
	step := 1 + int32((h>>21)%97)
	lo := int32(256)
	if m.lex.digits > 1 {
		lo = m.lex.rank["\n\n"]
	}
	return lo + (max(tok, lo)-lo+step)%(m.lex.base-lo)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !digit(s[i]) {
			return false
		}
	}
	return s != ""
}
