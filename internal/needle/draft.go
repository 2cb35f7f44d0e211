package needle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// draft is a prompt while it is fitted: the choice of sentences and the needles among them.
type draft struct {
	b     Builder
	s     Spec
	nonce []string

	drawn  bool
	start  int
	plant  plant
	filler []int // haystack indices before the needle of JustInside or of everything
	suffix []int // JustInside: after the needle
	pad    string
	pieces []piece
}

// piece is a run of prompt text: filler sentence, needle or distractor.
type piece struct {
	text   string
	units  int
	needle bool
}

func newPiece(text string, needle bool) piece { return piece{text, Units(text), needle} }

// layout chooses sentences for a prompt of about goal units.
func (d *draft) layout(goal int, ratio float64) error {
	if !d.drawn {
		if err := d.draw(goal); err != nil {
			return err
		}
	}
	// No text is looped: with a longer goal the start moves forward if the book would end first.
	latest, err := d.b.Haystack.startFor(math.Nextafter(1, 0), goal)
	if err != nil {
		return err
	}
	start := min(d.start, latest)
	need := 0
	for _, n := range d.plant.needles {
		need += Units(n)
	}
	fixed := Units(nonceSentence(d.nonce, 0)) + d.s.copies()*need + Units(d.plant.question)
	for _, r := range d.plant.rivals {
		if r != d.plant.needles[0] { // Distractors lists the needle among its rivals
			fixed += Units(r)
		}
	}
	room := goal - fixed
	if room < 4 {
		return fmt.Errorf("%d tokens leave no room for filler: nonce, needles and question alone take about %.0f", d.s.Length,
			float64(fixed)*ratio)
	}
	d.suffix = nil
	if d.s.Placement == JustInside {
		inside := int(0.9*float64(d.s.Window)/ratio) - int(8/ratio) - need - Units(d.plant.question)
		inside = min(inside, room)
		d.filler = d.b.choose(start, room-max(0, inside), d.plant.truth.Name)
		if inside > 0 {
			from := start
			if n := len(d.filler); n > 0 {
				from = d.filler[n-1] + 1
			}
			d.suffix = d.b.choose(from, inside, d.plant.truth.Name)
		}
	} else {
		d.filler = d.b.choose(start, room, d.plant.truth.Name)
	}
	d.assemble()
	return nil
}

// draw settles what must not change while the length is fitted: start, name, code, question.
func (d *draft) draw(goal int) error {
	h := d.b.Haystack
	r := rng("stretch", d.s.seed(), d.s.Case)
	start, err := h.startFor(r.Float64(), goal+goal/5+lookahead)
	if err != nil {
		if start, err = h.startFor(0, goal); err != nil {
			return err
		}
	}
	d.start = start
	var body strings.Builder // what names may collide with
	if d.b.Bucket != nil {
		body.WriteString(strings.Join(d.nonce, " "))
		for i, n := start, 0; i < len(h.Sentences) && n < goal; i++ {
			body.WriteString(" " + h.Sentences[i])
			n += h.units[i]
		}
	}
	r = rng("needle", d.s.seed(), d.s.Case)
	free := d.names(r, body.String())
	name := d.s.Name
	if name == "" {
		name, free = free[0], free[1:]
	}
	free = slices.DeleteFunc(free, func(n string) bool { return strings.EqualFold(n, name) })
	d.drawn = true
	if d.s.Kind != Digits {
		d.plant, err = d.s.plant(d.draws(r, append([]string{name}, free...)))
		return err
	}
	return d.digits(r, name, free)
}

// codes returns a source of codes that are no number of the haystack and far from each other. It
// gives "" when it finds no more.
func (d *draft) codes(r *rand.Rand, taken ...string) func() string {
	ok := func(c string) bool {
		if d.b.Haystack.HasNumber(c) {
			return false
		}
		// Codes of one prompt differ in three places at least: a near miss of one is no other.
		return !slices.ContainsFunc(taken, func(t string) bool { return distance(t, c) < 3 })
	}
	return func() string {
		c := NewCode(r, ok)
		taken = append(taken, c)
		return c
	}
}

// digits plants the code of the oldest kind. Its draws come in the order that recorded goldens hold.
func (d *draft) digits(r *rand.Rand, name string, free []string) error {
	code := d.s.Code
	if code == "" {
		code = d.codes(r)()
	}
	p := plant{needles: []string{Sentence(name, code)}, truth: Truth{Name: name, Code: code}}
	next := d.codes(r, code)
	for i := range d.s.Others {
		c := next()
		if i >= len(free) || c == "" {
			return fmt.Errorf("no %d further names and codes to be had", d.s.Others)
		}
		p.truth.Others = append(p.truth.Others, c)
		p.rivals = append(p.rivals, Sentence(free[i], c))
	}
	var err error
	if p.question, err = d.s.Form.Question(name); err != nil {
		return err
	}
	d.plant = p
	return nil
}

// draws is what the other kinds draw from.
func (d *draft) draws(r *rand.Rand, names []string) draws {
	h := d.b.Haystack
	return draws{r: r, names: names, code: d.codes(r), avoid: d.nonce, has: h.HasWord, stands: func(text string) bool {
		return slices.ContainsFunc(h.Sentences, func(s string) bool { return strings.Contains(s, text) })
	}}
}

// names returns all names in a drawn order: those that do not occur in the text, and of these the
// ones that share no bucket with it first.
func (d *draft) names(r *rand.Rand, body string) []string {
	list := Names()
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = slices.DeleteFunc(list, d.b.Haystack.HasWord)
	if d.b.Bucket != nil {
		hits := map[int]int{}
		for _, w := range words(body + " " + Sentence("", "") + " remember this fact key question answer with only what") {
			hits[d.b.Bucket(w)]++
		}
		slices.SortStableFunc(list, func(a, b string) int {
			return hits[d.b.Bucket(strings.ToLower(a))] - hits[d.b.Bucket(strings.ToLower(b))]
		})
	}
	if len(list) == 0 {
		list = Names() // a text that mentions every city: any will do
	}
	return list
}

// assemble puts needles and distractors between the chosen sentences.
func (d *draft) assemble() {
	h := d.b.Haystack
	total := 0
	cum := []int{0}
	for _, i := range d.filler {
		total += h.units[i]
		cum = append(cum, total)
	}
	at := func(depth float64) int { // boundary nearest depth
		best, where := math.Inf(1), 0
		for i, c := range cum {
			if off := math.Abs(float64(c) - depth*float64(total)); off < best {
				best, where = off, i
			}
		}
		return where
	}
	insert := map[int][]piece{}
	for j, text := range d.plant.rivals {
		k := at((float64(j) + 0.5) / float64(len(d.plant.rivals)))
		insert[k] = append(insert[k], newPiece(text, text == d.plant.needles[0]))
	}
	own := newPiece(d.plant.needles[0], true)
	switch {
	case d.s.Kind == Distractors: // stands among its rivals
	case !d.s.Kind.single():
		for i, text := range d.plant.needles {
			k := at((float64(i) + 0.5) / float64(len(d.plant.needles)))
			insert[k] = append(insert[k], newPiece(text, true))
		}
	case d.s.Placement == Start:
		insert[0] = append([]piece{own}, insert[0]...)
	case d.s.Placement == Tail, d.s.Placement == JustInside:
		insert[len(d.filler)] = append(insert[len(d.filler)], own)
	case d.s.Placement == Spread:
		for i := range d.s.copies() {
			k := at(float64(i) / float64(d.s.copies()))
			insert[k] = append(insert[k], own)
		}
	default:
		k := at(d.s.Depth)
		insert[k] = append(insert[k], own)
	}
	d.pieces = nil
	if d.pad != "" && d.s.Pad == PadFront {
		d.pieces = append(d.pieces, newPiece(d.pad, false))
	}
	for k := range len(d.filler) + 1 {
		d.pieces = append(d.pieces, insert[k]...)
		if k < len(d.filler) {
			d.pieces = append(d.pieces, piece{text: h.Sentences[d.filler[k]], units: h.units[d.filler[k]]})
		}
	}
	for _, i := range d.suffix {
		d.pieces = append(d.pieces, piece{text: h.Sentences[i], units: h.units[i]})
	}
	if d.pad != "" && d.s.Pad == PadBack {
		d.pieces = append(d.pieces, newPiece(d.pad, false))
	}
}

// text joins everything by the haystack's separator: single blanks for prose, since nano-v4 never
// learnt the newline.
func (d *draft) text(by int) string {
	parts := []string{nonceSentence(d.nonce, by)}
	for _, p := range d.pieces {
		parts = append(parts, p.text)
	}
	return strings.Join(append(parts, d.plant.question), d.b.Haystack.join())
}

// units is the length of the text: what joins its parts is no unit and ends a word.
func (d *draft) units() int {
	n := Units(nonceSentence(d.nonce, 0)) + Units(d.plant.question)
	for _, p := range d.pieces {
		n += p.units
	}
	return n
}

// prompt freezes the draft after a count of n tokens.
func (d *draft) prompt(n, calls int) Prompt {
	ratio := float64(n) / float64(d.units())
	p := Prompt{
		Spec:   d.s,
		Text:   d.text(0),
		Tokens: n,
		Counts: calls,
		Start:  -1,
		Filler: append(slices.Clone(d.filler), d.suffix...),
	}
	if len(p.Filler) > 0 {
		p.Start = p.Filler[0]
	}
	head := nonceSentence(d.nonce, 0)
	at, before := len(head), Units(head)
	var filler []string
	for _, i := range p.Filler {
		filler = append(filler, d.b.Haystack.Sentences[i])
	}
	for _, q := range d.pieces {
		at++ // the separator
		if q.needle {
			tokens := int(math.Round(float64(before) * ratio))
			p.Copies = append(p.Copies, Place{Byte: at, Before: tokens, FromEnd: n - tokens})
		}
		at += len(q.text)
		before += q.units
	}
	p.Truth = d.plant.truth
	p.Truth.Others, p.Truth.Codes = slices.Clone(p.Truth.Others), slices.Clone(p.Truth.Codes)
	p.Truth.Haystack = strings.Join(filler, d.b.Haystack.join())
	if d.b.Bucket != nil {
		p.Collisions = collisions(d.b.Bucket(strings.ToLower(d.plant.truth.Name)), head+" "+p.Truth.Haystack, d.b.Bucket)
	}
	return p
}
