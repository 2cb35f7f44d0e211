package state

import (
	"fmt"
	"slices"
)

// machine is the state of a few threads (warps, or blocks of a grid) on shared memory. A warp runs in
// step with itself, so a thread stands for one.
type machine struct {
	shared  []int
	regs    [][]int // by thread
	pc      []int
	waiting []bool // at the barrier
}

// step is one indivisible action of a thread.
type step struct {
	name    string
	barrier bool                // wait until every thread that has not ended has arrived
	ready   func(*machine) bool // the thread cannot go on before; nil is always
	do      func(m *machine, thread int)
}

// statesAtMost bounds an exploration; the models here have up to 300 states. One beyond it is refused, as
// "all interleavings" must not mean "some".
const statesAtMost = 20_000

// explore runs every interleaving of the programs, sequentially consistent, and checks each end. A
// state in which nobody can go on before all have ended is a deadlock and a finding. It returns how
// many states there are.
//
// The barrier counts arrivals, not places in the program: a thread that skips one pairs its next barrier
// with the others' this one, and a thread that has ended no longer counts, as in the PTX manual's
// barrier.sync (it waits for all non-exited threads).
func explore(programs [][]step, shared []int, registers int, check func(*machine) error) (states int, err error) {
	start := &machine{shared: slices.Clone(shared), pc: make([]int, len(programs)), waiting: make([]bool, len(programs))}
	for range programs {
		start.regs = append(start.regs, make([]int, registers))
	}
	seen := map[string]bool{start.key(): true}
	for stack := []*machine{start}; len(stack) > 0; {
		m := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		moved, ended := false, true
		for t, program := range programs {
			ended = ended && m.pc[t] == len(program)
			next := m.advance(programs, t)
			if next == nil {
				continue
			}
			moved = true
			if k := next.key(); !seen[k] {
				seen[k] = true
				stack = append(stack, next)
			}
		}
		switch {
		case len(seen) > statesAtMost:
			return len(seen), fmt.Errorf("exploration: more than %d states; make the model smaller", statesAtMost)
		case ended:
			if err := check(m); err != nil {
				return len(seen), err
			}
		case !moved:
			return len(seen), violated("deadlock: the threads stop at %s", m.places(programs))
		}
	}
	return len(seen), nil
}

// advance is the state after the next step of thread t, nil when it has none.
func (m *machine) advance(programs [][]step, t int) *machine {
	if m.waiting[t] || m.pc[t] == len(programs[t]) {
		return nil
	}
	s := programs[t][m.pc[t]]
	if s.ready != nil && !s.ready(m) {
		return nil
	}
	next := &machine{shared: slices.Clone(m.shared), pc: slices.Clone(m.pc), waiting: slices.Clone(m.waiting)}
	for _, r := range m.regs {
		next.regs = append(next.regs, slices.Clone(r))
	}
	if s.barrier {
		next.waiting[t] = true
	} else {
		s.do(next, t)
		next.pc[t]++
	}
	for i, p := range programs {
		if !next.waiting[i] && next.pc[i] < len(p) {
			return next // somebody has yet to arrive
		}
	}
	for i, w := range next.waiting {
		if w {
			next.waiting[i] = false
			next.pc[i]++
		}
	}
	return next
}

func (m *machine) key() string { return fmt.Sprint(m.shared, m.regs, m.pc, m.waiting) }

func (m *machine) places(programs [][]step) string {
	var out []string
	for t, p := range programs {
		name := "its end"
		if m.pc[t] < len(p) {
			name = p[m.pc[t]].name
		}
		out = append(out, fmt.Sprintf("%d: %s", t, name))
	}
	return fmt.Sprint(out)
}

// barrier is the step that waits for everybody.
func barrier() step { return step{name: "barrier", barrier: true} }

// act is a step that is always ready.
func act(name string, do func(m *machine, thread int)) step { return step{name: name, do: do} }
