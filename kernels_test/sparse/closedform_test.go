package sparse_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/sparse"
)

// ready is the benches of the cases whose ID has a part.
func ready(t *testing.T, part string) []*bench.Bench {
	t.Helper()
	var out []*bench.Bench
	for _, c := range sparse.Suite().Cases() {
		if strings.Contains(c.ID, part) {
			b, err := bench.New(c)
			require.NoError(t, err)
			out = append(out, b)
		}
	}
	require.NotEmpty(t, out)
	return out
}

func expected(t *testing.T, b *bench.Bench, name string) bench.Expected {
	t.Helper()
	for _, e := range b.Expected {
		if e.Name == name {
			return e
		}
	}
	require.Failf(t, "no expectation", "%s of %s", name, b.Case.ID)
	return bench.Expected{}
}

// rows are the entries of a query that name a row, by the operand's own definition, in one cache without tables.
func rows(p bench.Problem, prefix string, t int) []int {
	var out []int
	n := p.In(prefix + "topk_length").Ints()[t]
	for _, v := range p.In(prefix + "indices").Row(t)[:n] {
		if v >= 0 && int(v) < p.Operands[prefix+"kv"].Shape[0] {
			out = append(out, int(v))
		}
	}
	return out
}

// Equal scores MUST give a log-sum-exp of ln L and, with the sink's share taken off, the mean of the rows.
func TestUniformScoresAreCounted(t *testing.T) {
	for _, b := range ready(t, "/index-coded/") {
		p := b.Problem()
		o, lse, sink := expected(t, b, "o"), expected(t, b, "lse"), p.In("attn_sink").Data
		h, d := o.Shape[1], o.Shape[2]
		for q := range o.Shape[0] {
			main, extra := rows(p, "", q), rows(p, "extra_", q)
			n := float64(len(main) + len(extra))
			want := math.Log(n)
			if p.Attrs.Word("lse_base") == "2" {
				want = math.Log2(n)
			}
			for head := range h {
				if got := lse.Want[q*h+head]; math.Abs(got-want) > 1e-12 {
					t.Errorf("%s: query %d has a log-sum-exp of %v, want %v of %v rows", b.Case.ID, q, got, want, n)
				}
				for c := range d {
					sum := 0.0
					for _, r := range main {
						sum += p.In("kv").Row(r)[c]
					}
					for _, r := range extra {
						sum += p.In("extra_kv").Row(r)[c]
					}
					if got, want := o.Want[(q*h+head)*d+c],
						sum/(n+math.Exp(sink[head])); math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
						t.Errorf("%s: query %d, head %d, channel %d is %v, want %v", b.Case.ID, q, head, c, got, want)
					}
				}
			}
		}
	}
}

// Z = (2, 8) with outputs 0 and 1 MUST merge to 0.8 and ln 10.
func TestTwoAndEight(t *testing.T) {
	for _, b := range ready(t, "merge-state/two-and-eight/") {
		want := math.Log(10)
		if b.Problem().Attrs.Word("out_lse_base") == "2" {
			want = math.Log2(10)
		}
		// fp32 operands: ln 8 and ln 2 are stored within 2^-24 each.
		for _, v := range expected(t, b, "merged_o").Want {
			if math.Abs(v-0.8) > 4e-7 {
				t.Errorf("%s: %v, want 0.8", b.Case.ID, v)
			}
		}
		for _, v := range expected(t, b, "merged_lse").Want {
			if math.Abs(v-want) > 4e-7 {
				t.Errorf("%s: log-sum-exp %v, want %v", b.Case.ID, v, want)
			}
		}
	}
}

// Empty rows MUST be 0 with the contract's infinity, whatever the sink.
func TestEmptyRows(t *testing.T) {
	for _, b := range ready(t, "sparse-attention/empty-rows/") {
		p := b.Problem()
		o, lse, top := expected(t, b, "o"), expected(t, b, "lse"), expected(t, b, "max_logits")
		want := math.Inf(-1)
		if b.Case.Contract.Special.EmptyLSE == "+inf" {
			want = math.Inf(1)
		}
		empty := 0
		for q := range o.Shape[0] {
			if len(rows(p, "", q))+len(rows(p, "extra_", q)) > 0 {
				continue
			}
			empty++
			h, d := o.Shape[1], o.Shape[2]
			for head := range h {
				if lse.Want[q*h+head] != want || !math.IsInf(top.Want[q*h+head], -1) {
					t.Errorf("%s: query %d has lse %v and maximum %v", b.Case.ID, q, lse.Want[q*h+head], top.Want[q*h+head])
				}
			}
			for _, v := range o.Want[q*h*d : (q+1)*h*d] {
				if v != 0 {
					t.Errorf("%s: query %d has %v in its output", b.Case.ID, q, v)
				}
			}
		}
		if empty < 2 {
			t.Errorf("%s has %d empty queries, want both kinds", b.Case.ID, empty)
		}
	}
}

// V4's 8-byte scales and rounding of rows, by hand: the fp8 round trip leaves values of e4m3 times a power of two,
// close to the rows, and not the rows themselves.
func TestRoundedRowsDiffer(t *testing.T) {
	first, later := ready(t, "/lengths/nano/v4-first"), ready(t, "/lengths/nano/v4-later")
	a, b := expected(t, first[0], "o"), expected(t, later[0], "o")
	beyond, far := 0, 0
	for i, v := range a.Want {
		d := math.Abs(v - b.Want[i])
		if d > b.Bound[i] {
			beyond++
		}
		if d > 0.1*(1+math.Abs(v)) {
			far++
		}
	}
	if beyond < len(a.Want)/10 || far > 0 {
		t.Errorf("of %d outputs %d differ beyond the bound and %d by more than a tenth between rows as stored and rows "+
			"through fp8", len(a.Want), beyond, far)
	}
}

// Every operand, attribute and output MUST be documented, and what is documented MUST occur.
func TestDocuments(t *testing.T) {
	for _, f := range sparse.Suite().Families {
		documented := map[string]bool{}
		for _, d := range append(f.Doc.Operands, f.Doc.Outputs...) {
			documented[d.Name] = true
		}
		for _, a := range f.Doc.Attrs {
			documented[a.Name] = true
		}
		seen := map[string]bool{}
		for _, c := range (bench.Suite{Families: []bench.Family{f}}).Cases() {
			if c.Contract.Name != f.Contracts[0].Name {
				continue // contracts change values and dtypes, not names
			}
			p, err := c.Problem()
			require.NoError(t, err)
			for name := range p.Operands {
				seen[name] = true
			}
			for name := range p.Outputs {
				seen[name] = true
			}
			for name := range p.Attrs {
				seen[name] = true
			}
		}
		if diff := cmp.Diff(documented, seen); diff != "" {
			t.Errorf("%s: documented (-) and drawn (+):\n%s", f.Op, diff)
		}
	}
}
