package sparse

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// gathered is what the built-in kernel reads of a call. It decodes pages and rounds rows by its own code, not by the
// library's.
type gathered struct {
	q        []float32
	t, h, d  int
	dv       int
	sink     []float32 // nil for none
	scale    float32
	lists    [][][]int // of each cache, of each query: rows, -1 for lanes that are none
	caches   [][][]float32
	base2    bool
	plusInf  bool
	splits   int
	wantsLSE bool
}

func gather(a bench.Args, f attentionFaults) gathered {
	q := a.In("q")
	g := gathered{
		q: toFloat32(q.Data), t: q.Dim(0), h: q.Dim(1), d: q.Dim(2), dv: a.Int("d_v"), scale: float32(a.Num("softmax_scale")),
		base2: a.Word("lse_base") == "2", plusInf: a.Word("empty_lse") == "+inf", splits: max(a.Int("num_splits"), 1),
		wantsLSE: a.Wants("lse"),
	}
	if a.Has("attn_sink") {
		g.sink = toFloat32(a.In("attn_sink").Data)
	}
	names := []string{"", "extra_"}
	if !a.Has("extra_kv") {
		names = names[:1]
	}
	for _, prefix := range names {
		cache := readCache(a, prefix, f)
		if a.Word("kv_rounding") == "fp8" && !f.noRounding {
			for _, row := range cache {
				roundRow(row, len(row)-a.Int("rope_dims"), f.rounding)
			}
		}
		g.caches = append(g.caches, cache)
		g.lists = append(g.lists, readLists(a, prefix, len(cache), f))
	}
	return g
}

func toFloat32(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// readLists follows the lists to rows.
func readLists(a bench.Args, prefix string, rows int, f attentionFaults) [][]int {
	indices, lengths := a.In(prefix+"indices"), a.In(prefix+"topk_length").Ints()
	if f.mainLength && prefix != "" {
		lengths = a.In("topk_length").Ints()
	}
	var table bench.Tensor
	var request []int
	size := a.Int(prefix + "page_size")
	if f.mainPageSize && prefix != "" {
		size = a.Int("page_size")
	}
	paged := a.Has(prefix + "block_table")
	if paged {
		table, request = a.In(prefix+"block_table"), a.In("request").Ints()
	}
	out := make([][]int, indices.Dim(0))
	for t := range out {
		n := min(max(lengths[t]+f.lengthOff, 0), indices.Dim(1))
		if f.allLanes && len(out) > 64 {
			n = indices.Dim(1)
		}
		for i, v := range indices.Row(t)[:n] {
			at := int(v)
			if f.tileTail && i >= 16 && i >= n/16*16 {
				break
			}
			switch {
			case at < 0 && f.minusOneIsRow:
				at = 0
			case at < 0:
				at = -1
			case paged && f.identityTable:
			case paged:
				b := request[t]
				if f.queryIsRequest {
					b = t % table.Dim(0)
				}
				if at = int(table.Row(b)[at/size])*size + at%size; f.mainPageSize {
					at %= rows // inside of the pool of caches all the same
				}
			case at >= rows:
				at = -1
			}
			out[t] = append(out[t], at)
		}
	}
	return out
}

// readCache is every row of a cache in fp32.
func readCache(a bench.Args, prefix string, f attentionFaults) [][]float32 {
	kv := a.In(prefix + "kv")
	word := a.Word("kv_layout")
	if word == "rows" {
		rows := kv.Dim(0)
		if a.Int(prefix+"page_size") > 0 {
			rows *= kv.Dim(1)
		}
		width := len(kv.Data) / max(rows, 1)
		flat := toFloat32(kv.Data)
		out := make([][]float32, rows)
		for i := range out {
			out[i] = flat[i*width : (i+1)*width]
		}
		return out
	}
	size := a.Int(prefix + "page_size")
	var out [][]float32
	for p := range kv.Dim(0) {
		page := bench.Tensor{Shape: []int{kv.Dim(1)}, Data: kv.Row(p)}.Bytes()
		for t := range size {
			if word == "v4-kv" {
				out = append(out, readV4(page, size, t, f))
			} else {
				out = append(out, readV32(page, t, f))
			}
		}
	}
	return out
}

func readV4(page []byte, tokens, t int, f attentionFaults) []float32 {
	row := make([]float32, 512)
	scales := page[576*tokens+8*t:]
	if f.scalesInRow { // takes the scales to stand behind each row's data
		scales = page[min(584*t+576, len(page)-8):]
	}
	for e := range 448 {
		group := e / 64
		if f.scaleOfNext {
			group = (group + 1) % 7
		}
		s := float32(math.Ldexp(1, int(scales[group])-127))
		if f.noScale {
			s = 1
		}
		row[e] = e4m3(page[576*t+e], f.fnuz) * s
	}
	for e := range 64 {
		row[448+e] = bf16(page[576*t+448+2*e:])
	}
	return row
}

func readV32(page []byte, t int, f attentionFaults) []float32 {
	row := make([]float32, 576)
	token := page[656*t:]
	for e := range 512 {
		group := e / 128
		if f.scaleOfNext {
			group = (group + 1) % 4
		}
		b := token[512+4*group:]
		s := math.Float32frombits(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
		if f.noScale {
			s = 1
		}
		row[e] = e4m3(token[e], f.fnuz) * s
	}
	for e := range 64 {
		row[512+e] = bf16(token[528+2*e:])
	}
	return row
}

func bf16(b []byte) float32 { return math.Float32frombits(uint32(b[0])<<16 | uint32(b[1])<<24) }

// e4m3 is the value of a code, with the exponent bias of the fnuz format where asked.
func e4m3(code byte, fnuz bool) float32 {
	exponent, mantissa, bias := int(code>>3&15), float64(code&7), 7
	if fnuz {
		bias = 8
	}
	v := math.Ldexp(1+mantissa/8, exponent-bias)
	switch {
	case exponent == 0:
		v = math.Ldexp(mantissa/8, 1-bias)
	case !fnuz && code&0x7f == 0x7f:
		v = math.NaN()
	}
	if code&0x80 != 0 {
		v = -v
	}
	return float32(v)
}

// roundRow sends leading channels through e4m3 with a power-of-two scale for each 64.
func roundRow(row []float32, lead int, f roundingFaults) {
	size, step, end := f.group(lead, len(row))
	for from := 0; from < end; from += step {
		group := row[from:min(from+size, end)]
		amax := f.floor()
		for _, v := range group {
			amax = max(amax, float32(math.Abs(float64(v))))
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
			group[i] = s * toE4M3(v/s)
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
