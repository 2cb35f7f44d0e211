package needle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Pad says where BuildExact puts its filler words.
type Pad string

const (
	// PadFront puts them right after the nonce: needle and question keep their distance, both move.
	PadFront Pad = ""
	// PadBack puts them right before the question: the needle stays where it is, only the end moves.
	PadBack Pad = "back"
)

const (
	// exactTol is how far the whole sentences stay from what the filler words make up, in tokens.
	exactTol = 32
	// spare keeps the sentences short of the length even where the nonce words in their measured
	// order take some tokens more than rotated.
	spare = 8
	// maxExact bounds the counter calls for one exact length.
	maxExact = 24
	// maxSpread is the widest set of lengths of one call, in tokens.
	maxSpread = 4096
)

// steps are last words of one letter to eight: where a word more or less jumps over the wanted
// length, one of them meets it.
var steps = strings.Fields("a so and then often indeed perhaps possibly")

// padWords returns n filler words, the same first ones for every n: common words in drawn order, no
// word twice within a round of the list. last above 0 replaces the last one by steps[last-1].
func padWords(n, last int, seed, caseID string) string {
	r := rng("pad", seed, caseID)
	out := make([]string, 0, n+len(nonceWords))
	for len(out) < n {
		for _, i := range r.Perm(len(nonceWords)) {
			out = append(out, nonceWords[i])
		}
	}
	if out = out[:n]; n > 0 && last > 0 {
		out[n-1] = steps[last-1]
	}
	return strings.Join(out, " ")
}

// BuildExact makes prompts whose lengths are exact to the token by the counter, one per wanted
// length, for sweeps over residues (mod 4, 64, 128, 256, a page) and over chunk seams. Spec.Length
// is ignored. All have the same sentences, needle and question and differ only in filler words at
// Spec.Pad; a longer one has the words of a shorter one and more, the last word aside.
//
// Prompt.Tokens is the length of the measured prompt, not of the rotated one: the nonce words alone are counted in both
// orders, which costs two counts of some ten tokens (where counting is a request, a cache may keep that beginning, and
// no more of the prompt), and the difference is added. That is exact where the tokenizer splits before the blank after
// the nonce's full stop, as all that split text into words first do; the server's usage of the measured request shows
// it.
//
// It fails as Build does, when lengths lie more than 4,096 tokens apart, or when no filler words
// meet a length in 24 counts.
func (b Builder) BuildExact(ctx context.Context, s Spec, lengths ...int) ([]Prompt, error) {
	fail := func(err error) ([]Prompt, error) { return nil, fmt.Errorf("prompt %q: %w", s.Case, err) }
	if len(lengths) == 0 {
		return fail(errors.New("no length is given, want at least one"))
	}
	least, most := slices.Min(lengths), slices.Max(lengths)
	if most-least > maxSpread {
		return fail(fmt.Errorf("lengths %d and %d lie more than %d tokens apart: build them in several calls", least, most,
			maxSpread))
	}
	s.Length = least
	d, n, calls, err := b.fit(ctx, s, least-exactTol-spare, exactTol)
	if errors.Is(err, errNoFit) { // sentences too long for this tokenizer: more filler words then
		wide := Tolerance(least)
		d, n, calls, err = b.fit(ctx, s, least-wide-spare, wide)
	}
	if err != nil {
		return fail(err)
	}
	shift, err := d.rotation(ctx)
	if err != nil {
		return fail(err)
	}
	calls += 2
	out := make([]Prompt, len(lengths))
	for i, length := range lengths {
		spent, err := d.meet(ctx, length, n, shift, d.text)
		if err != nil {
			return fail(err)
		}
		d.s.Length = length
		out[i] = d.prompt(length, calls+spent)
		out[i].Pad = d.pad
		calls = 0 // the sentences were paid for by the first
	}
	return out, nil
}

// rotation returns how many more tokens the nonce words take in their measured order than rotated.
func (d *draft) rotation(ctx context.Context) (int, error) {
	head := [2]int{}
	for by := range head {
		var err error
		if head[by], err = d.b.Count(ctx, nonceSentence(d.nonce, by)); err != nil {
			return 0, fmt.Errorf("counting the nonce: %w", err)
		}
	}
	return head[0] - head[1], nil
}

// meet sets the draft's filler words so that text, in its measured order, has length tokens. n is
// its rotated count without any, shift what the measured order adds to a rotated count.
func (d *draft) meet(ctx context.Context, length, n, shift int, text func(by int) string) (calls int, err error) {
	type try struct{ words, last int }
	seen := map[try]bool{{0, 0}: true}
	t, off, cost := try{}, length-n-shift, 1.0
	d.pad = ""
	d.assemble()
	for off != 0 {
		t.words = max(1, t.words+int(math.Round(float64(off)/cost)))
		for t.last = 0; seen[t]; { // too fine for whole words: the last word makes the rest
			if t.last++; t.last > len(steps) {
				t.words, t.last = t.words+1, 0
			}
		}
		seen[t] = true
		if calls++; calls > maxExact {
			return 0, fmt.Errorf("no filler words make it exactly %d tokens in %d counts: this tokenizer has no words of one "+
				"token among them", length, maxExact)
		}
		d.pad = padWords(t.words, t.last, d.s.seed(), d.s.Case)
		d.assemble()
		got, err := d.count(ctx, text(1))
		if err != nil {
			return 0, err
		}
		off = length - got - shift
		cost = math.Max(1, float64(got-n)/float64(t.words))
	}
	return calls, nil
}
