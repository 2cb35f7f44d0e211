package engine

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// wanted is what kind of value a question asks for.
type wanted string

const (
	wantDigits wanted = "code"
	wantID     wanted = "record id"
	wantPath   wanted = "file"
	wantPhrase wanted = "phrase"
	wantName   wanted = "archive"
)

var (
	reWord    = regexp.MustCompile(`[\p{L}\p{N}'_-]+`)
	reDigits  = regexp.MustCompile(`[0-9\x00]*[0-9][0-9\x00]*`)
	reID      = regexp.MustCompile(`[0-9a-f\x00]{2,}(?:-[0-9a-f\x00]+){2,}`)
	rePath    = regexp.MustCompile(`/[\w\x00/.+-]+[\w\x00]`)
	reIs      = regexp.MustCompile(` is ([^.]+)\.?`)
	reOrdinal = regexp.MustCompile(`(?i)what is the (\w+) one`)
	reList    = regexp.MustCompile(`(?i)codes for (.+?)\?`)
	reBearer  = regexp.MustCompile(`for the ([\w\x00 ]+?) archive`)
)

// found is a place in the view that may answer.
type found struct {
	lo, hi   int // of the value
	sentence [2]int
	score    int
	holes    int
}

// recall answers a question about the context. The question itself stands at [lo, hi) of the view.
func (rd *reader) recall(q string, lo, hi int) []word {
	if m := reList.FindStringSubmatch(q); m != nil {
		return rd.several(m[1], q, lo, hi)
	}
	want := rd.kind(q)
	words := contentWords(q)
	keys := keysOf(words, want)
	hits := rd.search(keys, words, want, lo, hi)
	if len(hits) == 0 {
		for _, w := range words {
			for _, kin := range knownKin[w] {
				hits = append(hits, rd.search([]string{kin}, words, want, lo, hi)...)
			}
		}
	}
	name := strings.Join(keys, " ")
	if len(hits) == 0 {
		return rd.miss(q, name, want, words, lo, hi)
	}
	best := hits[0]
	for _, f := range hits {
		if f.score >= best.score {
			best = f
		}
	}
	if m := reOrdinal.FindStringSubmatch(q); m != nil {
		var same []found
		for _, f := range hits {
			if f.score == best.score {
				same = append(same, f)
			}
		}
		if k, ok := ordinals[strings.ToLower(m[1])]; ok && k < len(same) {
			best = same[k]
		}
	}
	if rd.forgets(best, q) {
		return rd.miss(q, name, want, words, lo, hi)
	}
	margin := rd.margin(best)
	switch {
	case bytes.IndexByte(rd.text[best.lo:best.hi], 0) >= 0:
		margin *= 0.4
	case want == wantName:
		return rd.quote("", best.lo, best.hi, margin)
	}
	return rd.give(q, want, name, best, margin)
}

// give words a value.
func (rd *reader) give(q string, want wanted, name string, f found, margin float64) []word {
	style := rd.m.p.Style
	bare := reOrder.MatchString(q) || strings.HasPrefix(q, "Complete with") || strings.HasPrefix(q, "Answer with only")
	wrap, tail := "", ""
	if style == "markdown" {
		wrap, tail = "**", "**"
	}
	var out []word
	switch {
	case style == "verbose", !bare && style != "terse" && want == wantDigits && name != "" && letter(name[0]):
		out = rd.say(fmt.Sprintf("The %s for %s is ", want, name)+wrap, 4)
		out = append(out, rd.quote("", f.lo, f.hi, margin)...)
		return append(out, rd.say(tail+".", 4)...)
	case wrap != "":
		out = rd.say(wrap, 3)
	}
	out = append(out, rd.quote("", f.lo, f.hi, margin)...)
	if tail != "" {
		out = append(out, rd.say(tail, 3)...)
	}
	return out
}

func (rd *reader) several(list, q string, lo, hi int) []word {
	var out []word
	for i, name := range regexp.MustCompile(`, | and `).Split(list, -1) {
		if i > 0 {
			out = append(out, rd.say(", ", 4)...)
		}
		words := append(contentWords(q), name)
		hits := rd.search([]string{name}, words, wantDigits, lo, hi)
		if len(hits) == 0 || rd.forgets(hits[len(hits)-1], q+name) {
			out = append(out, rd.say("unknown", 1)...)
			continue
		}
		f := hits[len(hits)-1]
		out = append(out, rd.quote("", f.lo, f.hi, rd.margin(f))...)
	}
	return out
}

func (rd *reader) kind(q string) wanted {
	low := strings.ToLower(q)
	switch {
	case strings.Contains(low, "record id"), strings.Contains(low, "only the id"):
		return wantID
	case strings.Contains(low, "which file"), strings.Contains(low, "only its path"):
		return wantPath
	case strings.Contains(low, "phrase"):
		return wantPhrase
	case strings.Contains(low, "which archive"), strings.Contains(low, "only the name"):
		return wantName
	}
	return wantDigits
}

// search finds the sentences outside [lo, hi) that hold a key and a value, in order.
func (rd *reader) search(keys, words []string, want wanted, lo, hi int) []found {
	var out []found
	seen := -1
	for _, key := range keys {
		k := []byte(key)
		for at := 0; ; {
			i := bytes.Index(rd.text[at:], k)
			if i < 0 {
				break
			}
			i += at
			at = i + len(k)
			if i >= lo && i < hi || i > 0 && letter(rd.text[i-1]) || at < len(rd.text) && letter(rd.text[at]) {
				continue
			}
			s := rd.sentence(i)
			if s[0] == seen {
				continue
			}
			seen = s[0]
			if f, ok := rd.value(s, want, words); ok {
				f.score += rd.overlap(s, words)
				out = append(out, f)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return out
}

// sentence returns the bounds of the sentence around a byte.
func (rd *reader) sentence(i int) [2]int {
	stop := func(k int) bool {
		switch c := rd.text[k]; {
		case c == '\n', c < ' ' && c != 0:
			return true
		case c == '.' || c == '?' || c == '!':
			return k+1 >= len(rd.text) || rd.text[k+1] == ' ' || rd.text[k+1] == '\n' || rd.text[k+1] < ' ' && rd.text[k+1] != 0
		}
		return false
	}
	lo, hi := i, i
	for lo > 0 && i-lo < 300 && !stop(lo-1) {
		lo--
	}
	for hi < len(rd.text) && hi-i < 300 && !stop(hi) {
		hi++
	}
	return [2]int{lo, hi}
}

// value finds the value of a kind in a sentence.
func (rd *reader) value(s [2]int, want wanted, words []string) (found, bool) {
	text := rd.text[s[0]:s[1]]
	f := found{sentence: s, holes: bytes.Count(text, []byte{0})}
	re := reDigits
	switch want {
	case wantID:
		re = reID
	case wantPath:
		re = rePath
	case wantPhrase, wantName:
		m := reIs.FindSubmatchIndex(text)
		if want == wantName {
			m = reBearer.FindSubmatchIndex(text)
		}
		if m == nil {
			return f, false
		}
		f.lo, f.hi = s[0]+m[2], s[0]+m[3]
		return f, true
	}
	best := -1
	for _, loc := range re.FindAllIndex(text, -1) {
		v := string(text[loc[0]:loc[1]])
		if want == wantDigits && (len(strings.Trim(v, "\x00")) < 1 || slices.Contains(words, strings.Trim(v, "\x00"))) {
			continue
		}
		if n := loc[1] - loc[0]; n > best {
			best = n
			f.lo, f.hi = s[0]+loc[0], s[0]+loc[1]
		}
	}
	if best < 0 {
		return f, false
	}
	if want == wantDigits { // holes at the ends may be other words
		for f.hi-f.lo > 5 && rd.text[f.lo] == 0 {
			f.lo++
		}
		for f.hi-f.lo > 5 && rd.text[f.hi-1] == 0 {
			f.hi--
		}
	}
	return f, best > 1
}

// overlap is how many words of the question a sentence has.
func (rd *reader) overlap(s [2]int, words []string) int {
	n := 0
	text := rd.text[s[0]:s[1]]
	for _, w := range words {
		if bytes.Contains(text, []byte(w)) {
			n += 2
		}
	}
	return n
}

// margin is how sure the reader is of a value: less with holes in its sentence and far from the question.
func (rd *reader) margin(f found) float64 {
	seen := 1 - float64(f.holes)/float64(4+(f.sentence[1]-f.sentence[0])/4)
	h := mix(hashBytes(rd.text[f.sentence[0]:f.sentence[1]]), rd.m.seed)
	far := float64(len(rd.v.offs)) / 65536
	return max(0.3, (7+6*unit(h))*max(0.1, seen)-min(4, 3*far)+0.02*unit(rd.v.hash))
}

// forgets reports whether the model itself fails at a fact that it can see.
func (rd *reader) forgets(f found, q string) bool {
	p := rd.m.p
	n := float64(len(rd.v.offs))
	depth := float64(f.lo) / float64(max(1, len(rd.text)))
	share := p.Decline * n / 8192
	switch p.Shape {
	case "middle":
		share *= 0.4 + 2.4*depth*(1-depth)
	case "early":
		share *= 1.6 * (1 - 0.75*depth)
	}
	h := mix(hashBytes(rd.text[f.sentence[0]:f.sentence[1]]), mix(hashString(q), rd.m.seed))
	return unit(h) < min(0.97, p.Miss+share)
}

// miss is the answer of a model that does not find what is asked.
func (rd *reader) miss(q, name string, want wanted, words []string, lo, hi int) []word {
	h := mix(hashString(q), rd.seed)
	near := rd.nearby(words, want, lo, hi)
	switch {
	case len(near) > 0 && unit(h) < 0.35 && (rd.m.p.MissAs == "near" || near[0].holes > 0):
		f := near[h%uint64(len(near))]
		return rd.quote("", f.lo, f.hi, 0.6)
	case rd.m.p.MissAs == "invent" && want == wantDigits:
		return rd.say(fmt.Sprint(10000+h%90000), 0.7)
	}
	if name == "" {
		name = "that"
	}
	return rd.say(fmt.Sprintf("There is no %s for %s in the text that I can see.", want, name), 1.5)
}

// nearby finds values in sentences that share other words of the question.
func (rd *reader) nearby(words []string, want wanted, lo, hi int) []found {
	var lower []string
	for _, w := range words {
		if len(w) > 3 && w[0] >= 'a' && w[0] <= 'z' {
			lower = append(lower, w)
		}
	}
	return rd.search(lower, words, want, lo, hi)
}

// contentWords are the words of a question that say what it is about.
func contentWords(q string) []string {
	q = reOrder.ReplaceAllString(q, "")
	var out []string
	for _, w := range reWord.FindAllString(q, -1) {
		if !stopWords[strings.ToLower(w)] {
			out = append(out, w)
		}
	}
	return out
}

// keysOf are the words to look for: names and numbers first, else the last nouns.
func keysOf(words []string, want wanted) []string {
	var names, rest []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w[0] >= 'A' && w[0] <= 'Z':
			for i+1 < len(words) && words[i+1][0] >= 'A' && words[i+1][0] <= 'Z' {
				i++
				w += " " + words[i]
			}
			names = append(names, w)
		case digit(w[0]) && (want == wantName || len(w) > 2):
			names = append(names, w)
		default:
			rest = append([]string{w}, rest...)
		}
	}
	if len(names) > 0 {
		return names
	}
	return rest
}
