package job

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// State is what became of a facet.
type State string

// The states, from good to bad.
const (
	Equivalent State = "equivalent" // every case accepted under a contract that its format stands for
	Looser     State = "looser"     // every case accepted, but only under a contract looser than its format
	// nothing wrong in what was answered, and a part was not answered or could not be asked
	Partial State = "partial"
	Fault   State = "fault" // a case is rejected under every contract
)

// Judged is a facet with its verdict.
type Judged struct {
	Facet    bench.Facet
	State    State
	Contract string // the one that Rows are judged under
	Declared bool   // the contract was demanded, not found
	Why      string // how the contract was found
	Rows     []Row
	NotSent  []string // what was not judged, and why; sentences
	Causes   []Ranked // of a fault, by how many failing cases they explain
}

// enoughCalls is how many calls every facet gets, so that a kernel that is wrong once in twenty calls is seen with
// probability 1 - 0.95^90 = 0.99: rows of small facets are judged again until that many were made. enoughElements is
// how many elements of outputs are looked at, so that one that is wrong in ten thousand is seen with probability
// 1 - (1 - 1e-4)^50,000 = 0.99.
const enoughCalls, enoughElements = 90, 50_000

// Facet judges a facet under the sharpest contract that accepts all of its rows; where none does, the loosest that
// was refused has the failures. A contract that the candidate answers in part only is taken if it answers at least as
// many rows as the ones that are refused: a faulty kernel does not become partial by answering less.
func (o Options) Facet(ctx context.Context, s bench.Suite, fc bench.FacetCases, under bench.Candidate,
	can bench.Capability,
) (Judged, error) {
	j := Judged{Facet: fc.Facet}
	contracts := fc.Contracts
	for _, demanded := range []string{can.Contract, o.Contract} {
		for _, c := range fc.Contracts {
			if c.Name == demanded {
				contracts, j.Declared = []numerics.Contract{c}, true
			}
		}
	}
	cases := func(c numerics.Contract) (out []bench.Case) {
		for _, r := range fc.Rows {
			k, err := bench.Retarget(r.Under(c), can.MadeFor)
			switch {
			case err != nil:
				j.NotSent = append(j.NotSent, "no case can be made of "+r.ID+": "+err.Error())
			case (o.Keep == nil || o.Keep(k.ID)) && o.Shard.Has(r.ID): // a row lies in one shard under every contract
				k.Command, k.NaN = o.Again, can.NaN
				out = append(out, k)
			}
		}
		return out
	}
	var refused, partly *trial
	var all []bench.Case
	for _, c := range contracts {
		j.NotSent = nil
		all = cases(c)
		t, err := o.try(ctx, all, under, c, true)
		if err != nil {
			return j, err
		}
		switch {
		case t.failed > 0:
			refused = &t
		case t.passed > 0 && t.skipped == 0:
			o.tick(len(fc.Rows))
			j.Contract, j.Rows = c.Name, t.rows
			return j, o.finish(ctx, s, &j, under)
		case t.passed > 0 && (partly == nil || t.passed > partly.passed):
			partly = &t
		case partly == nil && refused == nil:
			partly = &t // nothing is answered under it
		}
	}
	if refused != nil && !o.Brief {
		whole, err := o.try(ctx, cases(refused.contract), under, refused.contract, false)
		if err != nil {
			return j, err
		}
		refused = &whole
		if partly != nil && partly.passed >= whole.passed+whole.failed {
			refused = nil
		}
	}
	o.tick(len(fc.Rows))
	best := refused
	if best == nil {
		best = partly
	}
	if best == nil {
		j.State = Partial
		return j, nil
	}
	j.Contract, j.Rows = best.contract.Name, best.rows
	return j, o.finish(ctx, s, &j, under)
}

// trial is a facet's rows under one contract.
type trial struct {
	contract                numerics.Contract
	rows                    []Row
	passed, failed, skipped int
}

// try judges cases under a contract, up to the first that is rejected where first is set.
func (o Options) try(ctx context.Context, cases []bench.Case, under bench.Candidate, c numerics.Contract,
	first bool,
) (trial, error) {
	t := trial{contract: c}
	for _, k := range cases {
		row, err := o.judge(ctx, k, under)
		if err != nil {
			return t, err
		}
		t.rows = append(t.rows, row)
		switch row.Outcome {
		case suite.Passed:
			t.passed++
		case suite.Skip:
			t.skipped++
		default:
			if t.failed++; first {
				return t, nil
			}
		}
	}
	return t, nil
}

// finish repeats small facets, explains failures and gives the state.
func (o Options) finish(ctx context.Context, s bench.Suite, j *Judged, under bench.Candidate) error {
	if err := j.repeat(ctx, o, under); err != nil {
		return err
	}
	if o.Brief {
		j.settle(s)
		return nil
	}
	if err := o.explainSome(ctx, s, j, under); err != nil {
		return err
	}
	j.settle(s)
	for i, r := range j.Rows {
		if j.State != Fault && r.Outcome == suite.Passed {
			if found := r.bench.Arithmetic(r.Report); found != "" {
				j.Why += "; " + found
				break
			}
		}
		if i == 2 {
			break // the first rows of a GEMM have it or none has
		}
	}
	for i := range j.Rows {
		j.Rows[i].bench = nil // its memory
	}
	return nil
}

// repeat judges accepted rows again until the facet has had its calls, the smallest first, and its elements, of the row
// that has the most of them among those of a megabyte at most.
func (j *Judged) repeat(ctx context.Context, o Options, under bench.Candidate) error {
	calls, elements := 0, 0
	var small []int
	for i, r := range j.Rows {
		if r.Outcome == suite.Failed {
			return nil // there is a failure already
		}
		if r.Outcome == suite.Passed {
			calls, elements = calls+r.bench.Calls(), elements+r.elements()
			small = append(small, i)
		}
	}
	if len(small) == 0 {
		return nil
	}
	slices.SortStableFunc(small, func(a, b int) int { return cmp.Compare(j.Rows[a].Bytes, j.Rows[b].Bytes) })
	most := small[0]
	for _, i := range small {
		if j.Rows[i].Bytes <= 1<<20 && j.Rows[i].elements() > j.Rows[most].elements() {
			most = i
		}
	}
	for n := 0; calls < enoughCalls || elements < enoughElements; n++ {
		i := small[n%len(small)]
		if calls >= enoughCalls {
			if i = most; j.Rows[i].elements() == 0 {
				return nil // no row has an output with elements
			}
		}
		row, err := o.judge(ctx, j.Rows[i].Case, under)
		if err != nil {
			return err
		}
		calls, elements = calls+max(row.bench.Calls(), 1), elements+row.elements()
		if row.Outcome != suite.Passed {
			row.Report.Nondeterministic = true
			row.Message = fmt.Sprintf("accepted once and rejected when it was run again: %s", row.Message)
			j.Rows[i] = row
			return nil
		}
	}
	return nil
}

// elements is how many elements of outputs were judged, in all calls of the row.
func (r Row) elements() int {
	n := 0
	for _, f := range r.Report.Findings {
		n += len(f.Got)
	}
	return n * r.bench.Calls()
}

// settle gives the state, by the rule of the operator's family, and says what was not judged.
func (j *Judged) settle(s bench.Suite) {
	passed, failed, skipped, why := 0, 0, 0, map[string]int{}
	for _, r := range j.Rows {
		switch r.Outcome {
		case suite.Passed:
			passed++
		case suite.Skip:
			skipped++
			why[reason(r.Message)]++
		default:
			failed++
		}
	}
	for _, text := range sortedByCount(why) {
		j.NotSent = append(j.NotSent,
			fmt.Sprintf("%d of %d calls were answered unsupported: %s", why[text], len(j.Rows), text))
	}
	if len(j.Rows) == 0 && len(j.NotSent) == 0 {
		j.NotSent = append(j.NotSent, "none of its cases lies in this part of the run")
	}
	looser := slices.ContainsFunc(s.Families, func(f bench.Family) bool {
		return f.Op == j.Facet.Op && slices.Contains(f.Facets.Looser, j.Contract)
	})
	switch {
	case failed > 0:
		j.State = Fault
	case passed == 0 || skipped > 0 || len(j.NotSent) > 0:
		j.State = Partial
	case looser && !j.Declared:
		j.State = Looser
	default:
		j.State = Equivalent
	}
	switch {
	case j.Declared:
		j.Why = "demanded"
	case failed > 0:
		j.Why = "no contract accepts every case; this is the loosest that was refused"
	default:
		j.Why = "the sharpest that accepts every case"
	}
	if slices.ContainsFunc(j.Rows, func(r Row) bool { return r.Case.NaN == bench.NaNAny }) {
		j.Why += "; results that depend on a NaN are not judged, as the worker declares"
	}
}

// reason is the worker's own words of an unsupported call, without the case.
func reason(message string) string {
	if _, rest, ok := strings.Cut(message, "the worker says "); ok {
		message = strings.TrimSuffix(rest, ": unsupported")
	}
	return message
}

func sortedByCount(count map[string]int) []string {
	var out []string
	for text := range count {
		out = append(out, text)
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	return out
}

// Count tells how many rows had an outcome.
func (j Judged) Count(o suite.Outcome) int {
	n := 0
	for _, r := range j.Rows {
		if r.Outcome == o {
			n++
		}
	}
	return n
}

// Nondeterministic tells whether an accepted facet gave other bits when a call was run again.
func (j Judged) Nondeterministic() bool {
	return slices.ContainsFunc(j.Rows, func(r Row) bool { return r.Report.Nondeterministic })
}
