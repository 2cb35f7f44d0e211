package evidence

// The probes, in the order in which a run takes them: cheap and decisive ones first.
const (
	Sanity     = "sanity"       // P0: short questions, cold, one at a time. Arms q0..q4
	Accounting = "accounting"   // P6: prompt tokens of plain, +system, +developer, +tools, +reasoning, +word. Numbers only
	SelfNoise  = "self-noise"   // P19: one short request again and again. Arm facts; numbers distinct-texts, logprob-spread
	Sampling   = "sampling"     // P22: temperature 1 and omitted fields. Numbers distinct-at-1, distinct-omitted, distinct-at-0
	Parity     = "parity"       // P13: streamed against whole. Arms stream, whole; numbers differing, replacement-characters
	OverLimit  = "over-limit"   // P17: window-64, +64, 2x with head, middle and tail codes. Arms <size>-head, -middle, -tail
	Length     = "length-sweep" // P1: needle at 10 % depth by length. Arms len-<tokens>, At tokens; number edge, edge-width
	Depth      = "depth-sweep"  // P2: over the edge. Arms depth-<percent>, tail-2048, tail-512, tail-128, tail-32
	Repeats    = "repeats"      // P3: eight copies. Arms spread-with-tail, spread-no-tail
	Shift      = "shift"        // P4: residues and seams. Arms front-<k>, seam-<chunk>-<offset>; numbers modulus, residue, seam
	Cue        = "cue"          // P5: asked verbatim, by paraphrase, with no shared word. Arms verbatim, paraphrase, gap
	Distance   = "distance"     // needle-to-question distance held while the length changes, and the other way round
	Warm       = "cold-warm"    // P7: same bytes again, first character changed, extended. Arms cold, warm1..3, first-changed, extended
	Fork       = "fork"         // P8: one prefix, tails A, B, A, B. Arms a1, b1, a2, b2; number replays
	Ladder     = "ladder"       // P9: clients. Arms n<clients>-<shared|unique>-<equal|unequal>-<short|long>
	Soak       = "soak"         // P10 (disruptive): arms block-<k>
	LongAnswer = "long-answer"  // P11: arms alone, after-long-prompt; numbers onset, loops, foreign-script, skipped
	Aborts     = "aborts"       // P12 (disruptive): arms before, during, after
	Tools      = "tools"        // P14: arms copy-stream, copy-whole, parallel, cut; numbers schema-errors, rate
	Turns      = "turns"        // P15: arms plain, reasoning-content, reasoning, open-think, empty-content, tool-only, late-system
	Flat       = "flatten"      // P16: the ledger's twin in one message. Arms flat
	Logprobs   = "logprobs"     // P18: numbers spread, prefill-decode-difference
	FirstToken = "first-token"  // P20: arms one-word, late
	Evict      = "evict-return" // P21 (disruptive): arms first, returned, again
	Sessions   = "sessions"     // P23: fresh connections. Arms session-<k>; number groups
)

// Order lists the probes in the order of a run.
func Order() []string {
	return []string{
		Sanity, Accounting, Parity, SelfNoise, Sampling, OverLimit, Length, Depth, Repeats, Cue, Distance, Shift, Warm, Fork, Turns, Flat,
		FirstToken, Tools, LongAnswer, Logprobs, Ladder, Sessions, Evict, Aborts, Soak,
	}
}

// Disruptive tells whether a probe may disturb a server's other users and needs their agreement.
func Disruptive(probe string) bool { return probe == Evict || probe == Aborts || probe == Soak }
