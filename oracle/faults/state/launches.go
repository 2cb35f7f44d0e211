package state

// Kernels in a stream that may overlap: a programmatic launch starts when every block of its producer
// has triggered or ended, and must wait for the producer's end before it reads.

// poison is what a buffer holds before its producer has written it.
const poison = -9999

// chain is a row of kernels of two blocks each. Block c of kernel i reads what the other block of kernel
// i-1 wrote. early says whether kernels trigger their dependents at their start or, as by default, at
// their end. The faulty kernels are launched with the dependency and never wait.
func chain(kernels int, early bool) func(bool) error {
	return func(faulty bool) error {
		// shared: data of kernel i, block c at 2i+c; then triggered and ended flags, same layout.
		triggers, ends := 2*kernels, 4*kernels
		both := func(m *machine, at int) bool { return m.shared[at]+m.shared[at+1] == 2 }
		var programs [][]step
		for i := range kernels {
			for c := range 2 {
				var p []step
				if i > 0 {
					p = append(p, step{
						name:  "launch",
						ready: func(m *machine) bool { return both(m, triggers+2*(i-1)) },
						do:    func(*machine, int) {},
					})
					if !faulty {
						p = append(p, step{
							name:  "wait",
							ready: func(m *machine) bool { return both(m, ends+2*(i-1)) },
							do:    func(*machine, int) {},
						})
					}
				}
				if early {
					p = append(p, act("trigger", func(m *machine, _ int) { m.shared[triggers+2*i+c] = 1 }))
				}
				p = append(p, act("read", func(m *machine, t int) {
					if m.regs[t][0] = c + 1; i > 0 {
						m.regs[t][0] = m.shared[2*(i-1)+1-c]
					}
				}), act("write", func(m *machine, t int) { m.shared[2*i+c] = fold(m.regs[t][0], i) }),
					act("end", func(m *machine, _ int) { m.shared[triggers+2*i+c], m.shared[ends+2*i+c] = 1, 1 }))
				programs = append(programs, p)
			}
		}
		shared, want := make([]int, 6*kernels), make([]int, 2*kernels)
		for i := range kernels {
			for c := range 2 {
				in := c + 1
				if i > 0 {
					in = want[2*(i-1)+1-c]
				}
				shared[2*i+c], want[2*i+c] = poison, fold(in, i)
			}
		}
		_, err := explore(programs, shared, 1, func(m *machine) error {
			for at, w := range want {
				if got := m.shared[at]; got != w {
					return violated("%d kernels: in one order of execution kernel %d, block %d computes %d, one after the other %d",
						kernels, at/2, at%2, got, w)
				}
			}
			return nil
		})
		return err
	}
}

// compiled drops the dependency waits from a program when the build lacks the architecture's macro.
func compiled(source []step, macro bool) []step {
	var out []step
	for _, s := range source {
		if macro || s.name != "griddepcontrol.wait" {
			out = append(out, s)
		}
	}
	return out
}

// tileWidth is the number of output columns that one block computes.
const tileWidth = 128

// gemmAfterQuantise is a GEMM behind the kernel that quantises its operand: block t of each serves tile
// t, and a block occupies one of slots until it ends. The faulty build has no waits.
func gemmAfterQuantise(tiles, slots int) func(bool) error {
	return func(faulty bool) error {
		// shared: operand tiles, output tiles, producers started, producers ended, slots taken.
		started, ended, taken := 2*tiles, 2*tiles+1, 2*tiles+2
		free := func(m *machine) bool { return m.shared[taken] < slots }
		end := act("end", func(m *machine, _ int) { m.shared[taken]-- })
		var programs [][]step
		for t := range tiles {
			programs = append(programs,
				[]step{
					// triggers at once
					{name: "start", ready: free, do: func(m *machine, _ int) { m.shared[taken]++; m.shared[started]++ }},
					act("quantise", func(m *machine, _ int) { m.shared[t] = 100 + t; m.shared[ended]++ }),
					end,
				},
				compiled([]step{
					{
						name:  "start",
						ready: func(m *machine) bool { return free(m) && m.shared[started] == tiles },
						do:    func(m *machine, _ int) { m.shared[taken]++ },
					},
					{
						name:  "griddepcontrol.wait",
						ready: func(m *machine) bool { return m.shared[ended] == tiles },
						do:    func(*machine, int) {},
					},
					act("multiply", func(m *machine, _ int) { m.shared[tiles+t] = m.shared[t] }),
					end,
				}, !faulty))
		}
		shared := make([]int, 2*tiles+3)
		for i := range 2 * tiles {
			shared[i] = poison
		}
		_, err := explore(programs, shared, 0, func(m *machine) error {
			for t := range tiles {
				if got := m.shared[tiles+t]; got != 100+t {
					return violated("%d tiles, %d blocks at once: in one order of execution columns %d to %d are garbage (%d)", tiles,
						slots, t*tileWidth, (t+1)*tileWidth-1, got)
				}
			}
			return nil
		})
		return err
	}
}

func launchModels() []Model {
	return []Model{
		{
			Row: "N3", Slug: "dependent-launch-never-waits", Class: "race",
			Effect: "a kernel launched with a programmatic dependency reads its input without waiting for the producer",
			Origin: "ggml-org/llama.cpp#23690",
			Cases: []Case{
				{
					ID:  "2-launches",
					Why: "two dependent launches back to back, the buffer between them poisoned",
					Run: chain(2, true),
				},
				{ID: "3-launches", Why: "the third must see the first's result through the second", Run: chain(3, true)},
				{
					ID:    "trigger-at-the-end",
					Why:   "a producer that never triggers early ends before its dependent starts",
					Blind: true,
					Run:   chain(2, false),
				},
				{ID: "single-launch", Why: "one kernel alone", Blind: true, Run: chain(1, true)},
			},
		},
		{
			Row: "N4", Slug: "dependency-wait-compiled-away", Class: "race",
			Effect: "the waits are in the source and compile to nothing, so that whole tiles are computed from unwritten " +
				"operands",
			Origin: "flashinfer-ai/flashinfer#2708",
			Cases: []Case{
				{
					ID:  "2-tiles-2-blocks",
					Why: "a tile whose producer still runs beside the other tile's",
					Run: gemmAfterQuantise(2, 2),
				},
				{ID: "2-tiles-4-blocks", Why: "room for everything at once", Run: gemmAfterQuantise(2, 4)},
				{ID: "3-tiles-2-blocks", Why: "more tiles than room", Run: gemmAfterQuantise(3, 2)},
				{
					ID:    "2-tiles-1-block",
					Why:   "one block at a time: the producer has ended whenever a consumer starts",
					Blind: true,
					Run:   gemmAfterQuantise(2, 1),
				},
			},
		},
	}
}
