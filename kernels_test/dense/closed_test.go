package dense

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// casesOf are the cases of a row: their IDs begin with kernels/ and this.
func casesOf(t *testing.T, prefix string) []bench.Case {
	t.Helper()
	var out []bench.Case
	for _, c := range Suite().Cases() {
		if strings.HasPrefix(c.ID, "kernels/"+prefix) {
			out = append(out, c)
		}
	}
	require.NotEmpty(t, out, prefix)
	return out
}

func ready(t *testing.T, c bench.Case) (bench.Problem, map[string]bench.Expected) {
	t.Helper()
	b, err := bench.New(c)
	require.NoError(t, err)
	out := map[string]bench.Expected{}
	for _, e := range b.Expected {
		out[e.Name] = e
	}
	return b.Problem(), out
}

// equal12 is agreement of two float64 evaluations of some dozen operations on hundreds of terms: 12 digits of the
// larger magnitude, 1 at least.
func equal12(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b))
}

// Uniform scores: lse is the logarithm of the number of keys, min(p, window_left) + 1 of them, and o the mean of the
// values in the window, with the sink as one more key of value 0 and weight e^sink. Keys and pages are counted here by
// hand.
func TestIndexCodedClosedForm(t *testing.T) {
	for _, c := range casesOf(t, "gqa-attention/index-coded/") {
		p, want := ready(t, c)
		q, indptr, left := p.In("q"), p.In("qo_indptr").Ints(), p.Attrs.Int("window_left")
		value, groups := reader(p)
		scale := 1.0
		if c.Contract.Name == "fp8-kv" {
			scale = p.Attrs.Num("v_scale")
		}
		dv := p.Outputs["o"].Shape[2]
		for b, n := range lengths(p) {
			for i := range indptr[b+1] - indptr[b] {
				at, row := n-(indptr[b+1]-indptr[b])+i, indptr[b]+i
				keys := min(at, left) + 1
				for h := range q.Dim(1) {
					if got := want["lse"].Want[row*q.Dim(1)+h]; !equal12(got, math.Log2(float64(keys))) {
						t.Fatalf("%s: query %d has lse %v, want log2 of %d keys", c.ID, row, got, keys)
					}
					sum := 0.0
					for j := at - keys + 1; j <= at; j++ {
						sum += value(b, j, h*groups/q.Dim(1), 3)
					}
					mean := sum * scale / (float64(keys) + math.Exp(p.Operands["sink"].Values[h]))
					if got := want["o"].Want[(row*q.Dim(1)+h)*dv+3]; !equal12(got, mean) {
						t.Fatalf("%s: query %d, head %d has %v, want %v", c.ID, row, h, got, mean)
					}
				}
			}
		}
	}
}

// reader reads element c of the value of key j of request b, group g.
func reader(p bench.Problem) (read func(b, j, g, c int) float64, groups int) {
	if v, ok := p.Operands["v"]; ok {
		from := p.In("kv_indptr").Ints()
		return func(b, j, g, c int) float64 {
			return v.Values[((from[b]+j)*v.Shape[1]+g)*v.Shape[2]+c]
		}, v.Shape[1]
	}
	v, table := p.Operands["v_cache"], p.In("page_table")
	page := v.Shape[1]
	return func(b, j, g, c int) float64 {
		id := int(table.Row(b)[j/page])
		return v.Values[((id*page+j%page)*v.Shape[2]+g)*v.Shape[3]+c]
	}, v.Shape[2]
}

// One key: o is v_scale·v but for the sink's share, lse the score.
func TestOneKeyClosedForm(t *testing.T) {
	for _, c := range casesOf(t, "gqa-attention/one-key/") {
		p, want := ready(t, c)
		q, k := p.In("q"), p.In("k")
		scale, vScale := p.Attrs.Num("softmax_scale"), 1.0
		if c.Contract.Name == "fp8-kv" {
			scale *= p.Attrs.Num("k_scale")
			vScale = 0.5
		}
		read, groups := reader(p)
		d := q.Dim(2)
		for b := range 2 {
			for h := range q.Dim(1) {
				g := h * groups / q.Dim(1)
				z := 0.0
				for i := range d {
					z += q.Row(b)[h*d+i] * k.Row(b)[g*d+i]
				}
				z *= scale
				got, o := want["lse"].Want[b*q.Dim(1)+h], want["o"].Want[(b*q.Dim(1)+h)*p.Outputs["o"].Shape[2]+1]
				if !equal12(got, z*math.Log2E) ||
					!equal12(o, vScale*read(b, 0, g, 1)/(1+math.Exp(p.Operands["sink"].Values[h]-z))) {
					t.Errorf("%s: request %d, head %d: lse %v, o %v", c.ID, b, h, got, o)
				}
			}
		}
	}
}

// Multi-head latent attention over expanded keys and values, head by head, is what the operator expects between the two
// up-projections.
func TestMLAIsExpandedAttention(t *testing.T) {
	g := bench.Gen{
		Rand:     suite.Rand("dense/mla"),
		Shape:    shape("mla-nano", 4, req{3, 9}, req{2, 6}),
		Contract: numerics.Contract{Name: "fp32"},
	}
	p, err := drawMLA(g)
	require.NoError(t, err)
	const heads, nope, rope, rank, values, rows = 4, 32, 16, 48, 20, 5
	mat := func(r, c int) oracle.Mat { return oracle.Mat{Rows: r, Cols: c, Data: g.Normal(r*c, 0.3)} }
	m := oracle.MLA{
		Heads: heads, Nope: nope, Rope: rope, Values: values, KUp: mat(heads*nope, rank), VUp: mat(heads*values, rank),
		Scale: oracle.MLAScale(nope+rope, 40, 0.707),
	}
	q := mat(rows, heads*(nope+rope))
	absorbed := m.Absorb(q)
	for i := range rows * heads {
		copy(p.Operands["q_nope"].Values[i*rank:(i+1)*rank], absorbed.Data[i*(rank+rope):])
		copy(p.Operands["q_pe"].Values[i*rope:(i+1)*rope], absorbed.Data[i*(rank+rope)+rank:])
	}
	got, err := expectMLA(bench.Case{Family: mlaAttention, Contract: g.Contract}, p)
	require.NoError(t, err)
	in := oracle.MLAInput{Q: q, Latent: folded(p.In("ckv_cache")), KRope: folded(p.In("kpe_cache"))}
	table := p.In("page_table")
	for _, at := range [][2]int{{0, 6}, {0, 7}, {0, 8}, {1, 4}, {1, 5}} {
		var list []int
		for j := range at[1] + 1 {
			list = append(list, int(table.Row(at[0])[j/4])*4+j%4)
		}
		in.Rows = append(in.Rows, list)
	}
	o, lse := m.Expanded(in)
	u := m.Expand(oracle.Mat{Rows: rows, Cols: heads * rank, Data: got[0].Want})
	for i, v := range o.Data {
		if !equal12(v, u.Data[i]) {
			t.Fatalf("element %d of o: %v, expanded %v", i, u.Data[i], v)
		}
	}
	for i, v := range lse.Data {
		if !equal12(v, got[1].Want[i]) {
			t.Fatalf("element %d of lse: %v, expanded %v", i, got[1].Want[i], v)
		}
	}
}

// The bounds are around the oracle's values: the Tracked evaluation, written apart from it, gives the same.
func TestBoundsAreAroundTheOracle(t *testing.T) {
	c := casesOf(t, "gqa-attention/extend/odd")[0]
	p, want := ready(t, c)
	seen, request := sight(p, p.In("q").Dim(0), p.In("qo_indptr").Ints(), lengths(p))
	rows, err := physical(p, seen, request)
	require.NoError(t, err)
	h := heads{gqa: oracle.GQAInput{
		Q: p.In("q").Mat(), Heads: 6, KVHeads: 3, K: p.In("k").Mat(), V: p.In("v").Mat(), Rows: rows,
		Sink: p.Operands["sink"].Values, Scale: p.Attrs.Num("softmax_scale"),
	}, lse: form(p), arith: numerics.FP32()}
	if c.Contract.Name == "fp8-kv" {
		h.gqa.KScale, h.gqa.VScale = []float64{p.Attrs.Num("k_scale")}, []float64{p.Attrs.Num("v_scale")}
	}
	for i := range rows {
		for head := range 6 {
			o, lse := h.bounds(i, head)
			if !equal12(lse.X, want["lse"].Want[i*6+head]) {
				t.Fatalf("query %d, head %d: lse %v, oracle %v", i, head, lse.X, want["lse"].Want[i*6+head])
			}
			for d, v := range o {
				if w := want["o"].Want[(i*6+head)*len(o)+d]; !equal12(v.X, w) {
					t.Fatalf("query %d, head %d, channel %d: %v, oracle %v", i, head, d, v.X, w)
				}
			}
		}
	}
}

// A stored code is the nearest of all that e4m3 has; the other neighbour of a tie is admitted and nothing else.
func TestWrittenCodesAreNearest(t *testing.T) {
	var codes []float64
	for c := range 256 {
		if v := format.E4M3FN.Decode(uint32(c)); !math.IsNaN(v) {
			codes = append(codes, v)
		}
	}
	slices.Sort(codes)
	stored := 0
	for _, c := range casesOf(t, "kv-write/") {
		if c.Contract.Name != "fp8-kv" {
			continue
		}
		p, want := ready(t, c)
		x, e := p.In("k"), want["k_cache"]
		width := len(x.Data) / max(x.Dim(0), 1)
		for i := range x.Dim(0) {
			at := target(p, i)
			if at < 0 {
				continue
			}
			for d, v := range x.Row(i) {
				y, nearest := v/p.Attrs.Num("k_scale"), math.Inf(1)
				for _, code := range codes {
					nearest = min(nearest, math.Abs(y-code))
				}
				if got := e.Want[at*width+d]; math.Abs(y-got) > nearest {
					t.Fatalf("%s: %v / k_scale is stored as %v, which is not the nearest code", c.ID, v, got)
				}
				if e.Bound[at*width+d] > 0 && math.Abs(math.Abs(y-e.Want[at*width+d])-e.Bound[at*width+d]/2) > 1e-6*math.Abs(y) {
					t.Fatalf("%s: %v / k_scale is no tie and has a bound of %v", c.ID, v, e.Bound[at*width+d])
				}
				stored++
			}
		}
	}
	require.Greater(t, stored, 1000)
}

// Where a division and a product with the reciprocal give different codes, both MUST be admitted; what lies two codes
// away MUST not.
func TestDivisionAndReciprocalAreAdmitted(t *testing.T) {
	for _, c := range casesOf(t, "kv-write/between-codes/") {
		p, want := ready(t, c)
		for _, name := range []string{"k", "v"} {
			x, e, differ := p.In(name), want[name+"_cache"], 0
			width, s := len(x.Data)/x.Dim(0), float32(p.Attrs.Num(name+"_scale"))
			for i := range x.Dim(0) {
				at := target(p, i)
				if at < 0 {
					continue
				}
				for d, v := range x.Row(i) {
					quotient, product := nearestCode(float32(v)/s), nearestCode(float32(v)*(1/s))
					if quotient != product {
						differ++
					}
					w, bound := e.Want[at*width+d], e.Bound[at*width+d]
					if math.Abs(quotient-w) > bound || math.Abs(product-w) > bound ||
						quotient != product && bound >= 2*math.Abs(quotient-product) {
						t.Fatalf("%s: %v / %v is %v or %v, want %v within %v", c.ID, v, s, quotient, product, w, bound)
					}
				}
			}
			require.Greater(t, differ, 100, "%s of %s", name, c.ID)
		}
	}
}

func nearestCode(y float32) float64 {
	return format.E4M3FN.RoundTo(float64(y), format.RN, format.Saturate)
}

// Hand-written masks, and the oracle's rows for causal windows. w = window_left + 1 keys with the query's own.
func TestMaskClosedForm(t *testing.T) {
	c := casesOf(t, "window-mask/left-2/mha-ragged-b1-t5-l5")[0]
	_, want := ready(t, c)
	byHand := []float64{
		1, 0, 0, 0, 0,
		1, 1, 0, 0, 0,
		1, 1, 1, 0, 0,
		0, 1, 1, 1, 0,
		0, 0, 1, 1, 1,
	}
	if diff := cmp.Diff(byHand, want["mask"].Want); diff != "" {
		t.Error(diff)
	}
	both := casesOf(t, "window-mask/both-sides/mha-ragged-b2-t9-l8")[0]
	_, want = ready(t, both)
	if diff := cmp.Diff([]float64{1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0},
		want["mask"].Want[:24]); diff != "" {
		t.Error(diff)
	}
	for left := range 5 {
		p := bench.Problem{Attrs: bench.Attrs{"causal": true, "window_left": float64(left), "window_right": -1.0}}
		seen, _ := sight(p, 4, []int{0, 4}, []int{9})
		if diff := cmp.Diff(oracle.CausalRows([]int{5, 6, 7, 8}, 0, left+1), seen); diff != "" {
			t.Errorf("window_left %d: %s", left, diff)
		}
	}
}

// Page ids and offsets give the token tables back, and the slots of new tokens are those that attention will read.
func TestPageTableGivesTokensBack(t *testing.T) {
	for _, c := range casesOf(t, "page-table/") {
		p, want := ready(t, c)
		page, width := p.Attrs.Int("page_size"), p.Outputs["page_table"].Shape[1]
		indptr, pool := p.In("qo_indptr").Ints(), p.In("req_pool_indices").Ints()
		for b, n := range p.In("seq_lens").Ints() {
			row, used := p.In("req_to_token").Row(pool[b]), 0
			for j := range n {
				id := int(want["page_table"].Want[b*width+j/page])
				if got := id*page + j%page; got != int(row[j]) {
					t.Fatalf("%s: token %d of request %d is at %d, the table says %v", c.ID, j, b, got, row[j])
				}
				used = j/page + 1
				if i := j - (n - indptr[b+1] + indptr[b]); i >= 0 {
					slot := want["slot_mapping"].Want[indptr[b]+i]
					if left := p.Attrs.Int("window_size"); slot != row[j] && (left == 0 || j >= n-left || slot != -1) {
						t.Fatalf("%s: token %d of request %d goes to slot %v", c.ID, j, b, slot)
					}
				}
			}
			last := int(want["kv_last_page_len"].Want[b])
			if pages := int(want["kv_indptr"].Want[b+1] - want["kv_indptr"].Want[b]); pages != used ||
				n > 0 && (pages-1)*page+last != n || n == 0 && last != 0 {
				t.Fatalf("%s: request %d of %d tokens has %d pages, the last of %d", c.ID, b, n, pages, last)
			}
		}
	}
}

// The reference's quantise-and-dequantise of the latent lies within the bounds that rows are judged by.
func TestRowsHoldTheRoundTrip(t *testing.T) {
	for _, c := range casesOf(t, "mla-kv-write/") {
		p, want := ready(t, c)
		recipe, err := format.RecipeByName(c.Contract.Name)
		require.NoError(t, err)
		back, err := oracle.RoundTrip(p.In("latent").Mat(), latentWidth, recipe)
		require.NoError(t, err)
		at := 0
		for i, slot := range p.In("slot_mapping").Ints() {
			if slot < 0 {
				continue
			}
			for d, v := range back.Row(i) {
				n := at*latentWidth + d
				if math.Abs(v-want["values"].Want[n]) > want["values"].Bound[n] {
					t.Fatalf("%s: token %d, channel %d: the round trip gives %v, want %v ± %v", c.ID, i, d, v, want["values"].Want[n],
						want["values"].Bound[n])
				}
			}
			at++
		}
		require.Len(t, want["values"].Want, at*latentWidth)
	}
}
