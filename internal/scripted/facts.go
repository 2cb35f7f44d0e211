package scripted

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// fact is one statement "subject is value" of the visible text.
type fact struct {
	value   string
	subject string
	at      int // first token of the sentence
	score   int
	copies  int // statements of the same value in sight
}

var stopWords = wordSet(`what which who whom where when how the for was were are you did does do answer with only
	question tell give from that this please there have has had your and value of is in to me my our be it its a an ` +
	`on at by as or not just one
	word words nothing else exactly now again earlier above below given said told mentioned state recall name need needed
	reply respond asked ask first second third fourth fifth sixth seventh eighth ninth tenth last latest current final
	about text conversation message please use must remember called stands write then also no explanation number-only`)

func wordSet(s string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(s) {
		out[w] = true
	}
	return out
}

// quotedName is a key as a question quotes it.
var quotedName = regexp.MustCompile("[\"`]([A-Za-z_][A-Za-z0-9_.-]*)[\"`]")

var notNames = wordSet("I Question Answer JSON UUID OK Only Reply What Which Give The Please List Write")

// namesIn lists what a question is about by name: capitalised words that do not begin the sentence, the cities of
// countries that it mentions, and quoted strings.
func namesIn(q string) []string {
	var out []string
	add := func(n string) {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for _, m := range quotedName.FindAllStringSubmatch(q, -1) {
		add(m[1])
	}
	prev := "."
	rest := q
	for w := range strings.FieldsSeq(q) {
		rest = rest[strings.Index(rest, w):]
		if city := longCity(rest); city != "" {
			add(city)
		}
		rest = rest[len(w):]
		if len(out) > 0 && strings.Contains(out[len(out)-1], " ") &&
			strings.Contains(out[len(out)-1], strings.Trim(w, ".,?!")) {
			prev = w
			continue // the rest of a long name
		}
		bare := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		bare = strings.TrimSuffix(strings.TrimSuffix(bare, "'s"), "’s")
		first := strings.ContainsAny(prev[len(prev)-1:], ".:?!")
		prev = w
		if bare == "" || first || notNames[bare] {
			continue
		}
		r := []rune(bare)
		if unicode.IsUpper(r[0]) {
			if city, ok := cityOf(bare); ok {
				bare = city
			}
			add(bare)
		}
	}
	return out
}

// keysIn lists the words of a question that may stand in a fact's subject.
func keysIn(q string, names []string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(q), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		digit := w[0] >= '0' && w[0] <= '9'
		if len(w) < 3 && !digit || stopWords[w] || slices.ContainsFunc(names, func(n string) bool {
			return strings.EqualFold(n, w)
		}) || slices.Contains(out, w) {
			continue
		}
		out = append(out, w)
	}
	return out
}

var separators = []string{
	" is called ", `":"`, `": "`, `":`, " is ", " are ", " was ", " will be ", " equals ", " = ", ": ", "=",
}

// split reads a sentence as subject and value around the first separator after the byte from; a separator before it
// counts when nothing follows.
func split(s string, from int) (subject, value string, ok bool) {
	best, width, inJSON := -1, 0, false
	for _, sep := range separators {
		if i := strings.Index(s[from:], sep); i >= 0 && (best < 0 || from+i < best) {
			best, width, inJSON = from+i, len(sep), sep[0] == '"'
		}
	}
	if best >= 0 {
		value = s[best+width:]
		if end := strings.IndexAny(value, `",}`); inJSON && end >= 0 {
			value = value[:end]
		}
		subject, value = s[:best], clean(value)
	} else if i := strings.Index(s[:from], " is "); i >= 0 { // "48213 is the code for Lisbon"
		subject, value = s[i+4:], clean(s[:i])
	} else if i := strings.Index(s[:from], " holds "); i >= 0 { // "The file P holds the ledger of Lisbon"
		subject, value = s[i+7:], clean(s[strings.LastIndexByte(s[:i], ' ')+1:i])
	} else if i := strings.LastIndex(s, " with "); i >= from { // "... opens with 48213"
		if v := clean(s[i+6:]); needleLike(v) {
			subject, value = s[:i], v
		}
	}
	n := len(strings.Fields(value))
	return subject, value, n > 0 && n <= 14
}

func clean(s string) string {
	s = strings.TrimSpace(s)
	s = strings.TrimSuffix(strings.TrimSuffix(s, "\u2026"), " ")
	s = strings.TrimRight(s, ".!,;")
	return strings.Trim(s, "\"'`“”")
}

// around is the byte range of the sentence of s that holds byte i.
func around(s string, i int) (int, int) {
	from := max(0, i-400)
	to := min(len(s), i+400)
	for _, r := range sentences(s[from:to]) {
		if from+r[0] <= i && i < from+r[1] {
			return from + r[0], from + r[1]
		}
	}
	return i, i
}

// about collects the statements on a name, in reading order, that stand before the question's byte.
func (o *oracle) about(q, name string, at int) []fact {
	keys := keysIn(q, append(namesIn(q), name))
	var out []fact
	best := 0
	for _, s := range o.segs {
		for i := 0; ; {
			k := strings.Index(s.text[i:], name)
			if k < 0 {
				break
			}
			k += i
			i = k + len(name)
			if s.at+k >= at && s.at <= at || !wholeWord(s.text, k, len(name)) {
				continue
			}
			a, b := around(s.text, k)
			if b <= a {
				continue
			}
			if b > i {
				i = b // one statement a sentence
			}
			sentence := s.text[a:b]
			subject, value, ok := split(sentence, k-a)
			if !ok || strings.HasSuffix(sentence, "?") {
				continue
			}
			f := fact{value: value, subject: subject, at: o.p.tokenAt(s.at + a), score: overlap(keys, subject)}
			if f.score == 0 && !needleLike(value) {
				continue
			}
			best = max(best, f.score)
			out = append(out, f)
		}
	}
	out = slices.DeleteFunc(out, func(f fact) bool { return f.score < best })
	if key := qualified(q, name); key != "" {
		exact := slices.DeleteFunc(slices.Clone(out), func(f fact) bool { return !strings.Contains(f.subject, key) })
		if len(exact) > 0 {
			return exact
		}
	}
	return out
}

// qualified is a name with the word before it, "old Lisbon", when that is no article.
func qualified(q, name string) string {
	i := strings.Index(q, name)
	if i < 2 {
		return ""
	}
	before := strings.TrimRight(q[:i], " ")
	w := before[strings.LastIndexByte(before, ' ')+1:]
	if w == "" || strings.ContainsAny(w, ",.:?") || articles[w] {
		return ""
	}
	return w + " " + name
}

var articles = wordSet("the for of in and to beside a an at by from about The For Of In")

func wholeWord(s string, i, n int) bool {
	before := i == 0 || !isASCIILetter(s[i-1]) && !isDigit(s[i-1])
	after := i+n >= len(s) || !isASCIILetter(s[i+n]) && !isDigit(s[i+n])
	return before && after
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func overlap(keys []string, subject string) int {
	n := 0
	words := strings.FieldsFunc(strings.ToLower(subject), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for _, k := range keys {
		if slices.ContainsFunc(words, func(w string) bool { return w == k || w+"s" == k || w == k+"s" }) {
			n++
		}
	}
	return n
}

// needleLike says whether a value looks planted: at least three digits, or a path.
func needleLike(v string) bool {
	n := 0
	for i := range len(v) {
		if isDigit(v[i]) {
			n++
		}
	}
	return n >= 3 || strings.Contains(v, "/") && len(strings.Fields(v)) == 1
}

// described collects the statements whose subject holds most of the question's words, when it names nobody.
func (o *oracle) described(q string, at int) []fact {
	keys := keysIn(q, nil)
	if len(keys) == 0 {
		return nil
	}
	need := (len(keys)*6 + 9) / 10
	var out []fact
	best := need
	for _, s := range o.segs {
		lower := strings.ToLower(s.text)
		if len(lower) != len(s.text) {
			lower = s.text // a letter whose lower case has another length: match as written
		}
		seen := map[int]bool{}
		for _, key := range keys {
			for i := 0; ; {
				k := strings.Index(lower[i:], key)
				if k < 0 {
					break
				}
				k += i
				i = k + len(key)
				if s.at+k >= at && s.at <= at {
					break
				}
				a, b := around(s.text, k)
				if b <= a || seen[a] {
					continue
				}
				seen[a] = true
				i = max(i, b)
				sentence := s.text[a:b]
				subject, value, ok := split(sentence, 0)
				if !ok || strings.HasSuffix(sentence, "?") {
					continue
				}
				if f := (fact{value: value, subject: subject, at: o.p.tokenAt(s.at + a), score: overlap(keys, subject)}); f.score >=
					best {
					best = f.score
					out = append(out, f)
				}
			}
		}
	}
	out = slices.DeleteFunc(out, func(f fact) bool { return f.score < best })
	slices.SortFunc(out, func(a, b fact) int { return a.at - b.at })
	return out
}

var factual = regexp.MustCompile(`\b(?:what|which|who|where|when|give|tell|recall|list|name|state|code|codes|` +
	`remember|find|quote|print|repeat)\b`)

// formatOnly is a sentence that says how to answer, not what.
var formatOnly = regexp.MustCompile(`^(?:answer|reply|respond|only|just|no |output|use )[^?]*$`)

// facts answers "what is the access code for Lisbon?" in all its wordings: several names, the n-th mention, reverse.
func (o *oracle) facts(q, l string, at int, only bool) (answer, bool) {
	if !factual.MatchString(l) && !strings.Contains(l, "?") || formatOnly.MatchString(l) {
		return answer{}, false
	}
	if a, ok := o.reverse(q, l, at); ok {
		return a, true
	}
	if strings.Contains(l, "code") && (strings.Contains(l, "all ") || strings.Contains(l, "every ")) {
		return o.everyCode(at)
	}
	names := namesIn(q)
	if len(names) == 0 {
		fs := o.described(q, at)
		if len(fs) == 0 {
			fs = o.onlyNeedle(l, at)
		}
		if f, ok := pick(fs, l); ok {
			return stated([]fact{f}, only), true
		}
		return answer{}, false
	}
	var out []fact
	for _, n := range names {
		fs := o.about(q, n, at)
		if building := landmarkOf(n); len(fs) == 0 && building != "" {
			fs = o.about(q, building, at)
		}
		if key := qualified(q, n); key != "" && len(fs) > 0 && strings.Contains(fs[0].subject, key) {
			l = strings.ReplaceAll(l, strings.ToLower(key), "") // "the second Lisbon archive" counts nothing
		}
		if f, ok := pick(fs, l); ok && !slices.ContainsFunc(out, func(g fact) bool { return g.at == f.at }) {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return answer{}, false
	}
	return stated(out, only || len(out) > 1), true
}

func stated(fs []fact, only bool) answer {
	a := answer{used: fs}
	for i, f := range fs {
		if i > 0 {
			a.text += ", "
		}
		if !only && len(fs) == 1 && f.subject != "" && len(f.subject) < 100 && !strings.ContainsAny(f.subject, "=:{") {
			a.text += strings.TrimSpace(f.subject) + " is " + f.value + "."
			continue
		}
		a.text += f.value
	}
	return a
}

var ordinals = strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")

var nth = needing(digits, `\b(\d{1,3})(?:st|nd|rd|th)\b`)

// ordinal reads "third" or "12th" as 3 or 12, "last" as -1; 0 is none.
func ordinal(l string) int {
	if m := nth.in(l, l); m != nil {
		n := 0
		for _, c := range m[1] {
			n = n*10 + int(c-'0')
		}
		return n
	}
	for i, w := range ordinals {
		if strings.Contains(l, " "+w+" ") || strings.HasPrefix(l, w+" ") {
			return i + 1
		}
	}
	for _, w := range []string{"last", "latest", "most recent", "current", "final"} {
		if strings.Contains(l, " "+w+" ") {
			return -1
		}
	}
	return 0
}

// pick chooses the n-th statement that a question asks for, the last without a number.
func pick(fs []fact, l string) (fact, bool) {
	n := ordinal(l)
	switch {
	case len(fs) == 0, n > len(fs):
		return fact{}, false
	case n > 0:
		return fs[n-1], true
	}
	f := fs[len(fs)-1]
	for _, g := range fs {
		if g.value == f.value {
			f.copies++
		}
	}
	return f, true
}
