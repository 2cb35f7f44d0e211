package indexer

import "github.com/assay-suite/assay/kernels_test/bench"

// pagePlants follow page tables, or read pages, otherwise.
func pagePlants() []bench.Plant {
	at := func(f func(a bench.Args, l *launch, entry func(b, i int) int, t, j int) int) func(string) (bench.Candidate,
		error) {
		return edited(func(a bench.Args, l *launch) {
			table, n := a.In("block_table"), a.In("q").Dim(1)
			entry := func(b, i int) int { return int(table.Row(b)[i%table.Dim(1)]) }
			l.at = func(t, j int) int { return f(a, l, entry, t/n, j) % max(len(l.keys), 1) }
		})
	}
	size := func(a bench.Args) int { return a.Int("page_size") }
	plant := func(name, effect, origin, class string, build func(string) (bench.Candidate, error)) bench.Plant {
		return bench.Plant{Name: name, Effect: effect, Origin: origin, Class: class, On: pagedOps, Build: build}
	}
	return []bench.Plant{
		plant("table-ignored", "pages are taken in order", "contiguous cache assumed", "paging",
			at(func(_ bench.Args, _ *launch, _ func(b, i int) int, _, j int) int {
				return j
			})),
		plant("table-of-request-0", "all requests read the first one's pages", "stride of the table left out", "paging",
			at(func(a bench.Args, _ *launch, entry func(b, i int) int, _, j int) int {
				return entry(0, j/size(a))*size(a) + j%size(a)
			})),
		plant("page-halved", "the table is followed as if pages had half as many tokens", "two page sizes confused", "paging",
			at(func(a bench.Args, _ *launch, entry func(b, i int) int, b, j int) int {
				half := max(size(a)/2, 1)
				return entry(b, j/half)*size(a) + j%half
			})),
		plant("first-page-again", "keys after the first page are read from it", "page index not advanced", "paging",
			at(func(a bench.Args, _ *launch, entry func(b, i int) int, b, j int) int {
				return entry(b, 0)*size(a) + j%size(a)
			})),
		plant("last-page-before", "the last page is the one before it", "page index clamped too early", "paging",
			at(func(a bench.Args, l *launch, entry func(b, i int) int, b, j int) int {
				i, n := j/size(a), a.In("q").Dim(1)
				if last := (l.hi[b*n+n-1] - 1) / size(a); i == last && i > 0 {
					i--
				}
				return entry(b, i)*size(a) + j%size(a)
			})),
		plant("table-by-slots", "entries of the table are taken for first slots", "page ids and slots confused", "paging",
			at(func(a bench.Args, _ *launch, entry func(b, i int) int, b, j int) int {
				return entry(b, j/size(a)) + j%size(a)
			})),
		plant("page-ids-of-8-bits", "page ids lose all but three bits", "a narrow index", "address",
			at(func(a bench.Args, _ *launch, entry func(b, i int) int, b, j int) int {
				return entry(b, j/size(a))%8*size(a) + j%size(a)
			})),
		plant("rows-reversed", "tokens of a page are read from its end", "a layout of another engine", "paging",
			at(func(a bench.Args, _ *launch, entry func(b, i int) int, b, j int) int {
				return entry(b, j/size(a))*size(a) + size(a) - 1 - j%size(a)
			})),
		plant("scale-after-its-key", "a token's scale is taken to follow its values", "interleaved pages", "scale-layout",
			decoding(codec{tokenMajor: true})),
		plant("scale-of-neighbour", "a key has the scale of the token after it", "a row index off by one", "scale-layout",
			decoding(codec{otherScale: 1})),
		plant("scale-dropped", "all keys have one scale", "a scale tensor not loaded", "scale",
			decoding(codec{unscaled: true})),
		plant("scale-exponent-only", "a scale is cut to a power of two", "fp32 scales read as ue8m0", "encoding",
			decoding(codec{mantissa: true})),
		plant("nibbles-swapped", "the high nibble is the even channel", "another packing", "encoding",
			decoding(codec{highFirst: true})),
		plant("fp4-groups-swapped", "scales of fp4 pages lie group by group", "another layout of scales", "scale-layout",
			decoding(codec{groupOff: true})),
		plant("e4m3-as-fnuz", "e4m3 is read with the bias of the fnuz variant", "ROCm's fp8", "encoding",
			decoding(codec{fnuz: true})),
		plant("bf16-bytes-swapped", "bf16 is read high byte first", "byte order", "encoding",
			decoding(codec{halfBF16: true})),
	}
}

// memoryPlants read what is not theirs, ignore a layout, leave elements unwritten, or write into inputs.
func memoryPlants() []bench.Plant {
	logits := func(name, effect, origin, class string, on []string,
		build func(string) (bench.Candidate, error),
	) bench.Plant {
		return bench.Plant{Name: name, Effect: effect, Origin: origin, Class: class, On: on, Build: build}
	}
	all := []string{raggedOp, pagedOp, storeOp}
	stride := func(operand string, on ...string) bench.Plant {
		return logits("stride-of-"+slug("%s", dashed(operand))+"-ignored", operand+" is taken to lie without gaps",
			"a view treated as contiguous", "strides", on, before(bench.StrideIgnored(operand)))
	}
	return []bench.Plant{
		stride("q", logitOps...), stride("k", raggedOp), stride("pages", pagedOp), stride("weights", logitOps...),
		stride("context_lens", pagedOp),
		stride("block_table", pagedOp), stride("x", storeOp),
		logits("offset-of-weights-ignored", "weights are read from the start of their storage", "a slice without its offset",
			"strides", logitOps, before(func(c *bench.Call) {
				v := c.Views["weights"]
				v.Offset = 0
				c.Views["weights"] = v
			})),
		logits("tail-of-page-masked", "the key after a context is scored, times 0",
			"a tile of keys read whole and masked by a product", "unread-memory", pagedOps,
			edited(func(_ bench.Args, l *launch) {
				whole := l.keyed
				l.keyed = func(t, j int) bool {
					if j == l.hi[t]-1 && len(l.keys[l.at(t, j)]) > 0 {
						l.scale[l.at(t, j)] += 0 * beyond(l, t)
					}
					return whole(t, j)
				}
			})),
		logits("key-before-range-masked", "the key before a range is scored, times 0", "an aligned load", "unread-memory",
			[]string{raggedOp}, edited(func(_ bench.Args, l *launch) {
				whole := l.keyed
				l.keyed = func(t, j int) bool {
					if j == l.lo[t] && j > 0 {
						l.w[t][0] += 0 * l.keys[j-1][0]
					}
					return whole(t, j)
				}
			})),
		logits("stale-entry-followed", "the table's entry after the last page is followed, times 0",
			"a prefetch that is used", "unread-memory", pagedOps, edited(func(a bench.Args, l *launch) {
				table, n, page := a.In("block_table"), a.In("q").Dim(1), a.Int("page_size")
				for t := range l.hi {
					if i := (l.hi[t/n*n+n-1] + page - 1) / page; i < table.Dim(1) {
						id := int(table.Row(t / n)[i])
						l.w[t][0] += 0 * l.keys[id*page][0]
					}
				}
			})),
		logits("last-tile-unwritten", "rows of a last tile of 2 that is not full are never written", "grid rounded down",
			"unwritten", logitOps, after(bench.LastTileUnwritten(2))),
		logits("rows-missing", "the output has one row too few", "shape rounded down", "unwritten", all,
			after(func(c bench.Call, r *bench.Reply) {
				for name, s := range r.Outputs {
					if rows := c.Outputs[name].Shape[0]; rows > 0 {
						r.Outputs[name] = bench.Storage{DType: s.DType, Data: s.Data[:len(s.Data)/rows*(rows-1)]}
					}
				}
			})),
		logits("queries-scaled-in-place", "q is changed by the call", "scales folded in place", "input-overwritten", logitOps,
			after(func(c bench.Call, _ *bench.Reply) {
				v := c.Views["q"]
				data := c.Storage[v.Storage].Data
				v.Each(func(_, at int) { data[at] *= 0.5 })
			})),
		{
			Name: "order-by-arrival", Effect: "the sum over heads is added in another order in every run",
			Origin: "atomic additions", Class: "race", On: logitOps, Declared: []string{"fp32-bitwise"},
			Build: func(string) (bench.Candidate, error) {
				run := 0
				st := style{dot: dotFour, heads: bench.Sequential}
				st.heads = func(v []float32) float32 {
					if run%2 == 1 {
						return bench.Reversed(v)
					}
					return bench.Sequential(v)
				}
				return bench.FromKernels("arrival", logitKernels(st, st, func(bench.Args, *launch) { run++ })), nil
			},
		},
	}
}

// beyond is the first channel of the key after the last that row t sees, on the same page.
func beyond(l *launch, t int) float32 {
	at := l.at(t, l.hi[t]-1) + 1
	if at < len(l.keys) {
		return l.keys[at][0]
	}
	return 0
}

func dashed(name string) string {
	out := []byte(name)
	for i, c := range out {
		if c == '_' {
			out[i] = '-'
		}
	}
	return string(out)
}
