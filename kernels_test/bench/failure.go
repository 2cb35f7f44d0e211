package bench

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/assay-suite/assay/numerics"
)

// Again is the command that runs the case alone: anchored, and quoted for a shell.
func (c Case) Again() string {
	if c.Command != "" {
		return c.Command
	}
	segments := append([]string{"TestCases"}, strings.Split(strings.TrimPrefix(c.ID, "kernels/"), "/")...)
	for i, s := range segments {
		segments[i] = "^" + regexp.QuoteMeta(s) + "$"
	}
	return "go test ./kernels_test -count=1 -run '" + strings.Join(segments, "/") + "'"
}

// Failure explains a rejected report and is its text: see Text. c is the candidate, which is run again to see what it
// reads; plants are the suite's.
func (b *Bench) Failure(ctx context.Context, c Candidate, r Report, plants []Plant) string {
	if r.Accepted() {
		return ""
	}
	return b.Text(r, b.Explain(ctx, c, r), b.Library(ctx, plants, r))
}

// Text is the text of a rejected report: what was claimed, what came out, how far it may lie, where it went wrong, what
// would explain it, which known bugs look like it, and the command that runs it again.
func (b *Bench) Text(r Report, causes, like []Cause) string {
	f, bad := r.First()
	if !bad {
		return ""
	}
	lines := [][2]string{
		{"claim", b.Case.Claim},
		{"why", b.Case.Scenario.Why},
		{"got", b.got(f)},
		{"want", b.want(f)},
		{"shape", b.shape(f, r)},
		{"likely", likely(causes)},
		{"like", known(like)},
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

func known(causes []Cause) string {
	var out []string
	for _, c := range causes {
		out = append(out, c.Name+": "+c.Why)
	}
	return strings.Join(out, "; ")
}

func (b *Bench) got(f Finding) string {
	at := f.Verdict.Where
	if at.Index < 0 || at.Index >= len(f.Got) {
		return f.Output + ": " + f.Verdict.Reason
	}
	e, _ := b.expected(f.Output)
	var where []string
	for axis, i := range at.Coord {
		name := fmt.Sprintf("axis%d", axis)
		if axis < len(e.Axes) {
			name = e.Axes[axis]
		}
		where = append(where, fmt.Sprintf("%s %d", name, i))
	}
	text := fmt.Sprintf("%.8g at %s of %s", f.Got[at.Index], strings.Join(where, ", "), f.Output)
	if at.Index < len(f.Poisoned) && numerics.BitEqual(f.Got[at.Index:at.Index+1], f.Poisoned[at.Index:at.Index+1]) == 0 {
		text += fmt.Sprintf(", and %.8g with poison in what is not to be read", f.Poisoned[at.Index])
	}
	return text
}

func (b *Bench) want(f Finding) string {
	e, ok := b.expected(f.Output)
	at := f.Verdict.Where.Index
	if !ok || at < 0 || at >= len(e.Want) || f.Output != e.Name {
		return ""
	}
	text := fmt.Sprintf("%.8g ± %.2g   (%s", e.Want[at], e.sharpest(at), e.Derivation)
	if e.Bound != nil {
		text += fmt.Sprintf(": %.2g certain", e.Bound[at])
	}
	if e.Martingale != nil {
		text += fmt.Sprintf(", %.2g but for a risk of %.0g", e.Martingale[at], Alpha)
	}
	return text + ")"
}

// shape says how much is wrong, where, by which gate, and how the other outputs stand.
func (b *Bench) shape(f Finding, r Report) string {
	var text string
	if at := f.Verdict.Where; at.Count > 0 {
		text = fmt.Sprintf("%d of %d elements of %s, %s; ", at.Count, len(f.Got), f.Output, at.Pattern)
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
func likely(causes []Cause) string {
	if len(causes) == 0 {
		return "no twin cures it: nothing that this suite neutralises makes the case pass"
	}
	text := fmt.Sprintf("%s (%s): %s", causes[0].Class, causes[0].Name, causes[0].Why)
	if len(causes) > 1 {
		var rivals []string
		for _, c := range causes[1:] {
			rivals = append(rivals, fmt.Sprintf("%s (%s)", c.Class, c.Name))
		}
		text += "   (rivals: " + strings.Join(rivals, ", ") + ")"
	}
	return text
}
