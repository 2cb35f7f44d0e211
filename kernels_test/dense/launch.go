package dense

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/bench/softmax"
)

// launch is an attention call as a kernel sees it, paged or ragged, grouped or latent.
type launch struct {
	bench.Args
	heads, groups, d, dv int
	tokens               int         // rows of the outputs
	q, k, v              [][]float64 // [T] of H·D, [rows] of G·D and G·DV
	indptr, lens         []int
	sink                 []float64
	scale, kScale        float64
	vScale               float64
	kHead, vHead         []float64 // [G] in place of kScale and vScale, nil where there are none
	cap                  float64   // of the scores, 0 for none
	causal               bool
	left, right, splits  int
	base2                bool

	row  func(b, j int) int          // where token j of request b lies
	span func(b, i int) (lo, hi int) // keys of query i of request b
	head func(h int) int             // the key-value head of a query head

	// hooks of faults, nil in a correct kernel
	part func(b, i, h, split int, s *softmax.State) // the state of a part, before it is merged
	last func(t, h int, s *softmax.State)           // the state of a row, before it is divided
	skip func(b, i int) bool                        // queries whose outputs stay as they are
}

// edit is what a faulty kernel does to a call before it runs.
type edit func(l *launch)

// gqa and mla are the operators.
func (k attention[F]) gqa(edits ...edit) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) { return k.run(a, gqaLaunch(a), edits) }
}

func (k attention[F]) mla(edits ...edit) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) { return k.run(a, mlaLaunch(a), edits) }
}

// kernels are both operators.
func (k attention[F]) kernels(edits ...edit) map[string]bench.Kernel {
	return map[string]bench.Kernel{"gqa_attention": k.gqa(edits...), "mla_attention": k.mla(edits...)}
}

func (k attention[F]) run(a bench.Args, l *launch, edits []edit) (bench.Results, error) {
	for _, e := range edits {
		e(l)
	}
	out := bench.Results{"o": a.Fresh("o")}
	var lse []float64
	if a.Wants("lse") {
		lse = a.Fresh("lse")
		out["lse"] = lse
	}
	k.attend(l, out["o"], lse)
	return out, nil
}

// common is what both operators share. fp8 tells whether the cache has scales.
func common(a bench.Args, fp8 bool) *launch {
	l := &launch{
		Args: a, indptr: a.In("qo_indptr").Ints(), kScale: 1, vScale: 1, causal: a.Flag("causal"), left: -1, right: -1,
		splits: a.Int("num_splits"), base2: a.Word("lse_base") == "2", tokens: a.Out("o").Shape[0],
	}
	if fp8 {
		l.kScale, l.vScale = a.Num("k_scale"), a.Num("v_scale")
	}
	if a.Has("page_table") {
		l.lens = a.In("seq_lens").Ints()
		table, page := a.In("page_table"), a.Int("page_size")
		width, entries := table.Dim(1), table.Ints()
		l.row = func(b, j int) int { return entries[b*width+j/page]*page + j%page }
	}
	l.span = l.bounds
	l.head = func(h int) int { return h / (l.heads / l.groups) }
	return l
}

// keyScale and valueScale are those of a key-value head.
func (l *launch) keyScale(g int) float64 {
	if l.kHead != nil {
		return l.kHead[g]
	}
	return l.kScale
}

func (l *launch) valueScale(g int) float64 {
	if l.vHead != nil {
		return l.vHead[g]
	}
	return l.vScale
}

// at is the position of a query.
func (l *launch) at(b, i int) int { return l.lens[b] - (l.indptr[b+1] - l.indptr[b]) + i }

// bounds are the keys of a query as a range.
func (l *launch) bounds(b, i int) (lo, hi int) {
	return l.window(l.at(b, i), l.lens[b], l.left, l.right)
}

// window is the range that a query at position p sees of n keys.
func (l *launch) window(p, n, left, right int) (lo, hi int) {
	hi = n
	if l.causal {
		hi = min(hi, p+1)
	}
	if right >= 0 {
		hi = min(hi, p+right+1)
	}
	if left >= 0 {
		lo = max(lo, p-left)
	}
	return lo, max(hi, lo)
}

func gqaLaunch(a bench.Args) *launch {
	keys, values := "k", "v"
	if a.Has("k_cache") {
		keys, values = "k_cache", "v_cache"
	}
	l := common(a, a.DType(keys) == bench.E4M3)
	q, k, v := a.In("q"), a.In(keys), a.In(values)
	axes := len(k.Shape)
	l.heads, l.groups, l.d, l.dv = q.Dim(1), k.Dim(axes-2), q.Dim(2), v.Dim(axes-1)
	l.q, l.k, l.v = rowsOf(q, 1), rowsOf(k, axes-2), rowsOf(v, axes-2)
	l.scale, l.left, l.right = a.Num("softmax_scale"), a.Int("window_left"), a.Int("window_right")
	l.cap = a.Num("logit_softcap")
	if a.Word("kv_scales") == "head" {
		l.kHead, l.vHead = a.In("k_scales").Data, a.In("v_scales").Data
	}
	if a.Has("sink") {
		l.sink = a.In("sink").Data
	}
	if a.Has("kv_indptr") {
		from := a.In("kv_indptr").Ints()
		for b := range len(from) - 1 {
			l.lens = append(l.lens, from[b+1]-from[b])
		}
		l.row = func(b, j int) int { return from[b] + j }
	}
	return l
}

// mlaLaunch joins latent and rotated part to one key; the latent alone is the value.
func mlaLaunch(a bench.Args) *launch {
	l := common(a, a.DType("ckv_cache") == bench.E4M3)
	l.vScale = l.kScale
	qn, qp, c, r := a.In("q_nope"), a.In("q_pe"), a.In("ckv_cache"), a.In("kpe_cache")
	l.heads, l.groups, l.d, l.dv = qn.Dim(1), 1, qn.Dim(2)+qp.Dim(2), c.Dim(2)
	nope, pe := rowsOf(qn, 2), rowsOf(qp, 2)
	for t := range qn.Dim(0) {
		var row []float64
		for h := range l.heads {
			row = append(append(row, nope[t*l.heads+h]...), pe[t*l.heads+h]...)
		}
		l.q = append(l.q, row)
	}
	l.v = rowsOf(c, 2)
	for i, row := range rowsOf(r, 2) {
		l.k = append(l.k, append(append([]float64{}, l.v[i]...), row...))
	}
	m := 1.0
	if f := a.Num("rope_factor"); f > 1 {
		m = 0.1*a.Num("mscale")*math.Log(f) + 1
	}
	l.scale = m * m / math.Sqrt(a.Num("qk_nope_head_dim")+float64(qp.Dim(2)))
	return l
}

// rowsOf cuts a tensor into rows of all dimensions from d on.
func rowsOf(x bench.Tensor, d int) [][]float64 {
	n, width := 1, 1
	for i, s := range x.Shape {
		if i < d {
			n *= s
		} else {
			width *= s
		}
	}
	out := make([][]float64, n)
	for i := range out {
		out[i] = x.Data[i*width : (i+1)*width]
	}
	return out
}
