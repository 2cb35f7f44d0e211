package recall

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/internal/gate"
	"github.com/assay-suite/assay/internal/suite"
)

// firstLook is how many cells of a family the budgets look at first, smoke and then standard; the reserve fills up to
// gate.BlessCells.
var firstLook = map[Budget]int{Smoke: 10, Standard: 40}

// burst is how many cells of the concurrency family are asked at once: what a gentle run has in flight.
const burst = 4

// nearTokens is the length up to which a prompt counts as near, wherever its needle stands.
const nearTokens = 256

// gateOf is the gated family that a cell of grid, window or cache counts towards; empty for none.
func gateOf(c Cell) gate.Family {
	switch {
	case c.Family == Cache && c.Arm == "warm":
		return gate.Cache
	case c.Family == Cache:
		return ""
	case c.Family == Window && (c.Arm == Tail || c.Arm == Short):
		return gate.Near
	case c.Family == Recall && (c.Tokens <= nearTokens || c.Depth == 1):
		return gate.Near
	}
	return gate.Far
}

// fill adds the gate's families to a plan. The order of a family's cells is the same in every budget: those that smoke
// asks, those that standard adds, the reserve, each filled up with further cells to what the gate looks at. So a golden
// of one budget serves the smaller ones. Within a tier cells stand in the order of a hash, so that any first part of it
// is a sample of all lengths and depths.
func (p *Plan) fill(b Budget, window int, tiers map[Budget][]Cell) {
	unit := 128
	if window > 8192 {
		unit = 1024 // engines change their ways beyond some thousand tokens
	}
	asked := map[string]bool{}
	for _, c := range p.Cells {
		asked[c.ID] = true
	}
	for _, f := range gate.Families() {
		next := &further{family: f, unit: unit, most: window - ask.AnswerTokens}
		var mine [][]Cell // groups: one cell, or a cold one with its warm one
		planned := map[string]bool{}
		for _, tier := range []Budget{Smoke, Standard, Full} {
			groups := groupsOf(tiers[tier], f, planned)
			slices.SortStableFunc(groups, func(a, b []Cell) int { return cmp.Compare(hashed(a[0].ID), hashed(b[0].ID)) })
			mine = append(mine, groups...)
			want := gate.BlessCells
			if n, ok := firstLook[tier]; ok {
				want = n
			}
			for len(mine) < want {
				mine = append(mine, next.cells(planned))
			}
			if tier == b && (b != Smoke || f == gate.Far || f == gate.Near) {
				first := len(mine)
				if b == Full {
					first = fullLook
				}
				for _, g := range mine[:min(first, len(mine))] {
					for _, c := range g {
						if !asked[c.ID] {
							asked[c.ID] = true
							p.Cells = append(p.Cells, c)
						}
					}
				}
			}
		}
		for _, g := range mine {
			for _, c := range g {
				if c.Gate != "" {
					p.Order = append(p.Order, gate.Slot{ID: c.ID, Family: f})
				}
				if !asked[c.ID] {
					p.Reserve = append(p.Reserve, c)
				}
			}
		}
	}
}

// fullLook is how many cells of a family the full budget looks at, all at once.
const fullLook = 120

// groupsOf takes the cells of a gated family that were not planned yet, a warm one together with its cold one.
func groupsOf(cells []Cell, f gate.Family, planned map[string]bool) [][]Cell {
	var out [][]Cell
	cold := map[string]Cell{}
	for _, c := range cells {
		if c.Arm == "cold" {
			cold[c.Prompt] = c
		}
		if c.Gate != f || planned[c.Prompt] {
			continue
		}
		planned[c.Prompt] = true
		if first, ok := cold[c.Prompt]; ok {
			out = append(out, []Cell{first, c})
			continue
		}
		out = append(out, []Cell{c})
	}
	return out
}

// further makes a family's cells beyond grid, window and cache test.
type further struct {
	family gate.Family
	unit   int // tokens
	most   int // tokens that fit; below 0: unknown
	n      int
}

func (x *further) cells(planned map[string]bool) []Cell {
	for {
		i := x.n
		x.n++
		cells := x.at(i)
		if prompt := cells[0].Prompt; !planned[prompt] {
			planned[prompt] = true
			return cells
		}
	}
}

// at is the i-th of them. Depths are the fractional parts of i times the golden ratio, which fill the interval evenly
// at every i (Weyl 1916).
func (x *further) at(i int) []Cell {
	_, depth := divide(float64(i) * 0.6180339887498949)
	switch x.family {
	case gate.Cache:
		cells := cacheCells(x.unit, i)
		for k := range cells {
			cells[k].Gate, cells[k].Further = gateOf(cells[k]), true
		}
		return cells
	case gate.Near:
		return []Cell{x.cell(Extra, "near", x.unit, depth, i)}
	case gate.Far:
		return []Cell{x.cell(Extra, "far", x.unit*4, 0.7*depth, i)}
	}
	c := x.cell(Concurrency, "concurrency", x.unit*(1+i%burst/(burst-1)), depth, i)
	c.Burst = 1 + i/burst
	c.Claim = "a prompt answered beside others MUST be answered as well as alone"
	c.Catches = []string{"cross-talk between requests of a batch", "sgl-project/sglang#34718"}
	return []Cell{c}
}

func (x *further) cell(f Family, name string, tokens int, depth float64, i int) Cell {
	if x.most > 0 {
		tokens = min(tokens, x.most)
	}
	id := fmt.Sprintf("fidelity/%s/len-%d/n-%d", name, tokens, i+1)
	return Cell{
		Case: suite.Case{
			ID: id, Claim: Claim, Catches: []string{"sgl-project/sglang#36807", "vllm-project/vllm#55314"},
			Cost: suite.Cost{Requests: 1, Tokens: tokens},
		},
		Family: f, Gate: x.family, Further: true, Tokens: tokens, Depth: depth, Copies: 1, Repeat: i, Prompt: id,
	}
}

func divide(v float64) (whole int, rest float64) {
	whole = int(v)
	return whole, v - float64(whole)
}

func hashed(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // never fails
	return h.Sum64()
}
