package dense

import (
	"maps"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle/faults"
)

var (
	onGQA       = []string{"gqa_attention"}
	onAttention = []string{"gqa_attention", "mla_attention"}
	onWrite     = []string{"kv_write"}
	onTable     = []string{"page_table"}
	onMask      = []string{"window_mask"}
)

// plants are the catalogue's rows of this suite and faults of its own.
func plants() []bench.Plant {
	return slices.Concat(rowPlants(), ownPlants(), exactPlants(), rowWriterPlants())
}

// replaced builds the contract's own candidate with some kernels replaced.
func replaced(by func(contract string) map[string]bench.Kernel) func(string) (bench.Candidate, error) {
	return func(contract string) (bench.Candidate, error) {
		k, err := builtKernels(contract)
		if err != nil {
			return nil, err
		}
		maps.Copy(k, by(contract))
		return bench.FromKernels("faulty", k), nil
	}
}

// edited is attention whose calls are edited before they run.
func edited(edits ...edit) func(string) (bench.Candidate, error) {
	return replaced(func(contract string) map[string]bench.Kernel {
		st := builtStyle(contract)
		return map[string]bench.Kernel{
			"gqa_attention": attention[float32](st, edits...), "mla_attention": latent[float32](st, edits...),
		}
	})
}

// before is the contract's own candidate, which sees a changed call.
func before(f func(c *bench.Call)) func(string) (bench.Candidate, error) {
	return func(contract string) (bench.Candidate, error) {
		under, err := built(contract)
		return bench.Before(under, f), err
	}
}

// fromRow is the plant of a row of the catalogue.
func fromRow(id string, on []string, build func(string) (bench.Candidate, error)) bench.Plant {
	row, err := faults.ByRow(id)
	if err != nil {
		return bench.Plant{Name: id, Effect: err.Error(), Row: id, On: on, Build: build}
	}
	return bench.Plant{
		Name:   row.Slug,
		Effect: row.Effect,
		Origin: row.Origin,
		Row:    id,
		Class:  row.Class,
		On:     on,
		Build:  build,
	}
}

// within brings a row that a faulty address names back into the cache.
func (l *launch) within(row int) int { return row % max(len(l.k), 1) }

// rowPlants are the rows of the catalogue that this suite kills.
func rowPlants() []bench.Plant {
	windowed := func(f func(l *launch, b, i int) (lo, hi int)) func(string) (bench.Candidate, error) {
		span := func(l *launch, p, n, q int) (lo, hi int) {
			m := *l
			m.indptr, m.lens = []int{0, q}, []int{n}
			lo, hi = f(&m, 0, p-n+q)
			return max(lo, 0), max(min(hi, n), 0)
		}
		return replaced(func(contract string) map[string]bench.Kernel {
			st := builtStyle(contract)
			e := func(_ bench.Args, l *launch) {
				l.span = func(b, i int) (lo, hi int) {
					lo, hi = f(l, b, i)
					lo, hi = max(lo, 0), min(hi, l.lens[b])
					return lo, max(hi, lo)
				}
			}
			return map[string]bench.Kernel{"gqa_attention": attention[float32](st, e), "window_mask": masking(span, false)}
		})
	}
	windows := []string{"gqa_attention", "window_mask"}
	return []bench.Plant{
		fromRow("S9", onGQA, edited(staleWorkspace)),
		fromRow("S12", onAttention, edited(otherMaximum)),
		fromRow("S13", []string{"mla_attention"}, before(func(c *bench.Call) { c.Attrs["mscale"] = 0.0 })),
		fromRow("M1", windows, windowed(func(l *launch, b, i int) (lo, hi int) {
			if l.left < 0 {
				return l.bounds(b, i)
			}
			return l.window(l.at(b, i), l.lens[b], l.left+1, l.left+1)
		})),
		fromRow("M2", windows, windowed(func(l *launch, b, i int) (lo, hi int) {
			if l.left < 0 || l.lens[b] != l.indptr[b+1]-l.indptr[b] {
				return l.bounds(b, i) // the mask of a whole prompt
			}
			return l.window(l.at(b, i), l.lens[b], l.left+1, l.right)
		})),
		fromRow("M4", windows, windowed(func(l *launch, b, i int) (lo, hi int) {
			if len(l.lens) < 1 || l.left < 0 {
				return l.bounds(b, i)
			}
			return l.window(l.at(b, i), l.lens[b], -1, l.right)
		})),
		fromRow("M6", windows, windowed(func(l *launch, b, i int) (lo, hi int) {
			if l.left < 0 {
				return l.bounds(b, i)
			}
			return l.window(l.at(b, i), l.lens[b], l.left+1, l.right)
		})),
		fromRow("G6", onAttention, edited(func(a bench.Args, l *launch) {
			if !a.Has("page_table") {
				return
			}
			page, rows := a.Int("page_size"), l.row
			// Slots of single tokens, which the kernel takes for pages: it multiplies them once more.
			l.row = func(b, j int) int { return l.within(rows(b, j-j%page)*page + j%page) }
		})),
		fromRow("G7", onAttention, edited(func(a bench.Args, l *launch) {
			if !a.Has("page_table") {
				return
			}
			page, rows := a.Int("page_size"), l.row
			// Entry i of the table with one entry a token is the slot of token i.
			l.row = func(b, j int) int { return l.within(rows(b, j/page)*page + j%page) }
		})),
		fromRow("G10", onWrite, replaced(func(string) map[string]bench.Kernel {
			return map[string]bench.Kernel{"kv_write": write(writing{otherPool: true})}
		})),
		fromRow("G12", onAttention, before(tailTimesZero)),
		fromRow("Q14", onGQA, edited(func(a bench.Args, l *launch) {
			if a.Has("kv_indptr") {
				l.kScale, l.vScale = 1, 1
			}
		})),
		fromRow("Q15", onGQA, edited(func(a bench.Args, l *launch) {
			if a.Has("page_table") && len(l.q) > len(l.lens) {
				l.kScale, l.vScale = 1, 1
			}
		})),
		fromRow("Q17", onAttention, edited(func(a bench.Args, l *launch) {
			if a.DType("q") != bench.F32 && a.DType("q_nope") != bench.F32 && l.kScale == 1 {
				l.kScale = a.Num("k_scale")
			}
		})),
		fromRow("Q19", onAttention, before(func(c *bench.Call) {
			if c.Phase == "decode" {
				c.Attrs["k_scale"], c.Attrs["v_scale"] = 1.0, 1.0
			}
		})),
		fromRow("V3", onAttention, edited(func(a bench.Args, l *launch) {
			if !a.Has("page_table") {
				return
			}
			rows, width := l.row, a.In("page_table").Dim(1)*a.Int("page_size")
			l.row = func(b, j int) int {
				if l.lens[b] > l.indptr[b+1]-l.indptr[b] {
					return l.within(b*width + j)
				}
				return rows(b, j)
			}
		})),
		fromRow("V4", onAttention, edited(func(_ bench.Args, l *launch) {
			l.span = func(b, i int) (lo, hi int) { return l.window(i, l.lens[b], l.left, l.right) }
		})),
	}
}

// staleWorkspace: a request whose cached prefix is empty skips the pass over the prefix, and its rows of the scratch
// are merged as if that pass had written them.
func staleWorkspace(a bench.Args, l *launch) {
	if !a.Has("workspace") {
		return
	}
	w, request := a.In("workspace"), make([]int, l.tokens)
	for b := range l.lens {
		for t := l.indptr[b]; t < l.indptr[b+1]; t++ {
			request[t] = b
		}
	}
	l.last = func(t, h int, s *state) {
		b := request[t]
		if l.lens[b] > l.indptr[b+1]-l.indptr[b] {
			return
		}
		row := w.Row(t)[h*(l.dv+1) : (h+1)*(l.dv+1)]
		if s.acc == nil {
			s.acc = make([]float64, l.dv)
		}
		merge[float32](s, state{m: row[l.dv], l: 1, acc: row[:l.dv]}, style{})
	}
}

// otherMaximum: the part with the causal diagonal comes from an algorithm that takes the maximum over its whole tile,
// the masked keys too, and reports that one beside a sum relative to the visible maximum.
func otherMaximum(_ bench.Args, l *launch) {
	l.part = func(b, i, h, split int, s *state) {
		_, hi := l.span(b, i)
		if !s.last || split == 0 {
			return
		}
		q, g := l.q[l.indptr[b]+i][h*l.d:(h+1)*l.d], l.head(h)
		for j := hi; j < l.lens[b]; j++ {
			k := l.k[l.row(b, j)][g*l.d : (g+1)*l.d]
			s.m = max(s.m, float64(dot(convert[float32](q), k, 1))*l.scale*l.kScale)
		}
	}
}

// tailTimesZero reads the last page of each request whole: unused slots enter the values' sum times 0.
func tailTimesZero(c *bench.Call) {
	lens, table := c.Views["seq_lens"], c.Views["page_table"]
	name := "v_cache"
	if _, ok := c.Views["ckv_cache"]; ok {
		name = "ckv_cache"
	}
	v, ok := c.Views[name]
	page, _ := c.Attrs["page_size"].(float64)
	if !ok || len(table.Shape) == 0 {
		return
	}
	data := c.Storage[v.Storage].Data
	for b := range lens.Shape[0] {
		n := int(c.Storage[lens.Storage].Data[lens.Offset+b*lens.Strides[0]])
		if n == 0 || n%int(page) == 0 {
			continue
		}
		id := int(c.Storage[table.Storage].Data[table.Offset+b*table.Strides[0]+(n/int(page))*table.Strides[1]])
		at := v.Offset + id*v.Strides[0]
		for j := n % int(page); j < int(page); j++ {
			data[at+(n%int(page)-1)*v.Strides[1]] += 0 * data[at+j*v.Strides[1]]
		}
	}
}
