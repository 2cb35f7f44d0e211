package exact

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/suite"
)

// Result is what the mode found. Model is empty where no nano model was recognised, and Why says why not.
type Result struct {
	Model      string
	Why        string
	Format     string
	FormatFrom string // how it is known
	Rows       []Row
	Directions []Direction // outside of their limits, the one that explains most first
	Smallest   float64     // factor on attention's values that is seen in 95 % of runs; NaN: unknown
	Seen       []Seen
	Left       []string // sentences: what was not asked or is not judged
	Slow       string   // first answers of a length that took long, and what a second one took; empty: none
	Code       suite.Code
	Verdict    string
}

// Run recognises the model, asks its cells and judges them. declared is ASSAY_FORMAT, empty where it is not set.
func (a *Asker) Run(ctx context.Context, h *needle.Haystack, declared string) (Result, error) {
	r, why, err := a.recognise(ctx, h)
	if err != nil || r.Model == "" {
		return Result{Why: why, Code: suite.Inconclusive, Verdict: "exact reference not judged: " + why}, err
	}
	all := make([]Prompt, len(r.Cells))
	for i, c := range r.Cells {
		if all[i], err = Build(ctx, h, c); err != nil {
			return Result{}, err
		}
		if Digest(all[i].Text) != r.Texts[i] {
			return Result{}, fmt.Errorf("%s: the prompt is not the one that %s was asked: the reference is of another "+
				"haystack or prompt builder; make it anew (go test ./fidelity/internal/exact -run TestReferences -update, "+
				"ASSAY_BUDGET=full)", c.ID, r.Model)
		}
	}
	seen, err := a.Ask(ctx, r, all)
	if err != nil {
		return Result{}, err
	}
	out := Judge(r, seen, a.Flight.Model, declared)
	out.Why = why
	if n, least := a.leftOut(r); n > 0 {
		out.Left = append(out.Left, fmt.Sprintf("%d of %d prompts, of %d tokens and more, are longer than the context "+
			"window of %d tokens allows", n, len(r.Cells), least, a.Flight.Window.N))
	}
	if out.Slow, err = a.slow(ctx, r, all, seen); err != nil {
		return Result{}, err
	}
	return out, nil
}

// Judge compares answers with a reference under the declared format, the one that the served name ends with, or the one
// whose noise is nearest.
func Judge(r Reference, seen []Seen, served, declared string) Result {
	out := Result{Model: r.Model, Seen: seen, Format: declared, FormatFrom: "ASSAY_FORMAT"}
	if declared == "" {
		if _, out.Format = Named(served); out.Format != "" {
			out.FormatFrom = "the model's name"
		} else {
			out.Format, out.FormatFrom = nearest(r, seen), "fitted to the shifts; declare ASSAY_FORMAT for a sharper verdict"
		}
	}
	if len(r.Members[out.Format]) == 0 {
		why := fmt.Sprintf("no emulated %s of %s to compare with", out.Format, r.Model)
		out.Code, out.Verdict = suite.Inconclusive, "exact reference not judged: "+why
		return out
	}
	for _, phase := range Phases() {
		for _, part := range []Part{Prefill, Decode} {
			out.Rows = append(out.Rows, judgeRow(r, seen, phase, part, out.Format))
		}
		for _, d := range directed(r, seen, phase, out.Format) {
			if d.Outside() {
				out.Directions = append(out.Directions, d)
			}
		}
	}
	sortDirections(out.Directions)
	out.Smallest = smallest(r, out.Format)
	out.left(r)
	out.conclude()
	if out.Code == suite.Regression && declared != "" {
		if other := nearest(r, seen); other != declared && Judge(r, seen, served, other).Code == suite.Pass {
			out.Left = append(out.Left, fmt.Sprintf("under %s all of it is held: is the declared %s right?", other, declared))
		}
	}
	return out
}

// nearest is the format whose emulated engines have the rms of the cold answers, sharpest first where two are alike.
func nearest(r Reference, seen []Seen) string {
	best, off := Formats()[0], math.Inf(1)
	for _, f := range Formats() {
		row := judgeRow(r, seen, Cold, Decode, f)
		if row.Digits == 0 || row.Expected.RMS == 0 {
			continue
		}
		if d := math.Abs(math.Log(row.RMS / row.Expected.RMS)); d < off-0.05 {
			best, off = f, d
		}
	}
	return best
}

// left says what of the answers was not judged.
func (o *Result) left(r Reference) {
	framed, failed, unproven, notCold, notWarm := 0, 0, 0, 0, 0
	for i := range o.Seen {
		s := &o.Seen[i]
		_, wrong := s.wrongFrame(r.Cells[s.Cell])
		switch {
		case s.Err != nil:
			failed++
		case wrong:
			framed++
		case !s.Cached.Known:
			unproven++
		case s.Phase == Warm && s.Cached.N == 0:
			notWarm++
		case s.Phase != Warm && s.Cached.N > 0:
			notCold++
		}
	}
	for _, x := range []struct {
		n    int
		what string
	}{
		{framed, "answers to a prompt that the server read with another number of tokens"},
		{failed, "requests failed"},
		{unproven, "answers without a count of cached tokens: cold and warm are as asked, not proven"},
		{notCold, "answers that should be cold and took tokens from the cache"},
		{notWarm, "answers that should be warm and took nothing from the cache"},
	} {
		if x.n > 0 {
			o.Left = append(o.Left, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	if quantised(o.Format) {
		low := 0
		for _, d := range r.Digits {
			if d.Margin() < leastMargin {
				low++
			}
		}
		if low > 0 {
			o.Left = append(o.Left, fmt.Sprintf("%d of %d digits with a true margin below %d nats, which are no reference "+
				"under %s", low, len(r.Digits), leastMargin, o.Format))
		}
	}
}

// named is the share of the squared shifts that a fault explains before it is named beside rejected rows.
const named = 0.5

// conclude makes the verdict of the rows and directions.
func (o *Result) conclude() {
	var bad, not []string
	held := 0
	for _, row := range o.Rows {
		name := string(row.Phase) + " " + string(row.Part)
		switch row.Standing {
		case Rejected:
			bad = append(bad, name)
		case Held:
			held++
		default:
			not = append(not, name)
		}
	}
	where := where(o.Rows)
	switch {
	case len(bad) > 0 || len(o.Directions) > 0:
		o.Code = suite.Regression
		o.Verdict = "fault: not the exact reference of " + o.Model + " under " + o.Format
		if where != "" {
			o.Verdict += " (" + where + ")"
		}
		if d := o.Directions; len(d) > 0 && (len(bad) == 0 || d[0].Explains > named) {
			o.Verdict += fmt.Sprintf("; the shifts go with %s (%.3g times it, %s)", d[0].Fault, d[0].Amplitude, d[0].Phase)
		}
	case len(not) > 0:
		o.Code = suite.Inconclusive
		o.Verdict = fmt.Sprintf("inconclusive: exact reference of %s under %s held in %d of %d rows, not judged: %s", o.Model,
			o.Format, held, len(o.Rows), strings.Join(not, ", "))
	default:
		o.Code = suite.Pass
		o.Verdict = fmt.Sprintf("exact reference of %s held under %s", o.Model, o.Format)
	}
}

// where says what the rejected rows have in common.
func where(rows []Row) string {
	by := map[Phase]int{}
	parts := map[Part]int{}
	n, judged := 0, 0
	for _, r := range rows {
		if r.Standing != Unjudged {
			judged++
		}
		if r.Standing == Rejected {
			by[r.Phase]++
			parts[r.Part]++
			n++
		}
	}
	switch {
	case n == 0:
		return ""
	case n == judged:
		return "every phase: the function itself, weights or number format"
	case by[Cold] == 0 && by[Batched] == 0:
		return "warm only: what the prefix cache hands back"
	case by[Cold] == 0 && by[Warm] == 0:
		return "in a batch only: requests touch each other"
	case by[Cold] == 0:
		return "warm and in a batch, not cold and alone"
	case parts[Decode] == 0:
		return "prefill only"
	case parts[Prefill] == 0:
		return "decode only"
	}
	var names []string
	for _, r := range rows {
		if r.Standing == Rejected {
			names = append(names, string(r.Phase)+" "+string(r.Part))
		}
	}
	return strings.Join(names, ", ")
}
