package diagnosis_test

import (
	"slices"

	"github.com/assay-suite/assay/internal/engine"
)

// rightFor are the classes of the judge that are right for a bug of the engine model, by what the bug is there (its
// class) and by what its losses depend on. A class is right where its sentence is true of the bug to somebody who knows
// the bug; that a judge says it is no reason. Where the mechanism shows in one of two ways from outside, both are
// right.
func rightFor(b engine.Bug) []string {
	if accept := slices.Clone(b.Stated.Accept); len(accept) > 0 { // a fresh kind's author said so, before any judge saw it
		if i := slices.Index(accept, "unexplained"); i >= 0 {
			accept[i] = unexplained
		}
		return accept
	}
	t := b.Truth
	has := func(f string) bool { return slices.Contains(t.Depends, f) }
	switch t.Class {
	case "message lost":
		if b.Slug == "reasoning-field-renamed" { // the class that says so in these words
			return []string{"reasoning-lost"}
		}
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
		switch {
		case has("answer-length"):
			return []string{"late-degeneration", "decode-path", "phase"} // a page begins at some lengths
		case has("start-distance"):
			return []string{"tail-cut"}
		case has("served"):
			return []string{"drift"}
		}
		return []string{"phase"}
	case "length residue":
		return []string{"phase"}
	case "shared page":
		if has("concurrency") {
			return []string{"load-junk", "poisoned-prefix"}
		}
		return []string{"poisoned-prefix", "replay"}
	case "band":
		if has("chunk-phase") {
			return []string{"middle-cut", "chunk-seam"}
		}
		return []string{"middle-cut"}
	case "prompt cut":
		switch {
		case has("depth"):
			return []string{"middle-cut"}
		case has("start-distance"):
			return []string{"head-cut"}
		}
		return []string{"tail-cut", "wrong-prompt"} // the question is what was cut
	case "chunk boundary":
		return []string{"chunk-seam"}
	case "window":
		switch {
		case has("start-distance"): // the first tokens stay, and the last few
			return []string{"tail-cut", "middle-cut"}
		case b.Mechanism == "prefill": // of chunks: what a query sees ends where its chunk begins
			return []string{"tail-only", "chunk-seam"}
		case has("answer-index"):
			return []string{"tail-only", "decode-path"}
		}
		return []string{"tail-only"}
	case "position":
		if has("answer-length") {
			return []string{"decode-path", "late-degeneration"}
		}
		return []string{"position-encoding"}
	case "selection":
		return []string{"sparse-selection"}
	case "cache content":
		if has("period") { // another conversation is reused
			return []string{"replay"}
		}
		return []string{"warm-forgets"}
	case "cache key":
		if has("served") {
			return []string{"drift"}
		}
		return []string{"key-collision"}
	case "race":
		return []string{"unfinished-prefix"}
	case "restored content":
		return []string{"tier-restore"}
	case "batch mix-up":
		if b.Mechanism == "prefill" {
			return []string{"unequal-batch", "cross-talk"}
		}
		return []string{"slot-mix-up", "cross-talk"}
	case "early end":
		if has("concurrency") {
			return []string{"early-finisher"}
		}
		return []string{"cut-answer"}
	case "share of tokens": // the same share of everything
		return []string{unexplained}
	case "period":
		return []string{"request-share"}
	case "parser state":
		return []string{"filed-as-reasoning", "request-share"}
	case "transfer":
		if has("length") { // every second length fails, whole prompts of it
			return []string{"decode-path", "phase"}
		}
		return []string{"decode-path"}
	case "output":
		if has("wording") { // some words come out as others
			return []string{"always-broken", unexplained}
		}
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
		return []string{"stop-ignored"}
	case "tool call":
		return []string{"tool-parser"}
	case "answer index":
		return []string{"decode-path"}
	case "cache boundary":
		return []string{"warm-forgets", "warm-junk"}
	case "stale entry":
		return []string{"poisoned-prefix", "replay"}
	case "message leaked":
		return []string{"replay"}
	case "recompute":
		return []string{"load-junk"}
	case "sampling":
		if b.Mechanism == "speculation" {
			return []string{"hidden-sampling", "speculation"}
		}
		return []string{"hidden-sampling"}
	case "sampling state":
		return []string{unexplained}
	case "unicode":
		return []string{"unicode-lost"}
	case "replica":
		if len(t.Depends) == 1 { // whatever is asked: by round robin every n-th request
			return []string{"bad-replica", "request-share"}
		}
		return []string{"bad-replica"}
	}
	return nil
}
