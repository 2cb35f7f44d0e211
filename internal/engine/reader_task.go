package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	reCopy   = regexp.MustCompile(`(?i)(?:copy|repeat|write out) the following (?:text|words|line)s?(?: exactly)?:[ \n]`)
	reSayIt  = regexp.MustCompile(`(?i)(?:reply|answer|respond) with the word (\w+)`)
	reSum    = regexp.MustCompile(`(?i)what is (\d+) ?(\+|-|\*|x|times|plus|minus) ?(\d+)`)
	reCount  = regexp.MustCompile(`(?i)count from (\d+) to (\d+)`)
	reWords  = regexp.MustCompile(`(?i)write (\d+) words about (?:the )?(\w+)`)
	reStory  = regexp.MustCompile(`(?i)(?:write|tell) (?:me )?a (?:short )?story`)
	reImage  = regexp.MustCompile(`(?i)(?:image|picture|photo)`)
	reCallIt = regexp.MustCompile("(?s)[Cc]all (\\w+) (?:twice: )?with (?:exactly )?`")
	reTicks  = regexp.MustCompile("(?s)`([^`]*)`")
	reOrder  = regexp.MustCompile(`(?i)answer (?:with|using)[^.]*\.?\s*$`)
)

// questionBytes is how much of the end of a turn is searched for what is asked.
const questionBytes = 500

// asked returns the byte range of the question in a turn: the last sentence that asks, with what follows it.
func (rd *reader) asked(t turn) (lo, hi int) {
	hi = t.hi
	for hi > t.lo && (rd.text[hi-1] <= ' ') {
		hi--
	}
	from := max(t.lo, hi-questionBytes)
	tail := string(rd.text[from:hi])
	body := tail
	if loc := reOrder.FindStringIndex(tail); loc != nil && loc[0] > 0 {
		body = tail[:loc[0]]
	}
	for _, mark := range []string{"Question:", "Complete with"} {
		if i := strings.LastIndex(tail, mark); i >= 0 {
			return from + i, hi
		}
	}
	body = strings.TrimRight(body, " .?!\n")
	at := 0
	for _, end := range []string{". ", "? ", "! ", "\n"} {
		if i := strings.LastIndex(body, end); i >= 0 {
			at = max(at, i+len(end))
		}
	}
	return from + at, hi
}

// answer decides what is asked in the last turn that is not an answer, and answers it.
func (rd *reader) answer() []word {
	var ask turn
	for i := len(rd.turns) - 2; i >= 0; i-- {
		if r := rd.turns[i].role; r == "user" || r == "tool" || r == "" {
			ask = rd.turns[i]
			break
		}
	}
	if ask.hi == 0 {
		return rd.say("Hello! How can I help you today?", 2)
	}
	if rd.rambles() {
		return rd.say("Let me note that as well and think about what the plan was before I go on", 1)
	}
	whole := rd.text[ask.lo:ask.hi]
	if len(whole) < 8000 {
		if loc := reCopy.FindIndex(whole); loc != nil {
			return rd.copyOut(ask.lo+loc[1], ask.hi)
		}
		if reCallIt.Match(whole) {
			return rd.callTools(string(whole))
		}
	}
	lo, hi := rd.asked(ask)
	q := string(rd.text[lo:hi])
	if words := rd.small(q); words != nil {
		return words
	}
	return rd.recall(q, lo, hi)
}

// small answers what needs no context.
func (rd *reader) small(q string) []word {
	if m := reSayIt.FindStringSubmatch(q); m != nil {
		return rd.say(m[1], 7)
	}
	if m := reSum.FindStringSubmatch(q); m != nil {
		a, _ := strconv.Atoi(m[1])
		b, _ := strconv.Atoi(m[3])
		n := a + b
		switch m[2] {
		case "-", "minus":
			n = a - b
		case "*", "x", "times":
			n = a * b
		}
		return rd.phrase(fmt.Sprintf("%d + %d is", a, b), strconv.Itoa(n), q, 8)
	}
	if m := reCount.FindStringSubmatch(q); m != nil {
		a, _ := strconv.Atoi(m[1])
		b, _ := strconv.Atoi(m[2])
		var out []word
		for n := a; n <= b && n < a+5000; n++ {
			line := strconv.Itoa(n)
			if n < b {
				line += "\n"
			}
			out = append(out, word{opts: []option{{ids: rd.m.tok.encode(line)}}, margin: 9})
		}
		return out
	}
	if m := reWords.FindStringSubmatch(q); m != nil {
		n, _ := strconv.Atoi(m[1])
		out := rd.prose(min(n, 3000))
		if _, rest, ok := strings.Cut(q, "then "); ok {
			lo := bytes.LastIndex(rd.text, []byte(q))
			out = append(out, rd.say("\n\n", 3)...)
			return append(out, rd.recall("Complete with "+rest, lo, lo+len(q))...)
		}
		return out
	}
	if reStory.MatchString(q) {
		return rd.prose(26)
	}
	if reImage.MatchString(q) {
		return rd.picture()
	}
	if fact, ok := common(q); ok {
		return rd.phrase(fact.lead, fact.value, q, 7)
	}
	return nil
}

// phrase words a short answer in the model's style.
func (rd *reader) phrase(lead, value, q string, margin float64) []word {
	style := rd.m.p.Style
	if reOrder.MatchString(q) || strings.HasPrefix(q, "Complete with") || style == "terse" {
		if style == "markdown" {
			return rd.say("**"+value+"**", margin)
		}
		return rd.say(value, margin)
	}
	if style == "markdown" {
		value = "**" + value + "**"
	}
	return rd.say(lead+" "+value+".", margin)
}

// copyOut says bytes of the view again.
func (rd *reader) copyOut(lo, hi int) []word {
	for hi > lo && rd.text[hi-1] <= ' ' {
		hi--
	}
	var out []word
	for lo < hi {
		end := lo
		for end < hi && rd.v.token(end) == rd.v.token(lo) {
			end++
		}
		out = append(out, rd.quote("", lo, end, 8)...)
		lo = end
	}
	return out
}

// callTools writes the calls that a turn asks for.
func (rd *reader) callTools(q string) []word {
	name := reCallIt.FindStringSubmatch(q)[1]
	i := bytes.Index(rd.text, []byte(`"name": "`+name+`"`))
	if i < 0 {
		i = bytes.Index(rd.text, []byte(`"name":"`+name+`"`))
	}
	if i < 0 {
		return rd.say("I do not have a tool named "+name+" and cannot call it.", 2)
	}
	param := "value"
	near := rd.text[max(0, i-1500):min(len(rd.text), i+1500)]
	if m := regexp.MustCompile(`"properties": ?\{"(\w+)"`).FindSubmatch(near); m != nil {
		param = string(m[1])
	}
	lex := rd.m.lex
	var out []word
	for _, v := range reTicks.FindAllStringSubmatch(q, -1) {
		value := strings.ReplaceAll(v[1], "\x00", "?")
		raw := quoteJSON(value)
		out = append(out, word{opts: []option{{ids: []int32{lex.id(spCall)}}}, margin: 6})
		out = append(out, rd.say(fmt.Sprintf("\n{\"name\": %q, \"arguments\": {%q: %s}}\n", name, param, raw), 6)...)
		out = append(out, word{opts: []option{{ids: []int32{lex.id(spCallEnd)}}}, margin: 6})
	}
	return out
}

// quoteJSON writes a JSON string without the escapes for HTML.
func quoteJSON(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// picture names the colour of the picture in the view.
func (rd *reader) picture() []word {
	i := bytes.LastIndexByte(rd.text, byte(spImage))
	if i < 0 {
		return rd.say("I cannot see an image here.", 2)
	}
	end := i + 1
	for end < len(rd.text) && letter(rd.text[end]) {
		end++
	}
	return rd.say(string(rd.text[i+1:end]), 6)
}

// prose is free text about the sea of so many words, with choices where a writer has them.
func (rd *reader) prose(n int) []word {
	var out []word
	count := 0
	first := true
	for s := 0; count < n; s++ {
		h := mix(rd.m.seed, uint64(s)*131+hashString(rd.opening()))
		frame := proseFrames[(hashString(rd.opening())+uint64(s)*3)%uint64(len(proseFrames))]
		for k, slot := range strings.Fields(frame) {
			choices := []string{slot}
			if list, ok := proseLists[strings.Trim(slot, "{}.,")]; ok && slot[0] == '{' {
				choices = list
			}
			mark := ""
			if c := slot[len(slot)-1]; c == '.' || c == ',' {
				mark = string(c)
				choices = append([]string(nil), choices...)
				for i, ch := range choices {
					choices[i] = strings.TrimRight(ch, ".,")
				}
			}
			w := word{margin: 7}
			turned := int(mix(h, uint64(k)) % uint64(len(choices)))
			for i := range choices {
				text := choices[(turned+i)%len(choices)]
				if !first {
					text = " " + text
				}
				w.opts = append(w.opts, option{ids: rd.m.tok.encode(text), drop: 0.7 * float64(i)})
			}
			first = false
			out = append(out, w)
			if mark != "" {
				out = append(out, word{opts: []option{{ids: rd.m.tok.encode(mark)}}, margin: 6})
			}
			if count++; count >= n && mark == "." {
				break
			}
		}
	}
	return out
}

// opening is the first word of the conversation, so that not all stories are one.
func (rd *reader) opening() string {
	for _, t := range rd.turns {
		if t.role == "user" {
			text := rd.text[t.lo:t.hi]
			return string(text[:min(len(text), 12)])
		}
	}
	return ""
}
