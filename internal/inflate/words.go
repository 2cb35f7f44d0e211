package inflate

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano"
)

// A tokenizer.json cannot hash: it keeps one word for each id, so two words cannot share one. So every word that
// prompts are made of is an id of its own, from the model's vocabulary on, whose embedding row is a copy of the
// bucket's that the word falls into, and whose head row gives a logit far below all others. Ids of an answer are the
// model's.

// spoken are the words of the prompts that assay itself writes, one a line; TestWordsOfPrompts keeps it.
//
//go:embed words.txt
var spoken string

// unknown is the id for a word that is in no list; the model has learnt nothing about it.
const unknown = 43

// vocabulary is the words beyond the model's own ids, and the id that each stands for.
type vocabulary struct {
	words []string // "" where an id only fills up
	alias []int
}

// words collects the words of both haystacks, of assay's prompts, and the short runs of letters that hashes and
// counters are written in.
func words() (vocabulary, error) {
	all := map[string]bool{}
	for _, name := range []string{"haystack/opticks.txt.gz", "haystack/tom-sawyer.txt.gz"} {
		raw, err := fixtures.ReadFile(fixtures.FS, name)
		if err != nil {
			return vocabulary{}, fmt.Errorf("the words of %s: %w", name, err)
		}
		addWords(all, string(raw))
	}
	addWords(all, spoken)
	addRuns(all, "abcdefghijklmnopqrstuvwxyz", 2)
	addRuns(all, "abcdef", 4)
	var v vocabulary
	for _, w := range slices.Sorted(maps.Keys(all)) {
		ids := nano.Encode(w)
		if len(ids) == 1 && ids[0] >= nano.FirstBucket {
			v.words, v.alias = append(v.words, w), append(v.alias, ids[0])
		}
	}
	for (nano.VocabSize+len(v.words))%128 != 0 { // engines want whole tiles
		v.words, v.alias = append(v.words, ""), append(v.alias, unknown)
	}
	return v, nil
}

func addWords(all map[string]bool, text string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		all[w] = true
	}
}

// addRuns adds all runs of 1 to n letters.
func addRuns(all map[string]bool, letters string, n int) {
	runs := []string{""}
	for range n {
		var longer []string
		for _, r := range runs {
			for _, l := range letters {
				longer = append(longer, r+string(l))
				all[r+string(l)] = true
			}
		}
		runs = longer
	}
}

// Words are the words that stand as ids of their own from nano.VocabSize on, "" where an id only fills up, and the id
// whose embedding each of them has.
func Words() (list []string, alias []int, err error) {
	v, err := words()
	return v.words, v.alias, err
}

// ChatTemplate is the chat format of the nano models in Jinja.
func ChatTemplate() string { return template }
