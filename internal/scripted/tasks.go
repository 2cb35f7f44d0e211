package scripted

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var fiveDigits = regexp.MustCompile(`\b\d{4,}\b`)

// before calls f for the visible text that stands before a byte of the prompt, the part's own share cut off there.
func (o *oracle) before(at int, f func(s seg)) {
	for _, s := range o.segs {
		if s.at >= at {
			continue
		}
		if s.at+len(s.text) > at {
			s.text = s.text[:at-s.at]
		}
		f(s)
	}
}

// onlyNeedle answers a paraphrase that shares no word with the needle: when just one planted value is in sight, it is
// the one that was meant.
func (o *oracle) onlyNeedle(l string, at int) []fact {
	if !strings.ContainsAny(l, "?") && !strings.Contains(l, "give") ||
		!anyOf(l, "code", "number", "digits", "secret", "password", "value", "key", "open", "unlock", "combination", "figure",
			"path", "identifier", "id ") {
		return nil
	}
	var out []fact
	o.before(at, func(s seg) {
		for _, m := range fiveDigits.FindAllStringIndex(s.text, -1) {
			a, b := around(s.text, m[0])
			if b <= a {
				continue
			}
			subject, value, ok := split(s.text[a:b], 0)
			if !ok { // "Remember the number 48213."
				subject, value, ok = "", s.text[m[0]:m[1]], true
			}
			if ok && needleLike(value) {
				out = append(out, fact{value: value, subject: subject, at: o.p.tokenAt(s.at + a)})
			}
		}
	})
	if len(out) == 0 || slices.ContainsFunc(out, func(f fact) bool { return f.value != out[0].value }) {
		return nil
	}
	return out[:1]
}

// planted lists every "access code" statement before a byte.
func (o *oracle) planted(at int) []fact {
	var out []fact
	o.before(at, func(s seg) {
		for i := 0; ; {
			k := strings.Index(s.text[i:], "code for ")
			if k < 0 {
				return
			}
			k += i
			i = k + 1
			a, b := around(s.text, k)
			if b <= a {
				continue
			}
			i = max(i, b)
			if subject, value, ok := split(s.text[a:b], k-a); ok && needleLike(value) {
				out = append(out, fact{value: value, subject: subject, at: o.p.tokenAt(s.at + a)})
			}
		}
	})
	return out
}

func (o *oracle) everyCode(at int) (answer, bool) {
	fs := o.planted(at)
	if len(fs) == 0 {
		return answer{}, false
	}
	return stated(fs, true), true
}

var whichHas = needing(digits, `\b(?:which|what) (?:\w+ )?(?:archive|city|name|place|office|place)\b.*\b(\d{4,})\b`)

// reverse: "Which archive has the code 48213?"
func (o *oracle) reverse(_, l string, at int) (answer, bool) {
	m := whichHas.in(l, l)
	if m == nil {
		return answer{}, false
	}
	for _, f := range o.planted(at) {
		if f.value == m[1] {
			return answer{
				text: strings.TrimSuffix(strings.TrimPrefix(after(f.subject, "for "), "the "), " archive"),
				used: []fact{f},
			}, true
		}
	}
	return answer{}, false
}

func after(s, sep string) string {
	if _, rest, ok := strings.Cut(s, sep); ok {
		return rest
	}
	return s
}

var (
	timesWord = needing([]string{"how "}, `how (?:many times|often) (?:does|is|was|do|did) (?:the `+
		`(?:word|name|phrase|marker|sentence) )?["'“‘]?([^"'”’?]+?)["'”’]? `+
		`(?:appear|occur|mentioned|come|stand|show|written|used|repeated)`)
	howMany = needing([]string{"how "}, `how many (?:different |distinct )?([\p{L} ]+?)(?: are| were| do| did| have| `+
		`is|\?| in )`)
)

// count: "How many times does the word amber appear?", "How many access codes are given?"
func (o *oracle) count(q, l string, at int, _ bool) (answer, bool) {
	if m := timesWord.in(l, l); m != nil {
		i := strings.Index(l, m[1])
		word := m[1]
		if len(l) == len(q) {
			word = q[i : i+len(m[1])]
		}
		n := 0
		o.before(at, func(s seg) { n += countWord(s.text, strings.TrimSpace(word)) })
		return answer{text: strconv.Itoa(n)}, true
	}
	m := howMany.in(l, l)
	if m == nil {
		return answer{}, false
	}
	switch what := m[1]; {
	case strings.Contains(what, "code"), strings.Contains(what, "archive"):
		seen := map[string]bool{}
		for _, f := range o.planted(at) {
			seen[f.subject] = true
		}
		return answer{text: strconv.Itoa(len(seen))}, true
	case strings.Contains(what, "tool"):
		return answer{text: strconv.Itoa(len(o.tools))}, true
	case strings.Contains(what, "message"), strings.Contains(what, "question"), strings.Contains(what, "turn"):
		msgs := map[int]bool{}
		for _, s := range o.segs {
			if s.role == "user" {
				msgs[s.msg] = true
			}
		}
		return answer{text: strconv.Itoa(len(msgs))}, true
	case strings.Contains(what, "line"):
		n := 0
		o.before(at, func(s seg) { n += len(lines(s.text)) })
		return answer{text: strconv.Itoa(n)}, true
	}
	return answer{}, false
}

func countWord(s, word string) int {
	n := 0
	for i := 0; word != ""; {
		k := strings.Index(s[i:], word)
		if k < 0 {
			break
		}
		if wholeWord(s, i+k, len(word)) {
			n++
		}
		i += k + len(word)
	}
	return n
}

func lines(s string) []string {
	var out []string
	for l := range strings.SplitSeq(s, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

var startsWith = needing([]string{" that "}, `(?i)\b(?:line|sentence|entry|item)s? that (?:starts?|begins?) with:? `+
	`["'“‘`+"`"+`]?(.+?)["'”’`+"`"+`]?(?:,| in | from |\.|\?|$)`)

// lineThat: `Repeat the line that starts with "Working directory"`.
func (o *oracle) lineThat(q, l string, at int, _ bool) (answer, bool) {
	m := startsWith.in(q, l)
	if m == nil {
		return answer{}, false
	}
	want := strings.TrimSpace(m[1])
	if bare, _, ok := strings.Cut(want, ":"); ok && bare != "" {
		want = bare
	}
	var out *fact
	o.before(at, func(s seg) {
		for i := 0; out == nil; {
			k := strings.Index(s.text[i:], want)
			if k < 0 {
				return
			}
			k += i
			i = k + len(want)
			if line := strings.LastIndexByte(s.text[:k], '\n') + 1; strings.TrimSpace(s.text[line:k]) == "" {
				end := len(s.text)
				if e := strings.IndexByte(s.text[k:], '\n'); e >= 0 {
					end = k + e
				} else if a, b := around(s.text, k); b > a {
					end = b
				}
				out = &fact{value: strings.TrimSpace(s.text[k:end]), at: o.p.tokenAt(s.at + k)}
			} else if a, b := around(s.text, k); a == k && b > a {
				out = &fact{value: s.text[a:b], at: o.p.tokenAt(s.at + k)}
			}
		}
	})
	if out == nil {
		return answer{}, false
	}
	return answer{text: out.value, used: []fact{*out}}, true
}

var unitAsked = needing(slices.Concat(ordinals, []string{"last"}, digits),
	`\b(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|\d{1,3}(?:st|nd|rd|th)) `+
		`(line|sentence|word|message|question|thing|turn|prompt|paragraph|item)\b`)

var askFirst = needing([]string{" first"}, `\bwhat did (?:i|the user) (?:ask|say|write) first\b`)

// ordinalUnit: "What was the first line?", "What was my first message?"
func (o *oracle) ordinalUnit(_, l string, at int, _ bool) (answer, bool) {
	m := unitAsked.in(l, l)
	if m == nil && askFirst.in(l, l) != nil {
		m = []string{"", "first", "message"}
	}
	if m == nil {
		return answer{}, false
	}
	var units []fact
	last := -1
	o.before(at, func(s seg) {
		if s.kind == image || s.kind == toolList {
			return
		}
		switch m[2] {
		case "message", "question", "thing", "turn", "prompt":
			if s.role == "user" && s.msg != last {
				last = s.msg
				units = append(units, fact{value: strings.TrimSpace(s.text), at: s.from})
			}
		case "line", "paragraph", "item":
			if strings.Contains(s.text, "\n") {
				for _, v := range lines(s.text) {
					units = append(units, fact{value: v, at: s.from})
				}
				return
			}
			fallthrough
		case "sentence":
			for _, r := range sentences(s.text) {
				units = append(units, fact{value: s.text[r[0]:r[1]], at: o.p.tokenAt(s.at + r[0])})
			}
		case "word":
			for w := range strings.FieldsSeq(s.text) {
				units = append(units, fact{value: clean(w), at: s.from})
			}
		}
	})
	f, ok := pick(units, " "+m[1]+" ")
	if !ok {
		return answer{}, false
	}
	return answer{text: f.value, used: []fact{f}}, true
}

var (
	copyAsked = needing([]string{"repeat", "copy", "reproduce", "echo", "write out", "write back", "quote", "transcribe"},
		`(?i)\b(?:repeat|copy|reproduce|echo|write out|write `+
			`back|quote|transcribe)\b.*\b(?:following|text|this|above|below|passage|paragraph|verbatim|exactly|string)\b`)
	tagged = regexp.MustCompile(`(?s)<(?:text|copy|passage|document)>\n?(.*?)(?:</|$)`)
)

// copyHead: an instruction that comes first, "Copy the following text exactly: ...".
func (o *oracle) copyHead() (answer, bool) {
	rs := sentences(o.head)
	if len(rs) == 0 {
		return answer{}, false
	}
	first := o.head[:rs[0][1]]
	if i := strings.IndexByte(first, ':'); i >= 0 {
		first = first[:i+1]
	}
	if copyAsked.in(first, strings.ToLower(first)) == nil || !asks(first) {
		return answer{}, false
	}
	last, _ := o.p.lastUser()
	var b strings.Builder
	for _, s := range o.segs {
		if s.msg == last.msg && s.kind == content {
			b.WriteString(s.text)
		}
	}
	all := b.String()
	if m := tagged.FindStringSubmatch(all); m != nil {
		return answer{text: strings.TrimSpace(m[1]), found: true}, true
	}
	rest := strings.TrimSpace(all[len(first):])
	rest = strings.TrimSuffix(strings.TrimPrefix(rest, "```"), "```")
	if rest == "" {
		return answer{}, false
	}
	return answer{text: strings.TrimSpace(rest), found: true}, true
}

// copyAbove: the instruction comes last, "Repeat the text above exactly."
func (o *oracle) copyAbove(q, l string, at int, _ bool) (answer, bool) {
	if copyAsked.in(q, l) == nil {
		return answer{}, false
	}
	if _, rest, ok := strings.Cut(q, ": "); ok {
		return answer{text: strings.Trim(rest, "\"`")}, true
	}
	last, _ := o.p.lastUser()
	var b strings.Builder
	o.before(at, func(s seg) {
		if s.msg == last.msg && s.kind == content {
			b.WriteString(s.text)
		}
	})
	if m := tagged.FindStringSubmatch(b.String()); m != nil {
		return answer{text: strings.TrimSpace(m[1])}, true
	}
	if strings.TrimSpace(b.String()) == "" {
		return answer{}, false
	}
	return answer{text: strings.TrimSpace(b.String())}, true
}

// complete: the verbatim cue, "The access code for the Lisbon archive is", also after "Complete: ".
func (o *oracle) complete(q, l string, at int, _ bool) (answer, bool) {
	bare := strings.TrimRight(strings.TrimSpace(q), " .:_\u2026\"'”")
	if !strings.HasSuffix(bare, " is") && !strings.HasSuffix(bare, " =") {
		return answer{}, false
	}
	names := namesIn(bare)
	var fs []fact
	if len(names) > 0 {
		fs = o.about(bare, names[0], at)
	} else {
		fs = o.described(bare, at)
	}
	f, ok := pick(fs, l)
	if !ok {
		return answer{}, false
	}
	return answer{text: f.value, used: []fact{f}}, true
}

var isMentioned = regexp.MustCompile(`(?i)^(?:is|does|was|did)\b.*\b(?:mention|mentioned|appear|occur|contain|` +
	`contains)\b`)

// mentioned: "Is Lisbon mentioned in the text?"
func (o *oracle) mentioned(q, _ string, at int, _ bool) (answer, bool) {
	names := namesIn(q)
	if !isMentioned.MatchString(q) || len(names) == 0 {
		return answer{}, false
	}
	n := 0
	o.before(at, func(s seg) { n += countWord(s.text, names[0]) })
	if n > 0 {
		return answer{text: "Yes."}, true
	}
	return answer{text: "No."}, true
}

// numbered writes the items as a list.
func numbered(items []string) string {
	var b strings.Builder
	for i, s := range items {
		fmt.Fprintf(&b, "%d. %s\n", i+1, s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
