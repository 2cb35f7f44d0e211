package sparse

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// attentionOptions are how a kernel computes the operator: all of them are correct, what Faults says is not.
type attentionOptions struct {
	lanes      int  // partial sums of a dot product, 1 where 0
	tile       int  // entries between two looks at the maximum: online softmax; 0 is two passes
	splits     int  // parts, where the kernel does not go by num_splits
	exp2       bool // base-2 exponentials with log2 e folded into the scale
	roundP     bool // weights rounded to bf16 before the product with V, the sum keeps them
	reverse    bool
	extraFirst bool
	noMasked   bool // lanes without row are taken out before tiles are cut
	wide       bool // scores, weights and sums in float64
	fused      bool // FMA in the product with V
	filler     []float32

	attentionFaults
}

// state is attention over some rows: maximum, sum and weighted rows relative to it, in the kernel's own base.
type state struct {
	top, sum float64
	acc      []float64
}

// arithmetic rounds to fp32 unless the kernel is wide.
func (o attentionOptions) r(x float64) float64 {
	if o.wide {
		return x
	}
	return float64(float32(x))
}

func (o attentionOptions) exp(x float64) float64 {
	if o.exp2 {
		return o.r(math.Exp2(x))
	}
	return o.r(math.Exp(x))
}

func (o attentionOptions) log(x float64) float64 {
	if o.exp2 {
		return o.r(math.Log2(x))
	}
	return o.r(math.Log(x))
}

// unit is a natural logit in the kernel's own base.
func (o attentionOptions) unit(x float64) float64 {
	if o.exp2 {
		return o.r(x * math.Log2E)
	}
	return x
}

// kernel is sparse_attention under the options.
func (o attentionOptions) kernel(a bench.Args) (bench.Results, error) {
	g := gather(a, o.attentionFaults)
	o.filler = g.caches[0][0]
	out, lse, top := a.Fresh("o"), make([]float64, g.t*g.h), make([]float64, g.t*g.h)
	for t := range g.t {
		rows := o.rows(g, t)
		for h := range g.h {
			n := t*g.h + h
			lse[n], top[n] = o.head(g, g.q[n*g.d:(n+1)*g.d], h, rows, out[n*g.dv:(n+1)*g.dv])
		}
	}
	return bench.Results{"o": out, "lse": lse, "max_logits": top}, nil
}

// rows are the entries of a query in the kernel's order, nil for lanes without row.
func (o attentionOptions) rows(g gathered, t int) [][]float32 {
	var rows [][]float32
	order := []int{0, 1}[:len(g.lists)]
	if o.extraFirst {
		slices.Reverse(order)
	}
	for _, cache := range order {
		if o.noExtra && cache == 1 {
			continue
		}
		seen := map[int]bool{}
		for _, at := range g.lists[cache][t] {
			switch {
			case at >= 0 && o.once && seen[at]:
			case at >= 0:
				rows = append(rows, g.caches[cache][at])
				seen[at] = true
			case !o.noMasked:
				rows = append(rows, nil)
			}
		}
	}
	if o.reverse {
		slices.Reverse(rows)
	}
	return rows
}

// head is one query and head; it returns the log-sum-exp and the maximum as the call wants them.
func (o attentionOptions) head(g gathered, q []float32, h int, rows [][]float32, out []float64) (lse, top float64) {
	scale := g.scale
	if o.noScaleFactor {
		scale = 1
	}
	if o.exp2 && !o.noLog2 {
		scale *= float32(math.Log2E)
	}
	splits := g.splits
	if o.splits > 0 {
		splits = o.splits
	}
	z := make([]float64, len(rows))
	for i, row := range rows {
		z[i] = math.Inf(-1)
		if row != nil {
			z[i] = o.score(q, row, scale)
		}
	}
	var parts []state
	for i := range splits {
		from, to := i*len(rows)/splits, (i+1)*len(rows)/splits
		if o.splitTail {
			size := len(rows) / splits
			from, to = i*size, (i+1)*size
		}
		parts = append(parts, o.attend(z[from:to], rows[from:to], g.dv))
	}
	total := parts[0]
	if splits > 1 {
		total = o.join(g, parts, h)
	}
	sink := math.Inf(-1)
	if g.sink != nil && !o.noSink && (!o.sinkPerSplit || splits == 1) {
		sink = o.unit(float64(g.sink[h]))
		if o.sinkScaled {
			sink = o.r(sink * float64(scale))
		}
	}
	denominator := o.r(total.sum + o.exp(o.r(sink-total.top)))
	empty := math.IsInf(total.top, -1)
	for c := range out {
		switch {
		case empty && o.emptyNaN:
			out[c] = math.NaN()
		case empty:
			out[c] = 0
		default:
			out[c] = o.r(total.acc[c] / denominator)
		}
	}
	lse, top = o.report(g, total, splits, sink)
	if best := slices.MaxFunc(parts, func(a, b state) int { return cmp.Compare(a.top, b.top) }).top; splits > 1 {
		top = o.largest(best)
	}
	return lse, top
}

// largest is a score of the kernel's own base as max_logits wants it.
func (o attentionOptions) largest(top float64) float64 {
	if o.exp2 {
		top = o.r(top * math.Ln2)
	}
	if o.topBase2 {
		top = o.r(top * math.Log2E)
	}
	return top
}

// report is the log-sum-exp and the maximum in the words of the call.
func (o attentionOptions) report(g gathered, s state, splits int, sink float64) (lse, top float64) {
	natural := func(x float64) float64 {
		if o.exp2 {
			return o.r(x * math.Ln2)
		}
		return x
	}
	if math.IsInf(s.top, -1) {
		lse = math.Inf(-1)
		if g.plusInf != o.emptySign {
			lse = math.Inf(1)
		}
		return lse, s.top
	}
	sum := s.sum
	if o.sinkInLSE {
		sum = o.r(sum + o.exp(o.r(sink-s.top)))
	}
	lse = natural(o.r(s.top + o.log(sum)))
	if o.unsplitLSE && splits == 1 {
		lse = natural(o.log(sum))
	}
	if g.base2 != o.otherBase {
		lse = o.r(lse * math.Log2E)
	}
	return lse, o.largest(s.top)
}

func (o attentionOptions) score(q, row []float32, scale float32) float64 {
	if o.wide {
		var s float64
		for i, x := range q {
			s += float64(x) * float64(row[i])
		}
		return s * float64(scale)
	}
	var s float32
	if n := max(o.lanes, 1); n > 1 {
		acc := make([]float32, n)
		for i, x := range q {
			acc[i%n] += float32(x * row[i])
		}
		for _, v := range acc {
			s += v
		}
	} else {
		for i, x := range q {
			s += float32(x * row[i])
		}
	}
	if o.bf16Scores {
		s = toBF16(s)
	}
	return float64(s * scale)
}

// attend is a part of a query's entries.
func (o attentionOptions) attend(z []float64, rows [][]float32, dv int) state {
	s := state{top: math.Inf(-1), acc: make([]float64, dv)}
	tile := o.tile
	if o.leadingTile {
		tile = 16
	}
	if tile == 0 {
		tile = max(len(z), 1)
	}
	for from := 0; from < len(z); from += tile {
		to := min(from+tile, len(z))
		top := s.top
		for _, v := range z[from:to] {
			top = math.Max(top, v)
		}
		if math.IsInf(top, -1) && !o.leadingTile {
			continue // nothing but lanes without row so far
		}
		if alpha := o.exp(o.r(s.top - top)); alpha != 1 {
			s.sum = o.r(s.sum * alpha)
			for c := range s.acc {
				s.acc[c] = o.r(s.acc[c] * alpha)
			}
		}
		s.top = top
		for i := from; i < to; i++ {
			if math.IsInf(z[i], -1) && !o.maskByProduct && !o.leadingTile {
				continue
			}
			o.add(&s, o.exp(o.r(z[i]-top)), rows[i])
		}
	}
	return s
}

// add takes in one row.
func (o attentionOptions) add(s *state, p float64, row []float32) {
	s.sum = o.r(s.sum + p)
	if o.roundP {
		p = float64(toBF16(float32(p)))
	}
	if row == nil && o.maskByProduct {
		row = o.filler
	}
	if row == nil {
		if p != p { // a weight of NaN meets the zeros of a lane without row
			for c := range s.acc {
				s.acc[c] = p
			}
		}
		return
	}
	if o.lastValues {
		row = row[len(row)-len(s.acc):]
	}
	for c := range s.acc {
		switch {
		case o.wide || o.fused:
			s.acc[c] = o.r(s.acc[c] + p*float64(row[c]))
		case o.bf16Acc:
			s.acc[c] = float64(toBF16(float32(s.acc[c]) + float32(float32(p)*row[c])))
		default:
			s.acc[c] = float64(float32(s.acc[c]) + float32(float32(p)*row[c]))
		}
	}
}

func toBF16(x float32) float32 {
	if x != x {
		return x
	}
	b := math.Float32bits(x)
	return math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
}
