package kernels

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/assay-suite/assay/numerics"
)

// Again is the command that runs one test alone: anchored, and quoted for a shell.
func Again(test string, segments ...string) string {
	all := append([]string{test}, segments...)
	for i, s := range all {
		all[i] = "^" + regexp.QuoteMeta(s) + "$"
	}
	pattern := strings.ReplaceAll(strings.Join(all, "/"), "'", `'\''`)
	return "go test ./kernels_test -count=1 -run '" + pattern + "'"
}

// Again is the command that runs the case alone.
func (c Case) Again() string {
	return Again(c.Family.Test, c.Kase.ID, c.Shape.Slug(), c.Contract.Name)
}

// Failure is the text of a rejected report: what was claimed, what came out, how far it may lie, where it went wrong, what
// would explain it, and the command that runs it again. c is the candidate, which is run again to see what it reads.
func (b *Bench) Failure(ctx context.Context, c Candidate, r Report) string {
	f, bad := r.First()
	if !bad {
		return ""
	}
	lines := [][2]string{
		{"claim", b.Case.Claim},
		{"got", b.got(f)},
		{"want", b.want(f)},
		{"shape", b.shape(f, r)},
		{"likely", likely(f, b.Explain(ctx, c, r))},
		{"again", b.Case.Again()},
	}
	var out strings.Builder
	for _, l := range lines {
		if l[1] != "" {
			fmt.Fprintf(&out, "\n    %-8s %s", l[0], l[1])
		}
	}
	return out.String()
}

func (b *Bench) expected(output string) (Expected, bool) {
	for _, e := range b.Expected {
		if e.Name == output {
			return e, true
		}
	}
	return Expected{}, false
}

func (b *Bench) got(f Finding) string {
	at := f.Verdict.Where
	if at.Index < 0 || at.Index >= len(f.got) {
		return f.Output + ": " + f.Verdict.Reason
	}
	e, _ := b.expected(f.Output)
	var where []string
	for axis, i := range at.Coord {
		where = append(where, fmt.Sprintf("%s %d", e.Axes[axis], i))
	}
	text := fmt.Sprintf("%.8g at %s of %s", f.got[at.Index], strings.Join(where, ", "), f.Output)
	if at.Index < len(f.poisoned) && numerics.BitEqual(f.got[at.Index:at.Index+1], f.poisoned[at.Index:at.Index+1]) == 0 {
		text += fmt.Sprintf(", and %.8g with poison around the operands", f.poisoned[at.Index])
	}
	return text
}

func (b *Bench) want(f Finding) string {
	e, ok := b.expected(f.Output)
	at := f.Verdict.Where.Index
	if !ok || at < 0 || at >= len(e.Want) {
		return ""
	}
	text := fmt.Sprintf("%.8g ± %.2g   (%s: %.2g certain", e.Want[at], sharpest(e, at), e.Derivation, e.Bound[at])
	if e.Martingale != nil {
		text += fmt.Sprintf(", %.2g but for a risk of %.0g", e.Martingale[at], Alpha)
	}
	return text + ")"
}

// sharpest is the smaller of the bounds that apply to an element.
func sharpest(e Expected, at int) float64 {
	if e.Martingale != nil {
		return min(e.Bound[at], e.Martingale[at])
	}
	return e.Bound[at]
}

// shape says how much is wrong, where, by which gate, and how the other outputs stand.
func (b *Bench) shape(f Finding, r Report) string {
	var text string
	if at := f.Verdict.Where; at.Count > 0 {
		text = fmt.Sprintf("%d of %d elements of %s, %s; ", at.Count, len(f.got), f.Output, at.Pattern)
	}
	text += fmt.Sprintf("%s gate: %s", f.Verdict.Gate, f.Verdict.Reason)
	var others []string
	for _, o := range r.Findings {
		switch {
		case o.Output == f.Output:
		case o.Verdict.Accepted:
			others = append(others, fmt.Sprintf("%s ρ <= %.2g", o.Output, max(o.Verdict.Rho.Max, o.Verdict.RhoMartingale.Max)))
		default:
			others = append(others, fmt.Sprintf("%s fails the %s gate", o.Output, o.Verdict.Gate))
		}
	}
	if len(others) > 0 {
		text += "; " + strings.Join(others, ", ")
	}
	return text
}

// likely puts causes into words. Where structure says it all and nothing else is known, there is nothing to add.
func likely(f Finding, causes []numerics.Cause) string {
	if len(causes) == 0 {
		if f.Verdict.Gate == numerics.Structure {
			return ""
		}
		return "no fault or contract that this suite knows gives these outputs"
	}
	text := causes[0].Name + ": " + causes[0].Why
	if len(causes) > 1 {
		var rivals []string
		for _, c := range causes[1:] {
			rivals = append(rivals, c.Name)
		}
		text += "   (rivals: " + strings.Join(rivals, ", ") + ")"
	}
	return text
}
