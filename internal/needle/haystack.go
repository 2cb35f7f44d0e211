package needle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/assay-suite/assay/fixtures"
)

// OpticksSHA256 is the hash of the committed text, the same bytes as the Go distribution's
// src/testdata/Isaac.Newton-Opticks.txt: Newton's Opticks, fourth edition (1730), public domain.
const OpticksSHA256 = "d4a9ac22462b35e7821a4f2706c211093da678620a8f9997989ee7cf8d507bbd"

// minUnits is the least text worth calling a haystack: a prompt of 128 tokens with room to choose.
const minUnits = 400

// Haystack is a text cut into whole sentences, in reading order.
type Haystack struct {
	Name      string   // what to call it: "opticks", "generated-SEED-UNITS", ... or the file's base name
	SHA256    string   // hash of the bytes it was made from, hex; a golden stores it
	Sentences []string // one line each, single blanks, no markup
	sep       string   // between sentences, one byte; empty: a blank
	units     []int    // Units of each sentence
	words     map[string]bool
	numbers   map[string]bool
}

// Opticks loads the embedded text and checks its hash first: another text would silently change
// every golden. cleanOpticks says what is cut out.
func Opticks() (*Haystack, error) {
	raw, err := fixtures.ReadFile(fixtures.FS, "haystack/opticks.txt.gz")
	if err != nil {
		return nil, fmt.Errorf("haystack opticks: the embedded text is missing: %w", err)
	}
	sum := hash(raw)
	if sum != OpticksSHA256 {
		return nil, fmt.Errorf("haystack opticks: fixtures/haystack/opticks.txt.gz has sha256 %s, want %s: restore the "+
			"committed file", sum, OpticksSHA256)
	}
	return newHaystack("opticks", sum, cleanOpticks(string(raw)))
}

// FromFile loads the plain-text UTF-8 file that ASSAY_HAYSTACK names. Paragraphs are separated by
// blank lines; headings, tables and anything else that is no sentence is left out.
// It fails when the file cannot be read, is not UTF-8, or holds too little prose.
func FromFile(path string) (*Haystack, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("haystack: ASSAY_HAYSTACK names %q: %w", path, err)
	}
	if !utf8.Valid(raw) {
		return nil, fmt.Errorf("haystack: ASSAY_HAYSTACK file %q is not UTF-8 text: convert it first", path)
	}
	return newHaystack(filepath.Base(path), hash(raw), cleanText(string(raw)))
}

func newHaystack(name, sum string, sentences []string) (*Haystack, error) {
	h := &Haystack{Name: name, SHA256: sum}
	seen := map[string]bool{}
	h.Sentences = slices.DeleteFunc(slices.Clone(sentences), func(s string) bool {
		again := seen[s] // a sentence that comes back is a loop of length one
		seen[s] = true
		return again
	})
	for _, s := range h.Sentences {
		h.units = append(h.units, Units(s))
	}
	h.index()
	if total := h.Units(); total < minUnits {
		return nil, fmt.Errorf("haystack %q holds %d words and marks of prose in %d sentences, want at least %d: name a "+
			"longer text in ASSAY_HAYSTACK", name, total, len(h.Sentences), minUnits)
	}
	return h, nil
}

// index notes the words and numbers of the sentences.
func (h *Haystack) index() {
	h.words, h.numbers = map[string]bool{}, map[string]bool{}
	for _, s := range h.Sentences {
		for _, w := range words(s) {
			h.words[w] = true
		}
		for _, d := range digitRuns(s) {
			h.numbers[d] = true
		}
	}
}

// join is the one-byte separator between sentences.
func (h *Haystack) join() string {
	if h.sep == "" {
		return " "
	}
	return h.sep
}

// Units is the length of the whole haystack, see Units.
func (h *Haystack) Units() int {
	n := 0
	for _, u := range h.units {
		n += u
	}
	return n
}

// HasWord reports whether a word occurs in the haystack, case aside.
func (h *Haystack) HasWord(w string) bool { return h.words[strings.ToLower(w)] }

// HasNumber reports whether a run of digits occurs in the haystack as a number of its own.
func (h *Haystack) HasNumber(d string) bool { return h.numbers[d] }

// startFor returns the first sentence of a stretch of need units: u in [0, 1) chooses among the
// starts after which enough text is left. It fails when the whole text is too short: a text is
// never looped, since a second copy of a sentence is a crutch for the model and for its cache.
func (h *Haystack) startFor(u float64, need int) (int, error) {
	last, sum := -1, 0
	for i, u := range slices.Backward(h.units) {
		sum += u
		if sum >= need {
			last = i
			break
		}
	}
	if last < 0 {
		return 0, fmt.Errorf("haystack %q has %d words and marks, the prompt needs about %d, and a text is never looped: "+
			"name a longer one in ASSAY_HAYSTACK", h.Name, sum, need)
	}
	return int(u * float64(last+1)), nil
}

func hash(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
