package layers_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/oracle"
)

// endQuestion is the recorded prompt that end effects are measured on: 770 tokens, needle in the middle, 192 compressed
// rows, so that every top-k up to 128 has to choose.
const endQuestion = 69

// endTopK are the numbers of rows that the indexer may keep; nano-v4 was trained with 64.
func endTopK() []int { return []int{16, 32, 64, 128} }

// measureEnds adds the end effects as parallel tests.
func measureEnds(t *testing.T, into *collector) {
	t.Helper()
	q := questions(t, endQuestion)[0]
	for _, k := range endTopK() {
		var once sync.Once
		var made *exactEnd
		exact := func(t *testing.T) *exactEnd { // by whichever test comes first
			t.Helper()
			once.Do(func() { made = newExactEnd(t, q, k) })
			require.NotNil(t, made, "the exact pass failed")
			return made
		}
		t.Run(endCase(k, "exact"), func(t *testing.T) {
			t.Parallel()
			e := exact(t)
			into.add(endCase(k, "exact"), e.effect(&e.tap, e.logits))
		})
		for _, name := range endVariants(k, full()) {
			t.Run(endCase(k, name), func(t *testing.T) {
				t.Parallel()
				e := exact(t).under(t, variants()[name])
				into.add(endCase(k, name), e)
				t.Logf("%+v", e)
			})
		}
	}
}

// endVariants are the variants measured at one top-k. Products in every Linear cost ten times the mix, so that at other
// top-k than the trained one only the coarse ones run. (No product but the mix is longer than 128 there, so fp8-fast,
// which never promotes, equals fp8-accurate.)
func endVariants(k int, all bool) []string {
	if !all {
		if k == nanoTopK {
			return []string{"mhc/bf16", "mhc/fp8-fast", "residual/bf16-rz"}
		}
		return []string{"mhc/bf16"}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(variants())), func(name string) bool {
		coarse := name == "linear/bf16" || name == "linear/bf16-rz" || name == "linear/fp8-accurate"
		return k != nanoTopK && strings.HasPrefix(name, siteLinear) && !coarse
	})
}

// nanoRules are those of curves and, for end effects, of discrete choices.
var nanoRules = curveRules.
	With("recall", golden.Count("five digits")).
	With("jaccard-distance", golden.AbsOrRel(2.5e-4, 0.5, "three of some 1,400 choices that swap one row of 16: 3 x "+
		"(2/17) / 1,400; or x1.5")).
	With("jaccard-min", golden.Abs(0.12, "one row of 16 swapped: 2/17")).
	With("needle-rank", golden.Abs(1, "two neighbouring scores may change places")).
	With("lost-mass*", golden.AbsOrRel(0.002, 0.02, "a row at the k-th place that swaps holds little mass"))

// endEffect is what an arithmetic does to the answer of one question at one top-k. Both sides read the prompt and the
// right code; the queries are the five positions that predict its digits.
type endEffect struct {
	Recall      int          `json:"recall"`       // digits of five that come first
	MarginShift golden.Float `json:"margin-shift"` // median change of a digit's margin, nats
	LogitShift  golden.Float `json:"logit-shift"`  // rms change of the log-probabilities of the exact top 20, nats
	// 1 - Jaccard, mean over all queries that must choose, both sparse layers
	Distance   golden.Float `json:"jaccard-distance"`
	JaccardMin golden.Float `json:"jaccard-min"`
	// worst over the queries: place of the needle's best block in the better layer
	NeedleRank  int          `json:"needle-rank"`
	LostMass    golden.Float `json:"lost-mass"` // mean attention mass of the exact model on rows that are not selected
	LostMassMax golden.Float `json:"lost-mass-max"`
}

// exactEnd is the exact side of a question at one top-k.
type exactEnd struct {
	q      question
	k      int
	tap    tap
	logits [][]float64
}

func newExactEnd(t testing.TB, q question, k int) *exactEnd {
	t.Helper()
	e := &exactEnd{q: q, k: k}
	var err error
	e.logits, err = e.tap.pass(model(t), variant{}, k, e.input(), len(q.code)+1)
	require.NoError(t, err)
	require.Len(t, e.tap.attention, 2, "two layers choose")
	return e
}

func (e *exactEnd) input() []int { return append(slices.Clone(e.q.ids), e.q.code...) }

// queries are the positions that predict the digits.
func (e *exactEnd) queries() []int {
	at := make([]int, len(e.q.code))
	for i := range at {
		at[i] = len(e.q.ids) - 1 + i
	}
	return at
}

// under measures a variant.
func (e *exactEnd) under(t testing.TB, v variant) endEffect {
	t.Helper()
	var p tap
	logits, err := p.pass(model(t), v, e.k, e.input(), len(e.q.code)+1)
	require.NoError(t, err)
	return e.effect(&p, logits)
}

func (e *exactEnd) effect(p *tap, logits [][]float64) endEffect {
	var out endEffect
	var shifts []float64
	var squares, count float64
	for i, digit := range e.q.code {
		got, want := logSoftmax(logits[i]), logSoftmax(e.logits[i])
		m := margin(got, digit)
		if m > 0 {
			out.Recall++
		}
		shifts = append(shifts, math.Abs(m-margin(want, digit)))
		for _, id := range top(want, 20) {
			squares, count = squares+(got[id]-want[id])*(got[id]-want[id]), count+1
		}
	}
	slices.Sort(shifts)
	out.MarginShift = short(shifts[len(shifts)/2])
	out.LogitShift = short(math.Sqrt(squares / count))
	mean, least := e.jaccard(p)
	out.Distance, out.JaccardMin = short(1-mean), short(least)
	out.NeedleRank = e.needleRank(p)
	lost, most := e.lostMass(p)
	out.LostMass, out.LostMassMax = short(lost), short(most)
	return out
}

// jaccard compares the selected sets of all queries that see more than k rows. 1 where none does.
func (e *exactEnd) jaccard(p *tap) (mean, least float64) {
	least = 1
	n := 0
	for l, in := range e.tap.attention {
		for t, pos := range in.Positions {
			if oracle.Visible(pos, sparseRatio) <= e.k {
				continue
			}
			j := jaccard(in.Selected[t], p.attention[l].Selected[t])
			mean, n, least = mean+j, n+1, min(least, j)
		}
	}
	if n == 0 {
		return 1, 1
	}
	return mean / float64(n), least
}

// jaccard is |a ∩ b| / |a ∪ b| of two ascending lists.
func jaccard(a, b []int) float64 {
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			common, i, j = common+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	if len(a)+len(b) == 0 {
		return 1
	}
	return float64(common) / float64(len(a)+len(b)-common)
}

// needleRank is, for the worst query, where the best of the blocks that hold a digit of the needle stands in the order
// of the index scores, 1 first, in the sparse layer that ranks it better: one layer that finds it is enough.
func (e *exactEnd) needleRank(p *tap) int {
	first, last := e.q.needle/sparseRatio, (e.q.needle+len(e.q.code)-1)/sparseRatio
	worst := 0
	for _, t := range e.queries() {
		best := math.MaxInt
		for _, scores := range p.scores {
			row := scores.Row(t)[:oracle.Visible(t, sparseRatio)]
			needle := slices.Max(row[first : last+1])
			rank := 1
			for _, s := range row {
				if s > needle {
					rank++
				}
			}
			best = min(best, rank)
		}
		worst = max(worst, best)
	}
	return worst
}

// lostMass is the softmax mass that the exact model's queries, if they saw every row, would put on the rows that p does
// not select: mean and largest over layers, queries and heads. The sink and the window keep their share.
func (e *exactEnd) lostMass(p *tap) (mean, most float64) {
	n := 0
	for l, in := range e.tap.attention {
		queries := e.queries()
		from, to := queries[0], queries[len(queries)-1]+1
		all := in
		all.Q, all.Positions = in.Q.Slice(from, to), in.Positions[from:to]
		all.Selected = make([][]int, to-from)
		for i := range all.Selected {
			for s := range oracle.Visible(from+i, sparseRatio) {
				all.Selected[i] = append(all.Selected[i], s)
			}
		}
		weights := oracle.AttentionWeights(all)
		for r := range weights.Rows {
			t := from + r%(to-from)
			chosen := p.attention[l].Selected[t]
			lost := 0.0
			for s := range oracle.Visible(t, sparseRatio) {
				if _, ok := slices.BinarySearch(chosen, s); !ok {
					lost += weights.Row(r)[in.Window.Rows+s]
				}
			}
			mean, n, most = mean+lost, n+1, max(most, lost)
		}
	}
	return mean / float64(n), most
}

func logSoftmax(z []float64) []float64 {
	biggest, sum := slices.Max(z), 0.0
	for _, v := range z {
		sum += math.Exp(v - biggest)
	}
	out := make([]float64, len(z))
	for i, v := range z {
		out[i] = v - biggest - math.Log(sum)
	}
	return out
}

// margin is the log-probability of id minus the best other.
func margin(logp []float64, id int) float64 {
	rival := math.Inf(-1)
	for i, v := range logp {
		if i != id {
			rival = max(rival, v)
		}
	}
	return logp[id] - rival
}

// top is the ids of the n largest.
func top(v []float64, n int) []int {
	ids := make([]int, len(v))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		if v[a] > v[b] {
			return -1
		}
		if v[a] < v[b] {
			return 1
		}
		return 0
	})
	return ids[:n]
}
