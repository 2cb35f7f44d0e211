package precision

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// question is one layer's selection: the exact queries, keys and scores of some tokens.
type question struct {
	l       *indexLayer
	q, w, k oracle.Mat
	h, qr   oracle.Mat // what q and w are made of, and at the queries' positions
	at      []int
	scores  oracle.Mat // exact [T, S]
	visible []int
	topk    []int
	// needle is the key of interest of a query, -1 for none. mass, where recorded, is the share of the layer's attention
	// that query t spent on compressed row s, averaged over heads; nil takes the softmax of the exact scores.
	needle func(t int) int
	mass   func(t, s int) float64
	prompt bool    // the needle is the prompt's own
	order  [][]int // of the exact scores, best first
}

// note says what the numbers of a selection rest on.
func (u *question) note() string {
	mass, needle := "mass is the softmax of exact index scores", "the needle is designated"
	if u.mass != nil {
		mass = "mass is recorded attention"
	}
	if u.prompt {
		needle = "the needle is the prompt's"
	}
	return fmt.Sprintf("%d queries over %d keys; %s; %s", u.q.Rows, u.k.Rows, mass, needle)
}

// topKs are the sizes of selection to ask of n keys: the model's own, and 512 and 1024 as V4-Flash and V4-Pro have,
// where n is larger. Up to 512 keys the model's own, its half and its quarter; or, where that selects everything, a
// quarter and a half of n.
func topKs(own, n int) []int {
	try := []int{own, 512, 1024}
	switch {
	case n <= 512 && own < n:
		try = []int{own, own / 2, own / 4}
	case n <= 512:
		try = []int{n / 2, n / 4}
	}
	var out []int
	for _, k := range try {
		if k > 0 && k < n {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// newQuestion scores the queries exactly.
func newQuestion(l *indexLayer, q, w, k oracle.Mat, visible, topk []int) *question {
	u := &question{l: l, q: q, w: w, k: k, visible: visible, topk: topk, scores: oracle.IndexerLogits(q, k, w, visible)}
	for t, v := range visible {
		u.order = append(u.order, ranked(u.scores.Row(t)[:v]))
	}
	// Without a needle in the prompt the key that ranks in the middle of the largest selection is designated.
	u.needle = func(t int) int {
		if len(u.order[t]) == 0 || len(topk) == 0 {
			return -1
		}
		return u.order[t][min(len(u.order[t])-1, topk[len(topk)-1]/2)]
	}
	return u
}

func ranked(scores []float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	return order
}

// compare measures the selections by other scores against the exact ones.
func (u *question) compare(scores oracle.Mat, n suite.Numbers) error {
	for _, k := range u.topk {
		var jaccard, lost, needles, gone float64
		worst, queries := 1.0, 0
		for t := range scores.Rows {
			v := u.visible[t]
			exact, err := oracle.SelectTopK(u.scores.Row(t), v, k, oracle.LowestIndex)
			if err != nil {
				return fmt.Errorf("%sexact selection: %w", u.l.prefix, err)
			}
			chosen, err := oracle.SelectTopK(scores.Row(t), v, k, oracle.LowestIndex)
			if err != nil {
				return fmt.Errorf("%s: %w", u.l.prefix, err)
			}
			if v <= k {
				continue // everything is selected, whatever the scores
			}
			queries++
			loss := numerics.Selection{Scores: u.scores.Row(t)[:v], K: k, Chosen: chosen}.Measure(-1)
			jaccard += loss.Jaccard
			worst = math.Min(worst, loss.Jaccard)
			lost += u.lost(t, exact, chosen, loss.LostMass)
			if d := u.needle(t); d >= 0 && slices.Contains(exact, d) {
				needles++
				if !slices.Contains(chosen, d) {
					gone++
				}
			}
		}
		if queries == 0 {
			continue
		}
		q := float64(queries)
		n[fmt.Sprintf("jaccard-%d", k)], n[fmt.Sprintf("jaccard-min-%d", k)] = jaccard/q, worst
		n[fmt.Sprintf("lost-mass-%d", k)] = lost / q
		if needles > 0 {
			n[fmt.Sprintf("needle-lost-%d", k)] = gone / needles
		}
	}
	u.ranks(scores, n)
	return nil
}

// lost is the mass of what the exact selection has and the choice has not.
func (u *question) lost(t int, exact, chosen []int, softmax float64) float64 {
	if u.mass == nil {
		return softmax
	}
	var sum float64
	for _, s := range exact {
		if !slices.Contains(chosen, s) {
			sum += u.mass(t, s)
		}
	}
	return sum
}

// ranks records the needle's worst rank over the queries, by the exact scores and by the others.
func (u *question) ranks(scores oracle.Mat, n suite.Numbers) {
	for t := range scores.Rows {
		v, d := u.visible[t], u.needle(t)
		if d < 0 || d >= v {
			continue
		}
		exact := slices.Index(u.order[t], d) + 1
		got := slices.Index(ranked(scores.Row(t)[:v]), d) + 1
		n["needle-rank-exact"] = math.Max(n["needle-rank-exact"], float64(exact))
		n["needle-rank"] = math.Max(n["needle-rank"], float64(got))
	}
}

// keyFormats are the storages of cached index keys. Hadamard rotates keys and queries before the keys are rounded to
// bf16 and quantised, as the reference does; vLLM's kernels do not rotate.
func keyFormats() []struct {
	name, recipe string
	rotate       bool
} {
	return []struct {
		name, recipe string
		rotate       bool
	}{
		{"keys-bf16", "", false},
		{"keys-fp8", "v4-fp8", true},
		{"keys-fp8-fp32-scale", "deepgemm-fp8", true},
		{"keys-fp4", "v4-fp4", true},
		{"keys-fp4-no-hadamard", "v4-fp4", false},
	}
}

// keyRows measures every storage of the keys with exact queries.
func (u *question) keyRows() ([]Row, error) {
	var rows []Row
	for _, f := range keyFormats() {
		k, q := u.k.Clone(), u.q
		if f.rotate {
			k, q = hadamard(k, u.l.dim), hadamard(q, u.l.dim)
		}
		exact := k.Data
		k = k.Clone()
		format.BF16.RoundSlice(k.Data)
		k, err := requantised(f.recipe, k)
		if err != nil {
			return nil, err
		}
		scores := oracle.IndexerLogits(q, k, u.w, u.visible)
		n := suite.Numbers{"rel-l2": numerics.RelL2(k.Data, exact)}
		if err := u.compare(scores, n); err != nil {
			return nil, err
		}
		tensor := u.l.prefix + "keys"
		rows = append(rows, Row{Tensor: tensor, Kind: Keys, Path: f.name, Layer: layerOf(tensor), Numbers: n, Note: u.note()})
	}
	return rows, nil
}
