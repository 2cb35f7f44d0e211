package needle

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/assay-suite/assay/fixtures"
)

// TomSawyerSHA256 is the hash of the committed text, unpacked: Mark Twain's The Adventures of Tom
// Sawyer (1876), public domain. fixtures/README.md tells where it comes from and what was cut.
const TomSawyerSHA256 = "22cd2fa4bc0f686b649ad6c4baf9ecf85eefaab8d619fa558363c687cc66e0dd"

// maxUnpacked bounds the unpacked text, in bytes.
const maxUnpacked = 1 << 20

// TomSawyer loads the embedded text and checks its hash first: dialogue, a register that Opticks
// lacks. cleanSawyer says what is cut out.
func TomSawyer() (*Haystack, error) {
	packed, err := fixtures.FS.ReadFile("haystack/tom-sawyer.txt.gz")
	if err != nil {
		return nil, fmt.Errorf("haystack tom-sawyer: the embedded text is missing: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("haystack tom-sawyer: fixtures/haystack/tom-sawyer.txt.gz is damaged: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(z, maxUnpacked))
	if err != nil {
		return nil, fmt.Errorf("haystack tom-sawyer: fixtures/haystack/tom-sawyer.txt.gz is damaged: %w", err)
	}
	sum := hash(raw)
	if sum != TomSawyerSHA256 {
		return nil, fmt.Errorf("haystack tom-sawyer: fixtures/haystack/tom-sawyer.txt.gz unpacks to sha256 %s, want %s: "+
			"restore the committed file", sum, TomSawyerSHA256)
	}
	return newHaystack("tom-sawyer", sum, cleanSawyer(string(raw)))
}

// slurs are words of 1876 that nobody should send to a server today, whose filters may refuse them
// too. Sentences with one are left out; the story is no poorer as filler.
var slurs = regexp.MustCompile(`(?i)\b(?:nigg|injun|half-breed)`)

// sawyerBegins is how the first paragraph of the first chapter that is a whole sentence begins.
const sawyerBegins = "The old lady pulled her spectacles down"

// cleanSawyer turns the book into sentences. Left out: title page, preface and contents, chapter
// headings, footnotes and stage directions, sentences that speech marks cut in two, and slurs.
func cleanSawyer(text string) []string {
	if i := strings.Index(text, sawyerBegins); i >= 0 {
		text = text[i:]
	}
	var out []string
	for _, p := range blankLines.Split(text, -1) {
		for _, s := range sentences(p) {
			if strings.Count(s, `"`)%2 == 0 && !strings.Contains(s, "*") && !slurs.MatchString(s) {
				out = append(out, s)
			}
		}
	}
	return out
}
