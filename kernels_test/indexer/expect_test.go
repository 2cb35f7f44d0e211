package indexer_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/indexer"
)

// ready prepares the cases whose IDs have all the words.
func ready(t *testing.T, words ...string) []*bench.Bench {
	t.Helper()
	var out []*bench.Bench
cases:
	for _, c := range indexer.Suite().Cases() {
		for _, w := range words {
			if !strings.Contains(c.ID, w) {
				continue cases
			}
		}
		b, err := bench.New(c)
		require.NoError(t, err)
		out = append(out, b)
	}
	require.NotEmpty(t, out, "%v", words)
	return out
}

// With q = 2 and key j of request b = (1 + j/16 + b/3) times the same signs, every dot product is 2·D times that, all
// of them positive: the logit is 2·D·k·Σw, with k rounded to bf16 by hand.
func TestIndexCodedLogitsByHand(t *testing.T) {
	for _, b := range ready(t, "indexer-logits-paged/index-coded", "bf16", "/fp32") {
		p := b.Problem()
		lens, w, dim := p.In("context_lens").Ints(), p.In("weights"), p.In("q").Dim(3)
		e := b.Expected[0]
		for r, n := range lens {
			sum := 0.0
			for _, v := range w.Row(r) {
				sum += v
			}
			for j := range e.Shape[1] {
				want, got := math.Inf(-1), e.Want[r*e.Shape[1]+j]
				if j < n {
					k := 1 + float64(j)/16 + float64(r)/3
					ulp := math.Ldexp(1, int(math.Floor(math.Log2(k)))-7)
					want = 2 * float64(dim) * math.RoundToEven(k/ulp) * ulp * sum
				}
				if math.IsInf(want, -1) != math.IsInf(got, -1) || j < n && math.Abs(got-want) > 1e-12*math.Abs(want) {
					t.Fatalf("%s: query %d, key %d: %v, by hand %v", b.Case.ID, r, j, got, want)
				}
			}
		}
	}
}

// Where every dot product is negative, logits are 0 and a kernel may not be off by more than underflow.
func TestOpposedLogitsAreZero(t *testing.T) {
	for _, b := range ready(t, "/opposed/") {
		for i, v := range b.Expected[0].Want {
			if !math.IsInf(v, -1) && (v != 0 || b.Expected[0].Bound[i] > 1e-30) {
				t.Errorf("%s: element %d is %v ± %v", b.Case.ID, i, v, b.Expected[0].Bound[i])
			}
		}
	}
}

// One head and one channel by hand would hide orders: bounds of whole rows are compared with
// (D+1+H+3+1)·2^-24·Σ|w|·Σ|qk|, which they may not exceed by more than the second order.
func TestFP32BoundsByHand(t *testing.T) {
	for _, b := range ready(t, "indexer-logits/ratio-1/", "bf16", "/fp32") {
		p := b.Problem()
		q, k, w := p.In("q"), p.In("k"), p.In("weights")
		start, end := p.In("start").Ints(), p.In("end").Ints()
		heads, dim := q.Dim(1), q.Dim(2)
		for r := range start {
			for s := start[r]; s < end[r]; s++ {
				most := 0.0
				for h := range heads {
					abs := 0.0
					for d := range dim {
						abs += math.Abs(q.Row(r)[h*dim+d] * k.Row(s)[d])
					}
					most += abs * math.Abs(w.Row(r)[h])
				}
				most *= float64(dim+1+heads+3+1) * 0x1p-24
				if got := b.Expected[0].Bound[r*k.Dim(0)+s]; got <= 0 || got > 1.001*most {
					t.Fatalf("query %d, key %d: bound %v, by hand at most %v", r, s, got, most)
				}
			}
		}
	}
}

// Codes half way between two others go to the even one: e2m1 as a table, bf16 and e4m3 by the last bit.
func TestStoredTies(t *testing.T) {
	even := map[float64]float64{0.25: 0, 0.5: 0.5, 0.75: 1, 1.25: 1, 1.75: 2, 2.5: 2, 3: 3, 3.5: 4, 5: 4, 6: 6}
	for _, b := range ready(t, "/ties/plain-fp4-t6", "/fp32") {
		p := b.Problem()
		pages, slots, dim := b.Expected[0], p.In("slot_mapping").Ints(), p.In("x").Dim(1)
		size, page := pages.Shape[1], p.Attrs.Int("page_size")
		for r, slot := range slots {
			for d := range dim {
				if slot < 0 {
					continue
				}
				at := slot/page*size + (slot%page)*dim/2 + d/2
				if pages.Free[at] {
					continue
				}
				code := int(pages.Want[at]) >> (4 * (d % 2)) & 15
				got := []float64{0, 0.5, 1, 1.5, 2, 3, 4, 6}[code&7]
				x := p.In("x").Row(r)[d]
				if want := even[math.Abs(x)]; got != want || code > 7 != math.Signbit(x) {
					t.Errorf("row %d, channel %d: %v is stored as code %d", r, d, x, code)
				}
			}
		}
	}
}

// LayerNorm leaves the bias of a constant row: before rotation and transform, so their lengths are equal.
func TestConstantRowsKeepTheLengthOfTheBias(t *testing.T) {
	for _, b := range ready(t, "/constant/v32", "/fp32") {
		bias := 0.0
		for _, v := range b.Problem().In("norm_bias").Data {
			bias += v * v
		}
		e := b.Expected[1]
		for r := range e.Shape[0] {
			got := 0.0
			for _, v := range e.Want[r*e.Shape[1] : (r+1)*e.Shape[1]] {
				got += v * v
			}
			if math.Abs(got-bias) > 1e-9*bias {
				t.Errorf("%s: row %d has squared length %v, the bias %v", b.Case.ID, r, got, bias)
			}
		}
	}
}

// Most bytes of stored keys are judged exactly, whatever the model: else equality of bytes would say little.
func TestMostStoredBytesAreCertain(t *testing.T) {
	for _, b := range ready(t, "index-key-store/models/", "/fp32") {
		p := b.Problem()
		free, stored := 0, 0
		for _, f := range b.Expected[0].Free {
			if f {
				free++
			}
		}
		for _, s := range p.In("slot_mapping").Ints() {
			if s >= 0 {
				stored += b.Expected[0].Shape[1] / p.Attrs.Int("page_size")
			}
		}
		if 2*free > stored {
			t.Errorf("%s: %d of %d bytes of stored keys are open", b.Case.ID, free, stored)
		}
	}
}
