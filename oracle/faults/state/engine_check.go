package state

import (
	"math/rand/v2"
	"slices"
)

// lists runs an engine beside the plainest model there is, a list of tokens for each sequence, and
// compares what attention would see after every operation.
type lists struct {
	*engine
	tokens map[int][]int
}

func newLists(e *engine) *lists { return &lists{e, map[int][]int{}} }

// check compares the output of every sequence in the cache with that of its list, then audits the pool.
func (l *lists) check() {
	for _, id := range l.ids(false) {
		h, before := uint64(1), uint64(0)
		for p, t := range l.tokens[id] {
			before = cellOf(t, p, before)
			h = mix(h, before)
		}
		if got := l.output(id); got != h {
			l.fail(violated("sequence %d, tokens %v: its cache is not that of its tokens", id, l.tokens[id]))
		}
	}
	l.audit()
}

// audit counts: a page has as many users as tables name it, and is on the free list, once, exactly when it
// has none; a table has the pages that its tokens need and no more.
func (l *lists) audit() {
	users, free := make([]int, len(l.pages)), make([]int, len(l.pages))
	for _, id := range l.ids(false) {
		s := l.sequences[id]
		if need := (len(s.tokens) + l.size - 1) / l.size; len(s.table) != need {
			l.fail(violated("sequence %d: %d tokens on pages of %d hold %d pages", id, len(s.tokens), l.size, len(s.table)))
		}
		for _, at := range s.table {
			users[at]++
		}
	}
	for _, at := range l.free {
		free[at]++
	}
	for at, n := range users {
		if n != l.pages[at].users || free[at] > 1 || (free[at] == 1) != (n == 0) {
			l.fail(violated("page %d: in %d tables, %d users recorded, %d times on the free list", at, n, l.pages[at].users,
				free[at]))
		}
	}
}

// begin starts a sequence in both.
func (l *lists) begin(prompt ...int) int {
	id := l.start(prompt...)
	l.tokens[id] = slices.Clone(prompt)
	l.check()
	return id
}

// append decodes a token in both.
func (l *lists) append(id, token int) {
	l.decode(id, token)
	l.tokens[id] = append(l.tokens[id], token)
	l.check()
}

// copied forks a sequence in both.
func (l *lists) copied(id int) int {
	other := l.fork(id)
	l.tokens[other] = slices.Clone(l.tokens[id])
	l.check()
	return other
}

// verified runs a verify step; the list gets the tokens that greedy decoding would append.
func (l *lists) verified(id int, draft, truth []int) {
	n := 0
	for n < len(draft) && n+1 < len(truth) && draft[n] == truth[n] {
		n++
	}
	l.verify(id, draft, truth)
	l.tokens[id] = append(l.tokens[id], truth[:n+1]...)
	l.check()
}

// Kinds of operations of a walk.
const (
	opStart = iota
	opDecode
	opFork
	opVerify
	opSwapOut
	opRecompute
	opResume
	opMove
	opFinish
	operations
)

// step runs one operation, whose sequence, tokens and pages come from an argument. Tokens are 1 and 2,
// so that prompts collide. When pages are short somebody is preempted first.
func (l *lists) step(op, arg int) {
	const most = 9 // tokens of a sequence
	if l.err != nil {
		return
	}
	in, out := l.ids(false), l.ids(true)
	reserve := (most+l.size-1)/l.size + 1
	for len(l.free) < reserve && len(in) > 1 {
		l.preempt(in[len(in)-1], arg%2 == 0)
		in, out = l.ids(false), l.ids(true)
	}
	bits := func(n, shift int) []int {
		var tokens []int
		for i := range n {
			tokens = append(tokens, 1+arg>>(shift+i)&1)
		}
		return tokens
	}
	room := len(l.free) >= reserve
	id := -1
	if len(in) > 0 {
		id = in[arg%len(in)]
	}
	switch {
	case op == opStart && room && len(l.sequences) < 4:
		l.begin(bits(1+arg%6, 3)...)
	case op == opResume && room && len(out) > 0:
		l.resume(out[arg%len(out)])
	case op == opMove && arg%2 == 0:
		l.defragment()
	case op == opMove:
		l.move(rand.New(rand.NewPCG(uint64(arg), 9)).Perm(len(l.pages)))
	case id < 0:
		return
	case op == opSwapOut || op == opRecompute:
		l.preempt(id, op == opSwapOut)
	case op == opFinish || len(l.tokens[id]) > most-4 && (op == opDecode || op == opVerify):
		l.finish(id)
		delete(l.tokens, id)
	case op == opDecode && room:
		l.append(id, 1+arg>>3&1)
	case op == opVerify && room:
		l.verified(id, bits(1+arg%3, 3), bits(4, 7))
	case op == opFork && room && len(l.sequences) < 4:
		l.copied(id)
	}
	l.check()
}

// walk runs random operations from seeds 1 .. seeds, on pages of 1 to 4 tokens, and stops at the first
// finding.
func walk(fault string, seeds uint64, length int) func(bool) error {
	return func(faulty bool) error {
		for seed := uint64(1); seed <= seeds; seed++ {
			r := rand.New(rand.NewPCG(seed, 4))
			l := newLists(newEngine(1+int(seed%4), 23, when(faulty, fault), false))
			for range length {
				l.step(r.IntN(operations), r.IntN(1<<12))
			}
			if l.err != nil {
				return l.err
			}
		}
		return nil
	}
}

func when(faulty bool, fault string) string {
	if faulty {
		return fault
	}
	return ""
}

// same runs two scripts on engines of their own, each on every page size of 1 to 4 tokens. The sequences
// that they return must give the same output: a metamorphic relation, which needs no second model.
func same(fault string, one, other func(e *engine) int) func(bool) error {
	return func(faulty bool) error {
		for size := 1; size <= 4; size++ {
			var outputs [2]uint64
			for i, script := range []func(e *engine) int{one, other} {
				e := newEngine(size, 23, when(faulty, fault), false)
				id := script(e)
				if e.err != nil {
					return e.err
				}
				outputs[i] = e.output(id)
			}
			if outputs[0] != outputs[1] {
				return violated("pages of %d: the two ways to the same tokens give different caches", size)
			}
		}
		return nil
	}
}

// scripted runs a script against the lists, on one page size.
func scripted(fault string, size int, identity bool, script func(l *lists)) func(bool) error {
	return func(faulty bool) error {
		l := newLists(newEngine(size, 23, when(faulty, fault), identity))
		script(l)
		l.check()
		return l.err
	}
}
