package needle

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// value is a kind of needle whose answer is a text and not a code of digits.
type value struct {
	draw     func(d draws) string
	sentence func(name, v string) string
	question func(name string) string
	// find returns every value of the kind in an answer, in its normal spelling.
	find func(answer string) []string
	// near reports whether got is a damaged copy of want and not another value by luck.
	near func(got, want string) bool
	// squash maps a text to the form in which an answer cut short is compared.
	squash func(text string) string
}

var values = map[Kind]value{
	UUID: {
		draw: drawUUID,
		sentence: func(name, v string) string {
			return fmt.Sprintf("The record id of the %s archive is %s.", name, v)
		},
		question: func(name string) string {
			return fmt.Sprintf("Question: what is the record id of the %s archive? Answer with only the id.", name)
		},
		find: findUUIDs,
		// No luck: 8 edits lead from an id to at most 1,100^8 = 2e24 others of 2^122 = 5e36.
		near:   func(got, want string) bool { return distance(bare(got), bare(want)) <= 8 },
		squash: func(t string) string { return bare(strings.ToLower(t)) },
	},
	Path: {
		draw: drawPath,
		sentence: func(name, v string) string {
			return fmt.Sprintf("The file %s holds the ledger of the %s archive.", v, name)
		},
		question: func(name string) string {
			return fmt.Sprintf("Question: which file holds the ledger of the %s archive? Answer with only its path.", name)
		},
		find: findPaths,
		near: func(got, want string) bool {
			return distance(got, want) <= 4 || base(got) == base(want) || strings.HasSuffix(want, got) ||
				strings.HasPrefix(want, got+"/")
		},
		squash: func(t string) string { return strings.Join(strings.Fields(t), "") },
	},
	Phrase: {
		draw: drawPhrase,
		sentence: func(name, v string) string {
			return fmt.Sprintf("The pass phrase of the %s archive is %s.", name, v)
		},
		question: func(name string) string {
			return fmt.Sprintf("Question: what is the pass phrase of the %s archive? Answer with only the phrase.", name)
		},
		find: findPhrases,
		near: func(got, want string) bool {
			shared := 0
			for w := range strings.FieldsSeq(want) {
				if slices.Contains(strings.Fields(got), w) {
					shared++
				}
			}
			return shared >= 2
		},
		squash: func(t string) string { return strings.Join(tokens(t), " ") },
	},
}

// drawUUID draws a random UUID (version 4, variant 1 of RFC 9562) in lower case.
func drawUUID(d draws) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(d.r.UintN(256))
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

var (
	pathRoots = strings.Fields("srv mnt opt var data home")
	pathKinds = strings.Fields("yaml json toml cfg log csv txt sql")
)

func drawPath(d draws) string {
	w := d.r.Perm(len(nonceWords))
	word := func(i int) string { return nonceWords[w[i]] }
	return fmt.Sprintf("/%s/%s/%s-%d/%s_%s.%s", pathRoots[d.r.IntN(len(pathRoots))], word(0), word(1),
		10+d.r.IntN(90), word(2), word(3), pathKinds[d.r.IntN(len(pathKinds))])
}

func drawPhrase(d draws) string {
	var out []string
	for _, i := range d.r.Perm(len(nonceWords)) {
		if w := nonceWords[i]; !slices.Contains(d.avoid, w) {
			if out = append(out, w); len(out) == 3 {
				break
			}
		}
	}
	return strings.Join(out, " ")
}

var uuidLike = regexp.MustCompile(`[0-9a-f]+(?:-[0-9a-f]+)*`)

// bare takes a UUID's hyphens, braces and blanks away.
func bare(s string) string {
	return strings.NewReplacer("-", "", " ", "", "\n", "", "{", "", "}", "").Replace(s)
}

// findUUIDs returns the runs of 20 and more hexadecimal digits, hyphens aside: an id that lost a
// group is found too. Whole ids are returned in the usual groups.
func findUUIDs(answer string) []string {
	var out []string
	for _, m := range uuidLike.FindAllString(strings.ToLower(answer), -1) {
		h := bare(m)
		switch {
		case len(h) < 20:
		case len(h) == 32:
			out = append(out, h[:8]+"-"+h[8:12]+"-"+h[12:16]+"-"+h[16:20]+"-"+h[20:])
		default:
			out = append(out, m)
		}
	}
	return out
}

var pathLike = regexp.MustCompile(`/?[\pL\pN_.+-]+(?:/[\pL\pN_.+-]+)+`)

// findPaths returns the texts of an answer that begin with a slash and have another, or have two
// inside ("and/or" is none), without the dot that ends a sentence and without escapes or scheme.
func findPaths(answer string) []string {
	answer = strings.ReplaceAll(strings.ReplaceAll(answer, `\/`, "/"), "file://", "")
	answer = strings.ReplaceAll(answer, `\_`, "_") // Markdown's escape
	var out []string
	for _, m := range pathLike.FindAllString(answer, -1) {
		if strings.Count(m, "/") >= 2 {
			out = append(out, strings.TrimRight(m, ".-"))
		}
	}
	return out
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// findPhrases returns the runs of two and more words of the vocabulary that phrases are drawn from.
func findPhrases(answer string) []string {
	var out, run []string
	for _, w := range append(tokens(answer), "") {
		if slices.Contains(nonceWords, w) {
			run = append(run, w)
			continue
		}
		if len(run) >= 2 {
			out = append(out, strings.Join(run, " "))
		}
		run = nil
	}
	return out
}
