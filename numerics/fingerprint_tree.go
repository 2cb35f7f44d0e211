package numerics

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// node is a summation tree: a leaf is a product, an inner node adds its children at once.
type node struct {
	leaf int // position of the product; -1 inside
	kids []*node
	size int // leaves below
}

// tree finds the summation tree over k products by masks (FPRev: Xie et al. 2025, USENIX ATC): with a large M at i,
// −M at j and small units elsewhere, the units that are added before M and −M meet are swallowed, so that the
// result counts those outside the smallest subtree that holds both. A block FMA cancels M and −M in one step and
// swallows its other terms too, hence a node of many children. O(k) to O(k²) calls.
func (p *prober) tree(k int) (*node, error) {
	all := make([]int, k)
	for i := range all {
		all[i] = i
	}
	kids, err := p.build(all, -1, k)
	if err != nil {
		return nil, err
	}
	return kids[0], nil
}

// build returns the subtrees over the leaves at that are children of a node of parent leaves; parent -1 asks for the
// whole tree.
func (p *prober) build(at []int, parent, k int) ([]*node, error) {
	cur := &node{leaf: at[0], size: 1}
	bySize := map[int][]int{}
	for _, j := range at[1:] {
		n, err := p.together(at[0], j, k)
		if err != nil {
			return nil, err
		}
		bySize[n] = append(bySize[n], j)
	}
	sizes := make([]int, 0, len(bySize))
	for n := range bySize {
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	for _, n := range sizes {
		rest, err := p.build(bySize[n], n, k)
		if err != nil {
			return nil, err
		}
		if n == parent {
			return append([]*node{cur}, rest...), nil
		}
		cur = &node{leaf: -1, kids: append([]*node{cur}, rest...), size: n}
	}
	return []*node{cur}, nil
}

// together is the number of leaves of the smallest subtree that holds i and j. Units are placed p.room positions at a
// time, with zeros elsewhere, so that neither the mask's nor the output's range limits K.
func (p *prober) together(i, j, k int) (int, error) {
	outside := 0
	for lo := 0; lo < k; lo += p.room {
		n, err := p.outside(i, j, lo, min(lo+p.room, k), k)
		if err != nil {
			return 0, err
		}
		outside += n
	}
	return k - outside, nil
}

// outside counts the units at [lo, hi) that are not swallowed by the masks at i and j.
func (p *prober) outside(i, j, lo, hi, k int) (int, error) {
	x, w := make([]float64, k), make([]float64, k)
	units := 0
	for t := lo; t < hi; t++ {
		if t != i && t != j {
			x[t], w[t] = p.lo, p.lo
			units++
		}
	}
	unit := p.lo * p.lo
	var last float64
	// An accumulator that truncates moves −M + 1 to the next number above −M, not to −M: then M must come first.
	for _, sign := range []float64{1, -1} {
		x[i], w[i], x[j], w[j] = p.hi, sign*p.hi, p.hi, -sign*p.hi
		y, err := p.call(x, w, k)
		if err != nil {
			return 0, err
		}
		last = y / unit
		if last == math.Trunc(last) && last >= 0 && last <= float64(units) {
			return int(last), nil
		}
	}
	return 0, fmt.Errorf("masks at %d and %d of %d products leave %v units, want a count: the candidate does not add "+
		"products one by one or in blocks", i, j, k, last)
}

// shape is a tree in words and numbers.
type shape struct {
	words string
	block int // products added at once; 0: one by one
	piece int // products per piece; 0: not cut
	count int // pieces
}

// read names a tree: sequential, pairwise, a chain of blocks, or pieces of one of them added one after another.
// Anything else is written out.
func (n *node) read() shape {
	if n.size <= 1 {
		return shape{words: "one product"}
	}
	if w, b := n.chain(); w != "" {
		return shape{words: w, block: b}
	}
	if n.pairwise() {
		return shape{words: "pairwise"}
	}
	// The left spine, root first; the first piece is the deepest node above which everything is a join of equal pieces.
	var rights []*node
	best := shape{}
	for at := n; len(at.kids) == 2; {
		rights = append(rights, at.kids[1])
		at = at.kids[0]
		if !joined(at.size, rights) {
			continue
		}
		s := at.read()
		if s.piece == 0 && at.leaf < 0 {
			best = shape{
				words: fmt.Sprintf("pieces of %d, each %s", at.size, s.words),
				block: s.block,
				piece: at.size,
				count: len(rights) + 1,
			}
		}
	}
	if best.piece > 0 {
		return best
	}
	return shape{words: "other: " + n.String()}
}

// joined reports whether the parts right of the spine, last first, are as long as the first piece; the last may be
// shorter.
func joined(first int, rights []*node) bool {
	for i, r := range rights {
		if r.size > first || i > 0 && r.size != first {
			return false
		}
	}
	return true
}

// chain names a left-deep tree over leaves: one or b at a time.
func (n *node) chain() (string, int) {
	var steps []int // leaves added at every node, last first
	at := n
	for at.leaf < 0 {
		leaves := 0
		for _, k := range at.kids[1:] {
			if k.leaf < 0 {
				return "", 0
			}
			leaves++
		}
		if at.kids[0].leaf >= 0 {
			leaves++
		}
		steps = append(steps, leaves)
		at = at.kids[0]
	}
	b := steps[len(steps)-1] // of the first node
	if b == 2 && (len(steps) == 1 || steps[0] == 1) && !slices.Contains(steps[:len(steps)-1], 2) {
		return "sequential", 0
	}
	for i, s := range steps {
		if s > b || i > 0 && s != b {
			return "", 0
		}
	}
	return fmt.Sprintf("a chain of blocks of %d", b), b
}

func (n *node) pairwise() bool {
	if n.leaf >= 0 {
		return true
	}
	return len(n.kids) == 2 && n.kids[0].size == (n.size+1)/2 && n.kids[0].pairwise() && n.kids[1].pairwise()
}

// String writes a tree with runs of leaves contracted: ((0-7) 8-15).
func (n *node) String() string {
	if n.leaf >= 0 {
		return fmt.Sprint(n.leaf)
	}
	var parts []string
	for i := 0; i < len(n.kids); i++ {
		k := n.kids[i]
		j := i
		for k.leaf >= 0 && j+1 < len(n.kids) && n.kids[j+1].leaf == n.kids[j].leaf+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d-%d", k.leaf, n.kids[j].leaf))
		} else {
			parts = append(parts, k.String())
		}
		i = j
	}
	return "(" + strings.Join(parts, " ") + ")"
}
