package diagnosis

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// evictChannel is what comes back from a lower tier of the cache.
func evictChannel() channel {
	back := func(r *reading) answer {
		first := r.arms("before the flood, and short ones alone", evidence.Evict, "first")
		again := r.arms("after the flood", evidence.Evict, "returned", "again")
		r.calm().into(&first)
		r.cold().into(&first)
		a := worse(first, again)
		if w := r.warm(); w.runs > 0 && w.rate() < 0.9 {
			a.state = no
			a.line = w.with() + ": reuse is wrong without a flood"
		}
		return a
	}
	return channel{
		name: "evict", says: "a prompt that was evicted comes back wrong", reads: []string{evidence.Evict}, symptom: back,
		rules: []rule{{
			class: "tier-restore", says: "an evicted prefix is restored wrongly, and stays so", when: []clause{
				{"wrong on return", back},
				{"a plain repeat is right", func(r *reading) answer { return mostly(r.warm(), 0.9) }},
			},
			splitter: "a plain repeat is right, evict and return is wrong",
			next: Flag{
				SGLang:   "without --enable-hierarchical-cache",
				VLLM:     "without --kv-offloading-size and --kv-transfer-config",
				LlamaCpp: "--cache-ram 0",
			},
			beside: []string{"poisoned-prefix"},
		}, {
			class: "poisoned-prefix", says: "an evicted prefix is still known, and its pages are another's", when: []clause{
				{"wrong on return", back},
				{"the pages were given to others", func(*reading) answer {
					return answer{line: "whose pages are read cannot be seen from outside", p: 1}
				}},
			},
			splitter: "without a lower tier of the cache: still wrong",
			next: Flag{
				SGLang:   "--disable-radix-cache",
				VLLM:     "--no-enable-prefix-caching",
				LlamaCpp: "cache_prompt false in the request",
			},
		}},
	}
}

// abortChannel is damage by streams that were left.
func abortChannel() channel {
	hurt := func(r *reading) answer {
		return worse(r.arms("before any stream was left", evidence.Aborts, "before"),
			r.arms("beside and after left streams", evidence.Aborts, "during", "after"))
	}
	pooled := func(r *reading) answer {
		good := r.arms("before any stream was left, and short ones alone", evidence.Aborts, "before")
		r.calm().into(&good)
		if a := hurt(r); a.state == yes {
			return a
		}
		a := worse(good, r.arms("beside and after left streams", evidence.Aborts, "during", "after"))
		if before := r.arms("", evidence.Aborts, "before"); before.runs > 0 && before.rate() < 0.9 {
			a.state = no
		}
		return a
	}
	return channel{
		name: "aborts", says: "requests beside or after a left stream go wrong", reads: []string{evidence.Aborts},
		symptom: pooled,
		rules: []rule{{
			class: "abort-damage", says: "a stream that its client left damages others", when: []clause{
				{"wrong beside or after a left stream, right before", pooled},
			},
			splitter: "the same requests with no stream left are right",
			next:     Flag{SGLang: "--disable-overlap-schedule", VLLM: "--no-async-scheduling", LlamaCpp: "-np 1"},
		}},
	}
}

// ageChannel is a server that gets worse with what it has served.
func ageChannel() channel {
	drift := func(r *reading) answer {
		early := r.arms("the first requests of the run", evidence.Sanity, "q0", "q1", "q2", "q3", "q4")
		r.take(&early, evidence.SelfNoise, "facts", "early")
		r.take(&early, evidence.Parity, "whole")
		if a := r.misplaced("drift"); a.state == yes {
			return a
		}
		late := r.all("the same kind of short questions, late", evidence.Soak, nil)
		if a := worse(early, late); a.state == yes {
			return a
		}
		// Facts alone tell more: some wrong answers leave simple questions right.
		a := worse(r.arms("facts at first", evidence.SelfNoise, "facts", "early"), r.calm())
		if a.state == yes && late.runs > 0 && late.rate() < 0.95 {
			a.line += "; " + late.String()
			return a
		}
		return worse(early, late)
	}
	return channel{
		name: "age", says: "short questions that were right at first go wrong later", reads: []string{
			evidence.Soak, evidence.Sanity,
		}, symptom: drift,
		rules: []rule{{
			class: "drift", proven: true,
			says: "the more is served, the more is wrong", when: []clause{
				{"right at first, wrong late, alone", drift},
			},
			splitter: "a restart: right again",
			next: Flag{
				SGLang:   "restart, then --disable-radix-cache",
				VLLM:     "restart, then --no-enable-prefix-caching",
				LlamaCpp: "restart, then -np 1",
			},
			covers: []string{
				"far", "warm", "fork", "turns", "ladder", "ladder-shared", "tools", "decode", "aborts", "evict", "sessions", "long",
				"sampling",
			},
		}},
	}
}

// sessionsChannel is replicas that differ.
func sessionsChannel() channel {
	split := func(r *reading) answer {
		right, runs, sessions, good, bad, extreme, each := 0, 0, 0, 0, 0, 0, 0
		for _, a := range r.Of(evidence.Sessions) {
			if a.Runs < 3 {
				continue
			}
			sessions++
			runs += a.Runs
			right += a.Right
			each = a.Runs
			switch a.Right {
			case a.Runs:
				good++
				extreme++
			case 0:
				bad++
				extreme++
			}
		}
		a := answer{
			line: fmt.Sprintf("%d connections: %d always right, %d never, %d mixed", sessions, good, bad, sessions-good-bad),
			runs: runs,
			arms: sessions,
			p:    1,
		}
		if sessions < 6 {
			return a
		}
		// One server with the same share of right answers for all would give that many one-sided connections by chance.
		q := float64(right) / float64(runs)
		a.p = binomialTail(extreme, sessions, math.Pow(q, float64(each))+math.Pow(1-q, float64(each)))
		a.state = no
		if good > 0 && bad > 0 && a.p <= alpha {
			a.state = yes
		}
		return a
	}
	return channel{
		name: "sessions", says: "some connections are always right and others never", reads: []string{evidence.Sessions},
		symptom: split,
		rules: []rule{{
			class: "bad-replica", says: "one of several replicas is broken; a connection stays with its replica", certain: true,
			when:     []clause{{"connections fall into two groups", split}},
			splitter: "each replica's own address",
			next: Flag{
				SGLang:   "ask one worker behind the router directly (routed_dp_rank)",
				VLLM:     "ask one replica directly (X-data-parallel-rank)",
				LlamaCpp: "ask one server directly, without the proxy",
			},
			covers: everythingBut("sessions"), drowns: true,
		}},
	}
}
