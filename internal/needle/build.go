package needle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Counter returns the length of a prompt text in tokens, by the server's own count: its /tokenize
// route, or the usage of a request with this text. Whether it includes the chat frame is its
// affair, but it must be the same for every call.
type Counter func(ctx context.Context, text string) (int, error)

// maxCounts bounds the counter calls of one prompt.
const maxCounts = 6

var errNoFit = errors.New("no choice of whole sentences comes")

// Builder makes prompts from one haystack for one server.
type Builder struct {
	Haystack *Haystack
	Count    Counter
	// Bucket maps a lower-case word to its token, for tokenizers that cannot tell all words apart
	// (nano-v4); names that collide with a word of the prompt are passed over. Nil: no check.
	Bucket func(word string) int
	// TokensPerUnit is the first guess of the fit, 0 means 1. Calibrate measures it; it is a field
	// and not learnt on the way, so that prompts do not depend on the order of building.
	TokensPerUnit float64
}

// Prompt is one built prompt.
type Prompt struct {
	Spec   Spec
	Text   string // the user message
	Tokens int    // by the counter, under a rotated nonce of the same words
	Counts int    // counter calls spent
	Truth  Truth
	// Copies tells where the needles stand, one per copy, in order.
	Copies []Place
	// Pad is the filler words of BuildExact.
	Pad string
	// Start is the index of the first filler sentence in the haystack, Filler the indices of all.
	Start  int
	Filler []int
	// Collisions is how many words of the prompt share the name's bucket; above 0 only when every
	// name collides or the name was given.
	Collisions int
}

// Place is the position of one copy of the needle. Byte is exact; the token numbers are estimates,
// Units times the measured tokens per unit.
type Place struct {
	Byte    int // offset of the needle's first byte in Text
	Before  int // tokens of the prompt before the needle
	FromEnd int // tokens from the needle's first token to the end of the prompt
}

// Build makes the prompt of a spec. The counter sees the prompt only with its nonce words rotated
// round, so that a counting request leaves nothing in a prefix cache that the measured prompt could
// hit. It fails when the spec is wrong, the counter fails, the haystack is too short, or no choice
// of whole sentences comes within Tolerance in 6 counts.
func (b Builder) Build(ctx context.Context, s Spec) (Prompt, error) {
	d, n, calls, err := b.fit(ctx, s, s.Length, Tolerance(s.Length))
	if err != nil {
		return Prompt{}, fmt.Errorf("prompt %q: %w", s.Case, err)
	}
	return d.prompt(n, calls), nil
}

// fit chooses sentences until the counter says length, within tol tokens, and returns what it says
// and how often it was asked.
func (b Builder) fit(ctx context.Context, s Spec, length, tol int) (d *draft, tokens, calls int, err error) {
	if err := s.check(); err != nil {
		return nil, 0, 0, err
	}
	if b.Haystack == nil || b.Count == nil {
		return nil, 0, 0, errors.New("the builder has no haystack or no token counter")
	}
	ratio := b.TokensPerUnit
	if ratio == 0 {
		ratio = 1
	}
	if !(ratio > 0.05 && ratio < 50) {
		return nil, 0, 0, fmt.Errorf("%v tokens per word, want 0.05 to 50", ratio)
	}
	d = &draft{b: b, s: s, nonce: nonce(s.Nonce+"/"+s.seed(), s.Case)}
	goal := float64(length) / ratio
	best := math.MaxInt
	var closest, lastN, lastUnits int
	tried := map[int]bool{}
	for calls = 1; calls <= maxCounts; calls++ {
		units := int(math.Round(goal))
		for step := 1; tried[units]; step++ { // a goal that missed once misses again: try beside it
			if units = int(math.Round(goal)) + (step+1)/2; step%2 == 0 {
				units = int(math.Round(goal)) - step/2
			}
		}
		tried[units] = true
		if err := d.layout(units, ratio); err != nil {
			return nil, 0, 0, err
		}
		n, err := d.count(ctx, d.text(1))
		if err != nil {
			return nil, 0, 0, err
		}
		off := length - n
		if abs(off) <= tol {
			return d, n, calls, nil
		}
		if abs(off) < best {
			best, closest = abs(off), n
		}
		units = d.units()
		if n == lastN && abs(units-lastUnits) > units/5 {
			return nil, 0, 0, fmt.Errorf("the counter says %d tokens for texts of %d and of %d words and marks: it does not "+
				"count the text that it is given", n, lastUnits, units)
		}
		lastN, lastUnits = n, units
		ratio = float64(n) / float64(units)
		goal = float64(units) + float64(off)/ratio
	}
	return nil, 0, 0, fmt.Errorf("%w within %d tokens of %d in %d counts, the closest has %d: ask for another length, "+
		"or name a text of shorter sentences in ASSAY_HAYSTACK",
		errNoFit, tol, length, maxCounts, closest)
}

// count asks for the tokens of a text of the draft, under rotated nonce words.
func (d *draft) count(ctx context.Context, text string) (int, error) {
	n, err := d.b.Count(ctx, text)
	if err != nil {
		return 0, fmt.Errorf("counting its tokens: %w", err)
	}
	if n < 1 {
		return 0, fmt.Errorf("the counter says %d tokens, want at least 1", n)
	}
	return n, nil
}

// Calibrate measures tokens per unit on about units of filler, in one count.
func (b Builder) Calibrate(ctx context.Context, units int) (float64, error) {
	if b.Haystack == nil || b.Count == nil {
		return 0, errors.New("calibrating the token count: the builder has no haystack or no token counter")
	}
	var text []string
	n := 0
	for i := 0; i < len(b.Haystack.Sentences) && n < units; i++ {
		text = append(text, b.Haystack.Sentences[i])
		n += b.Haystack.units[i]
	}
	if n == 0 {
		return 0, fmt.Errorf("calibrating the token count: %d words asked for, want at least 1", units)
	}
	tokens, err := b.Count(ctx, nonceSentence(nonce("calibrate", ""), 0)+" "+strings.Join(text, " "))
	if err != nil {
		return 0, fmt.Errorf("calibrating the token count: %w", err)
	}
	ratio := float64(tokens) / float64(n+5)
	if !(ratio > 0.05 && ratio < 50) {
		return 0, fmt.Errorf("calibrating the token count: %d tokens for %d words and marks, no tokenizer does that", tokens,
			n+5)
	}
	return ratio, nil
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
