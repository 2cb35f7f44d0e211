package sparse

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// gathered is what the built-in kernel reads of a call. It decodes pages and rounds rows by its own code, not by the
// library's.
type gathered struct {
	q        []float64
	t, h, d  int
	dv       int
	sink     []float64 // nil for none
	scale    float64
	lists    [][][]int     // of each cache, of each query: rows, -1 for lanes that are none
	caches   [][][]float64 // of each cache: rows
	base2    bool
	plusInf  bool
	splits   int
	wantsLSE bool
}

// reader is how lists and caches are read, as steps.
type reader struct {
	lengths func(a bench.Args, prefix string) []int
	size    func(a bench.Args, prefix string) int // tokens of a page
	lanes   func(n, width, queries int) int       // of a list of length n
	none    int                                   // the row of an index below 0; -1 is none
	lookup  func(l list, t, position int) int     // the row of a position of query t's sequence
	decoder
	rounding
}

// list is where the positions of a list lead, where there are page tables.
type list struct {
	table   bench.Tensor
	request []int
	size    int // tokens of a page
	rows    int // of the cache
}

func newReader() reader {
	return reader{
		lengths: func(a bench.Args, prefix string) []int { return a.In(prefix + "topk_length").Ints() },
		size:    func(a bench.Args, prefix string) int { return a.Int(prefix + "page_size") },
		lanes:   func(n, width, _ int) int { return min(max(n, 0), width) },
		none:    -1,
		lookup:  func(l list, t, position int) int { return l.row(l.request[t], position) },
		decoder: newDecoder(), rounding: newRounding(),
	}
}

// row is where a sequence's table leads.
func (l list) row(sequence, position int) int {
	return int(l.table.Row(sequence)[position/l.size])*l.size + position%l.size
}

func (r reader) gather(a bench.Args) gathered {
	q := a.In("q")
	g := gathered{
		q: q.Data, t: q.Dim(0), h: q.Dim(1), d: q.Dim(2), dv: a.Int("d_v"), scale: a.Num("softmax_scale"),
		base2: a.Word("lse_base") == "2", plusInf: a.Word("empty_lse") == "+inf", splits: max(a.Int("num_splits"), 1),
		wantsLSE: a.Wants("lse"),
	}
	if a.Has("attn_sink") {
		g.sink = a.In("attn_sink").Data
	}
	names := []string{"", "extra_"}
	if !a.Has("extra_kv") {
		names = names[:1]
	}
	for _, prefix := range names {
		cache := r.cache(a, prefix)
		lists := r.follow(a, prefix, len(cache))
		if a.Word("kv_rounding") == "fp8" {
			r.roundListed(cache, lists, a.Int("rope_dims"))
		}
		g.caches, g.lists = append(g.caches, cache), append(g.lists, lists)
	}
	return g
}

// follow turns the lists of a cache into rows.
func (r reader) follow(a bench.Args, prefix string, rows int) [][]int {
	indices, lengths := a.In(prefix+"indices"), r.lengths(a, prefix)
	l := list{size: r.size(a, prefix), rows: rows}
	paged := a.Has(prefix + "block_table")
	if paged {
		l.table, l.request = a.In(prefix+"block_table"), a.In("request").Ints()
	}
	out := make([][]int, indices.Dim(0))
	for t := range out {
		for _, v := range indices.Row(t)[:r.lanes(lengths[t], indices.Dim(1), len(out))] {
			at := int(v)
			switch {
			case at < 0:
				at = r.none
			case paged:
				at = r.lookup(l, t, at)
			case at >= rows:
				at = -1
			}
			out[t] = append(out[t], at)
		}
	}
	return out
}

// cache is every row of a cache.
func (r reader) cache(a bench.Args, prefix string) [][]float64 {
	kv, size := a.In(prefix+"kv"), a.Int(prefix+"page_size")
	var out [][]float64
	switch layout := a.Word("kv_layout"); layout {
	case "rows":
		rows := kv.Dim(0)
		if size > 0 {
			rows *= kv.Dim(1)
		}
		width := len(kv.Data) / max(rows, 1)
		for i := range rows {
			out = append(out, kv.Data[i*width:(i+1)*width])
		}
	default:
		for p := range kv.Dim(0) {
			page := bench.Tensor{Shape: []int{kv.Dim(1)}, Data: kv.Row(p)}.Bytes()
			for t := range size {
				if layout == "v4-kv" {
					out = append(out, r.v4(page, size, t))
				} else {
					out = append(out, r.v32(page, t))
				}
			}
		}
	}
	return out
}

// decoder is how pages of bytes are read, as steps.
type decoder struct {
	group   func(group, groups int) int // whose scale a group has
	scale   func(s float32) float32
	code    func(code byte) float32
	scaleV4 func(page []byte, tokens, t int) []byte // scales of token t
}

func newDecoder() decoder {
	return decoder{
		group:   func(group, _ int) int { return group },
		scale:   func(s float32) float32 { return s },
		code:    e4m3,
		scaleV4: func(page []byte, tokens, t int) []byte { return page[576*tokens+8*t:] },
	}
}

func (d decoder) v4(page []byte, tokens, t int) []float64 {
	row, scales := make([]float64, 512), d.scaleV4(page, tokens, t)
	for e := range 448 {
		s := d.scale(float32(math.Ldexp(1, int(scales[d.group(e/64, 7)])-127)))
		row[e] = float64(d.code(page[576*t+e]) * s)
	}
	for e := range 64 {
		row[448+e] = bf16(page[576*t+448+2*e:])
	}
	return row
}

func (d decoder) v32(page []byte, t int) []float64 {
	row, token := make([]float64, 576), page[656*t:]
	for e := range 512 {
		b := token[512+4*d.group(e/128, 4):]
		s := d.scale(math.Float32frombits(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24))
		row[e] = float64(d.code(token[e]) * s)
	}
	for e := range 64 {
		row[512+e] = bf16(token[528+2*e:])
	}
	return row
}

func bf16(b []byte) float64 {
	return float64(math.Float32frombits(uint32(b[0])<<16 | uint32(b[1])<<24))
}

// e4m3 is the value of a code.
func e4m3(code byte) float32 {
	if code&0x7f == 0x7f {
		return float32(math.NaN())
	}
	return minifloat(code, 7)
}

// minifloat is a code of 4 exponent and 3 mantissa bits without special values.
func minifloat(code byte, bias int) float32 {
	exponent, mantissa := int(code>>3&15), float64(code&7)
	v := math.Ldexp(1+mantissa/8, exponent-bias)
	if exponent == 0 {
		v = math.Ldexp(mantissa/8, 1-bias)
	}
	if code&0x80 != 0 {
		v = -v
	}
	return float32(v)
}

// rounding is how kv_rounding rounds a row: groups of size channels, one every step, to the channel end.
type rounding struct {
	groupSize, step int
	end             func(lead, width int) int
	floor           float32 // of the largest magnitude
}

func newRounding() rounding {
	return rounding{64, 64, func(lead, _ int) int { return lead }, 1e-4}
}

// roundListed rounds every row that a list names, once.
func (r rounding) roundListed(cache [][]float64, lists [][]int, rope int) {
	done := map[int]bool{}
	for _, list := range lists {
		for _, at := range list {
			if at >= 0 && at < len(cache) && !done[at] {
				done[at] = true
				r.round(cache[at], len(cache[at])-rope)
			}
		}
	}
}

// round sends leading channels of a row through e4m3 with a power-of-two scale for each group.
func (r rounding) round(row []float64, lead int) {
	end := r.end(lead, len(row))
	for from := 0; from < end; from += r.step {
		group := row[from:min(from+r.groupSize, end)]
		amax := r.floor
		for _, v := range group {
			amax = max(amax, float32(math.Abs(v)))
		}
		want := float64(amax * float32(1.0/448))
		if math.IsInf(want, 0) || math.IsNaN(want) {
			continue // a row that no list names
		}
		e := math.Ilogb(want)
		if math.Ldexp(1, e) < want {
			e++
		}
		s := float32(math.Ldexp(1, e))
		for i, v := range group {
			group[i] = float64(s * toE4M3(float32(v)/s))
		}
	}
}

// toE4M3 rounds to the nearest e4m3 value, ties to even.
func toE4M3(x float32) float32 {
	if x == 0 || x != x {
		return x
	}
	step := math.Ldexp(1, max(math.Ilogb(float64(x)), -6)-3)
	v := math.RoundToEven(float64(x)/step) * step
	return float32(math.Max(-448, math.Min(448, v)))
}
