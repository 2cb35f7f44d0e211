package dense

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// sight lists for every query the logical keys that it sees, by the words of the mask taken one by one, and its
// request. Padding rows see nothing and belong to request -1.
func sight(p bench.Problem, rows int, indptr, lens []int) (seen [][]int, request []int) {
	causal, left, right := p.Attrs.Flag("causal"), -1, -1
	if _, ok := p.Attrs["window_left"]; ok {
		left, right = p.Attrs.Int("window_left"), p.Attrs.Int("window_right")
	}
	seen, request = make([][]int, rows), make([]int, rows)
	for t := range request {
		request[t] = -1
	}
	for b, n := range lens {
		from, to := indptr[b], indptr[b+1]
		for t := from; t < to; t++ {
			at := n - (to - from) + (t - from)
			request[t] = b
			for j := range n {
				switch {
				case causal && j > at:
				case left >= 0 && j < at-left:
				case right >= 0 && j > at+right:
				default:
					seen[t] = append(seen[t], j)
				}
			}
		}
	}
	return seen, request
}

// physical turns logical keys into rows of the cache, paged or ragged.
func physical(p bench.Problem, seen [][]int, request []int) ([][]int, error) {
	out := make([][]int, len(seen))
	if from, ok := p.Operands["kv_indptr"]; ok {
		for t, js := range seen {
			for _, j := range js {
				out[t] = append(out[t], int(from.Values[request[t]])+j)
			}
		}
		return out, nil
	}
	table, page := p.In("page_table"), p.Attrs.Int("page_size")
	entries, width := table.Ints(), table.Dim(1)
	for t, js := range seen {
		for _, j := range js {
			at, err := oracle.PageSlot(entries[request[t]*width:(request[t]+1)*width], page, j)
			if err != nil {
				return nil, err
			}
			out[t] = append(out[t], at)
		}
	}
	return out, nil
}

// lengths are the requests' numbers of keys.
func lengths(p bench.Problem) []int {
	if from, ok := p.Operands["kv_indptr"]; ok {
		var out []int
		for b := range len(from.Values) - 1 {
			out = append(out, int(from.Values[b+1]-from.Values[b]))
		}
		return out
	}
	return p.In("seq_lens").Ints()
}

// heads is attention in one form: rows of a cache as matrices, the scales apart.
type heads struct {
	gqa      oracle.GQAInput
	lse      oracle.LSEForm
	request  []int
	out      numerics.Contract
	wantsLSE bool
	arith    numerics.Arith
	unitP    float64
}

// arithmetic of a contract: sums of bf16 products may truncate (tensor cores), hence twice the unit roundoff.
func arithmetic(c numerics.Contract) (a numerics.Arith, unitP float64) {
	a = numerics.FP32()
	if c.Name != "fp32" {
		a.U *= 2
	}
	if c.Mid.Name != "" {
		unitP = c.Mid.U()
	}
	return a, unitP
}

// mostSplits is how many parts, or rescalings of an online softmax, a row of n keys may be cut into: one for each key.
func mostSplits(n int) int { return max(n, 1) }

// expected is o and lse with their bounds. only tells which queries are judged by them; of the others, o lies between
// the smallest and the largest value that it may see. nil judges all.
func (h heads) expected(only func(t int) bool) ([]bench.Expected, error) {
	in := h.gqa
	t, heads, dv := in.Q.Rows, in.Heads, in.V.Cols/in.KVHeads
	judged := in
	if only != nil {
		judged.Rows = make([][]int, t)
		for i := range t {
			if only(i) {
				judged.Rows[i] = in.Rows[i]
			}
		}
	}
	want, lse, err := oracle.GQA(judged, h.lse)
	if err != nil {
		return nil, err
	}
	o := bench.Expected{
		Name: "o", Shape: []int{t, heads, dv}, Axes: []string{"query", "head", "channel"}, Want: want.Data,
		Bound: make([]float64, t*heads*dv), Free: make([]bool, t*heads*dv),
		Derivation: "scores within their dot products' bounds, weights in any tiling and number of splits, one rounding to " +
			"the output",
	}
	l := bench.Expected{
		Name: "lse", Shape: []int{t, heads}, Axes: []string{"query", "head"}, Want: lse.Data, Bound: make([]float64, t*heads),
		Free:       make([]bool, t*heads),
		Derivation: "the largest bound of a score, the sum of exponentials in any order, the logarithm",
	}
	for i := range t {
		for head := range heads {
			n := i*heads + head
			row := o.Bound[n*dv : (n+1)*dv]
			switch {
			case h.request[i] < 0:
				l.Free[n] = true
				for c := range row {
					o.Free[n*dv+c] = true
				}
			case only != nil && !only(i):
				l.Want[n], l.Bound[n] = 0, math.MaxFloat32
				most := h.reach(i, head)
				for c := range row {
					row[c] = most
				}
			default:
				ob, lb := h.bounds(i, head)
				for c := range row {
					if ob != nil {
						row[c] = ob[c].E + bench.OutTerm(h.out, o.Want[n*dv+c], ob[c].E)
					}
				}
				l.Bound[n] = lb.E
			}
		}
	}
	if !h.wantsLSE {
		return []bench.Expected{o}, nil
	}
	return []bench.Expected{o, l}, nil
}

// reach is the largest magnitude among the values that a query sees: o is a mean of them.
func (h heads) reach(t, head int) float64 {
	in, most := h.gqa, 0.0
	dv := in.V.Cols / in.KVHeads
	g := head * in.KVHeads / in.Heads
	for _, s := range in.Rows[t] {
		for _, v := range in.V.Row(s)[g*dv : (g+1)*dv] {
			most = max(most, math.Abs(v))
		}
	}
	return most * scaleOf(in.VScale, g) * (1 + 1.0/64)
}

// scaleOf is that of a key-value head: its own, the one of all, or none.
func scaleOf(scale []float64, g int) float64 {
	switch len(scale) {
	case 0:
		return 1
	case 1:
		return scale[0]
	}
	return scale[g]
}

// bounds of one query and head. A score is the dot product (γ of its d products) times the scales, which may be folded
// into one another and into q, with log2 e, in up to six roundings; v_scale may go into values, weights or the result.
func (h heads) bounds(t, head int) ([]numerics.Tracked, numerics.Tracked) {
	in, a := h.gqa, h.arith
	d, dv := in.Q.Cols/in.Heads, in.V.Cols/in.KVHeads
	g := head * in.KVHeads / in.Heads
	q := in.Q.Row(t)[head*d : (head+1)*d]
	scale, vScale := in.Scale*scaleOf(in.KScale, g), scaleOf(in.VScale, g)
	gamma := numerics.Gamma(d+6, a.U)
	terms := numerics.AttentionTerms{UP: h.unitP, Splits: mostSplits(len(in.Rows[t]))}
	for _, s := range in.Rows[t] {
		var z, abs float64
		for c, k := range in.K.Row(s)[g*d : (g+1)*d] {
			z += q[c] * k
			abs += math.Abs(q[c] * k)
		}
		score := numerics.Tracked{X: scale * z, E: scale*abs*gamma + float64(d)*a.Tiny*max(scale, 1)}
		if c := numerics.Exact(in.SoftCap); c.X > 0 {
			score = a.Mul(a.Tanh(a.Div(score, c)), c)
		}
		terms.Scores = append(terms.Scores, score)
		row := make([]numerics.Tracked, dv)
		for c, v := range in.V.Row(s)[g*dv : (g+1)*dv] {
			row[c] = numerics.Tracked{X: v * vScale, E: 2*a.U*math.Abs(v*vScale) + a.Tiny}
		}
		terms.V = append(terms.V, row)
	}
	lse := a.LSEBound(terms.Scores, a.U)
	if h.lse.Base2 {
		lse = numerics.Tracked{X: lse.X * math.Log2E, E: lse.E*math.Log2E + 2*a.U*math.Abs(lse.X)*math.Log2E}
	}
	if len(terms.Scores) == 0 {
		return nil, numerics.Tracked{}
	}
	if in.Sink != nil {
		terms.Sinks = []numerics.Tracked{{X: in.Sink[head], E: 2 * a.U * math.Abs(in.Sink[head])}}
	}
	o := a.Attention(terms)
	for c := range o {
		o[c].E += 2 * a.U * math.Abs(o[c].X) // v_scale on the result
	}
	return o, lse
}

// folded is a cache [P, page, ...] as rows [P·page, ...].
func folded(x bench.Tensor) oracle.Mat {
	return bench.Tensor{Shape: append([]int{x.Dim(0) * x.Dim(1)}, x.Shape[2:]...), Data: x.Data}.Mat()
}

// expectGQA: the values are oracle.GQA's over the rows that sight and the page table give.
func expectGQA(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	q := p.In("q")
	seen, request := sight(p, q.Dim(0), p.In("qo_indptr").Ints(), lengths(p))
	rows, err := physical(p, seen, request)
	if err != nil {
		return nil, err
	}
	k, v := p.In("k"), p.In("v")
	in := oracle.GQAInput{Q: q.Mat(), Heads: q.Dim(1), Rows: rows, Scale: p.Attrs.Num("softmax_scale"), KVHeads: k.Dim(1)}
	if _, paged := p.Operands["k_cache"]; paged {
		k, v = p.In("k_cache"), p.In("v_cache")
		in.K, in.V, in.KVHeads = folded(k), folded(v), k.Dim(2)
	} else {
		in.K, in.V = k.Mat(), v.Mat()
	}
	if c.Contract.Name == "fp8-kv" {
		in.KScale, in.VScale = []float64{p.Attrs.Num("k_scale")}, []float64{p.Attrs.Num("v_scale")}
	}
	if p.Attrs.Word("kv_scales") == "head" {
		in.KScale, in.VScale = p.Operands["k_scales"].Values, p.Operands["v_scales"].Values
	}
	in.SoftCap = p.Attrs.Num("logit_softcap")
	if sink, ok := p.Operands["sink"]; ok {
		in.Sink = sink.Values
	}
	_, wantsLSE := p.Outputs["lse"]
	a, unitP := arithmetic(c.Contract)
	h := heads{gqa: in, lse: form(p), request: request, out: c.Contract, wantsLSE: wantsLSE, arith: a, unitP: unitP}
	return h.expected(sampled(c, q.Dim(0)))
}

func form(p bench.Problem) oracle.LSEForm {
	return oracle.LSEForm{Base2: p.Attrs.Word("lse_base") == "2"}
}

// sampled are the queries of a production-size row that the oracle judges: its edges and every seventh. nil is all.
func sampled(c bench.Case, rows int) func(int) bool {
	if !c.Scenario.Full {
		return nil
	}
	return func(t int) bool { return t < 2 || t >= rows-2 || t%7 == 3 }
}
