package diagnosis

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// reading is a set with the groups of arms that rules look at.
type reading struct {
	evidence.Set

	edge   float64 // prompt tokens from which needles are lost for good; 0: no edge
	near   group   // facts asked alone, cold, in short prompts
	far    group   // facts asked alone, cold, deep in prompts beyond the edge; without an edge, in all long ones
	beyond group   // of these the arms of the length sweep
	tail   group   // facts in the last 128 tokens of such prompts
	head   group   // facts in their first tenth
	middle group
	deep   group // of these the arms at depths of 30 % to 90 %

	models            []hypothesis // of the lone answers, likeliest first; none without answers
	spots, wrongSpots int          // lone answers, and those of them that are wrong
	nearSpots         int          // of these near misses
	alones            []spot

	// How likely the lone answers are where each arm has a share of wrong answers of its own, whatever the reason: of
	// those with a known place, and of all.
	unknown, unknownAll float64
}

// shortest is what counts as a short prompt where the sweep has no edge.
const shortest = 512

func read(s evidence.Set) *reading {
	r := &reading{Set: s}
	lone := spots(s.Answers)
	r.alones = lone
	c := cues(s.Answers)
	r.models, r.spots = hypotheses(lone, c), len(lone)
	r.unknown, r.unknownAll = anyhow(lone, true)+c.free(), anyhow(lone, false)+c.free()
	for _, x := range lone {
		if x.wrong {
			r.wrongSpots++
			if x.sort == near {
				r.nearSpots++
			}
		}
	}
	width := 0.0
	if v, ok := s.Number(evidence.Length, "edge"); ok {
		r.edge = v
		width, _ = s.Number(evidence.Length, "edge-width")
	}
	limit := float64(shortest)
	if r.edge > 0 {
		limit = r.edge - width/2
	}
	r.near.what, r.far.what, r.tail.what, r.head.what, r.middle.what = "short, alone, cold", "deep in long prompts",
		"in the last 128 tokens", "at the head", "in the middle"
	r.deep.what = "at 30 % to 90 % of long prompts"
	r.beyond.what = "lengths beyond the edge"
	if r.edge == 0 {
		r.beyond.what = fmt.Sprintf("lengths above %d", shortest)
	}
	for _, a := range s.Of(evidence.Length) {
		switch {
		case a.At <= limit:
			r.near.add(a)
		case r.edge == 0 || a.At >= r.edge+width/2:
			r.beyond.add(a)
			r.far.add(a)
		}
	}
	for _, name := range []string{"short-verbatim", "short-paraphrase"} {
		r.take(&r.near, evidence.Cue, name)
	}
	for _, a := range s.Of(evidence.Depth) {
		d, deep := strings.CutPrefix(a.Name, "depth-")
		switch {
		case deep:
			r.far.add(a)
			n, err := strconv.Atoi(d)
			if err == nil && n >= 30 {
				r.deep.add(a)
			}
			switch {
			case err != nil:
			case n <= 10:
				r.head.add(a)
			case n >= 40 && n <= 70:
				r.middle.add(a)
			}
		case a.Name == "tail-128" || a.Name == "tail-32":
			r.tail.add(a)
		}
	}
	return r
}

// calm is every fact asked alone and cold: short ones, and those of long prompts where these are no worse.
func (r *reading) calm() group {
	g := r.near
	g.what = "facts asked alone and cold"
	if worse(r.near, r.far).state != yes && worse(r.near, r.deep).state != yes && worse(r.near, r.beyond).state != yes {
		r.far.into(&g)
		r.tail.into(&g)
	}
	return g
}

// take puts an arm into a group, where it ran.
func (r *reading) take(g *group, probe string, names ...string) {
	for _, n := range names {
		if a, ok := r.Arm(probe, n); ok {
			g.add(a)
		}
	}
}

// cliff words the edge and what is known to break there: a hint, no proof.
func (r *reading) cliff() string {
	if r.edge == 0 {
		return ""
	}
	width, _ := r.Number(evidence.Length, "edge-width")
	line := fmt.Sprintf("needles are lost from %.0f tokens on, to %.0f either way", r.edge, width/2)
	if known := r.Words[evidence.Length+"/cliffs"]; known != "" {
		line += "; a hint, no proof: " + known
	}
	return line
}

// beyondOwn is beyondLuck against the share of facts that this server gets wrong anyway, alone and cold (rule of
// succession).
func (r *reading) beyondOwn(g group, classes ...string) answer {
	own := r.calm()
	q := math.Max(luck, float64(own.wrong()+1)/float64(own.runs+2))
	a := beyondLuck(g, classes...)
	if a.p = binomialTail(g.count(classes...), g.runs, q); a.state == yes && a.p > alpha {
		a.state = unknown
	}
	return a
}

// arms pools arms by name.
func (r *reading) arms(what, probe string, names ...string) group {
	g := group{what: what}
	r.take(&g, probe, names...)
	return g
}

// all pools the arms of a probe that a filter keeps; nil keeps all.
func (r *reading) all(what, probe string, keep func(evidence.Arm) bool) group {
	g := group{what: what}
	for _, a := range r.Of(probe) {
		if keep == nil || keep(a) {
			g.add(a)
		}
	}
	return g
}

// number asks a named number; without it the answer is unknown.
func (r *reading) number(probe, name string, yes func(float64) bool, format string) answer {
	v, ok := r.Number(probe, name)
	if !ok {
		return answer{line: fmt.Sprintf("%s/%s was not measured", probe, name), p: 1}
	}
	return is(yes(v), format, v)
}

// cuts are the prompt tokens that the server reported for prompts of known length.
type cuts struct {
	known    bool
	cut      bool    // some prompt was reported shorter than it is
	full     float64 // the longest that was reported whole
	shortest float64 // the shortest that was not
	reported float64 // for the prompt cut most
	at       float64 // its length
}

// whole is the least share of a prompt that passes as all of it: lengths are counted by the server's tokenizer, or
// estimated from words where it has no route for that.
func (r *reading) whole() float64 {
	if r.Words[evidence.Accounting+"/counter"] == "tokenize" {
		return 0.95
	}
	return 0.7
}

func (r *reading) cuts() cuts {
	var c cuts
	for name, share := range r.Numbers {
		n, ok := strings.CutPrefix(name, evidence.Accounting+"/kept-")
		if !ok {
			continue
		}
		length, err := strconv.ParseFloat(n, 64)
		if err != nil {
			continue
		}
		c.known = true
		if share < r.whole() {
			if !c.cut || length < c.shortest {
				c.shortest = length
			}
			c.cut = true
		} else {
			c.full = math.Max(c.full, length)
		}
	}
	c.reported, _ = r.Number(evidence.Accounting, "kept-least-tokens")
	c.at, _ = r.Number(evidence.Accounting, "kept-least-at")
	if c.shortest > 0 && c.full > c.shortest {
		c.full = c.shortest
	}
	return c
}
