package format

// The pure Go twins of the assembly, for the tests that compare both.

func Decode8Go(dst []float32, raw []byte, f Format) { decode8Go(dst, raw, wideFor(f)) }

func Decode16Go(dst []float32, raw []byte) { decode16Go(dst, raw) }

// EncodeTwin encodes in pure Go where AppendEncoded may take assembly, and returns nil elsewhere.
func EncodeTwin(x []float32, f Format, r Rounding, s Saturation) []byte {
	if k, ok := narrowFor(f, r, s); ok {
		out := make([]byte, len(x))
		encode8Go(out, x, &k)
		return out
	}
	if f.WithNaNCode(BF16.NaNCode) == BF16 && r == RN && s == Overflow {
		out := make([]byte, 2*len(x))
		encode16Go(out, x, f.NaNCode)
		return out
	}
	return nil
}
