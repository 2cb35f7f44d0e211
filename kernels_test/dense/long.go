package dense

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// sized is a batch with a model's sizes given by hand; pool 0 gives every request pages of its own.
func sized(name string, page, pool int, sizes map[string]int, reqs ...req) bench.Shape {
	s := shape("nano", page, reqs...)
	for dim := range models["nano"] {
		delete(s.Dims, dim)
	}
	maps.Copy(s.Dims, sizes)
	if pool > 0 {
		s.Dims["pool"] = pool
	}
	s.Name = name
	return s
}

// many are n requests of one token.
func many(n, q, kv int) []req {
	return slices.Repeat([]req{{q, kv}}, n)
}

const longWhy = "one dimension at a time beyond every tile, to the extents that ship: "

// pool20 is a pool whose last pages, rows or slots need more than 20 bits. Rows of one channel keep it small, and
// caches of bf16 alone have it, so that a worker gets 256 MiB at most.
const pool20 = 1<<20 + 64

// onlyBF16 has a row for caches of bf16.
func onlyBF16(g bench.Gen, p *bench.Problem) error {
	dtypes := []string{p.Outputs["k_cache"].DType}
	for _, name := range caches {
		dtypes = append(dtypes, p.Operands[name].DType)
	}
	for _, dtype := range dtypes {
		if dtype != "" && dtype != bench.BF16 {
			return fmt.Errorf("a pool of %d is drawn for caches of bf16, not of %s under %s", pool20, dtype,
				g.Contract.Name)
		}
	}
	return nil
}

// longGQA: two heads of two channels over 131,072 keys, paged and not; tokens; requests; heads; channels.
func longGQA() []bench.Scenario {
	small := map[string]int{"heads": 2, "kv-heads": 1, "dim": 2, "values": 2}
	return []bench.Scenario{
		{
			ID: "long-keys", Why: longWhy + "keys and entries of the page table; the last key counts", Phase: "decode",
			Contracts: []string{"bf16"},
			Shapes: []bench.Shape{
				sized("paged-l131072", 64, 2048, small, req{1, 1 << 17}), sized("page1-l40001", 1, 70000, small, req{1, 40001}),
			},
			Change: bench.All(bench.Set(bench.Attrs{"window_left": -1.0}), lastKeyCounts),
		},
		{
			ID: "long-keys-ragged", Why: longWhy + "keys that are not paged; the last one counts", Phase: "extend",
			Contracts: []string{"bf16"},
			Shapes:    []bench.Shape{sized("ragged-l131072", 0, 0, small, req{1, 1 << 17})},
			Change:    bench.All(bench.Set(bench.Attrs{"window_left": -1.0}), lastKeyCounts),
		},
		{
			ID: "long", Why: longWhy + "tokens, requests, heads and channels", Phase: "extend",
			Shapes: []bench.Shape{
				sized("paged-t257", 16, 0, small, req{257, 260}), sized("ragged-t257", 0, 0, small, req{257, 260}),
				sized("paged-b33", 4, 0, small, many(33, 1, 5)...), sized("ragged-b33", 0, 0, small, many(33, 1, 5)...),
				sized("paged-h128", 4, 0, map[string]int{"heads": 128, "kv-heads": 16, "dim": 4, "values": 4}, req{1, 5}),
				sized("ragged-h128", 0, 0, map[string]int{"heads": 128, "kv-heads": 16, "dim": 4, "values": 4}, req{1, 5}),
				sized("paged-d256", 4, 0, map[string]int{"heads": 2, "kv-heads": 1, "dim": 256, "values": 256}, req{2, 5}),
				sized("ragged-d256", 0, 0, map[string]int{"heads": 2, "kv-heads": 1, "dim": 256, "values": 256}, req{2, 5}),
				sized("page544", 544, 0, small, req{1, 600}, req{3, 1100}), // pages of vLLM's hybrid models
				sized("paged-g16", 4, 0, map[string]int{"heads": 16, "kv-heads": 1, "dim": 4, "values": 4}, req{1, 61}, req{2, 64}),
			},
		},
		{
			ID: "long-pool", Why: longWhy + "pages beyond 2^20", Phase: "decode", Contracts: []string{"bf16"},
			Shapes: []bench.Shape{
				sized("page1", 1, 0, map[string]int{"heads": 2, "kv-heads": 1, "dim": 1, "values": 1}, req{1, 5}, req{1, 9}),
			},
			Change: bench.All(onlyBF16, highPages(pool20)),
		},
	}
}

// longMLA: the same for a latent cache.
func longMLA() []bench.Scenario {
	small := map[string]int{"heads": 2, "rank": 2, "rope": 2, "nope": 4}
	return []bench.Scenario{
		{
			ID: "long-keys", Why: longWhy + "keys and entries of the page table; the last key counts", Phase: "decode",
			Contracts: []string{"bf16"},
			Shapes: []bench.Shape{
				sized("paged-l131072", 64, 2048, small, req{1, 1 << 17}), sized("page1-l40001", 1, 70000, small, req{1, 40001}),
			},
			Change: lastKeyCounts,
		},
		{
			ID: "long", Why: longWhy + "tokens, requests and heads", Phase: "extend",
			Shapes: []bench.Shape{
				sized("paged-t257", 16, 0, small, req{257, 260}), sized("paged-b33", 4, 0, small, many(33, 1, 5)...),
				sized("paged-h128", 4, 0, map[string]int{"heads": 128, "rank": 4, "rope": 2, "nope": 4}, req{1, 5}),
				sized("page544", 544, 0, small, req{1, 600}, req{3, 1100}),
			},
		},
		{
			ID: "long-pool", Why: longWhy + "pages beyond 2^20", Phase: "decode", Contracts: []string{"bf16"},
			Shapes: []bench.Shape{
				sized("page1", 1, 0, map[string]int{"heads": 2, "rank": 1, "rope": 2, "nope": 4}, req{1, 5}, req{1, 9}),
			},
			Change: bench.All(onlyBF16, highPages(pool20)),
		},
	}
}

// lastKeyCounts gives the last key of the last request a large score, so that attention without it is another one.
func lastKeyCounts(_ bench.Gen, p *bench.Problem) error {
	pairs := [][2]string{{"q", "k_cache"}, {"q", "k"}, {"q_nope", "ckv_cache"}, {"q_pe", "kpe_cache"}}
	for _, pair := range pairs {
		_, ok := p.Operands[pair[0]]
		k, has := p.Operands[pair[1]]
		if !ok || !has {
			continue
		}
		at := lastRow(*p)
		width := k.Shape[len(k.Shape)-1]
		factor := 10.0
		if k.DType == bench.E4M3 {
			factor = 200 // times k_scale
		}
		for i := range width {
			k.Values[at*width+i] = bench.Round(k.DType, factor)
		}
		p.Change(pair[0], func(_ int, v float64) float64 { return max(v, -v) })
	}
	return nil
}

// lastRow is the row of a cache of one key-value head in which the last key of the last request lies.
func lastRow(p bench.Problem) int {
	if indptr, ok := p.Operands["kv_indptr"]; ok {
		return int(indptr.Values[len(indptr.Values)-1]) - 1
	}
	table, lens, page := p.In("page_table"), p.In("seq_lens").Ints(), p.Attrs.Int("page_size")
	last := lens[len(lens)-1] - 1
	return table.Ints()[(len(lens)-1)*table.Dim(1)+last/page]*page + last%page
}

// longWrites: tokens beyond every tile, slots beyond 16 bits, heads and channels that ship.
func longWrites() bench.Scenario {
	var out []bench.Shape
	for name, d := range map[string]map[string]int{
		"t257":       {"kv-heads": 1, "dim": 2, "values": 2, "tokens": 257, "page": 4},
		"p2049":      {"kv-heads": 1, "dim": 1, "values": 1, "tokens": 2100, "page": 1},
		"g16":        {"kv-heads": 16, "dim": 2, "values": 2, "tokens": 3, "page": 4},
		"d256":       {"kv-heads": 1, "dim": 256, "values": 256, "tokens": 3, "page": 4},
		"slot-66000": {"kv-heads": 1, "dim": 1, "values": 1, "tokens": 40, "page": 4, "pages": 17000},
		"swa-66000":  {"kv-heads": 1, "dim": 1, "values": 1, "tokens": 40, "page": 4, "pages": 17000, "pool": 1 << 17},
	} {
		if d["pages"] == 0 {
			d["pages"] = (d["tokens"]+d["page"]-1)/d["page"] + 3
		}
		out = append(out, bench.S(name, d))
	}
	slices.SortFunc(out, func(a, b bench.Shape) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	return bench.Scenario{ID: "long", Why: longWhy + "tokens, pages, slots, heads and channels", Shapes: out}
}

// longSlots: slots of both pools beyond 2^20.
func longSlots() bench.Scenario {
	return bench.Scenario{
		ID: "long-slots", Why: longWhy + "slots of both pools beyond 2^20", Contracts: []string{"bf16"},
		Shapes: []bench.Shape{bench.S("slot-1048576", map[string]int{
			"kv-heads": 1, "dim": 1, "values": 1, "tokens": 40, "page": 64, "pages": pool20 / 64, "pool": pool20,
		})},
		Change: bench.All(onlyBF16, func(_ bench.Gen, p *bench.Problem) error {
			to := p.Operands["full_to_swa"].Values
			p.Change("slot_mapping", func(i int, v float64) float64 {
				if v < 0 {
					return v
				}
				to[pool20-1-i] = float64(pool20 - 41 - i)
				return float64(pool20 - 1 - i)
			})
			sealWrite(p)
			return nil
		}),
	}
}

// longLatentPages: the last of more pages than a table has. Slots beyond 2^15 are left to models of addresses: a row
// has 656 bytes.
func longLatentPages() bench.Scenario {
	const pages = 2100
	return bench.Scenario{
		ID: "long-pages", Why: longWhy + "pages",
		Shapes: []bench.Shape{bench.S("page1-p2100", map[string]int{"tokens": 5, "page": 1, "pages": pages})},
		Change: func(_ bench.Gen, p *bench.Problem) error {
			p.Change("slot_mapping", func(i int, _ float64) float64 { return float64(pages - 1 - i) })
			sealMLAWrite(p)
			return nil
		},
	}
}

// longTables: requests, tokens, and a context of 131,072 tokens.
func longTables() bench.Scenario {
	return bench.Scenario{
		ID: "long", Why: longWhy + "requests, tokens, and a context of 131,072 tokens in 2,048 pages",
		Shapes: []bench.Shape{
			shape("mha", 64, req{1, 1 << 17}), shape("mha", 4, req{257, 300}, req{3, 5}), shape("mha", 4, many(260, 1, 5)...),
		},
	}
}

// longRequests: the last page of a request is as full as that of no request a tile before it, and slots are beyond
// 2^20.
func longRequests() bench.Scenario {
	var reqs []req
	for b := range 33 {
		reqs = append(reqs, req{1, 4 + b/11})
	}
	return bench.Scenario{
		ID: "long-slots", Why: longWhy + "slots beyond 2^20, and last pages of every fill",
		Shapes: []bench.Shape{shape("mha", 4, reqs...)},
		Change: bench.Each(func(_ int, v float64) float64 { return v + 1<<20 }, "req_to_token"),
	}
}

// longMasks: the same for masks.
func longMasks() bench.Scenario {
	return bench.Scenario{
		ID: "long", Why: longWhy + "tokens, and keys to 131,072",
		Shapes: []bench.Shape{
			shape("mha", 0, req{257, 300}), shape("mha", 0, req{1, 1 << 17}), shape("mha", 0, many(33, 1, 7)...),
		},
	}
}

// byName sorts rows that were made from a map: which rows run again in graph mode goes by their place.
func byName(rows []bench.Scenario) []bench.Scenario {
	slices.SortStableFunc(rows, func(a, b bench.Scenario) int {
		return strings.Compare(a.ID+a.Shapes[0].Name, b.ID+b.Shapes[0].Name)
	})
	return rows
}
