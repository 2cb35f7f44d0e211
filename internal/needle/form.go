package needle

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// Form is the wording of the question. nano-v4 was trained on exactly these two.
type Form string

const (
	// FormPlain asks "What is the access code for the Lisbon archive?"
	FormPlain Form = "plain"
	// FormOnly asks "Question: what is the access code for Lisbon? Answer with only the code."
	FormOnly Form = "only"
)

// Question returns the question for a name. An unknown form is an error.
func (f Form) Question(name string) (string, error) {
	switch f {
	case FormPlain:
		return fmt.Sprintf("What is the access code for the %s archive?", name), nil
	case FormOnly, "":
		return fmt.Sprintf("Question: what is the access code for %s? Answer with only the code.", name), nil
	}
	return "", fmt.Errorf("question form %q is unknown, want %q or %q", string(f), FormOnly, FormPlain)
}

// Sentence returns the needle itself.
func Sentence(name, code string) string {
	return fmt.Sprintf("The access code for the %s archive is %s.", name, code)
}

// nonceWords are short common words, one token each for most tokenizers.
var nonceWords = strings.Fields(`
	amber apple april arrow autumn badge baker bamboo banner barrel basket beacon berry bishop blanket bottle
	branch bridge bronze bucket butter button cabin camera candle canyon carbon carpet castle cedar cherry circle
	clover cobalt coffee copper coral cotton cradle cricket crystal dancer desert dinner dragon eagle easter echo
	ember engine fabric falcon farmer feather fiddle finger flower forest fossil garden garlic ginger glacier granite
	hammer harbor hazel helmet hollow honey indigo island ivory jacket jasmine jungle kettle ladder lantern lemon
	linen lizard lobster magnet maple marble market meadow melon mirror monkey mortar mustard nectar needle nickel
	ocean olive onion orange orchid oyster paddle panda parade pepper pillow pirate planet pocket ponder prairie
	puzzle rabbit radio raven ribbon river rocket saddle salmon sandal shadow silver spider spring stable summer`)

// nonce returns the four words that begin a prompt, from a salt: with another salt the first token
// differs with probability 1-1/128 and the four words with probability 1-4e-9, so no prefix cache
// answers for a prompt that was not sent before.
func nonce(salt, caseID string) []string {
	r := rng("nonce", salt, caseID)
	picked := make([]string, 0, 4)
	for _, i := range r.Perm(len(nonceWords))[:4] {
		picked = append(picked, nonceWords[i])
	}
	return picked
}

// nonceSentence writes the words as a sentence. by rotates them: the same words, so the same
// length in tokens, but another first token. Prompts are counted under a rotated nonce.
func nonceSentence(w []string, by int) string {
	rotated := append(append([]string{}, w[by:]...), w[:by]...)
	s := strings.Join(rotated, " ")
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// rng gives a stream of its own to every purpose: PCG seeded by two FNV-1a hashes of the parts.
func rng(parts ...string) *rand.Rand {
	sum := func(prefix string) uint64 {
		h := fnv.New64a()
		fmt.Fprint(h, prefix)
		for _, p := range parts {
			fmt.Fprintf(h, "%d:%s/", len(p), p)
		}
		return h.Sum64()
	}
	return rand.New(rand.NewPCG(sum("hi"), sum("lo")))
}
