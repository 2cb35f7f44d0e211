package engine

// span is a run of token positions, hi excluded.
type span struct{ lo, hi int }

// query is one read of the KV memory.
type query struct {
	n       int  // tokens in memory, the one that asks included
	prompt  int  // tokens of the prompt
	decode  bool // a decode step, otherwise the end of a prefill chunk
	chunk   int  // where the last prefill chunk began
	hit     int  // tokens taken from the prefix cache
	batch   int  // running requests
	table   []int32
	request *request
}

// maskOps are the decisions of attention that a bug can get wrong.
type maskOps struct {
	spans func(q query, out []span) []span          // what dense attention sees
	angle func(q query, pos int32) (int32, bool)    // where the rotation puts a row, and whether it can be read
	value func(q query, i, at int, tok int32) int32 // what token i reads as from its row; nil: as it was written
}

func soundMask() maskOps {
	return maskOps{
		spans: func(q query, out []span) []span { return append(out, span{0, q.n}) },
		angle: func(_ query, pos int32) (int32, bool) { return pos, true },
	}
}

// without removes [lo, hi).
func without(spans []span, lo, hi int) []span {
	var out []span
	for _, s := range spans {
		if a := (span{s.lo, min(s.hi, lo)}); a.lo < a.hi {
			out = append(out, a)
		}
		if b := (span{max(s.lo, hi), s.hi}); b.lo < b.hi {
			out = append(out, b)
		}
	}
	return out
}
