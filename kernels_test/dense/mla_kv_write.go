package dense

import (
	"encoding/binary"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// Sizes of a V3.2 cache row in bytes and elements: FlashMLA's 656-byte layout (format.PageV32).
const (
	latentWidth, latentBlock, ropeWidth = 512, 128, 64
	latentBlocks                        = latentWidth / latentBlock
	scaleAt                             = latentWidth
	ropeAt                              = scaleAt + 4*latentBlocks
	rowBytes                            = ropeAt + 2*ropeWidth
)

var mlaKVWriteDoc = bench.Doc{
	Summary: "stores latent and rotated key part of new tokens as the 656-byte rows of the V3.2 sparse-attention cache: " +
		"512 e4m3 codes, 4 fp32 scales, 64 bf16. Quotients are fp32's, by a division or by a product with the rounded " +
		"reciprocal, within two roundings: judged are the scales and, by them, code · s_g",
	Operands: []bench.TensorDoc{
		{Name: "latent", DType: "BF16", Shape: "[T, 512]", Meaning: "latents after their norm"},
		{Name: "k_pe", DType: "BF16", Shape: "[T, 64]", Meaning: "rotated key part, stored as it is"},
		{
			Name:  "slot_mapping",
			DType: "I32",
			Shape: "[T]",
			Meaning: "slot of token t: row slot mod page_size of page slot div page_size; -1 is a padding token, which is not " +
				"stored (its latent and k_pe are not read)",
		},
	},
	Outputs: []bench.TensorDoc{
		{
			Name:  "kv_cache",
			DType: "U8",
			Shape: "[P, page_size, 656]",
			Meaning: "bytes, little-endian: codes at 0, round_e4m3(x / s_g) to nearest even for x in channels 128g to " +
				"128g+127, saturating; s_g in fp32 at 512 + 4g, the factor that decodes them; k_pe in bf16 at 528. Slots that no " +
				"token goes to keep the prefill 0x5b",
		},
	},
	Attrs: []bench.AttrDoc{
		{Name: "page_size", Meaning: "tokens a page; repeats the cache's dimension: does not change the result"},
		{
			Name: "ue8m0_scales",
			Meaning: "off: s_g = max(amax_g, 1e-4) / 448 in fp32, amax_g the largest magnitude of the group; on: that rounded " +
				"up to a power of two",
		},
	},
}

var mlaKVWrite = bench.Family{
	Op: "mla_kv_write", Slug: "mla-kv-write",
	Claim: "each token MUST be stored in its own row, codes nearest to the values under its own groups' scales, the " +
		"rotated part bit for bit, and every other row MUST be left alone",
	Doc:       mlaKVWriteDoc,
	Contracts: []numerics.Contract{{Name: "v32-fp8"}, {Name: "v32-fp8-ue8m0"}},
	Draw:      drawMLAWrite, Expect: expectMLAWrite,
	Twins: []bench.Twin{
		bench.Dense(),
		{Class: "paging", Name: "slots in order", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			p.Change("slot_mapping", func(i int, _ float64) float64 { return float64(i) })
			sealMLAWrite(p)
			return true
		}},
		{Class: "scale-layout", Name: "groups of one size", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			p.Change("latent", func(i int, v float64) float64 {
				if i%latentBlock == 7 {
					return 3.5
				}
				return max(-3, min(3, v))
			})
			return true
		}},
		{Class: "eps", Name: "no group near zero", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			p.Change("latent", func(i int, v float64) float64 {
				if i%latentBlock == 7 {
					return 3.5
				}
				return v
			})
			return true
		}},
	},
	Scenarios: []bench.Scenario{
		{
			ID:     "tokens",
			Why:    "one token, and some over shuffled slots, groups of very different sizes, one padding token",
			Shapes: rowShapes(4, 1, 7),
		},
		{ID: "page-size", Why: "pages of one token, and V3.2's of 64", Shapes: append(rowShapes(1, 6), rowShapes(64, 6)...)},
		{
			ID:     "zero-group",
			Why:    "groups of zeros, and of values below the floor of the scale",
			Shapes: rowShapes(4, 6),
			Change: bench.Each(func(i int, v float64) float64 {
				return v * []float64{0, 1, 1e-6, 1}[i/latentBlock%4]
			}, "latent"),
		},
		{
			ID:     "powers-of-two",
			Why:    "largest values that are 448 times a power of two, and the next above",
			Shapes: rowShapes(4, 6),
			Change: bench.Each(func(i int, v float64) float64 {
				if i%latentBlock == 9 {
					return []float64{448, 450, 7, 3.5}[i/latentBlock%4]
				}
				return max(-3, min(3, v))
			}, "latent"),
		},
		{
			ID:     "strided",
			Why:    "latent and rotated part are slices of one projection",
			Shapes: rowShapes(4, 6),
			Layout: map[string]bench.Layout{
				"latent": {Lead: 3, Gap: 64, Tail: 5}, "k_pe": {Lead: 512, Gap: 512, Tail: 9}, "slot_mapping": {Lead: 2, Tail: 4},
			},
		},
		{ID: "long", Why: longWhy + "tokens and pages", Shapes: rowShapes(1, 257)},
		longLatentPages(),
	},
}

func rowShapes(page int, tokens ...int) []bench.Shape {
	var out []bench.Shape
	for _, t := range tokens {
		out = append(out, bench.S(slug("page%d-t%d", page, t), map[string]int{
			"tokens": t, "page": page, "pages": (t+page-1)/page + 2,
		}))
	}
	return out
}

func drawMLAWrite(g bench.Gen) (bench.Problem, error) {
	t, page, pages := g.Shape.Dim("tokens"), g.Shape.Dim("page"), g.Shape.Dim("pages")
	slot := g.Perm(page * pages)[:t]
	if t > 3 {
		slot[3] = -1
	}
	latent := g.Normal(t*latentWidth, 1)
	for i := range latent {
		latent[i] *= []float64{0.3, 5, 40, 1.1}[(i/latentBlock+i/latentWidth)%4]
	}
	p := bench.Problem{
		Attrs: bench.Attrs{"page_size": float64(page), "ue8m0_scales": g.Contract.Name == "v32-fp8-ue8m0"},
		Operands: map[string]bench.Operand{
			"latent": bench.Floats(bench.BF16, latent, t, latentWidth),
			"k_pe":   bench.Floats(bench.BF16, g.Normal(t*ropeWidth, 1), t, ropeWidth), "slot_mapping": bench.Ints(slot, t),
		},
		Outputs: map[string]bench.Output{"kv_cache": {DType: bench.U8, Shape: []int{pages, page, rowBytes}, Prefill: "0x5b"}},
	}
	sealMLAWrite(&p)
	return p, nil
}

func sealMLAWrite(p *bench.Problem) {
	p.Unread = map[string]func(int) bool{}
	slot := p.In("slot_mapping").Ints()
	for t := range slot {
		if slot[t] < 0 {
			p.Unread["latent"] = func(i int) bool { return slot[i/latentWidth] < 0 }
			p.Unread["k_pe"] = func(i int) bool { return slot[i/ropeWidth] < 0 }
		}
	}
}

// expectMLAWrite judges bytes where they are exact (other rows, the rotated part), the scales within two roundings of
// fp32, and the decoded values, code times stored scale, within half a step of e4m3.
func expectMLAWrite(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	recipe, err := format.RecipeByName(c.Contract.Name)
	if err != nil {
		return nil, err
	}
	o := p.Outputs["kv_cache"]
	layout, err := format.PageV32(o.Shape[1])
	if err != nil {
		return nil, err
	}
	pages, written := oracle.NewBytePages(layout, o.Shape[0], 0x5b), []int{}
	latent, rope := p.In("latent"), p.In("k_pe")
	scales := bench.Expected{
		Name:       "scales",
		Axes:       []string{"token", "group"},
		Derivation: "the largest magnitude by 448, two roundings of fp32",
	}
	values := bench.Expected{
		Name:       "values",
		Axes:       []string{"token", "channel"},
		Derivation: "half a step of e4m3 under the group's scale",
	}
	for t, slot := range p.In("slot_mapping").Ints() {
		if slot < 0 {
			continue
		}
		written = append(written, slot)
		x := append(append([]float64{}, latent.Row(t)...), rope.Row(t)...)
		if err := pages.Write([]int{slot / o.Shape[1]}, slot%o.Shape[1], oracle.Mat{Rows: 1, Cols: len(x), Data: x},
			recipe); err != nil {
			return nil, err
		}
		stored := pages.Pages[slot/o.Shape[1]][slot%o.Shape[1]*rowBytes:]
		for g := range latentBlocks {
			s := float64(math.Float32frombits(binary.LittleEndian.Uint32(stored[scaleAt+4*g:])))
			scales.Want, scales.Bound = append(scales.Want, s), append(scales.Bound, scaleSlack(c.Contract.Name, s))
			for _, v := range latent.Row(t)[g*latentBlock : (g+1)*latentBlock] {
				half := s * numerics.HalfULP(format.E4M3FN, v/s, 8*numerics.UFP32*math.Abs(v/s))
				values.Want, values.Bound = append(values.Want, v), append(values.Bound, half+8*numerics.UFP32*math.Abs(v))
			}
		}
	}
	raw := bench.Expected{
		Name:       "kv_cache",
		Shape:      o.Shape,
		Axes:       []string{"page", "token", "byte"},
		Touched:    true,
		Derivation: "bytes that are copied, and those of other rows",
		Free:       make([]bool, o.Shape[0]*o.Shape[1]*rowBytes),
	}
	for _, page := range pages.Pages {
		for _, b := range page {
			raw.Want = append(raw.Want, float64(b))
		}
	}
	for _, slot := range written {
		for i := range ropeAt {
			raw.Free[slot*rowBytes+i] = true
		}
	}
	scales.Shape, values.Shape = []int{len(written), latentBlocks}, []int{len(written), latentWidth}
	scales.From = func(out map[string][]float64) []float64 { s, _ := decodeRows(out["kv_cache"], written); return s }
	values.From = func(out map[string][]float64) []float64 { _, v := decodeRows(out["kv_cache"], written); return v }
	return []bench.Expected{raw, scales, values}, nil
}

// scaleSlack: a power of two is exact.
func scaleSlack(contract string, s float64) float64 {
	if contract == "v32-fp8-ue8m0" {
		return 0
	}
	return 2 * numerics.UFP32 * s
}

// decodeRows reads the scales and the values of rows as an attention kernel would.
func decodeRows(raw []float64, rows []int) (scales, values []float64) {
	scales, values = []float64{}, []float64{}
	for _, row := range rows {
		if (row+1)*rowBytes > len(raw) {
			return nil, nil
		}
		b := bench.Tensor{Data: raw[row*rowBytes : (row+1)*rowBytes]}.Bytes()
		for g := range latentBlocks {
			s := float64(math.Float32frombits(binary.LittleEndian.Uint32(b[scaleAt+4*g:])))
			scales = append(scales, s)
			for _, code := range b[g*latentBlock : (g+1)*latentBlock] {
				values = append(values, s*format.E4M3FN.Decode(uint32(code)))
			}
		}
	}
	return scales, values
}
