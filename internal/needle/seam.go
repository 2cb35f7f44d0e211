package needle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// seamRoom is how far before the wanted offset the needle may stand without filler words, in tokens:
// Newton has sentences of 300 words.
const seamRoom = 640

// BuildAt makes prompts of about Spec.Length tokens, not above its Tolerance and below it by the span
// of the offsets and a long sentence at most, whose needle begins exactly at the given
// offsets, for sweeps over chunk seams and window edges: an offset is the counter's tokens of the
// text before the needle, the chat frame that it may count included (a constant: sweep over it). All
// have the same sentences and question and differ only in filler words right after the nonce.
//
// Copies[0].Before is the offset, FromEnd what the counter says of the rest, Spec.Depth the depth that
// came out, Pad the filler words. About exactness, costs and failures see BuildExact; the kind must
// have a single needle and the placement be AtDepth.
func (b Builder) BuildAt(ctx context.Context, s Spec, offsets ...int) ([]Prompt, error) {
	fail := func(err error) ([]Prompt, error) { return nil, fmt.Errorf("prompt %q: %w", s.Case, err) }
	if len(offsets) == 0 {
		return fail(errors.New("no offset is given, want at least one"))
	}
	least, most := slices.Min(offsets), slices.Max(offsets)
	switch {
	case most-least > maxSpread:
		return fail(fmt.Errorf("offsets %d and %d lie more than %d tokens apart: build them in several calls", least, most,
			maxSpread))
	case !s.Kind.single() || s.Placement != AtDepth || s.Pad != PadFront:
		return fail(fmt.Errorf("kind %q, placement %q and pad %q: only a single needle at a depth, padded in front, has "+
			"one offset", string(s.Kind), string(s.Placement), string(s.Pad)))
	case least < 1 || most > s.Length:
		return fail(fmt.Errorf("offsets are %d to %d in a prompt of %d tokens", least, most, s.Length))
	}
	var d *draft
	var before, shift, calls int
	reserve := most - least + exactTol // of the length, for filler words
	for pass := 0; ; pass++ {
		var n, spent int
		var err error
		if d, n, spent, err = b.fit(ctx, s, s.Length-reserve, Tolerance(s.Length)); err != nil {
			return fail(err)
		}
		calls += spent + 2
		if shift, err = d.rotation(ctx); err != nil {
			return fail(err)
		}
		if before, spent, err = d.approach(ctx, least-shift, n); err != nil {
			return fail(err)
		}
		calls += spent
		// A long sentence before the needle is made up in filler words: room for them then.
		words := most - shift - before
		if n+words <= s.Length+Tolerance(s.Length) {
			break
		}
		if pass == 3 {
			return fail(fmt.Errorf("a needle at offset %d makes it %d tokens, want %d: no sentence ends shortly before, ask "+
				"for another offset", most, n+words, s.Length))
		}
		reserve = max(reserve, words)
	}
	out := make([]Prompt, len(offsets))
	for i, offset := range offsets {
		spent, err := d.meet(ctx, offset, before, shift, d.before)
		if err != nil {
			return fail(err)
		}
		tokens, err := d.count(ctx, d.text(1))
		if err != nil {
			return fail(err)
		}
		out[i] = d.prompt(tokens+shift, calls+spent+1)
		out[i].Pad = d.pad
		out[i].Copies[0].Before, out[i].Copies[0].FromEnd = offset, tokens+shift-offset
		calls = 0
	}
	return out, nil
}

// approach moves the needle to a sentence boundary at most seamRoom tokens before the offset and
// returns the rotated count of the text before it. n is the rotated count of the whole.
func (d *draft) approach(ctx context.Context, offset, n int) (before, calls int, err error) {
	goal := offset - spare
	d.s.Depth = float64(goal) / float64(n)
	for calls = 1; calls <= maxCounts; calls++ {
		d.s.Depth = min(1, max(0, d.s.Depth))
		d.assemble()
		if before, err = d.count(ctx, d.before(1)); err != nil {
			return 0, 0, err
		}
		if before <= offset && offset-before <= seamRoom {
			return before, calls, nil
		}
		goal -= spare // a boundary that missed is missed again: aim lower
		d.s.Depth += float64(goal-before) / float64(n)
	}
	return 0, 0, fmt.Errorf("no sentence ends within %d tokens before offset %d, found %d: ask for a longer prompt or "+
		"another offset", seamRoom, offset, before)
}

// before is the text that stands before the needle.
func (d *draft) before(by int) string {
	parts := []string{nonceSentence(d.nonce, by)}
	for _, p := range d.pieces {
		if p.needle {
			break
		}
		parts = append(parts, p.text)
	}
	return strings.Join(parts, d.b.Haystack.join())
}
