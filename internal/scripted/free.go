package scripted

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

var proseNouns = strings.Fields(`harbour morning garden letter winter station bridge market window village ` +
	`journey candle
	orchard mountain river teacher painter sailor lantern kitchen meadow island traveller clock story evening workshop
	sparrow forest library engine valley`)

var (
	proseVerbs = strings.Fields(`remembers follows crosses watches finds keeps carries opens hears leaves paints ` +
		`mends visits
	describes misses greets builds answers guards measures`)
	proseAdjs = strings.Fields(`quiet old bright distant wooden golden narrow patient early gentle hidden silver ` +
		`heavy curious
	open northern empty slow warm green`)
	proseAds = strings.Fields(`slowly again today gladly twice once often quietly early late nearby together alone forever
	carefully seldom`)
)

// prose is n words of grammatical nonsense; no draw repeats itself for long.
func prose(n int, draw func() float64) string {
	pick := func(list []string) string { return list[int(draw()*float64(len(list)))] }
	var b strings.Builder
	for words := 0; words < n; {
		s := []string{
			"The", pick(proseAdjs), pick(proseNouns), pick(proseVerbs), "the", pick(proseAdjs), pick(proseNouns), pick(proseAds),
		}
		if left := n - words; left < len(s) {
			s = s[:left]
		}
		if words > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.Join(s, " ") + ".")
		words += len(s)
	}
	return b.String()
}

var (
	wantWords = regexp.MustCompile(`\b(?:write|tell|compose|give|produce|in)\b.*?\b(\d{2,5})[- ]words?\b`)
	wantItems = regexp.MustCompile(`\b(?:list|write|give|name|produce|print|continue)\b.*?\b(?:of )?(\d{1,5}) (?:\w+ ` +
		`)?(?:items|lines|entries|numbers|words|points|facts|things|sentences|names|steps|rows)\b`)
	listOf    = regexp.MustCompile(`\b(?:numbered )?list (?:of|with) (\d{1,5})\b`)
	countTo   = regexp.MustCompile(`\b(?:count|numbers|integers|list)\b.*?\b(\d{1,5}) (?:up )?(?:to|through) (\d{1,5})\b`)
	thenWords = regexp.MustCompile(`(?i)[,;.]? (?:and )?then,? `)
)

// long answers what asks for length: "Write 300 words, then the access code for Lisbon."
func (o *oracle) long(q, l string, at int, _ bool) (answer, bool) {
	var a answer
	first, rest, more := cutThen(l)
	if !anyOf(first, digits...) { // all that follow ask for a number of things
		return answer{}, false
	}
	switch {
	case countTo.MatchString(first):
		m := countTo.FindStringSubmatch(first)
		from, to := atoi(m[1]), atoi(m[2])
		var b strings.Builder
		for i := from; i <= to && i-from <= o.most; i++ {
			b.WriteString(strconv.Itoa(i))
			b.WriteByte('\n')
		}
		a.text = strings.TrimSpace(b.String())
	case listOf.MatchString(first):
		a.text = numbered(o.items(o.fit(listOf.FindStringSubmatch(first)[1]), at))
	case wantWords.MatchString(first) && !strings.Contains(first, "list"):
		a.text, a.free = prose(o.fit(wantWords.FindStringSubmatch(first)[1]), o.draw), true
	case wantItems.MatchString(first):
		a.text = numbered(o.items(o.fit(wantItems.FindStringSubmatch(first)[1]), at))
	default:
		return answer{}, false
	}
	if more {
		tail := q[len(q)-len(rest):]
		if !strings.HasSuffix(tail, "?") {
			tail = "Give " + tail
		}
		if b, ok := o.facts(tail, strings.ToLower(tail), at, true); ok {
			a.text += "\n" + b.text
			a.used = b.used
		} else {
			a.text += "\n" + denial
		}
	}
	return a, true
}

func cutThen(l string) (first, rest string, ok bool) {
	if !strings.Contains(l, "then") {
		return l, "", false
	}
	loc := thenWords.FindStringIndex(l)
	if loc == nil {
		return l, "", false
	}
	return l[:loc[0]], l[loc[1]:], true
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// fit reads a number of items; one more than fits shows the cut just as well.
func (o *oracle) fit(s string) int { return min(atoi(s), o.most+1) }

// items are n words of the visible text in reading order, each once; a short text is used up and continued by
// numbered ones.
func (o *oracle) items(n, at int) []string {
	var out []string
	seen := map[string]bool{}
	o.before(at, func(s seg) {
		for w := range strings.FieldsFuncSeq(s.text, func(r rune) bool { return !isASCIILetter(byte(r)) || r > 127 }) {
			if w = strings.ToLower(w); len(out) < n && len(w) > 3 && !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	})
	for i := len(out); i < n; i++ {
		out = append(out, "entry number "+strconv.Itoa(i+1))
	}
	return out
}

var creative = regexp.MustCompile(`^(?:please )?(?:write|tell|compose|invent|describe|make ` +
	`up|imagine|continue|explain|summari[sz]e|think of|pick|choose|name a|name an)\b`)

// create is free text: it differs from call to call unless the temperature is 0.
func (o *oracle) create(_, l string, _ int, _ bool) (answer, bool) {
	if !creative.MatchString(l) {
		return answer{}, false
	}
	if strings.Contains(l, "one word") || strings.Contains(l, "single word") || strings.Contains(l, "pick") ||
		strings.Contains(l, "random") {
		return answer{text: proseNouns[int(o.draw()*float64(len(proseNouns)))], free: true}, true
	}
	return answer{text: prose(24, o.draw), free: true}, true
}

var (
	quoted  = regexp.MustCompile("(?s)```(?:\\w+\n)?(.*?)```|`([^`]*)`")
	toolUse = regexp.MustCompile(`\b(?:call|use|invoke|run|with the|save|look up|via)\b`)
)

// callTool calls what the sentence names. Arguments: the texts in backticks in order; else the names, one call each.
func (o *oracle) callTool(q, l string, at int, _ bool) (answer, bool) {
	if len(o.tools) == 0 {
		return answer{}, false
	}
	t := o.tools[0]
	named := false
	for _, c := range o.tools {
		if c.Function.Name != "" && strings.Contains(l, strings.ToLower(c.Function.Name)) {
			t, named = c, true
			break
		}
	}
	if !named && (!strings.Contains(l, "tool") && !strings.Contains(l, "function") || !toolUse.MatchString(l)) ||
		!o.toolSeen(t) {
		return answer{}, false
	}
	props := properties(t)
	if len(props) == 0 {
		props = []string{"value"}
	}
	// The sentence may end inside the backticks: read on to the message's end.
	rest := o.tail
	if i := at - o.tailAt; i >= 0 && i < len(rest) {
		rest = rest[i:]
	}
	var values []string
	for _, m := range quoted.FindAllStringSubmatch(rest, -1) {
		if v := m[1] + m[2]; v != t.Function.Name {
			values = append(values, v)
		}
	}
	if i := strings.Index(rest, "exactly: "); i >= 0 && len(values) == 0 {
		values = []string{strings.TrimSpace(rest[i+len("exactly: "):])}
	}
	if len(values) > 0 && len(props) > 1 && len(values) >= len(props) {
		args := map[string]string{}
		for i, p := range props {
			args[p] = values[i]
		}
		return answer{calls: []callBody{{t.Function.Name, toJSON(args)}}}, true
	}
	if len(values) == 0 {
		values = namesIn(q)
	}
	var calls []callBody
	for _, v := range values {
		calls = append(calls, callBody{t.Function.Name, toJSON(map[string]string{props[0]: v})})
	}
	if len(calls) == 0 {
		calls = []callBody{{t.Function.Name, "{}"}}
	}
	return answer{calls: calls}, true
}

// toolSeen says whether the tool's description is in sight.
func (o *oracle) toolSeen(t tool) bool {
	for _, s := range o.segs {
		if s.kind == toolList && strings.Contains(s.text, t.Function.Name) {
			return true
		}
	}
	return false
}

func toJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "{}"
	}
	return strings.TrimSpace(b.String())
}
