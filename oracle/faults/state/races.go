package state

// Two warps of one block. Register 0 of a warp is its running result.

// fold is an operation whose order and operands both matter.
func fold(acc, v int) int { return (acc*31 + v) % 1_000_003 }

// tile is what warp w loads of tile t.
func tile(t, w int) int { return 10*t + w + 1 }

// lastBarrier says which warps wait at the end of tile t before the next one overwrites shared memory.
type lastBarrier func(t, warp int) bool

func everybody(_, _ int) bool { return true }
func nobody(_, _ int) bool    { return false }

// firstWarpLater is a barrier inside a branch: all warps take it on the first tile, then one alone.
func firstWarpLater(t, warp int) bool { return t == 0 || warp == 0 }

// attention streams tiles through shared memory, each warp loading its half and using both.
func attention(tiles int, broken lastBarrier) func(bool) error {
	return func(faulty bool) error {
		waits := everybody
		if faulty {
			waits = broken
		}
		var programs [][]step
		for w := range 2 {
			var p []step
			for t := range tiles {
				p = append(p, act("load", func(m *machine, w int) { m.shared[w] = tile(t, w) }), barrier())
				for half := range 2 {
					p = append(p, act("use", func(m *machine, w int) { m.regs[w][0] = fold(m.regs[w][0], m.shared[half]) }))
				}
				if waits(t, w) {
					p = append(p, barrier())
				}
			}
			programs = append(programs, p)
		}
		want := 0
		for t := range tiles {
			want = fold(fold(want, tile(t, 0)), tile(t, 1))
		}
		_, err := explore(programs, make([]int, 2), 1, func(m *machine) error {
			for w := range programs {
				if got := m.regs[w][0]; got != want {
					return violated("%d tiles: in one order of execution warp %d has %d, tile by tile it is %d", tiles, w, got, want)
				}
			}
			return nil
		})
		return err
	}
}

// gather is a block of a mixture-of-experts product with ids in shared memory. Each of blocks takes the
// tiles b, b + blocks, ...; warp 0 loads the two ids of a tile and each warp serves one.
func gather(tiles, blocks int) func(bool) error {
	return func(faulty bool) error {
		id := func(t, w int) int { return (7*t + 3*w + 5) % 11 }
		for b := range blocks {
			programs := make([][]step, 2)
			for t := b; t < tiles; t += blocks {
				for w := range programs {
					p := &programs[w]
					if w == 0 {
						for i := range 2 {
							*p = append(*p, act("load id", func(m *machine, _ int) { m.shared[i] = id(t, i) }))
						}
					}
					*p = append(*p, barrier(), act("gather", func(m *machine, w int) { m.shared[2+2*t+w] = m.shared[w] }))
					if !faulty {
						*p = append(*p, barrier())
					}
				}
			}
			_, err := explore(programs, make([]int, 2+2*tiles), 0, func(m *machine) error {
				for t := b; t < tiles; t += blocks {
					for w := range programs {
						if got := m.shared[2+2*t+w]; got != id(t, w) {
							return violated("%d tiles on %d blocks: tile %d, warp %d gathered row %d for row %d", tiles, blocks, t, w, got,
								id(t, w))
						}
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// sample finds the first pass in which the running sum exceeds u. mass holds two warps' parts of each
// pass, reduced through two shared slots. The result is a pass, or len(mass) when none was found: a
// token beyond the vocabulary.
func sample(u int, mass ...[2]int) func(bool) error {
	return func(faulty bool) error {
		want, run := len(mass), 0
		for p, m := range mass {
			if run += m[0] + m[1]; run > u {
				want = p
				break
			}
		}
		programs := make([][]step, 2)
		for p := range mass {
			for w := range programs {
				steps := []step{
					act("write part", func(m *machine, w int) { m.shared[w] = mass[p][w] }),
					barrier(),
					act("read part", func(m *machine, w int) { m.regs[w][0] += m.shared[0] }),
					act("read part", func(m *machine, w int) {
						if m.regs[w][0] += m.shared[1]; m.regs[w][1] == 0 && m.regs[w][0] > u {
							m.regs[w][1] = p + 1
						}
					}),
				}
				if !faulty {
					steps = append(steps, barrier())
				}
				programs[w] = append(programs[w], steps...)
			}
		}
		_, err := explore(programs, make([]int, 2), 2, func(m *machine) error {
			for w := range programs {
				got := m.regs[w][1] - 1
				if got < 0 {
					return violated("%d passes: in one order of execution warp %d finds no token: the id is the vocabulary's size",
						len(mass), w)
				}
				if got != want {
					return violated("%d passes: in one order of execution warp %d samples pass %d, by summing it is %d", len(mass), w,
						got, want)
				}
			}
			return nil
		})
		return err
	}
}

func raceModels() []Model {
	return []Model{
		{
			Row: "N1", Slug: "attention-barrier-missing", Class: "race",
			Effect: "no barrier between using a tile in shared memory and loading the next one",
			Origin: "ggml-org/llama.cpp#13438",
			Cases: []Case{
				{ID: "2-tiles", Why: "all interleavings of two warps over two tiles", Run: attention(2, nobody)},
				{ID: "3-tiles", Why: "three tiles", Run: attention(3, nobody)},
				{ID: "1-tile", Why: "a short context has nothing to overwrite", Blind: true, Run: attention(1, nobody)},
			},
		},
		{
			Row: "N1", Slug: "attention-barrier-some-warps", Class: "race",
			Effect: "the barrier that the fix added lies in a branch that only some warps take after the first tile",
			Origin: "ggml-org/llama.cpp#13469",
			Cases: []Case{
				{ID: "3-tiles", Why: "the second tile is overwritten while it is used", Run: attention(3, firstWarpLater)},
				{ID: "4-tiles", Why: "four tiles: barriers pair with the wrong ones", Run: attention(4, firstWarpLater)},
				{ID: "2-tiles", Why: "the test that showed the first bug", Blind: true, Run: attention(2, firstWarpLater)},
			},
		},
		{
			Row: "N2", Slug: "shared-ids-overwritten", Class: "race",
			Effect: "the next tile's ids are loaded into shared memory before every warp has read this one's",
			Origin: "ggml-org/llama.cpp#13294",
			Cases: []Case{
				{ID: "2-tiles-1-block", Why: "one block takes both tiles", Run: gather(2, 1)},
				{ID: "5-tiles-2-blocks", Why: "more tiles than blocks, by a remainder", Run: gather(5, 2)},
				{ID: "4-tiles-4-blocks", Why: "a device with enough multiprocessors for the shape", Blind: true, Run: gather(4, 4)},
			},
		},
		{
			Row: "N5", Slug: "reduction-scratch-reused", Class: "race",
			Effect: "the scratch of a block reduction is written for the next pass before all warps have read this one",
			Origin: "flashinfer-ai/flashinfer#3624",
			Cases: []Case{
				{
					ID:  "2-passes",
					Why: "a light second pass read into the first: the sum never gets there, the id is out of range",
					Run: sample(9, [2]int{4, 4}, [2]int{1, 1}),
				},
				{
					ID:  "3-passes",
					Why: "three passes, the token in the last",
					Run: sample(12, [2]int{2, 6}, [2]int{3, 1}, [2]int{1, 1}),
				},
				{
					ID:  "heavy-second-pass",
					Why: "a heavy second pass read into the first: an earlier token is picked",
					Run: sample(5, [2]int{1, 1}, [2]int{9, 9}, [2]int{1, 1}),
				},
				{ID: "1-pass", Why: "a vocabulary of one pass", Blind: true, Run: sample(5, [2]int{4, 4})},
			},
		},
	}
}
