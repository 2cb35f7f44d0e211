package format

// The pure Go twins of the assembly, for the tests that compare both.

func Decode8Go(dst []float32, raw []byte, f Format) { decode8Go(dst, raw, wideFor(f)) }

func Decode16Go(dst []float32, raw []byte) { decode16Go(dst, raw) }

func Encode8Go(dst []byte, x []float32, f Format, s Saturation) {
	k, _ := narrowFor(f, RN, s)
	encode8Go(dst, x, &k)
}

func Encode16Go(dst []byte, x []float32, nan uint32) { encode16Go(dst, x, nan) }
