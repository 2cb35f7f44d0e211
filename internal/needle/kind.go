package needle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Kind is what a prompt hides and how it asks. Single-needle kinds go with every placement; Several,
// Nth and Distractors spread what they plant evenly and take no depth.
type Kind string

const (
	// Digits hides a code of five digits; the zero value, and the only kind nano-v4 was trained on.
	Digits Kind = ""
	// UUID hides 32 random hexadecimal digits in the usual groups: a long copy, where a repeated or
	// dropped group shows.
	UUID Kind = "uuid"
	// Path hides an absolute file path: punctuation and words, as agents copy them all day.
	Path Kind = "path"
	// Phrase hides three common words: no digit gives it away.
	Phrase Kind = "phrase"
	// Gap hides a number in a sentence that has no word in common with its question, not even "the":
	// one has to know which city the Eiffel Tower stands in. Word matching finds nothing.
	Gap Kind = "no-shared-words"
	// Several hides Count codes under Count names and asks for all of them, in an order of its own.
	Several Kind = "several"
	// Nth tells Count codes under one name, one after the other, and asks for the Which-th or the
	// last: every telling matches the question, only order tells them apart.
	Nth Kind = "nth"
	// Distractors hides one code among Count more whose keys differ in one word ("old Lisbon",
	// "upper Lisbon").
	Distractors Kind = "distractors"
)

// Kinds lists all kinds.
func Kinds() []Kind {
	return []Kind{Digits, UUID, Path, Phrase, Gap, Several, Nth, Distractors}
}

// single reports whether the kind plants one sentence that goes with every placement.
func (k Kind) single() bool { return k == Digits || k == UUID || k == Path || k == Phrase || k == Gap }

// plant is what goes into the filler and what is asked: needles are the sentences that the answer
// needs, in the order in which they must stand; rivals are further needles.
type plant struct {
	needles  []string
	rivals   []string
	question string
	truth    Truth // all but Haystack
}

var (
	ordinals   = strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")
	cardinals  = strings.Fields("one two three four five six seven eight nine ten eleven twelve")
	qualifiers = strings.Fields("old new upper lower east west north south inner outer little great former second royal " +
		"lesser")
)

// kindCounts are the default and the largest Count of the kinds that have one.
var kindCounts = map[Kind][2]int{Several: {3, 8}, Nth: {4, 12}, Distractors: {4, 15}}

func (s Spec) count() int {
	if s.Count == 0 {
		return kindCounts[s.Kind][0]
	}
	return s.Count
}

func (s Spec) checkKind() error {
	if s.Kind == Digits {
		if s.Count != 0 || s.Which != 0 {
			return fmt.Errorf("count %d and which %d are set, the digits kind has neither", s.Count, s.Which)
		}
		return nil
	}
	limit, counted := kindCounts[s.Kind]
	switch {
	case !counted && !s.Kind.single():
		return fmt.Errorf("needle kind %q is unknown, want one of %q", string(s.Kind), Kinds()[1:])
	case !counted && s.Count != 0:
		return fmt.Errorf("count is %d, the kind %q has none", s.Count, string(s.Kind))
	case counted && (s.count() < 1 || s.count() > limit[1]):
		return fmt.Errorf("count is %d, want 1 to %d for the kind %q", s.Count, limit[1], string(s.Kind))
	case s.Kind != Nth && s.Which != 0, s.Kind == Nth && (s.Which < 0 || s.Which > s.count()):
		return fmt.Errorf("which is %d, want 0 for the last or 1 to the count for %q only", s.Which, string(Nth))
	case counted && (s.Placement != AtDepth || s.Depth != 0):
		return fmt.Errorf("the kind %q spreads its needles evenly, want neither depth nor placement", string(s.Kind))
	case counted && s.Others != 0:
		return fmt.Errorf("kind %q generates its own distractors: Others is %d, want 0", string(s.Kind), s.Others)
	case s.Code != "":
		return fmt.Errorf("code %q is given, only the digits kind takes one", s.Code)
	case s.Form != "":
		return fmt.Errorf("question form %q is given, only the digits kind has forms", string(s.Form))
	case s.Kind == Gap && s.Name != "":
		return fmt.Errorf("name %q is given, the kind %q draws a landmark", s.Name, string(Gap))
	}
	return nil
}

// draws is what a kind may draw from: names come in a drawn order, the wanted one first; code gives
// codes that are no number of the haystack and far from each other.
type draws struct {
	r      *rand.Rand
	names  []string
	code   func() string
	avoid  []string // words that a phrase must not use: the nonce
	has    func(word string) bool
	stands func(text string) bool // text stands in the haystack
}

// plant draws what a spec of a kind other than Digits hides.
func (s Spec) plant(d draws) (plant, error) {
	if need := max(s.Others+1, s.count()); len(d.names) < need {
		return plant{}, fmt.Errorf("only %d names are free in this haystack, the kind %q needs %d", len(d.names),
			string(s.Kind), need)
	}
	var p plant
	switch s.Kind {
	case Several:
		p = several(d, s.count())
	case Nth:
		p = nth(d, s.count(), s.Which)
	case Distractors:
		p = distractors(d, s.count())
	case Gap:
		return gap(d, s.Others)
	default:
		v := values[s.Kind]
		for i, name := range d.names[:s.Others+1] {
			value := v.draw(d)
			for try := 0; d.stands(value); try++ {
				if try == 100 {
					return plant{}, fmt.Errorf("every drawn value of kind %q stands in the haystack", string(s.Kind))
				}
				value = v.draw(d)
			}
			if i == 0 {
				p.needles = []string{v.sentence(name, value)}
				p.question = v.question(name)
				p.truth = Truth{Name: name, Code: value}
				continue
			}
			p.rivals = append(p.rivals, v.sentence(name, value))
			p.truth.Others = append(p.truth.Others, value)
		}
	}
	p.truth.Kind = s.Kind
	if p.truth.Code == "" || slices.Contains(p.truth.Others, "") || slices.Contains(p.truth.Codes, "") {
		return plant{}, fmt.Errorf("no more codes of the kind %q are to be had", string(s.Kind))
	}
	return p, nil
}

func several(d draws, n int) plant {
	var p plant
	codes := make([]string, n)
	for i := range n {
		codes[i] = d.code()
		p.needles = append(p.needles, Sentence(d.names[i], codes[i]))
	}
	var asked []string // another order than that of the text, so that copying in order is no answer
	for _, i := range d.r.Perm(n) {
		asked = append(asked, d.names[i])
		p.truth.Codes = append(p.truth.Codes, codes[i])
	}
	p.truth.Name, p.truth.Code = asked[0], p.truth.Codes[0]
	list := asked[0]
	if n > 1 {
		list = strings.Join(asked[:n-1], ", ") + " and " + asked[n-1]
	}
	p.question = fmt.Sprintf("Question: what are the access codes for %s? Answer with only the codes, in this order.",
		list)
	return p
}

func nth(d draws, n, which int) plant {
	var p plant
	name := d.names[0]
	p.question = fmt.Sprintf("Question: the access code for %s is told %s times. What is the %s one? Answer with only "+
		"the code.", name, cardinals[n-1], "last")
	if which > 0 {
		p.question = strings.Replace(p.question, "the last one", "the "+ordinals[which-1]+" one", 1)
	} else {
		which = n
	}
	for i := range n {
		code := d.code()
		p.needles = append(p.needles, Sentence(name, code))
		if i+1 == which {
			p.truth.Code = code
		} else {
			p.truth.Others = append(p.truth.Others, code)
		}
	}
	p.truth.Name = name
	return p
}

func distractors(d draws, n int) plant {
	var p plant
	order := d.r.Perm(len(qualifiers))
	key := func(i int) string { return qualifiers[order[i]] + " " + d.names[0] }
	p.truth.Name, p.truth.Code = key(0), d.code()
	own := Sentence(p.truth.Name, p.truth.Code)
	var all []string
	for i := range n {
		c := d.code()
		p.truth.Others = append(p.truth.Others, c)
		all = append(all, Sentence(key(i+1), c))
	}
	// The wanted one stands anywhere among them, so that "first" and "last" are no answers.
	at := d.r.IntN(n + 1)
	p.needles = []string{own}
	p.rivals = append(append(append([]string{}, all[:at]...), own), all[at:]...)
	p.question = fmt.Sprintf("Question: what is the access code for the %s archive? Answer with only the code.",
		p.truth.Name)
	return p
}
