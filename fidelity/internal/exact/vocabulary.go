package exact

import (
	"strings"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/nano"
)

// blanks are what engines put before a token's text.
const blanks = " ▁Ġ"

// byText are the ids of the nano models' vocabulary by their texts without blanks.
var byText = func() map[string]int {
	all := map[string]int{}
	for id := range nano.VocabSize {
		all[strings.TrimLeft(nano.TokenText(id), blanks)] = id
	}
	return all
}()

// tokenID is the id of a token's text as a server gives it.
func tokenID(text string) (int, bool) {
	if trimmed := strings.TrimLeft(text, blanks); trimmed != "" {
		text = trimmed
	}
	id, ok := byText[text]
	return id, ok
}

// fewest is how many alternatives the vocabulary is told by.
const fewest = 10

// Speaks reports whether tokens with their alternatives are of the nano models' vocabulary: single digits, a dozen
// words, and hash buckets "w0" to "w959" for all others, which no other vocabulary has. An end mark may have any text.
func Speaks(tokens []endpoint.Token) bool {
	seen, foreign, own := map[string]bool{}, 0, 0
	for _, t := range tokens {
		for _, a := range t.Top {
			if seen[a.Token] {
				continue
			}
			seen[a.Token] = true
			id, ok := tokenID(a.Token)
			switch {
			case !ok:
				foreign++
			case id >= nano.FirstBucket || id < nano.FirstBucket && len(strings.TrimLeft(a.Token, blanks)) == 1:
				own++
			}
		}
	}
	return own >= fewest && foreign <= 1
}
