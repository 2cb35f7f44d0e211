package engine

import (
	"strings"
	"sync"
)

// tokenizer turns text into ids. Pieces are split first and merged within,
// so that a piece has the same ids wherever it
// stands; both levels are cached, as the fast tokenizers do.
type tokenizer struct {
	v   *vocab
	ops tokenOps

	mu     sync.Mutex
	pieces map[string][]int32
	texts  map[string][]int32
	held   int // tokens in texts
}

// tokenOps are the decisions of the tokenizer that a bug can get wrong.
type tokenOps struct {
	key     func(piece string) string // of the cache of pieces
	unknown func(b byte) (int32, bool)
}

func soundTokens() tokenOps {
	return tokenOps{
		key:     func(p string) string { return p },
		unknown: func(b byte) (int32, bool) { return int32(b), true },
	}
}

const mostTextTokens = 2_000_000

func newTokenizer(v *vocab, ops tokenOps) *tokenizer {
	return &tokenizer{v: v, ops: ops, pieces: map[string][]int32{}, texts: map[string][]int32{}}
}

// encode returns the ids of a text without special tokens. The caller must not write to it.
func (t *tokenizer) encode(text string) []int32 {
	if text == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if ids, ok := t.texts[text]; ok {
		return ids
	}
	ids := make([]int32, 0, len(text)/4+8)
	for rest := text; rest != ""; {
		n := nextPiece(rest, t.v.digits)
		ids = append(ids, t.piece(rest[:n])...)
		rest = rest[n:]
	}
	if t.held += len(ids); t.held > mostTextTokens {
		clear(t.texts)
		t.held = len(ids)
	}
	t.texts[strings.Clone(text)] = ids
	return ids
}

func (t *tokenizer) piece(p string) []int32 {
	key := t.ops.key(p)
	if ids, ok := t.pieces[key]; ok {
		return ids
	}
	ids := t.merge(p)
	t.pieces[strings.Clone(key)] = ids
	return ids
}

// merge joins the neighbours of the lowest rank until none can be joined.
func (t *tokenizer) merge(p string) []int32 {
	if id, ok := t.v.rank[p]; ok {
		return []int32{id}
	}
	ends := make([]int, 0, len(p)+1) // part k is p[ends[k]:ends[k+1]]
	for i := 0; i <= len(p); i++ {
		ends = append(ends, i)
	}
	for len(ends) > 2 {
		best, at := int32(1<<30), -1
		for k := 0; k+2 < len(ends); k++ {
			if r, ok := t.v.rank[p[ends[k]:ends[k+2]]]; ok && r < best {
				best, at = r, k
			}
		}
		if at < 0 {
			break
		}
		ends = append(ends[:at+1], ends[at+2:]...)
	}
	out := make([]int32, 0, len(ends)-1)
	for k := 0; k+1 < len(ends); k++ {
		part := p[ends[k]:ends[k+1]]
		if len(part) == 1 {
			if id, ok := t.ops.unknown(part[0]); ok {
				out = append(out, id)
			}
			continue
		}
		out = append(out, t.v.rank[part])
	}
	return out
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
func white(c byte) bool  { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// nextPiece returns the length of the piece that text begins with: a word or a run of marks with one blank before it,
// up to most digits, or white space.
func nextPiece(text string, most int) int {
	i := 0
	if text[0] == ' ' && len(text) > 1 && !white(text[1]) && !digit(text[1]) {
		i = 1
	}
	c := text[i]
	j := i + 1
	switch {
	case letter(c):
		for j < len(text) && letter(text[j]) {
			j++
		}
	case digit(c):
		for j < len(text) && j-i < most && digit(text[j]) {
			j++
		}
	case white(c):
		for j < len(text) && white(text[j]) {
			j++
		}
		if j < len(text) && j-i > 1 && text[j-1] == ' ' && !digit(text[j]) {
			j-- // this blank belongs to what follows
		}
	default:
		for j < len(text) && !letter(text[j]) && !digit(text[j]) && !white(text[j]) {
			j++
		}
	}
	return j
}
