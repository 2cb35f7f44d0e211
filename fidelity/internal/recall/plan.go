package recall

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/internal/gate"
	"github.com/assay-suite/assay/internal/suite"
)

// Family is a part of the plan.
type Family string

// The families of questions. Which gated family a cell counts towards is Cell.Gate.
const (
	Recall      Family = "recall"      // grid of length x depth
	Window      Family = "window"      // where in the context is a needle found?
	Cache       Family = "cache"       // the same prompt cold and warm
	Extra       Family = "extra"       // further needles, far and near, for the gate
	Concurrency Family = "concurrency" // asked in bursts
)

// Arms of the window test. Each needle stands where the arm says, the question is the same.
const (
	Tail     = "tail"   // right before the question
	Inside   = "inside" // just inside the assumed window, counted from the end of the prompt
	Start    = "start"  // at the start
	Repeated = "repeat" // eight copies, evenly spread, none near the end
	Short    = "short"  // right before the question in a prompt shorter than any window: the easiest question
)

// WindowArms lists the arms in the order in which they are printed.
func WindowArms() []string { return []string{Tail, Inside, Start, Repeated, Short} }

// Cell is one question of the plan: a suite case with its place in the plan.
type Cell struct {
	suite.Case
	Family  Family
	Gate    gate.Family // empty: diagnosis only
	Further bool        // made for the gate, beyond grid, window and cache test
	Burst   int         // above 0: asked at once with the other cells of this number
	Tokens  int         // wanted prompt length in the server's tokens
	Depth   float64     // 0 start, 1 end; of the needle's place in the filler
	Arm     string      // window: see WindowArms; cache: cold or warm
	Copies  int         // of the needle
	Repeat  int         // which needle of its kind, from 0
	Prompt  string      // ID of the prompt: cells with the same one send the same bytes
}

// Plan is what a run will send, and in Reserve what it may send besides. Pairs of cache cells stand next to each other,
// cold first.
type Plan struct {
	Lengths []int // columns of the grid
	Depths  []float64
	Cells   []Cell
	Reserve []Cell      // asked when the gate wants more, and at bless
	Order   []gate.Slot // of the gated cells of both, each family in the order in which the gate looks at it
	LeftOut []string    // what the context window does not allow, for the reader
}

// Budget says how much to send.
type Budget string

// The budgets; each contains the cells of the one before.
const (
	Smoke    Budget = "smoke"
	Standard Budget = "standard"
	Full     Budget = "full"
)

// assumedWindow is the distance from the end of the prompt that the arm "inside" stays within: the
// sliding window of DeepSeek-V4 (128 tokens, V4 inference/config). nano-v4's own is 32 and its selected
// tail 256, so the arm is beyond the one and inside the other.
const assumedWindow = 128

// shortTokens is the length of the shortest control: needle, question and a sentence or two.
const shortTokens = 96

// NewPlan lays the cells out for a context window of the given number of tokens (0: unknown, taken
// as long enough). Cells are ordered from cheap to dear, so that a dead endpoint costs little.
func NewPlan(b Budget, window int) (Plan, error) {
	if b == "" {
		b = Standard
	}
	tiers := map[Budget][]Cell{}
	var p Plan
	for _, tier := range []Budget{Smoke, Standard, Full} {
		base, err := basePlan(tier, window)
		if err != nil {
			return Plan{}, err
		}
		tiers[tier] = base.Cells
		if tier == b {
			p = base
		}
	}
	if p.Cells == nil {
		return Plan{}, fmt.Errorf("budget %q is unknown: use %q, %q or %q", string(b), Smoke, Standard, Full)
	}
	p.fill(b, window, tiers)
	slices.SortStableFunc(p.Cells, func(a, b Cell) int { return cmp.Compare(a.Tokens, b.Tokens) })
	return p, nil
}

// basePlan is a budget's grid, window and cache test.
func basePlan(b Budget, window int) (Plan, error) {
	p := Plan{Depths: []float64{0, 0.25, 0.5, 0.75, 1}}
	repeats, windowRepeats, cacheRepeats := 1, 4, 4
	windowLength, cacheLengths := 1024, []int{512, 1024, 2048}
	lengths := []int{128, 256, 512, 1024, 1536, 2048, 4096}
	for n := 8192; window > 8192 && n <= longestCell && n+ask.AnswerTokens <= window; n *= 2 {
		lengths = append(lengths, n)
	}
	switch b {
	case Smoke:
		lengths, p.Depths = []int{128, 512, 1024}, []float64{0, 0.5, 1}
		windowRepeats, cacheRepeats, cacheLengths = 1, 2, []int{512}
	case Full:
		repeats = 3
	}
	fits := func(tokens int) bool { return window == 0 || tokens+ask.AnswerTokens <= window }
	for _, n := range lengths {
		if !fits(n) {
			p.LeftOut = append(p.LeftOut, fmt.Sprintf("length %d (context window %d)", n, window))
			continue
		}
		p.Lengths = append(p.Lengths, n)
	}
	if len(p.Lengths) == 0 {
		return Plan{}, fmt.Errorf("the context window of %d tokens holds not even a prompt of %d and its answer: nothing "+
			"can be planned", window, lengths[0])
	}
	for _, n := range p.Lengths {
		for _, d := range p.Depths {
			for r := range repeats {
				p.add(recallCell(n, d, r))
			}
		}
	}
	longest := p.Lengths[len(p.Lengths)-1]
	for _, arm := range WindowArms() {
		for r := range windowRepeats {
			p.add(windowCell(arm, min(windowLength, longest), r))
		}
	}
	for _, n := range cacheLengths {
		if !fits(n) {
			p.LeftOut = append(p.LeftOut, fmt.Sprintf("cache length %d (context window %d)", n, window))
			continue
		}
		for r := range cacheRepeats {
			p.add(cacheCells(n, r)...)
		}
	}
	for i := range p.Cells {
		p.Cells[i].Gate = gateOf(p.Cells[i])
	}
	slices.SortStableFunc(p.Cells, func(a, b Cell) int { return cmp.Compare(a.Tokens, b.Tokens) })
	return p, nil
}

// longestCell is the longest prompt of the grid, in tokens: what a gentle run takes of a larger window.
const longestCell = 32768

func (p *Plan) add(cells ...Cell) { p.Cells = append(p.Cells, cells...) }

// Claim is what every cell but those of the cache is asked for.
const Claim = "a code that stands once in the context MUST be given back when it is asked for"

func recallCell(tokens int, depth float64, repeat int) Cell {
	id := fmt.Sprintf("fidelity/recall/len-%d/depth-%.2f", tokens, depth)
	if repeat > 0 {
		id += fmt.Sprintf("/r-%d", repeat+1)
	}
	return Cell{
		Case: suite.Case{
			ID:      id,
			Claim:   Claim,
			Catches: []string{"sgl-project/sglang#36807", "vllm-project/vllm#55314", "sgl-project/sglang#34718"},
			Cost:    suite.Cost{Requests: 1, Tokens: tokens},
		},
		Family: Recall, Tokens: tokens, Depth: depth, Copies: 1, Repeat: repeat, Prompt: id,
	}
}

func windowCell(arm string, tokens, repeat int) Cell {
	c := Cell{Family: Window, Tokens: tokens, Arm: arm, Copies: 1, Repeat: repeat}
	switch arm {
	case Tail:
		c.Depth = 1
	case Inside:
		// From the end: the needle and half the margin that whole sentences need.
		c.Depth = max(0, 1-float64(assumedWindow)*3/4/float64(tokens))
	case Repeated:
		c.Copies = 8
	case Short:
		c.Tokens, c.Depth = min(shortTokens, tokens), 1
	}
	id := fmt.Sprintf("fidelity/window/%s/r-%d", arm, repeat+1)
	c.Prompt = id
	c.Case = suite.Case{
		ID:      id,
		Claim:   "where the needle stands MUST NOT decide whether it is found",
		Catches: []string{"sliding window applied on every layer", "selection of the last k"},
		Cost:    suite.Cost{Requests: 1, Tokens: c.Tokens},
	}
	return c
}

func cacheCells(tokens, repeat int) []Cell {
	prompt := fmt.Sprintf("fidelity/cache/len-%d/r-%d", tokens, repeat+1)
	depths := []float64{0.1, 0.35, 0.65, 0.9}
	var out []Cell
	for _, arm := range []string{"cold", "warm"} {
		out = append(out, Cell{
			Case: suite.Case{
				ID:      prompt + "/" + arm,
				Claim:   "a prompt answered from the prefix cache MUST give the answer of the same prompt computed cold",
				Catches: []string{"ggml-org/llama.cpp#25259", "vllm-project/vllm#43559"},
				Needs:   []string{"cached-tokens"},
				Cost:    suite.Cost{Requests: 1, Tokens: tokens},
			},
			Family: Cache, Tokens: tokens, Depth: depths[repeat%len(depths)], Arm: arm, Copies: 1, Repeat: repeat,
			Prompt: prompt,
		})
	}
	return out
}

// Cost adds up the cells.
func (p Plan) Cost() suite.Cost {
	var sum suite.Cost
	for _, c := range p.Cells {
		sum = sum.Plus(c.Cost)
	}
	return sum
}

// Count is the number of cells of a family.
func (p Plan) Count(f Family) int {
	n := 0
	for _, c := range p.Cells {
		if c.Family == f {
			n++
		}
	}
	return n
}

// Only is the plan without the cells that keep refuses, and without a reserve; lengths and depths without a cell go
// too. A kept warm cell needs its cold one.
func (p Plan) Only(keep func(Cell) bool) Plan {
	out := p
	out.Cells, out.Reserve, out.Order, out.Lengths, out.Depths = nil, nil, nil, nil, nil
	lengths, depths := map[int]bool{}, map[float64]bool{}
	for _, c := range p.Cells {
		if keep(c) {
			out.Cells = append(out.Cells, c)
			if c.Family == Recall {
				lengths[c.Tokens], depths[c.Depth] = true, true
			}
		}
	}
	kept := map[string]bool{}
	for _, c := range out.Cells {
		kept[c.ID] = true
	}
	for _, s := range p.Order {
		if kept[s.ID] {
			out.Order = append(out.Order, s)
		}
	}
	for _, n := range p.Lengths {
		if lengths[n] {
			out.Lengths = append(out.Lengths, n)
		}
	}
	for _, d := range p.Depths {
		if depths[d] {
			out.Depths = append(out.Depths, d)
		}
	}
	return out
}

// Whole is the plan of a blessing: all cells that any look of the gate may want, a tenth more for those that turn out
// unstable, and nothing in reserve.
func (p Plan) Whole(b Budget) Plan {
	out := p
	out.Reserve, out.Order = nil, nil
	want := map[string]bool{}
	n := map[gate.Family]int{}
	for _, s := range p.Order {
		if b == Smoke && (s.Family != gate.Far && s.Family != gate.Near || n[s.Family] >= smokeBless) {
			continue
		}
		n[s.Family]++
		want[s.ID] = true
		out.Order = append(out.Order, s)
	}
	out.Cells = slices.Clone(p.Cells)
	for _, i := range Units(p.Reserve) {
		if slices.ContainsFunc(i, func(k int) bool { return want[p.Reserve[k].ID] }) {
			for _, k := range i {
				out.Cells = append(out.Cells, p.Reserve[k])
			}
		}
	}
	return out
}

// smokeBless is the last look of the smoke budget and a tenth more.
const smokeBless = 45

// More returns the reserve's cells of some IDs, whole units.
func (p Plan) More(ids []string) []Cell {
	var out []Cell
	for _, g := range Units(p.Reserve) {
		if slices.ContainsFunc(g, func(k int) bool { return slices.Contains(ids, p.Reserve[k].ID) }) {
			for _, k := range g {
				out = append(out, p.Reserve[k])
			}
		}
	}
	return out
}
