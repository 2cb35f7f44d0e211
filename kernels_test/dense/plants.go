package dense

import (
	"maps"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/bench/softmax"
	"github.com/assay-suite/assay/oracle/faults"
)

var (
	onGQA       = []string{"gqa_attention"}
	onAttention = []string{"gqa_attention", "mla_attention"}
	onWrite     = []string{"kv_write"}
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
	return replaced(func(contract string) map[string]bench.Kernel { return builtAttention(contract).kernels(edits...) })
}

// replacing is a fault of an operator that has no tolerance.
func replacing(name, class, effect, origin, op string, k bench.Kernel) bench.Plant {
	return bench.Plant{
		Name: name, Effect: effect, Origin: origin, Class: class, On: []string{op},
		Build: replaced(func(string) map[string]bench.Kernel { return map[string]bench.Kernel{op: k} }),
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
			e := func(l *launch) {
				l.span = func(b, i int) (lo, hi int) {
					lo, hi = f(l, b, i)
					lo, hi = max(lo, 0), min(hi, l.lens[b])
					return lo, max(hi, lo)
				}
			}
			return map[string]bench.Kernel{
				"gqa_attention": builtAttention(contract).gqa(e), "window_mask": masker{inOrder, span}.build,
			}
		})
	}
	windows := []string{"gqa_attention", "window_mask"}
	return []bench.Plant{
		bench.RowPlant(faults.S9, onGQA, edited(staleWorkspace)),
		bench.RowPlant(faults.S12, onAttention, edited(otherMaximum)),
		bench.RowPlant(faults.S13, []string{"mla_attention"}, bench.Builder(built).Before(func(c *bench.Call) {
			c.Attrs["mscale"] = 0.0
		})),
		bench.RowPlant(faults.M1, windows, windowed(func(l *launch, b, i int) (lo, hi int) {
			if l.left < 0 {
				return l.bounds(b, i)
			}
			return l.window(l.at(b, i), l.lens[b], l.left+1, l.left+1)
		})),
		bench.RowPlant(faults.M2, windows, windowed(func(l *launch, b, i int) (lo, hi int) {
			if l.left < 0 || l.lens[b] != l.indptr[b+1]-l.indptr[b] {
				return l.bounds(b, i) // the mask of a whole prompt
			}
			return l.window(l.at(b, i), l.lens[b], l.left+1, l.right)
		})),
		bench.RowPlant(faults.M4, windows, windowed(func(l *launch, b, i int) (lo, hi int) {
			if len(l.lens) < 1 || l.left < 0 {
				return l.bounds(b, i)
			}
			return l.window(l.at(b, i), l.lens[b], -1, l.right)
		})),
		bench.RowPlant(faults.M6, windows, windowed(func(l *launch, b, i int) (lo, hi int) {
			if l.left < 0 {
				return l.bounds(b, i)
			}
			return l.window(l.at(b, i), l.lens[b], l.left+1, l.right)
		})),
		bench.RowPlant(faults.G6, onAttention, edited(func(l *launch) {
			if !l.Has("page_table") {
				return
			}
			page, rows := l.Int("page_size"), l.row
			// Slots of single tokens, which the kernel takes for pages: it multiplies them once more.
			l.row = func(b, j int) int { return l.within(rows(b, j-j%page)*page + j%page) }
		})),
		bench.RowPlant(faults.G7, onAttention, edited(func(l *launch) {
			if !l.Has("page_table") {
				return
			}
			page, rows := l.Int("page_size"), l.row
			// Entry i of the table with one entry a token is the slot of token i.
			l.row = func(b, j int) int { return l.within(rows(b, j/page)*page + j%page) }
		})),
		bench.RowPlant(faults.G10, onWrite, replaced(func(string) map[string]bench.Kernel {
			w := newWriter()
			w.pool = func(bench.Args) []int { return nil }
			return map[string]bench.Kernel{"kv_write": w.write}
		})),
		bench.RowPlant(faults.G12, onAttention, bench.Builder(built).Before(tailTimesZero)),
		bench.RowPlant(faults.Q14, onGQA, edited(func(l *launch) {
			if l.Has("kv_indptr") {
				l.kScale, l.vScale = 1, 1
			}
		})),
		bench.RowPlant(faults.Q15, onGQA, edited(func(l *launch) {
			if l.Has("page_table") && len(l.q) > len(l.lens) {
				l.kScale, l.vScale = 1, 1
			}
		})),
		bench.RowPlant(faults.Q17, onAttention, edited(func(l *launch) {
			if l.DType("q") != bench.F32 && l.DType("q_nope") != bench.F32 && l.kScale == 1 {
				l.kScale = l.Num("k_scale")
			}
		})),
		bench.RowPlant(faults.Q19, onAttention, bench.Builder(built).Before(func(c *bench.Call) {
			if c.Phase == "decode" {
				c.Attrs["k_scale"], c.Attrs["v_scale"] = 1.0, 1.0
			}
		})),
		bench.RowPlant(faults.V3, onAttention, edited(func(l *launch) {
			if !l.Has("page_table") {
				return
			}
			rows, width := l.row, l.In("page_table").Dim(1)*l.Int("page_size")
			l.row = func(b, j int) int {
				if l.lens[b] > l.indptr[b+1]-l.indptr[b] {
					return l.within(b*width + j)
				}
				return rows(b, j)
			}
		})),
		bench.RowPlant(faults.V4, onAttention, edited(func(l *launch) {
			l.span = func(b, i int) (lo, hi int) { return l.window(i, l.lens[b], l.left, l.right) }
		})),
	}
}

// staleWorkspace: a request whose cached prefix is empty skips the pass over the prefix, and its rows of the scratch
// are merged as if that pass had written them.
func staleWorkspace(l *launch) {
	if !l.Has("workspace") {
		return
	}
	w, request := l.In("workspace"), make([]int, l.tokens)
	for b := range l.lens {
		for t := l.indptr[b]; t < l.indptr[b+1]; t++ {
			request[t] = b
		}
	}
	l.last = func(t, h int, s *softmax.State) {
		b := request[t]
		if l.lens[b] > l.indptr[b+1]-l.indptr[b] {
			return
		}
		row := w.Row(t)[h*(l.dv+1) : (h+1)*(l.dv+1)]
		*s = softmax.FP32().Merge(*s, softmax.State{Max: row[l.dv], Sum: 1, Acc: row[:l.dv]})
	}
}

// otherMaximum: the part with the causal diagonal comes from an algorithm that takes the maximum over its whole tile,
// the masked keys too, and reports that one beside a sum relative to the visible maximum.
func otherMaximum(l *launch) {
	l.part = func(b, i, h, split int, s *softmax.State) {
		_, hi := l.span(b, i)
		if split == 0 || split != l.splits-1 {
			return
		}
		q, g := l.q[l.indptr[b]+i][h*l.d:(h+1)*l.d], l.head(h)
		for j := hi; j < l.lens[b]; j++ {
			k := l.k[l.row(b, j)][g*l.d : (g+1)*l.d]
			s.Max = max(s.Max, float64(bench.DotSequential(q, k))*l.scale*l.kScale)
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
