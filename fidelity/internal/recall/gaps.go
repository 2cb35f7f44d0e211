package recall

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/endpoint"
)

// gapWords is what became of a request that measured nothing.
var gapWords = map[endpoint.Class]string{
	endpoint.Shed:      "the server had no room",
	endpoint.TooLong:   "the prompt does not fit",
	endpoint.Cancelled: "not asked to the end",
	endpoint.Unreached: "the server went away",
	endpoint.Gateway:   "a proxy gave up before the server answered: raise its read timeout (nginx: proxy_read_timeout)",
	endpoint.Silent:    "nothing came for too long",
	endpoint.Dropped:   "the connection ended before the answer did",
	endpoint.Large:     "the answer is too large",
	endpoint.Malformed: "the answer cannot be read",
	endpoint.Refused:   "refused",
	endpoint.Failing:   "the server failed",
	endpoint.Budget:    "reasoning exhausted max_tokens",
}

// gaps says how many questions were not measured, why, and of which lengths; empty where all were.
func gaps(obs []Observation) string {
	type group struct{ n, least, most int }
	by := map[string]*group{}
	all := 0
	for _, o := range obs {
		if o.Measured {
			continue
		}
		all++
		why := cmp.Or(gapWords[endpoint.Class(o.Wire)], o.Wire, o.Class)
		g := by[why]
		if g == nil {
			g = &group{least: o.Cell.Tokens}
			by[why] = g
		}
		g.n++
		g.least, g.most = min(g.least, o.Cell.Tokens), max(g.most, o.Cell.Tokens)
	}
	if all == 0 {
		return ""
	}
	reasons := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b].n, by[a].n), cmp.Compare(a, b))
	})
	parts := make([]string, len(reasons))
	for i, why := range reasons {
		g := by[why]
		parts[i] = fmt.Sprintf("%d of %d to %d tokens: %s", g.n, g.least, g.most, why)
	}
	return fmt.Sprintf("%d of %d questions not measured (%s)", all, len(obs), strings.Join(parts, "; "))
}

// canned is the share of different questions with one and the same answer from which nobody reads them.
const canned = 0.9

// constant is the answer that nearly all questions get, with how many; each asks for a code of its own.
func constant(obs []Observation) (text string, n, of int) {
	count := map[string]int{}
	for _, o := range obs {
		if !o.Measured {
			continue
		}
		of++
		if !o.Hit && o.Answer != "" {
			count[strings.TrimSpace(o.Answer)]++
		}
	}
	for answer, k := range count {
		if k > n || k == n && answer < text {
			text, n = answer, k
		}
	}
	if n < 5 || float64(n) < canned*float64(of) {
		return "", 0, of
	}
	return text, n, of
}
