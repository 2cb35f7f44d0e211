package diagnosis

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// judged is one rule with its answers.
type judged struct {
	rule
	answers    []answer
	yes, no    int
	unanswered int
}

func judge(r *reading, u rule) judged {
	j := judged{rule: u}
	for _, c := range u.when {
		a := c.ask(r)
		j.answers = append(j.answers, a)
		switch a.state {
		case yes:
			j.yes++
		case no:
			j.no++
		default:
			j.unanswered++
		}
	}
	return j
}

func (j judged) holds() bool { return j.no == 0 && j.unanswered == 0 }

// marked is 1 where the class's own mark is there.
func (j judged) marked() int {
	if j.answers[0].state == yes {
		return 1
	}
	return 0
}

func (j judged) open() bool { return j.no == 0 }

// Diagnose reads the evidence of one run. It asks each channel for its symptom, lets the channel's rules compete to
// explain it, and leaves out what a named class brings along. It never fails: what is missing is in Unmeasured.
func Diagnose(s evidence.Set) Report {
	r := read(s)
	out := Report{Unmeasured: unmeasured(s)}
	type found struct {
		channel string
		explained
	}
	var all []found
	for _, c := range table() {
		sym := c.symptom(r)
		if sym.state != yes {
			continue
		}
		for _, f := range c.explain(r, sym) {
			if hint := r.cliff(); hint != "" && c.name == "far" {
				f.Evidence = append(f.Evidence, hint)
			}
			all = append(all, found{c.name, f})
		}
	}
	// Of two that bring each other along the earlier one of the table stays.
	brings := func(a, b found) bool {
		return a.Class != b.Class && slices.Contains(a.covers, b.channel) && (a.drowns || !b.certain)
	}
	left := make([]bool, len(all))
	for i, f := range all {
		for k, g := range all {
			if i != k && !left[k] && brings(g, f) && !(i < k && brings(f, g)) {
				left[i] = true
			}
		}
	}
	for i, f := range all {
		if !left[i] && !slices.ContainsFunc(out.Findings, func(g Finding) bool { return g.Class == f.Class }) {
			out.Findings = append(out.Findings, f.Finding)
		}
	}
	doubtful(r, out.Findings)
	slices.SortStableFunc(out.Findings, func(a, b Finding) int { return cmp.Compare(rank(a), rank(b)) })
	out.Verdict = verdict(r, out)
	return out
}

// rank puts what is surest first and notes last.
func rank(f Finding) int {
	switch {
	case f.Note:
		return 3
	case f.Confidence.Grade == Firm:
		return 0
	case f.Confidence.Grade == Likely:
		return 1
	}
	return 2
}

type explained struct {
	Finding
	covers          []string
	certain, drowns bool
}

// explain names the rules that hold. Where none does, the rules that nothing speaks against are ambiguous, best
// answered first; where there is none either, the ones with least against them are.
func (c channel) explain(r *reading, sym answer) []explained {
	var js []judged
	for _, u := range c.rules {
		js = append(js, judge(r, u))
	}
	var held, open []judged
	for _, j := range js {
		switch {
		case j.holds():
			held = append(held, j)
		case j.open():
			open = append(open, j)
		}
	}
	slices.SortStableFunc(open, func(a, b judged) int {
		if c.prefer != nil {
			if d := cmp.Compare(c.prefer(r, b.rule), c.prefer(r, a.rule)); d != 0 {
				return d
			}
		}
		return cmp.Or(cmp.Compare(b.marked(), a.marked()),
			cmp.Compare(a.unanswered*len(b.answers), b.unanswered*len(a.answers)))
	})
	var out []explained
	named := false
	for _, j := range held {
		if named && !j.alone {
			continue
		}
		var rivals []string
		if !j.certain {
			for _, k := range held {
				if k.class != j.class && !k.alone && !j.alone && !k.certain {
					rivals = append(rivals, k.class)
				}
			}
		}
		for _, k := range open {
			if k.class != j.class && !j.alone && (!j.certain && k.marked() == 1 || slices.Contains(j.beside, k.class)) &&
				!slices.Contains(rivals, k.class) {
				rivals = append(rivals, k.class)
			}
		}
		out = append(out, explained{c.finding(j, sym, rivals), j.covers, j.certain, j.drowns})
		named = named || !j.alone
	}
	if len(out) > 0 {
		return out
	}
	if len(open) == 0 {
		least := slices.MinFunc(js, func(a, b judged) int { return cmp.Compare(a.no, b.no) }).no
		for _, j := range js {
			if j.no == least {
				open = append(open, j)
			}
		}
		slices.SortStableFunc(open, func(a, b judged) int { return cmp.Compare(b.yes, a.yes) })
	}
	var rivals []string
	for _, k := range open[1:] {
		rivals = append(rivals, k.class)
	}
	f := c.finding(open[0], sym, rivals)
	if !open[0].open() {
		f.Confidence.Grade = Weak
		f.Evidence = append(f.Evidence, "no class of the table fits everything: "+c.says)
	}
	return []explained{{f, open[0].covers, false, false}}
}

func (c channel) finding(j judged, sym answer, rivals []string) Finding {
	f := Finding{
		Class:    j.class,
		Channel:  c.name,
		Says:     j.says,
		Rivals:   rivals,
		Splitter: j.splitter,
		Next:     j.next,
		Note:     j.note,
	}
	f.Confidence = Confidence{Grade: Firm, Runs: sym.runs, Arms: sym.arms, P: sym.p}
	add := func(line string) {
		if line != "" && !slices.Contains(f.Evidence, line) {
			f.Evidence = append(f.Evidence, line)
		}
	}
	add(sym.line)
	doubted := false
	for i, a := range j.answers {
		switch a.state {
		case yes:
			add(a.line)
			doubted = doubted || a.doubt != ""
			add(a.doubt)
			f.Confidence.Runs = max(f.Confidence.Runs, a.runs)
			f.Confidence.Arms = max(f.Confidence.Arms, a.arms)
			if a.p < 1 {
				f.Confidence.P = max(f.Confidence.P, a.p)
			}
		case unknown:
			add("not settled: " + j.when[i].words)
		case no:
			add("against it: " + a.line)
		}
	}
	if len(rivals) > 0 || !j.holds() || f.Confidence.P > alpha || doubted || !j.proven {
		f.Confidence.Grade = Likely
	}
	return f
}

func verdict(r *reading, out Report) Verdict {
	faults, unsure := 0, 0
	for _, f := range out.Findings {
		if f.Note {
			continue
		}
		faults++
		if len(f.Rivals) > 0 || f.Confidence.Grade == Weak {
			unsure++
		}
	}
	switch {
	case unsure > 0:
		return Ambiguous
	case faults > 0:
		return Fault
	case r.near.runs < 4 || r.beyond.runs < 4:
		return Unmeasured
	}
	return Clean
}

// unmeasured lists probes without one measured answer or number.
func unmeasured(s evidence.Set) []string {
	var out []string
	for _, p := range evidence.Order() {
		if why, ok := s.LeftOut[p]; ok {
			out = append(out, p+": "+why)
			continue
		}
		runs, lost := 0, 0
		for _, a := range s.Of(p) {
			runs += a.Runs
			lost += a.Unmeasured
		}
		if runs == 0 && lost > 0 {
			out = append(out, fmt.Sprintf("%s: none of %d answers could be judged", p, lost))
		}
	}
	return out
}
