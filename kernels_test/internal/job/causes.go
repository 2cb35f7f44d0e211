package job

import (
	"cmp"
	"context"
	"slices"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
)

// explained is how many failing cases of a facet are explained one by one, of as many scenarios as there are: each
// costs a call for every twin. The others take the facet's ranking. Known bugs that look alike are searched for in the
// first few only: that costs a run of every planted fault of the suite.
const explained, compared = 8, 2

// Ranked is a possible cause of a facet's failures.
type Ranked struct {
	bench.Cause
	Explains int     // failing cases that it explains, of those that were asked
	Of       int     // failing cases that were asked
	Against  float64 // share of the accepted cases in which the feature is at work all the same
	score    float64
}

// explainSome explains failing cases and ranks the causes by how well they explain all of them, less what the accepted
// cases exclude: a feature that is at work in a case that passes is not what is wrong.
func (o Options) explainSome(ctx context.Context, s bench.Suite, j *Judged, under bench.Candidate) error {
	asked := spread(j.Rows)
	if len(asked) == 0 {
		return nil
	}
	for n, i := range asked {
		if err := o.ask(ctx, s, &j.Rows[i], under, n < compared); err != nil {
			return err
		}
	}
	j.Causes = rank(j.Rows, asked)
	if c, ok := apart(j.Rows, asked); ok {
		at := slices.IndexFunc(j.Causes, func(r Ranked) bool { return residual(r.Cause, j.Rows[asked[0]].Case.Family) })
		if at < 0 {
			at = len(j.Causes)
		}
		j.Causes = slices.Insert(j.Causes, at, Ranked{Cause: c, Explains: len(asked), Of: len(asked)})
		for _, i := range asked {
			j.Rows[i].Causes = append(j.Rows[i].Causes, c)
		}
	}
	if c, ok := agreed(j.Rows, asked[:min(len(asked), compared)]); ok {
		j.Causes = slices.Insert(j.Causes, 0, Ranked{Cause: c, Explains: len(asked), Of: len(asked), score: 1})
		for _, i := range asked {
			j.Rows[i].Causes = append(j.Rows[i].Causes, c)
		}
	}
	order := func(r *Row) {
		slices.SortStableFunc(r.Causes, func(a, b bench.Cause) int { return cmp.Compare(j.place(a), j.place(b)) })
	}
	var general []bench.Cause
	for _, c := range j.Causes {
		general = append(general, c.Cause)
	}
	for i := range j.Rows {
		r := &j.Rows[i]
		if r.Outcome != suite.Failed {
			continue
		}
		if !slices.Contains(asked, i) {
			r.Causes = slices.Clone(general)
		}
		order(r)
		if err := o.write(r); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// agreed is the class of the known bugs that give what the candidate gave, to the last thousandth of the difference, in
// every case that was compared with them: nothing that twins or residuals say is as sharp. Bugs of several classes that
// look alike say nothing.
func agreed(rows []Row, compared []int) (bench.Cause, bool) {
	var out bench.Cause
	for n, i := range compared {
		like := rows[i].Like
		if len(like) == 0 {
			return bench.Cause{}, false
		}
		for _, c := range like {
			if out.Class == "" {
				out = bench.Cause{Class: c.Class, Name: "as the known bug " + c.Name, Why: c.Why}
			}
			if c.Class != out.Class {
				return bench.Cause{}, false
			}
		}
		if n == 0 && rows[i].Report.Nondeterministic {
			return bench.Cause{}, false
		}
	}
	return out, out.Class != ""
}

func (j *Judged) place(c bench.Cause) int {
	for i, r := range j.Causes {
		if r.Class == c.Class && r.Name == c.Name {
			return i
		}
	}
	return len(j.Causes)
}

// spread picks failing rows, small ones first since they are called again and again: one of each scenario, then further
// ones, up to explained.
func spread(rows []Row) []int {
	var first, rest []int
	seen := map[string]bool{}
	bySize := make([]int, len(rows))
	for i := range rows {
		bySize[i] = i
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(rows[a].Bytes, rows[b].Bytes) })
	for _, i := range bySize {
		r := rows[i]
		switch {
		case r.Outcome != suite.Failed || r.bench == nil:
		case seen[r.Case.Scenario.ID]:
			rest = append(rest, i)
		default:
			seen[r.Case.Scenario.ID] = true
			first = append(first, i)
		}
	}
	all := slices.Concat(first, rest)
	return all[:min(len(all), explained)]
}

// rank scores every cause that was named: a first place in a failing case counts 1, a second 1/2, and so on, in the
// mean over the failing cases; half the share of accepted cases that speak against it is taken off.
func rank(rows []Row, asked []int) []Ranked {
	var out []Ranked
	for _, i := range asked {
		for place, c := range rows[i].Causes {
			at := slices.IndexFunc(out, func(r Ranked) bool { return r.Class == c.Class && r.Name == c.Name })
			if at < 0 {
				at, out = len(out), append(out, Ranked{Cause: c, Of: len(asked)})
			}
			out[at].Explains++
			out[at].score += 1 / float64(1+place) / float64(len(asked))
		}
	}
	active, accepted := atWork(rows)
	for i := range out {
		if accepted > 0 {
			out[i].Against = float64(active[out[i].Name]) / float64(accepted)
		}
		out[i].score -= out[i].Against / 2
	}
	slices.SortStableFunc(out, func(a, b Ranked) int { return cmp.Compare(b.score, a.score) })
	return out
}

// atWork counts, by the name of a twin, the accepted cases in which its feature is not neutral.
func atWork(rows []Row) (active map[string]int, accepted int) {
	active = map[string]int{}
	for _, r := range rows {
		if r.Outcome != suite.Passed || r.bench == nil {
			continue
		}
		accepted++
		for _, name := range r.bench.Active() {
			active[name]++
		}
	}
	return active, accepted
}
