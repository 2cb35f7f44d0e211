package totals

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/stat"
	"github.com/assay-suite/assay/internal/suite"
)

// leastWrong answers are needed to look for a pattern among them.
const leastWrong = 5

// pattern is one way in which a share of the requests may fail.
type pattern struct {
	name string
	find func([]Answer) (text string, p float64, tests int, err error) // the best of some tests; p of that one alone
}

func patterns() []pattern {
	return []pattern{
		{"every n-th request (n up to 32)", period},
		{"a connection", connection},
		{"a time of the run", since},
		{"the token count modulo a page or chunk (16 to 2048)", residue},
	}
}

// patterns looks for what the wrong answers have in common beside length and depth.
func (r *Result) patterns(answers []Answer) error {
	var judged []Answer
	wrong := 0
	for _, a := range answers {
		if a.judged() {
			judged = append(judged, a)
			if a.Wrong {
				wrong++
			}
		}
	}
	if wrong < leastWrong {
		return nil
	}
	var none, open []string
	for _, x := range patterns() {
		text, p, tests, err := x.find(judged)
		if err != nil {
			return err
		}
		if tests == 0 {
			open = append(open, x.name)
			continue
		}
		if p = min(1, p*float64(tests)*float64(len(patterns()))); p < surely {
			r.raise(suite.Regression, fmt.Sprintf("%s (p %s)", text, pvalue(p)))
			continue
		}
		none = append(none, x.name)
	}
	if len(none) > 0 {
		r.Says = append(r.Says, "the wrong answers do not follow "+strings.Join(none, ", "))
	}
	if len(open) > 0 {
		r.Says = append(r.Says, "not examined: "+strings.Join(open, ", "))
	}
	return nil
}

// period asks, for each n, whether the answer n requests after a wrong one is wrong more often than its neighbours:
// that is untouched by wrong answers that stand together, and by a count that slips now and then.
func period(answers []Answer) (string, float64, int, error) {
	const longest = 32
	at := map[int]bool{}
	for _, a := range answers {
		if a.Order > 0 {
			at[a.Order] = a.Wrong
		}
	}
	var after [longest + 2]Count // by distance from a wrong answer
	for i, bad := range at {
		for k := 1; bad && k < len(after); k++ {
			if later, ok := at[i+k]; ok {
				after[k].add(Answer{Measured: true, Wrong: later})
			}
		}
	}
	best, bestP, tests := 0, 2.0, 0
	for n := 2; n <= longest; n++ {
		on, beside := after[n], after[n-1].plus(after[n+1])
		if on.Asked == 0 || beside.Asked == 0 {
			continue
		}
		tests++
		p, err := stat.FisherExact(on.Wrong, on.Asked-on.Wrong, beside.Wrong, beside.Asked-beside.Wrong, stat.Greater)
		if err != nil {
			return "", 1, tests, err
		}
		if bestP > surely/(longest*float64(len(patterns()))) && p < bestP { // multiples of a period show as well
			best, bestP = n, p
		}
	}
	on, beside := after[best], after[max(best-1, 0)].plus(after[best+1])
	return fmt.Sprintf("every %s request fails: %d requests after a wrong answer %.0f %% are wrong, one earlier or later "+
		"%.0f %%", ordinal(best), best, 100*on.Share(), 100*beside.Share()), min(1, bestP), tests, nil
}

// group splits answers by a key and takes the group that is worst against the rest at the same lengths and depths.
func group(answers []Answer, keys func(Answer) []string, name func(key string, in, rest Count) string) (string, float64,
	int, error,
) {
	const least = 6
	members := map[string]map[int]bool{}
	for i, a := range answers {
		for _, k := range keys(a) {
			if members[k] == nil {
				members[k] = map[int]bool{}
			}
			members[k][i] = true
		}
	}
	best, bestP, tests := "", 2.0, 0
	for _, key := range slices.Sorted(maps.Keys(members)) {
		m := members[key]
		if len(m) < least || len(answers)-len(m) < least {
			continue
		}
		tests++
		var in, rest Count
		first := make([]Answer, 0, len(answers))
		second := make([]Answer, 0, len(answers))
		for i, a := range answers {
			if m[i] {
				in.add(a)
				first = append(first, a)
			} else {
				rest.add(a)
				second = append(second, a)
			}
		}
		if in.Share() <= rest.Share() {
			continue
		}
		p, err := stat.StratifiedExact(tables(first, second))
		if err != nil {
			return "", 1, tests, err
		}
		if p < bestP {
			bestP, best = p, name(key, in, rest)
		}
	}
	return best, min(1, bestP), tests, nil
}

func connection(answers []Answer) (string, float64, int, error) {
	return group(answers, func(a Answer) []string {
		if a.Conn == "" {
			return nil
		}
		return []string{a.Conn}
	}, func(key string, in, rest Count) string {
		return fmt.Sprintf("one connection fails (%s): %d of %d wrong there, %d of %d elsewhere", key, in.Wrong, in.Asked,
			rest.Wrong, rest.Asked)
	})
}

// since asks whether answers are worse from some tenth of the run on, or up to one.
func since(answers []Answer) (string, float64, int, error) {
	last := 0
	for _, a := range answers {
		last = max(last, a.Order)
	}
	if last < 20 {
		return "", 1, 0, nil
	}
	return group(answers, func(a Answer) []string {
		if a.Order == 0 {
			return nil
		}
		var out []string
		for k := 1; k < 10; k++ {
			when := "from request %d on"
			if 10*a.Order < k*last {
				when = "before request %d"
			}
			out = append(out, fmt.Sprintf(when, k*last/10))
		}
		return out
	}, func(key string, in, rest Count) string {
		return fmt.Sprintf("answers are worse %s: %d of %d wrong, %d of %d else", key, in.Wrong, in.Asked, rest.Wrong,
			rest.Asked)
	})
}

// residue asks whether prompts fail whose token count stands in one quarter of a page or chunk, or, of pages of up to
// 64 tokens, at one place of it.
func residue(answers []Answer) (string, float64, int, error) {
	return group(answers, func(a Answer) []string {
		if a.Reported <= 0 {
			return nil
		}
		var out []string
		for m := 16; m <= 2048; m *= 2 {
			quarter := a.Reported % m * 4 / m
			out = append(out, fmt.Sprintf("%d to %d modulo %d", quarter*m/4, (quarter+1)*m/4-1, m))
			if m <= 64 {
				out = append(out, fmt.Sprintf("%d modulo %d", a.Reported%m, m))
			}
		}
		return out
	}, func(key string, in, rest Count) string {
		return fmt.Sprintf("prompts of %s tokens fail: %d of %d wrong, %d of %d else", key, in.Wrong, in.Asked, rest.Wrong,
			rest.Asked)
	})
}

func ordinal(n int) string {
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}
