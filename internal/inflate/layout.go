package inflate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/assay-suite/assay/internal/nano"
)

// layout is the axes of one inflation.
type layout struct {
	small nano.Config
	shape Shape

	hidden, qRank, oRank *axis
	groups, perGroup     *axis // the heads are groups x perGroup
	head, index          *axis // the numbers of a head, of an index head
	indexHeads, inner    *axis
	streams              *axis
	tokens, answers      *axis // rows of embed and of head; words beyond the small vocabulary have no answer
	experts              []*axis
	spare                [][]bool // per layer of the small model: experts that are never chosen

	hiddenScale, qScale, headScale, indexScale float64
}

// newLayout lays the axes out; seed 0 places them, another spreads them. alias is, for each word beyond the small
// vocabulary, the id that it stands for.
func newLayout(c nano.Config, s Shape, experts int, seed uint64, alias []int) (*layout, error) {
	if err := fits(c, s, experts); err != nil {
		return nil, err
	}
	m := &layout{
		small: c, shape: s,
		streams:     placed(c.HC.Streams, upTo(c.HC.Streams)),
		hiddenScale: ratio(s.Hidden, c.Hidden), qScale: ratio(s.QRank, c.QRank),
		headScale: ratio(s.HeadDim, c.HeadDim), indexScale: ratio(s.IndexDim, c.IndexDim),
	}
	m.tokens = &axis{n: c.Vocab, N: c.Vocab + len(alias), source: append(upTo(c.Vocab), alias...)}
	m.answers = &axis{n: c.Vocab, N: c.Vocab + len(alias), source: append(upTo(c.Vocab), fill(len(alias), -1)...)}
	draw := func(what uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, what)) }
	line := func(what uint64, n, N int) *axis { // one source each
		if seed == 0 {
			return placed(N, upTo(n))
		}
		r := draw(what)
		return spread(n, shuffled(n, N, r), r)
	}
	plane := func(what uint64, n, N, spare int) *axis { // any rotation
		if seed == 0 {
			return placed(N, upTo(n))
		}
		return rotated(n, N, spare, draw(what))
	}
	m.hidden = plane(1, c.Hidden, s.Hidden, 1)
	m.qRank = plane(2, c.QRank, s.QRank, 0)
	m.oRank = plane(3, c.ORank, s.ORank, 0)
	m.groups = line(4, c.OGroups, s.Groups)
	m.perGroup = line(5, c.Heads/c.OGroups, s.Heads/s.Groups)
	m.indexHeads = line(6, c.IndexHeads, s.IndexHeads)
	m.inner = line(7, c.Inner, s.Inner)
	m.head = rotary(line(8, c.HeadDim-c.RopeDims, s.HeadDim-s.RopeDims), c.RopeDims, s.RopeDims)
	m.index = rotary(line(9, c.IndexDim-c.RopeDims, s.IndexDim-s.RopeDims), c.RopeDims, s.RopeDims)
	for i := range c.Layers {
		order := upTo(experts)
		if seed != 0 {
			order = draw(100 + uint64(i)).Perm(experts)
		}
		a := &axis{n: c.Experts, N: experts, source: make([]int, experts)}
		spare, copies := make([]bool, experts), s.TopExperts/c.ExpertsPerToken
		for rank, e := range order {
			a.source[e] = rank / copies % c.Experts
			spare[e] = rank >= copies*c.Experts
		}
		m.experts, m.spare = append(m.experts, a), append(m.spare, spare)
	}
	return m, nil
}

// fits says which size of the shape the small model does not fit into.
func fits(c nano.Config, s Shape, experts int) error {
	for _, d := range []struct {
		name         string
		small, large int
		whole        bool // a multiple is needed
	}{
		{"hidden_size, with one channel over", c.Hidden + 1, s.Hidden, false},
		{"q_lora_rank", c.QRank, s.QRank, false},
		{"o_lora_rank", c.ORank, s.ORank, false},
		{"o_groups", c.OGroups, s.Groups, false},
		{"heads of a group", c.Heads / c.OGroups, s.Heads / s.Groups, false},
		{"index_n_heads", c.IndexHeads, s.IndexHeads, false},
		{"moe_intermediate_size", c.Inner, s.Inner, false},
		{"qk_rope_head_dim", c.RopeDims, s.RopeDims, true},
		{"head_dim without the rotated ones", c.HeadDim - c.RopeDims, s.HeadDim - s.RopeDims, false},
		{"index_head_dim without the rotated ones", c.IndexDim - c.RopeDims, s.IndexDim - s.RopeDims, false},
		{"num_experts_per_tok", c.ExpertsPerToken, s.TopExperts, true},
		{"experts, copies of all", c.Experts * s.TopExperts / c.ExpertsPerToken, experts, false},
	} {
		if d.small > d.large {
			return fmt.Errorf("shape %s: %s is %d, the model needs at least %d; take a larger one", s.Name, d.name, d.large,
				d.small)
		}
		if d.whole && d.large%d.small != 0 {
			return fmt.Errorf("shape %s: %s is %d, no multiple of the model's %d, and only multiples are the same function",
				s.Name, d.name, d.large, d.small)
		}
	}
	if s.Heads%s.Groups != 0 {
		return fmt.Errorf("shape %s: %d heads cannot be shared out to %d groups", s.Name, s.Heads, s.Groups)
	}
	return nil
}

// rotary adds the rotated numbers to a head's others: pair i of the small table turns as fast as pair i·N/n of the
// large one, since both count from the same base.
func rotary(a *axis, n, N int) *axis {
	step := N / n
	b := &axis{n: a.n + n, N: a.N + N, source: append([]int{}, a.source...)}
	b.source = append(b.source, fill(N, -1)...)
	b.iso = append(append([]float64{}, a.iso...), make([]float64, N)...)
	b.share = append(append([]float64{}, a.share...), make([]float64, N)...)
	for i := range n {
		j := a.N + i/2*2*step + i%2
		b.source[j], b.iso[j], b.share[j] = a.n+i, 1, 1
	}
	return b
}

// shuffled gives N numbers a source below n each, every one about as often, in a drawn order.
func shuffled(n, N int, r *rand.Rand) []int {
	source := make([]int, N)
	for j, at := range r.Perm(N) {
		source[at] = j % n
	}
	return source
}

func ratio(large, small int) float64 { return math.Sqrt(float64(large) / float64(small)) }

func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}
