package state

// others disturbs the pool: it starts and ends sequences until pages that are free now have been taken.
func others(e *engine) {
	for i := range 8 {
		e.finish(e.start(5+i, 6, 7, 8, 9, 5, 6))
	}
}

// plain is the undisturbed way to the tokens of the metamorphic cases.
func plain(e *engine) int {
	id := e.start(1, 2, 1, 1, 2)
	for _, t := range []int{2, 1, 2, 2} {
		e.decode(id, t)
	}
	return id
}

// interrupted goes the same way and does something after the second decoded token.
func interrupted(by func(e *engine, id int)) func(*engine) int {
	return func(e *engine) int {
		id := e.start(1, 2, 1, 1, 2)
		for i, t := range []int{2, 1, 2, 2} {
			if i == 2 {
				by(e, id)
			}
			e.decode(id, t)
		}
		return id
	}
}

// away preempts and resumes with the pool disturbed in between.
func away(swap bool) func(*engine) int {
	return interrupted(func(e *engine, id int) {
		e.preempt(id, swap)
		others(e)
		e.resume(id)
	})
}

// warm computes a prompt after others, whose blocks it may hit.
func warm(prompts ...[]int) func(*engine) int {
	return func(e *engine) int {
		id := -1
		for _, p := range prompts {
			if id >= 0 {
				e.finish(id)
			}
			id = e.start(p...)
		}
		return id
	}
}

// verifies compares a verify step with decoding, for every length of draft and acceptance to 4, at every
// place on a page. after continues both.
func verifies(fault string, after ...int) func(bool) error {
	return func(faulty bool) error {
		truth := []int{2, 1, 1, 2, 1}
		for m := range 5 {
			for accepted := range m + 1 {
				for prompt := 1; prompt <= 4; prompt++ {
					tokens := []int{1, 2, 2, 1}[:prompt]
					one := func(e *engine) int {
						id := e.start(tokens...)
						for _, t := range truth[:accepted+1] {
							e.decode(id, t)
						}
						for _, t := range after {
							e.decode(id, t)
						}
						return id
					}
					other := func(e *engine) int {
						id := e.start(tokens...)
						draft := make([]int, m)
						for i := range draft {
							if draft[i] = truth[i]; i >= accepted {
								draft[i] += 5
							}
						}
						e.verify(id, draft, truth)
						for _, t := range after {
							e.decode(id, t)
						}
						return id
					}
					if err := same(fault, one, other)(faulty); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
}

// constructed says that a fault was planted to prove a property and follows no single report.
const constructed = "constructed: it proves the property, no public report is claimed"

func engineModels() []Model {
	var out []Model
	add := func(slug, class, effect, origin string, cases ...Case) {
		cases = append(cases, Case{
			ID:  "walk",
			Why: "random operations against a list of tokens, on pages of 1 to 4",
			Run: walk(slug, 200, 40),
		})
		out = append(out, Model{Slug: slug, Class: class, Effect: effect, Origin: origin, Cases: cases})
	}
	a, b := []int{1, 2, 1, 1, 2, 2, 1}, []int{1, 2, 1, 1, 2, 2, 2}
	const table, hash, state = "stale-table", "stale-hash", "sequence-state"

	add("resume-stale-table", table, "a resumed sequence keeps the pages that it had, whoever has used them since",
		constructed,
		Case{
			ID:  "swapped-equals-undisturbed",
			Why: "preempt and resume with the pool in use in between",
			Run: same("resume-stale-table", plain, away(true)),
		},
		Case{
			ID:  "pages-taken-by-another",
			Why: "another prompt lives on the pages at resumption",
			Run: scripted("resume-stale-table", 2, false, func(l *lists) {
				id := l.begin(1, 2, 2)
				l.preempt(id, true)
				last := id
				for range l.pages { // until none is free
					if len(l.free) > 0 {
						last = l.begin(2, 2, 1, 1)
					}
				}
				l.finish(last - 1)
				l.finish(last)
				l.resume(id)
			}),
		},
		Case{
			ID:    "resumed-at-once",
			Why:   "nobody has touched the pages",
			Blind: true,
			Run: same("resume-stale-table", plain, interrupted(func(e *engine, id int) {
				e.preempt(id, true)
				e.resume(id)
			})),
		})
	add("resume-drops-generated", state, "resumption by recomputing fills the prompt and not what was generated",
		constructed,
		Case{
			ID:  "recomputed-equals-undisturbed",
			Why: "preempt after two generated tokens",
			Run: same("resume-drops-generated", plain, away(false)),
		},
		Case{
			ID:  "one-generated",
			Why: "one token beyond the prompt",
			Run: scripted("resume-drops-generated", 4, false, func(l *lists) {
				id := l.begin(1, 2)
				l.append(id, 1)
				l.preempt(id, false)
				l.resume(id)
			}),
		},
		Case{
			ID:    "prompt-only",
			Why:   "preempted before the first token",
			Blind: true,
			Run: scripted("resume-drops-generated", 4, false, func(l *lists) {
				id := l.begin(1, 2, 2, 1, 1)
				l.preempt(id, false)
				l.resume(id)
			}),
		})
	add("move-one-table", table, "moving a shared page updates the first table that names it", constructed,
		Case{
			ID:  "defragment-after-fork",
			Why: "two sequences on the same pages, both must find them",
			Run: scripted("move-one-table", 2, false, func(l *lists) {
				id := l.begin(1, 2, 2)
				l.copied(id)
				l.defragment()
			}),
		},
		Case{
			ID:  "moved-equals-undisturbed",
			Why: "pages moved in mid-request, the prompt's blocks shared with an older one",
			Run: same("move-one-table", plain, func(e *engine) int {
				e.start(1, 2, 1, 1, 2)
				return interrupted(func(e *engine, _ int) { e.defragment() })(e)
			}),
		},
		Case{
			ID:    "alone",
			Why:   "pages moved under a single sequence",
			Blind: true,
			Run:   same("move-one-table", plain, interrupted(func(e *engine, _ int) { e.defragment() })),
		})
	add("move-keeps-hash", hash, "moving pages leaves the block hashes at the old places", constructed,
		Case{
			ID:  "hit-after-move",
			Why: "prefix hit = miss after pages have moved",
			Run: same("move-keeps-hash", warm(a), func(e *engine) int {
				e.start(a...)
				e.defragment()
				return e.start(a...)
			}),
		},
		Case{
			ID:  "hit-after-end-and-move",
			Why: "the cached blocks belong to nobody when they move",
			Run: scripted("move-keeps-hash", 2, false, func(l *lists) {
				l.finish(l.begin(a...))
				l.begin(2, 2)
				l.defragment()
				l.begin(a...)
			}),
		},
		Case{
			ID:    "move-without-hit",
			Why:   "no later prompt shares a block",
			Blind: true,
			Run:   same("move-keeps-hash", plain, interrupted(func(e *engine, _ int) { e.defragment() })),
		})
	add("hit-identity-table", table, "a prefix hit takes block i to be page i: the table is dropped",
		"tanishqkumar/ssd#23 (paged cache passed as contiguous), tenstorrent/vllm#415 (hit differs from miss)",
		Case{ID: "hit-equals-miss", Why: "the same prompt twice", Run: same("hit-identity-table", warm(a), warm(a, a))},
		Case{
			ID:  "shared-prefix",
			Why: "a prompt that shares six tokens with another",
			Run: same("hit-identity-table", warm(b), warm(a, b)),
		},
		Case{
			ID:    "identity-pool",
			Why:   "a fresh pool whose first page is page 0",
			Blind: true,
			Run: scripted("hit-identity-table", 2, true, func(l *lists) {
				l.finish(l.begin(a...))
				l.begin(a...)
			}),
		})
	add("hash-without-parent", hash, "a block's hash covers its own tokens and not those before it", constructed,
		Case{
			ID:  "same-block-other-prefix",
			Why: "the second block of one prompt is the first of another",
			Run: scripted("hash-without-parent", 2, false, func(l *lists) {
				l.begin(1, 1, 2, 2, 1)
				l.begin(2, 2, 1, 1, 1)
			}),
		},
		Case{
			ID:  "repeats",
			Why: "a prompt that repeats itself, after itself",
			Run: same("hash-without-parent", warm([]int{1, 1, 1, 1, 1, 1, 1, 1, 2}),
				warm([]int{1, 1, 1, 1, 1, 1, 1, 1, 2}, []int{
					1, 1, 1, 1, 1, 1, 1, 1, 2,
				})),
		},
		Case{
			ID:    "no-block-repeats",
			Why:   "blocks that differ",
			Blind: true,
			Run: scripted("hash-without-parent", 2, false, func(l *lists) {
				l.begin(1, 1, 2, 2, 1)
				l.begin(1, 1, 2, 2, 2)
			}),
		})
	add("evict-keeps-hash", hash, "a page that is taken for new tokens stays cached under the old hash", constructed,
		Case{
			ID:  "hit-after-eviction",
			Why: "a prompt again, after its pages were used for others",
			Run: same("evict-keeps-hash", warm(a), func(e *engine) int {
				e.finish(e.start(a...))
				others(e)
				return e.start(a...)
			}),
		},
		Case{
			ID:  "pool-of-full-tables",
			Why: "the pages belong to a running sequence",
			Run: scripted("evict-keeps-hash", 2, false, func(l *lists) {
				l.finish(l.begin(a...))
				for i := range 5 {
					l.begin(10+i, 1, 2, 1, 2, 1, 2, 1)
				}
				last := l.begin(20, 1, 2, 1, 2)
				l.finish(last - 1)
				l.finish(last)
				l.begin(a...)
			}),
		},
		Case{
			ID:    "hit-before-eviction",
			Why:   "a pool that is large enough",
			Blind: true,
			Run:   same("evict-keeps-hash", warm(a), warm(a, b, a)),
		})
	add("fork-no-copy", table, "a forked sequence writes to a page that it shares", constructed,
		Case{
			ID:  "two-continuations",
			Why: "both write the next slot of one page",
			Run: scripted("fork-no-copy", 4, false, func(l *lists) {
				id := l.begin(1, 2)
				other := l.copied(id)
				l.append(id, 1)
				l.append(other, 2)
			}),
		},
		Case{
			ID:  "twin-drafts",
			Why: "the cell of a twin's rejected draft, which nobody overwrites",
			Run: scripted("fork-no-copy", 4, false, func(l *lists) {
				id := l.begin(1, 2)
				twin := l.copied(id)
				l.append(id, 2)
				l.append(id, 1)
				l.verified(twin, []int{1, 2}, []int{2})
			}),
		},
		Case{
			ID:    "full-pages",
			Why:   "the fork lies between two pages",
			Blind: true,
			Run: scripted("fork-no-copy", 2, false, func(l *lists) {
				id := l.begin(1, 2)
				other := l.copied(id)
				l.append(id, 1)
				l.append(other, 2)
			}),
		})
	add("release-frees-shared", table, "the end of a sequence frees pages that others use", constructed,
		Case{
			ID:  "twin-ends",
			Why: "one of two forks ends, its pages are taken",
			Run: scripted("release-frees-shared", 2, false, func(l *lists) {
				l.finish(l.copied(l.begin(1, 2, 2)))
				others(l.engine)
			}),
		},
		Case{
			ID:  "shared-prompt-ends",
			Why: "metamorphic: an older request with the same prefix ends in mid-request",
			Run: same("release-frees-shared", plain, func(e *engine) int {
				old := e.start(1, 2, 1, 1, 2)
				return interrupted(func(e *engine, _ int) {
					e.finish(old)
					others(e)
				})(e)
			}),
		},
		Case{
			ID:    "nothing-shared",
			Why:   "requests without a common prefix",
			Blind: true,
			Run:   same("release-frees-shared", plain, interrupted(func(e *engine, _ int) { others(e) })),
		})
	add("verify-keeps-rejected", state, "a verify step keeps the cells of rejected tokens: the next token lands behind "+
		"them", constructed,
		Case{
			ID:  "equals-decoding",
			Why: "verify of m = decode steps, every m and acceptance to 4",
			Run: verifies("verify-keeps-rejected"),
		},
		Case{ID: "accept-1-reject-1", Why: "the smallest", Run: scripted("verify-keeps-rejected", 2, false, func(l *lists) {
			l.verified(l.begin(1, 2), []int{2, 2}, []int{2, 1})
		})},
		Case{
			ID:    "all-accepted",
			Why:   "a draft without a wrong token",
			Blind: true,
			Run: scripted("verify-keeps-rejected", 2, false, func(l *lists) {
				l.verified(l.begin(1, 2), []int{2, 2}, []int{2, 2, 1})
			}),
		})
	add("verify-hashes-draft", hash, "full blocks are published before the draft in them has been verified", constructed,
		Case{
			ID:  "prompt-as-the-draft",
			Why: "a prompt that has the rejected tokens hits the block",
			Run: scripted("verify-hashes-draft", 2, false, func(l *lists) {
				l.verified(l.begin(1, 2), []int{2, 2}, []int{2, 1})
				l.begin(1, 2, 2, 2, 1)
			}),
		},
		Case{
			ID:  "hit-equals-miss",
			Why: "metamorphic: the same prompt with and without the speculation before it",
			Run: same("verify-hashes-draft", warm(a), func(e *engine) int {
				e.verify(e.start(a[:2]...), a[2:6], []int{2, 2, 2, 2, 2})
				return e.start(a...)
			}),
		},
		Case{
			ID:    "equals-decoding",
			Why:   "the speculating sequence itself is right",
			Blind: true,
			Run:   verifies("verify-hashes-draft", 1, 2),
		})
	return out
}
