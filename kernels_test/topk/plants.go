package topk

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle/faults"
)

var (
	both  = []string{opTopK, opPages}
	paged = []string{opPages}
)

// plants lists the faults: those of the catalogue, and this package's own in selecting, in lengths, in pages and in
// memory.
func plants() []bench.Plant {
	return slices.Concat(catalogued(), selectionPlants(), lengthPlants(), pagePlants(), memoryPlants())
}

// faulty is a plant of another selection or of a quirk.
func faulty(p bench.Plant, choose chooser, q quirks) bench.Plant {
	p.Build = func(string) (bench.Candidate, error) {
		return bench.FromKernels(p.Name, kernels(kernelOf(choose, q))), nil
	}
	if p.On == nil {
		p.On = both
	}
	return p
}

// fromRow takes what is known of a row of the catalogue.
func fromRow(id string) bench.Plant {
	r, err := faults.ByRow(id)
	if err != nil {
		return bench.Plant{Name: "row-" + id}
	}
	return bench.Plant{Name: r.Slug, Effect: r.Effect, Origin: r.Origin, Row: r.ID, Class: r.Class}
}

func catalogued() []bench.Plant {
	return []bench.Plant{
		faulty(fromRow("T1"), stashed(2048, byArrival), quirks{}),
		faulty(fromRow("T2"), stashed(4096, byIndex), quirks{}),
		faulty(fromRow("T3"), cappedTies(1024), quirks{}),
	}
}

// stashed bins by coarse, takes what is above the bin of the k-th score, and chooses the rest among the first keys of
// that bin only, as many as the stash holds.
func stashed(slots int, arrival func(inside []int)) chooser {
	return func(r row) []int {
		var count [256]int
		for _, v := range r.scores[:r.n] {
			count[coarse(v)]++
		}
		bin, left := 255, r.k
		for bin > 0 && count[bin] < left {
			left -= count[bin]
			bin--
		}
		var out, inside []int
		for i, v := range r.scores[:r.n] {
			switch b := coarse(v); {
			case b > bin:
				out = append(out, i)
			case b == bin:
				inside = append(inside, i)
			}
		}
		arrival(inside)
		inside = inside[:min(len(inside), slots)]
		slices.Sort(inside)
		out = append(out, r.among(inside, left, bySort)...)
		for len(out) < r.k {
			out = append(out, -1)
		}
		return out
	}
}

func byIndex([]int) {}

// byArrival is the order in which the warps of a block of 1,024 threads reach the counter: the block walks the row, its
// warps in no order.
func byArrival(inside []int) {
	slices.SortStableFunc(inside, func(a, b int) int {
		if a/1024 != b/1024 {
			return a/1024 - b/1024
		}
		warp := func(i int) int { return i % 1024 / 32 * 13 % 32 }
		return warp(a) - warp(b)
	})
}

// cappedTies takes at most that many of the keys that equal the k-th score; the slots left over are -1.
func cappedTies(ties int) chooser {
	return func(r row) []int {
		all := slices.Clone(r.scores[:r.n])
		slices.Sort(all)
		kth := all[r.n-r.k]
		var out, equal []int
		for i, v := range r.scores[:r.n] {
			switch {
			case v > kth:
				out = append(out, i)
			case v == kth:
				equal = append(equal, i)
			}
		}
		out = append(out, equal[:min(len(equal), ties, r.k-len(out))]...)
		for len(out) < r.k {
			out = append(out, -1)
		}
		return out
	}
}

// memoryPlants read what is not theirs, ignore a layout, leave slots unwritten, or write into inputs.
func memoryPlants() []bench.Plant {
	wrapped := func(p bench.Plant, wrap func(bench.Candidate) bench.Candidate) bench.Plant {
		p.Build = func(contract string) (bench.Candidate, error) {
			c, err := built(contract)
			if err != nil {
				return nil, err
			}
			return wrap(c), nil
		}
		if p.On == nil {
			p.On = both
		}
		return p
	}
	before := func(f func(c *bench.Call)) func(bench.Candidate) bench.Candidate {
		return func(c bench.Candidate) bench.Candidate { return bench.Before(c, f) }
	}
	after := func(f func(c bench.Call, r *bench.Reply)) func(bench.Candidate) bench.Candidate {
		return func(c bench.Candidate) bench.Candidate { return bench.After(c, f) }
	}
	own := func(name, class, effect, origin string) bench.Plant {
		return bench.Plant{Name: name, Class: class, Effect: effect, Origin: origin}
	}
	table := own("table-stride-ignored", "strides", "the rows of the page table are taken to lie without gaps",
		"a table sliced out of a wider one")
	table.On = paged
	out := []bench.Plant{
		wrapped(own("stride-ignored", "strides", "the rows of scores are taken to lie without gaps",
			"a view treated as contiguous"), before(bench.StrideIgnored("scores"))),
		wrapped(table, before(bench.StrideIgnored("block_table"))),
		wrapped(own("lengths-offset-ignored", "strides", "lengths are read from the start of their storage",
			"a slice of a metadata buffer read without its offset"), before(func(c *bench.Call) {
			v := c.Views["lengths"]
			v.Offset = 0
			c.Views["lengths"] = v
		})),
		wrapped(own("captured-lengths", "graph", "a replayed graph keeps the lengths that it was captured with",
			"lengths baked into a launch: sgl-project/sglang#9675"), before(func(c *bench.Call) {
			if c.CaptureWith != nil {
				s := c.Views["lengths"].Storage
				c.Storage[s] = c.CaptureWith.Storage[s]
			}
		})),
		wrapped(own("last-tile-unwritten", "unwritten", "rows of a last tile of 4 that is not full are never written",
			"grid rounded down"), after(bench.LastTileUnwritten(4))),
		wrapped(own("scores-sorted-in-place", "input-overwritten", "the chosen scores are set to -Inf in the caller's buffer",
			"repeated maximum with masking in place"), after(func(c bench.Call, _ *bench.Reply) {
			v := c.Views["scores"]
			if v.Len() > 0 {
				c.Storage[v.Storage].Data[v.Offset] = math.Inf(-1)
			}
		})),
		faulty(own("lengths-ignored", "unread-memory", "all S scores are ranked, whatever the length",
			"mask left to the caller"), bySort, quirks{
			length: func(_ []int, _, width int) int { return width },
		}),
		faulty(own("tail-tile-read", "unread-memory", "the row is read to the next multiple of 32, and a NaN there is "+
			"dropped by the comparison", "partial vector read whole"), func(r row) []int {
			r.n = min((r.n+31)/32*32, len(r.scores))
			all := first(r.n)
			slices.SortStableFunc(all, func(a, b int) int {
				switch {
				case r.scores[a] > r.scores[b]:
					return -1
				case r.scores[a] < r.scores[b]:
					return 1
				}
				return 0
			})
			return all[:r.k]
		}, quirks{}),
	}
	return out
}
