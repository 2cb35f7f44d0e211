package compressor

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

var extend = bench.Family{
	Op: opExtend, Slug: "compress-extend", Doc: extendDoc(),
	Claim: "the rows of a chunk MUST be those of the whole sequence, and the state after it what the next chunk " +
		"needs, at every remainder",
	Contracts: contracts(), Expect: expect, Twins: append(slices.Clone(twins), stateTwins...),
	Draw: func(b bench.Gen) (bench.Problem, error) {
		g := genOf(b)
		return g.extend(g.steps())
	},
	Scenarios: slices.Concat(valueScenarios(), extendScenarios(), extendRelations(), longExtend()),
}

// steps are pieces of every kind: some that complete no block, one, or several, from every kind of start.
func (g gen) steps() ends {
	r := g.pool.Ratio
	var e ends
	for i := range g.requests {
		before := []int{r*g.blocks + r/2, r - 1, 2 * r, 0, r*g.blocks + 1, r}[i%6]
		e.before = append(e.before, before)
		e.after = append(e.after, before+[]int{r + 1, 2*r + 3, r - 1, r + 2, 1, 0}[i%6])
	}
	return e
}

// stepping gives every sequence a start and a number of new tokens.
func stepping(f func(g gen, i int) (before, n int)) bench.Change {
	return pieces(func(g gen) ends {
		var e ends
		for i := range g.requests {
			before, n := f(g, i)
			e.before, e.after = append(e.before, before), append(e.after, before+n)
		}
		return e
	})
}

// extendScenarios are rows about where a piece begins and ends.
func extendScenarios() []bench.Scenario {
	every := []bench.Shape{shape("narrow", 4, 6, 1, 2, 16), shape("plain", 4, 5, 0, 2, 16), shape("odd", 3, 7, 1, 2, 9)}
	long := []bench.Shape{shape("narrow", 128, 1, 0, 1, 128), shape("nano", 32, 3, 0, 1, 32)}
	return []bench.Scenario{
		{
			ID:     "every-remainder",
			Phase:  "extend",
			Why:    "pieces from every remainder to every remainder, of less than a block or more",
			Shapes: every,
			Change: stepping(func(g gen, i int) (int, int) {
				r := g.pool.Ratio
				return r*g.blocks + i%r, i/r%r + i%2*r
			}),
		},
		{
			ID:        "coded-remainders",
			Phase:     "extend",
			Why:       "the same with equal gates and values that encode their token",
			Contracts: sharp,
			Shapes:    every[:2],
			Change: bench.All(stepping(func(g gen, i int) (int, int) {
				r := g.pool.Ratio
				return r*g.blocks + i%r, i/r%r + i%2*r
			}), edit(coded, level)),
		},
		{
			ID:        "every-remainder-long",
			Phase:     "extend",
			Why:       "the same at large ratios, every start with another length",
			Contracts: sharp,
			Shapes:    long,
			Change: stepping(func(g gen, i int) (int, int) {
				r := g.pool.Ratio
				return r*(i%3) + i, (i*37 + 5) % (2 * r)
			}),
		},
		{
			ID:     "decode",
			Phase:  "decode",
			Why:    "one token of each sequence, at every remainder: one in ratio completes a block",
			Shapes: join(nano(8)[:1], every),
			Change: stepping(func(g gen, i int) (int, int) { return g.pool.Ratio*(1+i%3) + i%g.pool.Ratio, 1 }),
		},
		{
			ID:        "decode-long",
			Phase:     "decode",
			Why:       "the same at large ratios",
			Contracts: sharp,
			Shapes:    long,
			Change:    stepping(func(g gen, i int) (int, int) { return g.pool.Ratio*(1+i%3) + i%g.pool.Ratio, 1 }),
		},
		{
			ID:     "decode-first-blocks",
			Phase:  "decode",
			Why:    "the same in the first block, which has none before it, and the second",
			Shapes: join(narrow(8)[:1], odd(6)[:1]),
			Change: stepping(func(g gen, i int) (int, int) { return i % (2 * g.pool.Ratio), 1 }),
		},
		{
			ID:        "decode-completes",
			Phase:     "decode",
			Why:       "one token that completes a block in every sequence",
			Contracts: sharp,
			Shapes:    join(narrow(5), odd(4)),
			Change:    stepping(func(g gen, i int) (int, int) { return g.pool.Ratio*(i+1) - 1, 1 }),
		},
		{
			ID:     "prefill",
			Phase:  "prefill",
			Why:    "sequences from their first token on: the state before holds nothing",
			Shapes: join(narrow(4), nano(3)),
			Change: stepping(func(g gen, i int) (int, int) { return 0, g.mixed()[i] }),
		},
		{
			ID:        "less-than-a-block",
			Phase:     "extend",
			Why:       "pieces that complete nothing: the state alone changes",
			Contracts: sharp,
			Shapes:    narrow(5),
			Change:    stepping(func(g gen, i int) (int, int) { return g.pool.Ratio * i, g.pool.Ratio - 1 - i%2 }),
		},
		{
			ID:        "no-new-token",
			Phase:     "extend",
			Why:       "sequences without new tokens keep their state",
			Contracts: sharp,
			Shapes:    narrow(5),
			Change: stepping(func(g gen, i int) (int, int) {
				return g.pool.Ratio*g.blocks + i%g.pool.Ratio, i % 2 * (g.pool.Ratio - 1)
			}),
		},
		{
			ID:        "from-edge-to-edge",
			Phase:     "extend",
			Why:       "pieces that begin and end between blocks",
			Contracts: sharp,
			Shapes:    narrow(4),
			Change:    stepping(func(g gen, i int) (int, int) { return g.pool.Ratio * i, g.pool.Ratio * (1 + i%2) }),
		},
		{
			ID:        "many-blocks",
			Phase:     "extend",
			Why:       "a piece that completes many blocks after a started one",
			Contracts: sharp,
			Shapes:    []bench.Shape{shape("narrow", 4, 6, 1, 3, 2), shape("narrow", 32, 3, 0, 2, 2)},
			Change:    stepping(func(g gen, i int) (int, int) { return g.pool.Ratio*g.blocks + 2 + i, 11*g.pool.Ratio + 1 }),
		},
		{
			ID:        "far-positions",
			Phase:     "decode",
			Why:       "sequences of a million tokens",
			Contracts: sharp,
			Shapes:    narrow(4),
			Change:    stepping(func(_ gen, i int) (int, int) { return 1<<20 - 1 - i, 1 + i }),
		},
		{
			ID:     "verify",
			Phase:  "extend",
			Why:    "a few draft tokens of each sequence across the end of a block",
			Shapes: join(narrow(6)[:1], nano(4)),
			Change: stepping(func(g gen, i int) (int, int) { return g.pool.Ratio*2 - 2 + i%3, 3 }),
		},
		{
			ID:        "padded-start",
			Why:       "starts in the middle of a buffer",
			Contracts: sharp,
			Shapes:    narrow(4),
			Layout:    map[string]bench.Layout{"start": {Lead: 4, Tail: 3}},
		},
		{
			ID:        "padded-slot",
			Why:       "slots in the middle of a buffer",
			Contracts: sharp,
			Shapes:    narrow(4),
			Layout:    map[string]bench.Layout{"slot": {Lead: 2, Tail: 7}},
		},
		{
			ID:        "padded-state-kv",
			Why:       "a pool of states with room between slots and between rows",
			Contracts: sharp,
			Shapes:    narrow(4),
			Layout:    map[string]bench.Layout{"state_kv": {Lead: 3, Gap: 10, Inner: 4, Tail: 6}},
		},
		{
			ID:        "padded-state-gate",
			Why:       "the same for gates alone",
			Contracts: sharp,
			Shapes:    narrow(4),
			Layout:    map[string]bench.Layout{"state_gate": {Lead: 6, Gap: 5, Inner: 8, Tail: 2}},
		},
		{
			ID:        "captured-elsewhere",
			Why:       "a graph captured for other starts and slots, and replayed for these",
			Contracts: sharp,
			Shapes:    join(narrow(4)[:1], odd(4)[:2]),
			Phase:     "decode",
			Change:    captured,
		},
		{
			ID:        "production",
			Phase:     "decode",
			Why:       "a decode step of DeepSeek-V4-Flash",
			Contracts: []string{bf16Out},
			Full:      true,
			Shapes:    join(flash(8), flash128(2)),
			Change:    stepping(func(_ gen, i int) (int, int) { return 1000 + i, 1 }),
		},
	}
}

// captured is a decode step whose graph was captured a block earlier, with the slots the other way round: of the same
// shapes, in which a graph can be replayed.
func captured(b bench.Gen, p *bench.Problem) error {
	if err := stepping(func(g gen, i int) (int, int) { return g.pool.Ratio*(2+i) - 1, 1 })(b, p); err != nil {
		return err
	}
	before := p.Clone()
	slots := p.In("slot").Data
	before.Change("start", func(_ int, v float64) float64 { return v - float64(genOf(b).pool.Ratio) })
	before.Change("slot", func(i int, _ float64) float64 { return slots[len(slots)-1-i] })
	hide(&before)
	p.Mode, p.CaptureWith = "graph", &before
	return nil
}
