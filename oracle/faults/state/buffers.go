package state

import "slices"

// canary fills what a kernel must not write.
const canary = -7777

// indexBuffer is the static index buffer of a captured graph: one entry for each token, allocated in an
// arena so that a write beyond its end lands in a canary and not in a panic.
type indexBuffer struct {
	arena []int
	size  int
}

// newIndexBuffer allocates for tokens; the faulty one counts pages.
func newIndexBuffer(tokens, page int, faulty bool) indexBuffer {
	size := tokens
	if faulty {
		size = (tokens + page - 1) / page
	}
	b := indexBuffer{make([]int, 2*tokens+64), size}
	for i := range b.arena {
		b.arena[i] = canary
	}
	return b
}

// fill writes the physical slot of each token, as the kernel that prepares attention does.
func (b indexBuffer) fill(tokens, page int, table []int) {
	for j := range tokens {
		b.arena[j] = table[j/page]*page + j%page
	}
}

// bufferFits fills the buffer up and looks behind its end.
func bufferFits(tokens, page int) func(bool) error {
	return func(faulty bool) error {
		table := reversed((tokens + page - 1) / page)
		b := newIndexBuffer(tokens, page, faulty)
		b.fill(tokens, page, table)
		for i, v := range b.arena[b.size:] {
			if v != canary {
				return violated("%d tokens on pages of %d: entry %d behind a buffer of %d was written", tokens, page, i, b.size)
			}
		}
		return nil
	}
}

// reversed is the page table n-1 .. 0, which is no identity from 2 pages on.
func reversed(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = n - 1 - i
	}
	return out
}

// graph is a captured attention launch: the row stride of the block table is a constant of the capture,
// the table itself a static buffer.
type graph struct {
	width  int
	buffer []int
	page   int
}

// capture records a launch. The buffer holds batch rows of the widest table. The width baked in is that
// of the longest context there may be; the faulty one takes the lengths at hand.
func capture(lengths []int, page, longest int, faulty bool) graph {
	most := (longest + page - 1) / page
	g := graph{width: most, buffer: make([]int, len(lengths)*most), page: page}
	if faulty {
		g.width = (slices.Max(lengths) + page - 1) / page
	}
	return g
}

// replay copies the tables into the static buffer, row by row, and returns the physical slots that the
// launch reads for each sequence; -1 where it does not reach a token.
func (g graph) replay(lengths []int, tables [][]int) [][]int {
	most := len(g.buffer) / len(lengths)
	for b, t := range tables {
		copy(g.buffer[b*most:(b+1)*most], t)
	}
	out := make([][]int, len(lengths))
	for b, n := range lengths {
		for j := range n {
			slot := -1
			if j/g.page < g.width {
				slot = g.buffer[b*g.width+j/g.page]*g.page + j%g.page
			}
			out[b] = append(out[b], slot)
		}
	}
	return out
}

// replays captures at some lengths, replays at others and compares with the tables read eagerly.
func replays(captured, replayed []int, page, longest int) func(bool) error {
	return func(faulty bool) error {
		tables, next := make([][]int, len(replayed)), 100
		for b, n := range replayed {
			for range (n + page - 1) / page {
				tables[b] = append(tables[b], next)
				next -= 3
			}
		}
		g := capture(captured, page, longest, faulty)
		for b, row := range g.replay(replayed, tables) {
			for j, slot := range row {
				if want := tables[b][j/page]*page + j%page; slot != want {
					return violated("captured at %v, replayed at %v: sequence %d, token %d reads slot %d, eagerly %d", captured,
						replayed, b, j, slot, want)
				}
			}
		}
		return nil
	}
}

func bufferModels() []Model {
	return []Model{
		{
			Row: "G9", Slug: "index-buffer-sized-by-pages", Class: "capacity",
			Effect: "the index buffer of a graph has an entry for each page and is written for each token",
			Origin: "sgl-project/sglang#24587",
			Cases: []Case{
				{ID: "page-2-full", Why: "the smallest page that is no token, buffer full", Run: bufferFits(4, 2)},
				{ID: "page-64-one-over", Why: "65 tokens on two pages of 64", Run: bufferFits(65, 64)},
				{ID: "every-small-size", Why: "all pages of 1 to 8 tokens, all lengths to 40", Run: func(faulty bool) error {
					for page := 1; page <= 8; page++ {
						for tokens := 1; tokens <= 40; tokens++ {
							if err := bufferFits(tokens, page)(faulty); err != nil {
								return err
							}
						}
					}
					return nil
				}},
				{ID: "page-1", Why: "pages of one token: both counts agree", Blind: true, Run: bufferFits(64, 1)},
				{ID: "one-token", Why: "one token on one page", Blind: true, Run: bufferFits(1, 64)},
			},
		},
		{
			Row: "G11", Slug: "graph-table-width-of-capture", Class: "stale-capture",
			Effect: "a captured launch keeps the table width of the lengths at capture, so a longer replay reads past its rows",
			Origin: "sgl-project/sglang#9675",
			Cases: []Case{
				{
					ID:  "capture-short-replay-long",
					Why: "one sequence, three pages more than at capture",
					Run: replays([]int{3}, []int{9}, 2, 16),
				},
				{
					ID:  "second-row-shifted",
					Why: "two sequences that both fit the captured width: only the row stride is wrong",
					Run: replays([]int{4, 4}, []int{4, 4}, 2, 16),
				},
				{ID: "one-page-over", Why: "the first token of the first page beyond", Run: replays([]int{4}, []int{5}, 2, 16)},
				{
					ID:    "replay-as-captured",
					Why:   "one sequence, replayed at the captured length",
					Blind: true,
					Run:   replays([]int{9}, []int{9}, 2, 16),
				},
				{
					ID:    "capture-at-the-longest",
					Why:   "warm-up at the longest context",
					Blind: true,
					Run:   replays([]int{16, 16}, []int{9, 5}, 2, 16),
				},
			},
		},
	}
}
