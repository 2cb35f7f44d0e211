package job

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// Verdict is the run's last word. Equivalent means that every facet that was offered was judged, by all of its cases,
// under a contract that its format stands for or that was demanded, and that nothing was lost inside the model.
func (o Outcome) Verdict() report.Verdict {
	if o.Hello.Name == "" {
		return o.builtIn()
	}
	by := map[State][]Judged{}
	cases := 0
	for _, j := range o.Judged {
		by[j.State] = append(by[j.State], j)
		cases += j.Count(suite.Passed) + j.Count(suite.Failed)
	}
	verdict := func(code suite.Code, format string, args ...any) report.Verdict {
		return report.Verdict{Code: int(code), Text: fmt.Sprintf(format, args...) + o.remarks()}
	}
	lost := o.lost()
	if o.Stopped != "" && len(by[Fault]) == 0 {
		return verdict(suite.Inconclusive, "%s", o.Stopped)
	}
	switch {
	case len(by[Fault]) > 0:
		return verdict(suite.Regression, "fault: %d of %d facets differ from the operator: %s", len(by[Fault]),
			len(o.Judged), some(by[Fault], func(j Judged) string {
				return fmt.Sprintf("%s (%d of %d cases)", j.Facet, j.Count(suite.Failed), len(j.Rows)-j.Count(suite.Skip))
			}))
	case len(lost) > 0:
		return verdict(suite.Regression, "fault: inside the model: %s", strings.Join(lost, "; "))
	case o.Shard.Sharded():
		return verdict(suite.ShardCode(), "shard %s: nothing failed in %d cases of %d facets, which all their rows "+
			"judge: not judged here", o.Shard, cases, len(o.Judged))
	case len(o.slower()) > 0 && len(by[Partial]) == 0 && len(by[Looser]) == 0:
		return verdict(suite.Regression, "%s", someWords(o.slower()))
	case len(o.Judged) == 0 && len(o.Times) > 0:
		return verdict(suite.Inconclusive, "partial: %d kernels were timed, and none was judged", o.timed())
	case len(o.Judged) == 0:
		return verdict(suite.Inconclusive, "inconclusive: the worker offers no facet of an operator that assay knows "+
			"(adapters/README.md)")
	case len(by[Partial]) > 0:
		return verdict(suite.Inconclusive, "partial: %d of %d facets equivalent in %d cases, and in part only: %s",
			len(o.Judged)-len(by[Partial])-len(by[Looser]), len(o.Judged), cases,
			some(by[Partial], func(j Judged) string { return j.Facet.String() + ": " + strings.Join(j.NotSent, ", ") }))
	case len(by[Looser]) > 0:
		return verdict(suite.Inconclusive, "looser than its format: %s; declare the contract in the worker or with "+
			"ASSAY_CONTRACT if that is meant", some(by[Looser], func(j Judged) string {
			return j.Facet.String() + " meets " + j.Contract
		}))
	}
	return verdict(suite.Pass, "equivalent: %d of %d facets, %d cases", len(o.Judged), len(o.Judged), cases)
}

// builtIn is the verdict on the built-in candidates: every case under its own contract.
func (o Outcome) builtIn() report.Verdict {
	failed, cases := 0, 0
	for _, j := range o.Judged {
		failed += j.Count(suite.Failed)
		cases += len(j.Rows)
	}
	switch {
	case failed > 0:
		return report.Verdict{
			Code: int(suite.Regression),
			Text: fmt.Sprintf("fault: %d of %d cases differ from the operator", failed, cases),
		}
	case cases == 0:
		return report.Verdict{Code: int(suite.Inconclusive), Text: "inconclusive: no case ran"}
	case o.Shard.Sharded():
		return report.Verdict{
			Code: int(suite.ShardCode()),
			Text: fmt.Sprintf("shard %s: nothing failed in %d cases: the whole is not judged here", o.Shard, cases),
		}
	}
	return report.Verdict{Text: fmt.Sprintf("equivalent in %d cases", cases)}
}

// lost are the operators that lose needles or move margins inside the model more than their contract explains.
func (o Outcome) lost() []string {
	var out []string
	for _, i := range o.Inside {
		if text := i.lost(); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// remarks are what the reader of a verdict must know besides.
func (o Outcome) remarks() string {
	var out []string
	if made := o.madeFor(); made != "" {
		out = append(out, "made for "+made)
	}
	var moving []string
	for _, j := range o.Judged {
		if j.State != Fault && j.Nondeterministic() {
			moving = append(moving, j.Facet.String())
		}
	}
	if len(moving) > 0 {
		out = append(out, "nondeterministic: "+someWords(moving))
	}
	if len(o.Unknown) > 0 {
		out = append(out, "not judged, since assay has no such operator: "+someWords(o.Unknown))
	}
	if len(out) == 0 {
		return ""
	}
	return "; " + strings.Join(out, "; ")
}

// madeFor are the sizes that a worker narrows its operators to.
func (o Outcome) madeFor() string {
	var out []string
	for _, op := range o.ops() {
		made := o.Hello.Ops[op].MadeFor
		for _, dim := range sortedKeys(made) {
			out = append(out, fmt.Sprintf("%s %s %s", op, dim,
				strings.Trim(strings.ReplaceAll(fmt.Sprint(made[dim]), " ", "/"), "[]")))
		}
	}
	return strings.Join(out, ", ")
}

// ops are the operators that were judged, in order.
func (o Outcome) ops() []string {
	var out []string
	for _, j := range o.Judged {
		if !slices.Contains(out, j.Facet.Op) {
			out = append(out, j.Facet.Op)
		}
	}
	return out
}

// some puts the first three facets into words.
func some(all []Judged, text func(Judged) string) string {
	var words []string
	for _, j := range all {
		words = append(words, text(j))
	}
	return someWords(words)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func someWords(words []string) string {
	const shown = 3
	if len(words) > shown {
		return strings.Join(words[:shown], "; ") + fmt.Sprintf("; and %d more", len(words)-shown)
	}
	return strings.Join(words, "; ")
}
