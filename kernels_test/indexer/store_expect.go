package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// prefillByte is what pages hold before the call.
const prefillByte = 0xa5

// storedKeys is what is expected of the pool.
type storedKeys struct {
	layout format.Layout
	slots  []int
	cache  oracle.BytePages
	free   []bool // bytes that more than one value may have

	values, valueBound []float64
	scales, scaleBound []float64
}

// expectStore: every byte that has one admissible value is exact; keys decode to within half a step of the exact key;
// scales are those of the exact key. Which bytes are open follows from how far a key may lie off, in store_draw.go.
func expectStore(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	k, err := store(c.Contract.Name, p)
	if err != nil {
		return nil, err
	}
	shape := p.Outputs["pages"].Shape
	dim := p.In("x").Dim(1)
	var want []float64
	for _, page := range k.cache.Pages {
		for _, b := range page {
			want = append(want, float64(b))
		}
	}
	out := []bench.Expected{{
		Name: "pages", Shape: shape, Axes: []string{"page", "byte"}, Want: want, Free: k.free, Touched: true,
		Derivation: "bytes with one admissible value, and of slots that no row goes to",
	}, {
		Name: "values", Shape: []int{len(k.values) / dim, dim}, Axes: []string{"stored row", "channel"}, Want: k.values,
		Bound:      k.valueBound,
		Derivation: "half a step of the format under any admissible scale, and the error of the key before quantisation",
		From:       k.decoder(false),
	}}
	if len(k.scales) > 0 {
		out = append(out, bench.Expected{
			Name: "scales", Shape: []int{len(k.scales)}, Axes: []string{"stored block"}, Want: k.scales, Bound: k.scaleBound,
			Derivation: "the scale of amax, which lies off by no more than the keys do", From: k.decoder(true),
		})
	}
	return out, nil
}

// decoder reads stored keys, or their scales, from the bytes that a candidate wrote.
func (k *storedKeys) decoder(scales bool) func(out map[string][]float64) []float64 {
	return func(out map[string][]float64) []float64 {
		got := out["pages"]
		if len(got) != len(k.free) {
			return nil
		}
		raw := bench.Tensor{Data: got}.Bytes()
		var v []float64
		for _, slot := range k.slots {
			if slot < 0 {
				continue
			}
			page, token, ok := k.layout.Locate(slot)
			if !ok {
				return nil
			}
			bytes := raw[page*k.layout.Size : (page+1)*k.layout.Size]
			if scales {
				v = append(v, k.scalesOf(bytes, token)...)
				continue
			}
			row, err := k.layout.Decode(bytes, token)
			if err != nil {
				return nil
			}
			v = append(v, row...)
		}
		return v
	}
}

// scalesOf reads the scales of a token.
func (k *storedKeys) scalesOf(page []byte, token int) []float64 {
	for _, f := range k.layout.Fields {
		if f.Name != "scale" {
			continue
		}
		at := f.At + token*f.Stride
		v, err := format.DecodeBytes(f.Format, page[at:at+f.Count*f.Format.Width()/8])
		if err == nil {
			return v
		}
	}
	return nil
}

func store(contract string, p bench.Problem) (*storedKeys, error) {
	name, page, dim := p.Attrs.Word("page_format"), p.Attrs.Int("page_size"), p.In("x").Dim(1)
	layout, err := pageLayout(name, page, dim)
	if err != nil {
		return nil, err
	}
	r, err := recipe(name, p.Attrs.Word("scale_format"), dim)
	if err != nil {
		return nil, err
	}
	pages := p.Outputs["pages"].Shape[0]
	k := &storedKeys{
		layout: layout,
		slots:  p.In("slot_mapping").Ints(),
		cache:  oracle.NewBytePages(layout, pages, prefillByte),
		free:   make([]bool, pages*layout.Size),
	}
	x, positions := p.In("x"), p.In("positions").Ints()
	for t, slot := range k.slots {
		if slot < 0 {
			continue
		}
		y := tracked(contract, p, x.Row(t), positions[t])
		row := oracle.NewMat(1, dim)
		for d, v := range y {
			row.Data[d] = v.X
		}
		if err := k.cache.Write([]int{slot / page}, slot%page, row, r); err != nil {
			return nil, err
		}
		if err := k.open(p, slot, y); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// open derives bounds of a stored row and marks the bytes that are not certain.
func (k *storedKeys) open(p bench.Problem, slot int, y []numerics.Tracked) error {
	size := k.layout.Size
	page, token, _ := k.layout.Locate(slot)
	free := k.free[page*size : (page+1)*size]
	key := k.layout.Fields[0]
	if key.Scales == "" {
		for d, v := range y {
			k.values = append(k.values, v.X)
			k.valueBound = append(k.valueBound, v.E+numerics.HalfULP(format.BF16, v.X, v.E))
			if key.Format.RoundTo(v.X-v.E, format.RN, format.Overflow) !=
				key.Format.RoundTo(v.X+v.E, format.RN, format.Overflow) || math.Abs(v.X) <= v.E {
				at := key.At + token*key.Stride + 2*d
				free[at], free[at+1] = true, true
			}
		}
		return nil
	}
	for from := 0; from < len(y); from += key.Group {
		block := y[from : from+key.Group]
		scales := admissible(block, key.Format,
			p.Attrs.Word("scale_format") == "ue8m0" || key.Format.Name == format.E2M1.Name)
		k.scales = append(k.scales, scales.middle)
		k.scaleBound = append(k.scaleBound, scales.bound())
		if err := k.openScale(free, token, from/key.Group, scales); err != nil {
			return err
		}
		for i, v := range block {
			k.values = append(k.values, v.X)
			k.valueBound = append(k.valueBound, scales.step(v))
			at, _, err := k.layout.Offset("key", token, from+i)
			if err != nil {
				return err
			}
			if !scales.certain(v) {
				free[at] = true
			}
		}
	}
	if name := p.Attrs.Word("page_format"); name == "fp4" {
		for b := len(y) / 32; b < 4; b++ {
			free[k.layout.Tokens*len(y)/2+4*token+b] = true
		}
	}
	return nil
}

func (k *storedKeys) openScale(free []bool, token, group int, s scaleSet) error {
	if s.unique() {
		return nil
	}
	at, _, err := k.layout.Offset("scale", token, group)
	if err != nil {
		return err
	}
	for i := range k.layout.Fields[1].Format.Width() / 8 {
		free[at+i] = true
	}
	return nil
}
