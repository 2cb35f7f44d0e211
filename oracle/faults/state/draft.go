package state

import "slices"

// mix hashes words into one; it stands for whatever a layer computes from them, so that two states are
// equal exactly when everything that they depend on is.
func mix(words ...uint64) uint64 {
	h := uint64(14695981039346656037)
	for _, w := range words {
		for range 8 {
			h = (h ^ w&0xff) * 1099511628211
			w >>= 8
		}
	}
	return h
}

// hidden is the target model's hidden state after the first n tokens.
func hidden(tokens []int, n int) uint64 {
	h := uint64(1)
	for _, t := range tokens[:n] {
		h = mix(h, uint64(t))
	}
	return h
}

// drafter is an EAGLE or MTP head: the KV of position p is made from token p and the hidden state before
// it, which is the target's for a verified prefix and the head's own guess within a draft.
type drafter struct {
	tokens []int    // verified
	kv     []uint64 // of positions 0 .. len(tokens)-2; the last token enters with the next step
	faulty bool
}

func newDrafter(prompt []int, faulty bool) *drafter {
	d := &drafter{tokens: slices.Clone(prompt), faulty: faulty}
	for p := range len(prompt) - 1 {
		d.kv = append(d.kv, mix(uint64(prompt[p]), hidden(prompt, p)))
	}
	return d
}

// round proposes k tokens of which the first accept are right, verifies them against the truth and
// appends the target's own next token. The first step of a draft starts from a verified hidden state,
// the later ones from guesses.
func (d *drafter) round(truth []int, k, accept int) {
	n := len(d.tokens)
	state, last := hidden(d.tokens, n-1), d.tokens[n-1]
	for i := range k {
		d.kv = append(d.kv, mix(uint64(last), state))
		state = mix(state, uint64(last), 0xabcd) // the head's guess at the next hidden state
		last = truth[n+i]
		if i >= accept {
			last += 1000
		}
	}
	d.tokens = append(d.tokens, truth[n:n+accept+1]...)
	keep := n + min(accept, k-1) // positions whose draft KV has the right token
	d.kv = d.kv[:keep]
	from := keep
	if !d.faulty {
		from = n - 1 // write the verified positions again, from the target's hidden states
	}
	for p := from; p < len(d.tokens)-1; p++ {
		cell := mix(uint64(d.tokens[p]), hidden(d.tokens, p))
		if p < len(d.kv) {
			d.kv[p] = cell
		} else {
			d.kv = append(d.kv, cell)
		}
	}
}

// truthOf is the sequence that the target would decode.
func truthOf(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 3 + i*i%17
	}
	return out
}

// drafts runs rounds of k tokens with the given acceptances. KV must equal that of a run that never
// speculated; with tokensOnly the outputs alone are compared.
func drafts(k int, tokensOnly bool, accepts ...int) func(bool) error {
	return func(faulty bool) error {
		truth := truthOf(64)
		d := newDrafter(truth[:2], faulty)
		for _, a := range accepts {
			d.round(truth, k, a)
		}
		if !slices.Equal(d.tokens, truth[:len(d.tokens)]) {
			return violated("accepted %v of %d: tokens %v, decoded one by one %v", accepts, k, d.tokens, truth[:len(d.tokens)])
		}
		want := newDrafter(d.tokens, false).kv
		if tokensOnly || slices.Equal(d.kv, want) {
			return nil
		}
		for p := range want {
			if p >= len(d.kv) || d.kv[p] != want[p] {
				return violated("accepted %v of %d: draft KV of position %d differs from a run without speculation", accepts, k, p)
			}
		}
		return violated("accepted %v of %d: %d positions have draft KV, want %d", accepts, k, len(d.kv), len(want))
	}
}

func draftModels() []Model {
	return []Model{{
		Row: "V1", Slug: "draft-kv-kept-after-verify", Class: "draft-state",
		Effect: "draft KV made from guessed hidden states stays in the cache when its tokens are accepted",
		Origin: "vllm-project/vllm#14649",
		Cases: []Case{
			{
				ID:  "accept-1-reject-1",
				Why: "the smallest: the accepted token's KV was made from a guess",
				Run: drafts(2, false, 1),
			},
			{ID: "all-of-4-twice", Why: "everything accepted, twice", Run: drafts(4, false, 4, 4)},
			{ID: "every-acceptance", Why: "drafts of 1 to 4, every pair of acceptances", Run: func(faulty bool) error {
				for k := 1; k <= 4; k++ {
					for pair := range (k + 1) * (k + 1) {
						if err := drafts(k, false, pair%(k+1), pair/(k+1))(faulty); err != nil {
							return err
						}
					}
				}
				return nil
			}},
			{
				ID:    "tokens-only",
				Why:   "greedy output: the target verifies every token, so it is right",
				Blind: true,
				Run:   drafts(4, true, 4, 2, 0, 3),
			},
			{ID: "drafts-of-1", Why: "one token a draft never uses a guess", Blind: true, Run: drafts(1, false, 1, 0, 1)},
			{ID: "nothing-accepted", Why: "rejected KV is dropped", Blind: true, Run: drafts(3, false, 0, 0)},
		},
	}}
}
