package needle

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// names are cities of one word that do not occur in Opticks (a test checks it), so that a name in
// an answer comes from the needle or the question.
var names = []string{
	"Lisbon", "Oslo", "Nairobi", "Lima", "Quito", "Hanoi", "Seoul", "Osaka", "Kyoto", "Manila",
	"Jakarta", "Delhi", "Mumbai", "Karachi", "Kabul", "Tehran", "Baghdad", "Ankara", "Athens", "Sofia",
	"Bucharest", "Budapest", "Vienna", "Prague", "Warsaw", "Vilnius", "Riga", "Tallinn", "Helsinki", "Stockholm",
	"Copenhagen", "Hamburg", "Munich", "Zurich", "Geneva", "Lyon", "Madrid", "Seville", "Porto", "Dublin",
	"Glasgow", "Toronto", "Montreal", "Chicago", "Denver", "Houston", "Havana", "Bogota", "Caracas", "Santiago",
	"Cairo", "Tunis", "Algiers", "Dakar", "Accra", "Lagos", "Luanda", "Harare", "Lusaka", "Brisbane",
}

// Names returns the list of names, a fresh copy.
func Names() []string { return slices.Clone(names) }

// Collides reports whether the tokenizer cannot tell name from some word of text, where bucket maps
// a lower-case word to its token. nano-v4 hashes unknown words into 960 buckets: a name that shares
// its bucket with a word of the haystack is a second "name" for that model, and its confusion says
// nothing about the server.
func Collides(name, text string, bucket func(word string) int) bool {
	return collisions(bucket(strings.ToLower(name)), text, bucket) > 0
}

func collisions(b int, text string, bucket func(string) int) int {
	n := 0
	for _, w := range words(text) {
		if bucket(w) == b {
			n++
		}
	}
	return n
}

// NewCode draws five digits that no habit of a model produces: no leading zero, at least four
// different digits, no three in a row that step by one, and accepted by ok (nil accepts all). The
// tries are bounded: after 10,000 refusals it returns "".
func NewCode(r *rand.Rand, ok func(code string) bool) string {
	for range 10_000 {
		var d [5]byte
		for i := range d {
			d[i] = byte('0' + r.IntN(10))
		}
		if c := string(d[:]); plainCode(c) && (ok == nil || ok(c)) {
			return c
		}
	}
	return ""
}

func plainCode(c string) bool {
	seen := map[byte]bool{}
	for i := range len(c) {
		seen[c[i]] = true
		if i >= 2 {
			a, b := int(c[i-1])-int(c[i-2]), int(c[i])-int(c[i-1])
			if a == b && (a == 1 || a == -1) {
				return false
			}
		}
	}
	return c[0] != '0' && len(seen) >= 4
}
