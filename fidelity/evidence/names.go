package evidence

// The probes, in the order in which a run takes them: cheap and decisive ones first. Arms are runs with a right answer;
// numbers are measurements and have no verdict here. A right answer is a fact given back, never equal bytes.
const (
	// Sanity (P0): short questions, cold, one at a time. Arms q0 to q4.
	Sanity = "sanity"
	// SelfNoise (P19): one short request again and again, while little has been served: what comes later is held against
	// it. Arms facts, early (different facts); numbers distinct-texts, logprob-spread (nats).
	SelfNoise = "self-noise"
	// Accounting (P6): prompt tokens as the server reports them; no text is judged. Numbers: plain is the count of a short
	// chat; text is what one added text costs inside a user message, word what one word does; system, developer,
	// late-system, tools, reasoning, reasoning-content are what the same text costs there (about text, and a frame of a
	// few tokens; near 0: dropped). tokenize and raw-tokenize: reported minus the tokenize route's count, for chats and
	// raw texts. kept-<tokens>: reported over built for a prompt of that length; kept-least, kept-least-at,
	// kept-least-tokens: the smallest of these, its length, and what was reported there. Words: counter.
	Accounting = "accounting"
	// Sampling (P22): temperature 1 and omitted fields. Numbers distinct-at-0, distinct-at-1, distinct-omitted, each of
	// asked; thoughts-default, thoughts-on, thoughts-off, thoughts-effort-low, thoughts-effort-high (bytes). Arms
	// explicit, omitted: a code with repeated digits.
	Sampling = "sampling"
	// Parity (P13): streamed against whole. Arms stream, whole; numbers differing, replacement-characters.
	Parity = "parity"
	// OverLimit (P17): codes at head, middle and tail. Arms <size>-head, -middle, -tail with size under (window - 64),
	// over (+ 64), twice. Right: the code is given. Over the window class "too-long" is the sound answer; it is not Right.
	// Arm together: three prompts of two fifths of the window at once. Numbers <size>-reported: prompt tokens; words
	// <size>: what the server did (answered, refused, empty, error).
	OverLimit = "over-limit"
	// Length (P1): needle at 10 % depth by length. Arms len-<tokens>, At tokens; numbers edge, edge-width where the
	// answers fall from right to wrong for good, words cliffs: known causes of an edge there, joined by "; ".
	Length = "length-sweep"
	// Depth (P2): over the edge. Arms depth-<percent>, tail-2048, tail-512, tail-128, tail-32; At percent. Number length.
	Depth = "depth-sweep"
	// Repeats (P3): eight copies. Arms spread-with-tail, spread-no-tail. Number length.
	Repeats = "repeats"
	// Shift (P4): residues and seams. Arms front-<k> and back-<k> (k tokens more, needle deep), At the whole length;
	// seam-<chunk>-<offset>, At the needle's offset. Numbers modulus and residue (only where exactly the lengths of one
	// residue fail), base; seam: the chunk at whose seams needles are lost and beside which they are found.
	Shift = "shift"
	// Cue (P5): over the edge; asked verbatim, by paraphrase, with no shared word. Arms verbatim, paraphrase, gap, and
	// short-<the same> at the control length; <kind> and short-<kind> for uuid, path, phrase, several, nth, distractors.
	Cue = "cue"
	// Distance holds the needle-to-end distance while the length changes (arms length-<tokens>) and the other way round
	// (arms distance-<tokens>); At tokens. Number held-distance, held-length.
	Distance = "distance"
	// Warm (P7): same bytes again, first character changed, extended by a turn. Arms cold, warm1 to warm3, first-changed,
	// extended; cold-long, warm-long. Warm runs without a proven hit are unmeasured. Numbers prefixes, prefixes-bad (every
	// warm answer wrong, cold one right), prefixes-mixed, hits-proven; words proof: cached-tokens or ttft.
	Warm = "cold-warm"
	// Fork (P8): one prefix, tails A, B, A, B. Arms a1, b1, a2, b2; meet: several tails at one moment behind a new prefix;
	// image-a, image-b: one text, two pictures; image-other: another text, the second picture. Number replays: answers
	// that belong to an earlier request on the prefix.
	Fork = "fork"
	// Ladder (P9): clients. Arms n<clients>-<shared|unique>-<equal|unequal>-<short|long>, At clients. Class other-needle
	// is the code of a request that was in flight.
	Ladder = "ladder"
	// Soak (P10, disruptive): arms block-<k>, At requests before it.
	Soak = "soak"
	// LongAnswer (P11): counting aloud. Arms alone, after-long-prompt; numbers onset (items right before the first wrong
	// one, smallest), loops, foreign-script, skipped (answers with each), early-end, asked.
	LongAnswer = "long-answer"
	// Aborts (P12, disruptive): arms before, during, after.
	Aborts = "aborts"
	// Tools (P14): arms copy-stream, copy-whole, parallel, cut; numbers schema-errors, rate (calls that came, of asked).
	Tools = "tools"
	// Turns (P15): a growing chat. Arms plain, reasoning-content, reasoning, open-think, cut-think, closed-think,
	// empty-content, tool-only, late-system; turn-<k> of plain by depth, At turns. In the two reasoning arms the fact
	// stands in the reasoning: templates may drop these by design. Number turns.
	Turns = "turns"
	// Flat (P16): the ledger's twin in one message, cold. Arms flat, flat-<k>, At turns.
	Flat = "flatten"
	// Logprobs (P18): numbers spread (nats, between positions of one answer), prefill-decode-difference (largest, nats).
	Logprobs = "logprobs"
	// FirstToken (P20): arms one-word, late. Number late-words.
	FirstToken = "first-token"
	// Evict (P21, disruptive): arms first, returned, again. Numbers flood-tokens, returned-cached, again-cached.
	Evict = "evict-return"
	// Sessions (P23): fresh connections. Arms session-<k>; number groups: 2 where some connections fail always and the
	// others never, else 1.
	Sessions = "sessions"
	// Indexer: SGLang's own selections. Arms layer-<k>: rows of the question in which the needle's units are selected.
	// Numbers units (tokens a unit), layers, topk.
	Indexer = "indexer"
	// Alone: short questions, one at a time, enough of them to know what share this server gets wrong. No rule of the
	// decision table reads it; the totals of a run are held against it. Arm alone.
	Alone = "alone"
)

// Order lists the probes in the order of a run.
func Order() []string {
	return []string{
		Sanity, SelfNoise, Accounting, Parity, Sampling, OverLimit, Length, Depth, Repeats, Cue, Distance, Shift, Warm, Fork,
		Turns, Flat,
		FirstToken, Tools, LongAnswer, Logprobs, Ladder, Sessions, Indexer, Evict, Aborts, Soak, Alone,
	}
}

// Disruptive tells whether a probe may disturb a server's other users and needs their agreement.
func Disruptive(probe string) bool { return probe == Evict || probe == Aborts || probe == Soak }
