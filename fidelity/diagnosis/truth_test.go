package diagnosis_test

import (
	"slices"

	"github.com/assay-suite/assay/internal/engine"
)

// rightFor are the classes of the judge that are right for a bug of the engine model, by what the bug is there (its
// class) and by what its losses depend on. Where the mechanism shows in one of several ways from outside, each is
// right.
func rightFor(b engine.Bug) []string {
	t := b.Truth
	has := func(f string) bool { return slices.Contains(t.Depends, f) }
	switch t.Class {
	case "message lost":
		return []string{"message-dropped"}
	case "template tokens":
		switch {
		case !t.Answers:
			return []string{"bos"}
		case has("turns"):
			return []string{"open-thought"}
		}
		return []string{"generation-prompt"}
	case "value precision":
		return []string{"coarse-kv"}
	case "page addressing":
		if has("answer-length") {
			return []string{"late-degeneration", "decode-path", "phase"} // a page begins at some lengths
		}
		return []string{"phase"}
	case "length residue":
		return []string{"phase"}
	case "shared page":
		if has("concurrency") {
			return []string{"load-junk", "cross-talk", "poisoned-prefix"}
		}
		return []string{"poisoned-prefix", "replay"}
	case "band", "prompt cut":
		return []string{"middle-cut", "head-cut"}
	case "chunk boundary":
		return []string{"chunk-seam"}
	case "window":
		if b.Mechanism == "prefill" { // of chunks: what a query sees ends where its chunk begins
			return []string{"tail-only", "chunk-seam"}
		}
		if has("answer-index") {
			return []string{"tail-only", "decode-path"}
		}
		return []string{"tail-only"}
	case "position":
		return []string{"position-encoding"}
	case "selection":
		return []string{"sparse-selection"}
	case "cache content":
		if has("period") {
			return []string{"poisoned-prefix", "replay", "warm-forgets"}
		}
		return []string{"warm-forgets"}
	case "cache key":
		if has("served") {
			return []string{"drift", "request-share"}
		}
		return []string{"key-collision"}
	case "race":
		return []string{"unfinished-prefix", "poisoned-prefix"}
	case "restored content":
		return []string{"tier-restore"}
	case "batch mix-up":
		return []string{"slot-mix-up", "cross-talk", "unequal-batch", "early-finisher"}
	case "early end":
		return []string{"early-finisher"}
	case "share of tokens": // the same share of everything
		return []string{unexplained, "request-share", "decode-path"}
	case "period":
		return []string{"request-share"}
	case "parser state":
		return []string{"filed-as-reasoning", "request-share"}
	case "transfer":
		if has("length") { // which prompts are hit is decided by their length
			return []string{"decode-path", "phase"}
		}
		return []string{"decode-path"}
	case "output":
		return []string{"dead-logits"}
	case "speculation":
		return []string{"speculation"}
	case "drift":
		return []string{"drift"}
	case "log-probabilities":
		return []string{"log-probabilities"}
	case "stream":
		return []string{"stream-layer"}
	case "stop token":
		return []string{"stop-ignored", "special-token-leak"}
	case "tool call":
		return []string{"tool-parser"}
	// What follows is of the half that was held out, by its words alone and before it was run.
	case "answer index":
		return []string{"decode-path", "speculation", "late-degeneration"}
	case "cache boundary":
		return []string{"warm-forgets", "warm-junk", "poisoned-prefix", "replay"}
	case "stale entry":
		return []string{"poisoned-prefix", "replay", "warm-forgets"}
	case "message leaked":
		return []string{"replay", "cross-talk"}
	case "recompute":
		return []string{"load-junk", "slot-mix-up", "unequal-batch"}
	case "sampling":
		return []string{"hidden-sampling", "speculation"}
	case "sampling state":
		return []string{"request-share", "drift", unexplained}
	case "unicode":
		return []string{"stream-layer"}
	case "replica":
		return []string{"bad-replica", "request-share"} // by round robin a replica is every n-th request
	}
	return nil
}
