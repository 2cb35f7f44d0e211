package state

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Any sequence of operations on any page size leaves every cache equal to its list of tokens.
func TestEngineIsAListOfTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 5).Draw(t, "page size")
		l := newLists(newEngine(size, 23, "", rapid.Bool().Draw(t, "identity")))
		for range rapid.IntRange(1, 40).Draw(t, "length") {
			op, arg := rapid.IntRange(0, operations-1).Draw(t, "operation"), rapid.IntRange(0, 1<<12-1).Draw(t, "argument")
			l.step(op, arg)
			if l.err != nil {
				t.Fatal(l.err)
			}
		}
	})
}

// Small scope, all of it: every sequence of operations up to a length, from two sequences that share a
// prefix. Four operations by default, five with ASSAY_BUDGET=full.
func TestEngineEverySequence(t *testing.T) {
	length := 4
	if v, _ := os.LookupEnv("ASSAY_BUDGET"); v == "full" {
		length = 5
	}
	// one argument for each operation, and for those that choose a sequence or tokens two
	moves := [][2]int{
		{opStart, 0o44},
		{opStart, 0o25},
		{opDecode, 0},
		{opDecode, 0o11},
		{opFork, 0},
		{opVerify, 0o32},
		{opSwapOut, 0},
		{opRecompute, 1},
		{opResume, 0},
		{opMove, 0},
		{opMove, 1},
		{opFinish, 0},
	}
	total := 1
	for range length {
		total *= len(moves)
	}
	for n := range total {
		l := newLists(newEngine(2, 23, "", false))
		l.begin(1, 2, 2)
		l.begin(1, 2, 1)
		for at := n; l.err == nil && at > 0; at /= len(moves) {
			l.step(moves[at%len(moves)][0], moves[at%len(moves)][1])
		}
		if l.err != nil {
			t.Fatalf("sequence %d of operations: %v", n, l.err)
		}
	}
	t.Logf("%d sequences of %d operations", total, length)
}

// A walk that never hits a prefix, copies a page or preempts would prove nothing.
func TestWalksReachEverything(t *testing.T) {
	reached := map[string]int{}
	for seed := uint64(1); seed <= 50; seed++ {
		l := newLists(newEngine(1+int(seed%4), 23, "", false))
		for i := range 40 {
			users, hash := map[int]int{}, map[int]uint64{}
			for at, p := range l.pages {
				users[at], hash[at] = p.users, p.hash
			}
			op, arg := int(mix(seed, uint64(i))%operations), int(mix(uint64(i), seed)%(1<<12))
			out := len(l.ids(true))
			l.step(op, arg)
			for at, p := range l.pages {
				if p.users > users[at] && p.hash != 0 && p.hash == hash[at] {
					reached[fmt.Sprintf("hit by %d", op)]++
				}
				if p.users > 1 && p.users > users[at] && p.hash == 0 {
					reached[fmt.Sprintf("shared while partial by %d", op)]++
				}
			}
			if len(l.ids(true)) != out {
				reached[fmt.Sprintf("preempted or resumed by %d", op)]++
			}
			if op == opVerify || op == opMove {
				reached[fmt.Sprint("operation ", op)]++
			}
		}
		require.NoError(t, l.err)
	}
	for _, what := range []string{
		fmt.Sprintf("hit by %d", opStart), fmt.Sprintf("hit by %d", opResume),
		fmt.Sprintf("shared while partial by %d", opFork), fmt.Sprintf("preempted or resumed by %d", opSwapOut),
		fmt.Sprintf("preempted or resumed by %d", opRecompute), fmt.Sprintf("preempted or resumed by %d", opResume),
		fmt.Sprint("operation ", opVerify), fmt.Sprint("operation ", opMove),
	} {
		assert.Greater(t, reached[what], 20, what)
	}
}

// The relations on drawn tokens: what the models check by example holds for any.
func TestEngineMetamorphic(t *testing.T) {
	tokens := rapid.SliceOfN(rapid.IntRange(1, 2), 1, 12)
	rapid.Check(t, func(t *rapid.T) {
		prompt, generated := tokens.Draw(t, "prompt"), tokens.Draw(t, "generated")
		size, cut := rapid.IntRange(1, 5).Draw(t, "page size"), rapid.IntRange(0, len(generated)-1).Draw(t, "cut")
		run := func(before func(e *engine), by func(e *engine, id int)) uint64 {
			e := newEngine(size, 47, "", false)
			before(e)
			id := e.start(prompt...)
			for i, token := range generated {
				if i == cut {
					by(e, id)
				}
				e.decode(id, token)
			}
			if e.err != nil {
				t.Fatal(e.err)
			}
			return e.output(id)
		}
		none, never := func(*engine) {}, func(*engine, int) {}
		want := run(none, never)
		for name, got := range map[string]uint64{
			"prefix hit":     run(func(e *engine) { e.finish(e.start(prompt...)) }, never),
			"prefix in use":  run(func(e *engine) { e.start(append(append([]int{}, prompt...), 1)...) }, never),
			"batch":          run(none, func(e *engine, _ int) { e.start(2, 1, 2) }),
			"defragmented":   run(func(e *engine) { e.start(2, 2, 2) }, func(e *engine, _ int) { e.defragment() }),
			"swapped":        run(none, func(e *engine, id int) { e.preempt(id, true); others(e); e.resume(id) }),
			"recomputed":     run(none, func(e *engine, id int) { e.preempt(id, false); others(e); e.resume(id) }),
			"forked":         run(none, func(e *engine, id int) { e.decode(e.fork(id), 2) }),
			"draft rejected": run(none, func(e *engine, id int) { e.finish(speculate(e, id)) }),
		} {
			if got != want {
				t.Errorf("%s: another cache than without", name)
			}
		}
	})
}

// speculate runs a rejected draft on a twin.
func speculate(e *engine, id int) int {
	twin := e.fork(id)
	e.verify(twin, []int{1, 2, 1}, []int{3})
	return twin
}

// Any rounds of any drafts leave the draft KV of a run without speculation.
func TestDraftsAnyRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "draft")
		accepts := rapid.SliceOfN(rapid.IntRange(0, k), 1, 8).Draw(t, "accepted")
		if err := drafts(k, false, accepts...)(false); err != nil {
			t.Fatal(err)
		}
		later := k > 1 && func() bool {
			for _, a := range accepts {
				if a > 0 {
					return true
				}
			}
			return false
		}()
		var found *ViolationError
		if got := errors.As(drafts(k, false, accepts...)(true), &found); got != later {
			t.Fatalf("found %v; a guess is kept exactly when a draft of two or more has an accepted token", got)
		}
	})
}
