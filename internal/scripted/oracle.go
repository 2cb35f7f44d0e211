package scripted

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// answer is what the model says, before it is cut to tokens.
type answer struct {
	text      string
	reasoning string
	calls     []callBody
	finish    string // forced finish reason; empty: by the cap
	used      []fact // the facts that the text gives, in order
	found     bool   // something of the prompt was answered
	free      bool   // made up by a draw: repeats only at temperature 0
	sure      float64
	rough     int // from this token on log-probabilities of decoding stray, 0: never
}

// oracle answers one prompt from its visible text.
type oracle struct {
	segs    []seg
	tail    string // the end of the last user message, as far as visible
	tailAt  int    // its byte in the prompt
	head    string // its beginning
	p       *prompt
	tools   []tool
	adapter string
	most    int            // tokens that fit: longer lists are not made
	draw    func() float64 // for free texts
}

// maxItems bounds the items or words of a long answer.
const maxItems = 20000

// tailBytes is how far from the end of a message its question may begin.
const tailBytes = 1200

func newOracle(v *view, r *request, draw func() float64) *oracle {
	o := &oracle{segs: v.segs(), p: v.p, draw: draw, most: maxItems}
	if r != nil {
		o.tools = r.Tools
		_, o.adapter, _ = strings.Cut(r.Model, ":")
	}
	last, ok := v.p.lastUser()
	if !ok {
		return o
	}
	for _, s := range o.segs {
		if s.msg != last.msg || s.kind != content {
			continue
		}
		if s.from == last.from {
			o.head = s.text[:min(len(s.text), 400)]
		}
		if s.to == last.to {
			cut := max(0, len(s.text)-tailBytes)
			for cut > 0 && !isBlank(s.text[cut]) {
				cut--
			}
			o.tail, o.tailAt = s.text[cut:], s.at+cut
		}
	}
	return o
}

// denial is how the oracle says that the visible text does not answer; it names nothing.
const denial = "I could not find that in the text that I was given."

// nothingAsked is the answer to a prompt whose question is out of sight.
const nothingAsked = "There is no question in this conversation so far. How can I help you?"

func (o *oracle) answer() answer {
	if a, ok := o.copyHead(); ok {
		return a
	}
	ranges := sentences(o.tail)
	only := false
	for _, r := range ranges[max(0, len(ranges)-3):] {
		l := strings.ToLower(o.tail[r[0]:r[1]])
		only = only || strings.Contains(l, "only") || strings.Contains(l, "just the") ||
			strings.Contains(l, "nothing else") || strings.Contains(l, "one word")
	}
	asked := false
	for i := len(ranges) - 1; i >= max(0, len(ranges)-6); i-- {
		q := o.tail[ranges[i][0]:ranges[i][1]]
		at := ranges[i][0]
		if i > 0 && strings.HasSuffix(q, "?") && refersBack.MatchString(strings.ToLower(q)) && len(namesIn(q)) == 0 {
			at = ranges[i-1][0] // "... is told four times. What is the third one?"
			q = o.tail[at:ranges[i][1]]
		}
		a, ok := o.try(q, o.tailAt+at, only)
		if ok {
			a.found = true
			return a
		}
		// A question that nothing answers ends the search: what stands before it is no other question.
		if l := strings.ToLower(q); strings.Contains(l, "?") && !strings.HasPrefix(l, "answer") {
			asked = true
			break
		}
	}
	switch {
	case o.tail == "" || len(ranges) == 0:
		return answer{text: nothingAsked}
	case asked, asks(o.tail[ranges[len(ranges)-1][0]:]):
		return answer{text: denial}
	}
	if s, ok := o.toolSaid(); ok {
		return answer{text: s, found: true}
	}
	return answer{text: "Understood.", found: true}
}

// try answers one sentence q that begins at a byte of the prompt.
func (o *oracle) try(q string, at int, only bool) (answer, bool) {
	l := strings.ToLower(q)
	for _, f := range []func(q, l string, at int, only bool) (answer, bool){
		o.callTool, o.long, o.general, o.arithmetic, o.sum, o.count, o.lineThat, o.ordinalUnit, o.copyAbove,
		o.complete, o.mentioned, o.say, o.picture, o.who, o.facts, o.create,
	} {
		if a, ok := f(q, l, at, only); ok {
			return a, true
		}
	}
	return answer{}, false
}

var refersBack = regexp.MustCompile(`\b(?:one|ones|it)\?$`)

var sumOf = regexp.MustCompile(`^(?:\w+:? )?(?:what is |compute |calculate |how much is |add )?\(?(-?\d{1,9}) ` +
	`?(\+|-|\*|×|x|plus|minus|times|and) ?(\d{1,9})\b`)

var cardinals = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")

// arithmetic: "17+25, number only".
func (o *oracle) arithmetic(_, l string, _ int, _ bool) (answer, bool) {
	for i, w := range cardinals { // "two plus two"
		l = strings.ReplaceAll(l, " "+w+" ", " "+strconv.Itoa(i)+" ")
		l = strings.ReplaceAll(l, " "+w+"?", " "+strconv.Itoa(i)+"?")
	}
	m := sumOf.FindStringSubmatch(l)
	if m == nil {
		return answer{}, false
	}
	a, err1 := strconv.Atoi(m[1])
	b, err2 := strconv.Atoi(m[3])
	if err1 != nil || err2 != nil {
		return answer{}, false
	}
	switch m[2] {
	case "-", "minus":
		a -= b
	case "*", "×", "x", "times":
		a *= b
	default:
		a += b
	}
	return answer{text: strconv.Itoa(a)}, true
}

// sum: "What is the sum of the codes for Lisbon and Oslo?"
func (o *oracle) sum(q, l string, at int, _ bool) (answer, bool) {
	if !strings.Contains(l, "sum of") && !strings.HasPrefix(l, "add ") && !strings.Contains(l, "added") &&
		!strings.Contains(l, "add up") && !strings.Contains(l, "plus") {
		return answer{}, false
	}
	total := 0
	names := namesIn(q)
	var used []fact
	for _, n := range names {
		fs := o.about(q, n, at)
		if len(fs) == 0 {
			return answer{}, false
		}
		f := fs[len(fs)-1]
		v, err := strconv.Atoi(f.value)
		if err != nil {
			return answer{}, false
		}
		total += v
		used = append(used, f)
	}
	if len(names) == 0 {
		return answer{}, false
	}
	// Sums are worked out from what was read: a misread term shows in the total.
	return answer{text: strconv.Itoa(total), used: used}, true
}

var sayWord = regexp.MustCompile(`(?i)^(?:please )?(?:say|reply with|respond with|answer with|output|print)(?: only| ` +
	`exactly| just)*(?: the(?: single)? word)?:? ["'“‘]?([\p{L}\d_-]+)["'”’]?[.!]?$`)

// say: "Reply with the word ready."
func (o *oracle) say(q, _ string, _ int, _ bool) (answer, bool) {
	m := sayWord.FindStringSubmatch(strings.TrimSpace(q))
	if m == nil {
		return answer{}, false
	}
	return answer{text: m[1]}, true
}

// picture: "What does the image show?" is answered by the images in sight.
func (o *oracle) picture(_, l string, _ int, _ bool) (answer, bool) {
	if !strings.Contains(l, "image") && !strings.Contains(l, "picture") && !strings.Contains(l, "photo") {
		return answer{}, false
	}
	for _, s := range slices.Backward(o.segs) {
		if s.kind == image {
			return answer{text: "It shows " + strings.TrimSpace(s.text) + "."}, true
		}
	}
	return answer{}, false
}

// who: the adapter's name, when one is served.
func (o *oracle) who(_, l string, _ int, _ bool) (answer, bool) {
	if !strings.Contains(l, "adapter") && !strings.Contains(l, "who are you") && !strings.Contains(l, "your name") {
		return answer{}, false
	}
	if o.adapter == "" {
		return answer{text: "I am the base model."}, true
	}
	return answer{text: "I am the adapter " + o.adapter + "."}, true
}

// toolSaid gives back the last tool's result when it is the last message.
func (o *oracle) toolSaid() (string, bool) {
	if n := len(o.segs); n > 0 && o.segs[n-1].role == "tool" {
		return strings.TrimSpace(o.segs[n-1].text), true
	}
	return "", false
}
