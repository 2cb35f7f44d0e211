package format

import "fmt"

// scaleFields tells which fields hold scales of others.
func (l Layout) scaleFields() map[string]bool {
	s := map[string]bool{}
	for _, f := range l.Fields {
		s[f.Scales] = f.Scales != ""
	}
	return s
}

// Width is the number of values a token has: the elements of all fields but the scales.
func (l Layout) Width() int {
	n, scales := 0, l.scaleFields()
	for _, f := range l.Fields {
		if !scales[f.Name] {
			n += f.Count
		}
	}
	return n
}

// Decode returns one token's values [Width], field after field in the order of Fields, each times
// its scale. Exact: see Block.Decode. In the V4 page a reader that multiplies in bf16 gets the same,
// since its scales are powers of two and its elements have 4 bits.
func (l Layout) Decode(page []byte, token int) ([]float64, error) {
	if err := l.checkToken(page, token); err != nil {
		return nil, err
	}
	scales := l.scaleFields()
	out := make([]float64, 0, l.Width())
	for _, f := range l.Fields {
		if scales[f.Name] {
			continue
		}
		v, err := f.decode(page, token)
		if err != nil {
			return nil, err
		}
		if f.Scales != "" {
			sf, err := l.field(f.Scales)
			if err != nil {
				return nil, err
			}
			s, err := sf.decode(page, token)
			if err != nil {
				return nil, err
			}
			for i := range v {
				v[i] *= s[i/f.Group]
			}
		}
		out = append(out, v...)
	}
	return out, nil
}

// Encode writes one token's values [Width] into the page: fields with scales by the recipe, the
// others rounded to nearest even. The recipe's block must be one row of the field's groups.
func (l Layout) Encode(page []byte, token int, x []float32, r Recipe) error {
	if err := l.checkToken(page, token); err != nil {
		return err
	}
	if len(x) != l.Width() {
		return fmt.Errorf("layout %s: %d values for a token of %d", l.Name, len(x), l.Width())
	}
	scales := l.scaleFields()
	for _, f := range l.Fields {
		if scales[f.Name] {
			continue
		}
		v := x[:f.Count]
		x = x[f.Count:]
		if f.Scales == "" {
			b, err := AppendEncoded(nil, f.Format, v, RN, Overflow)
			if err != nil {
				return fmt.Errorf("layout %s: field %q: %w", l.Name, f.Name, err)
			}
			copy(f.slot(page, token), b)
			continue
		}
		sf, err := l.field(f.Scales)
		if err != nil {
			return err
		}
		if b := r.Block; b.Element.Name != f.Format.Name || b.Scale.Name != sf.Format.Name || b.BlockRows != 1 ||
			b.BlockCols != f.Group || b.TensorScale {
			return fmt.Errorf("layout %s: recipe %q makes %s in blocks of %d x %d under %s; field %q is %s in groups of %d "+
				"under %s",
				l.Name, r.Name, b.Element.Name, b.BlockRows, b.BlockCols, b.Scale.Name, f.Name, f.Format.Name, f.Group,
				sf.Format.Name)
		}
		q, err := r.Quantise(v, 1, f.Count)
		if err != nil {
			return fmt.Errorf("layout %s: field %q: %w", l.Name, f.Name, err)
		}
		copy(f.slot(page, token), q.Codes)
		copy(sf.slot(page, token), q.Scales)
	}
	return nil
}

func (l Layout) checkToken(page []byte, token int) error {
	if token < 0 || token >= l.Tokens {
		return fmt.Errorf("layout %s: token %d of %d", l.Name, token, l.Tokens)
	}
	return l.checkPage(page)
}

// slot is the field's part of a token.
func (f Field) slot(page []byte, token int) []byte {
	at := f.At + token*f.Stride
	return page[at : at+f.bytes()]
}

func (f Field) decode(page []byte, token int) ([]float64, error) {
	return DecodeBytes(f.Format, f.slot(page, token))
}
