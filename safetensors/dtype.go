package safetensors

import "strings"

// DType is a dtype as spelled in the header, e.g. "F8_E4M3".
type DType string

// The dtypes of the format, in its own order (ascending alignment).
// Source: huggingface/safetensors safetensors/src/tensor.rs, enum Dtype.
const (
	Bool      DType = "BOOL"        // one byte, 0 or 1
	F4        DType = "F4"          // e2m1, two to a byte
	F6E2M3    DType = "F6_E2M3"     // four to three bytes
	F6E3M2    DType = "F6_E3M2"     // four to three bytes
	U8        DType = "U8"          // also the carrier of packed fp4 in MXFP4 and NVFP4 releases
	I8        DType = "I8"          //
	F8E5M2    DType = "F8_E5M2"     //
	F8E4M3    DType = "F8_E4M3"     // the "fn" variant: no infinity
	F8E8M0    DType = "F8_E8M0"     // exponent only: block scales
	F8E4M3NUZ DType = "F8_E4M3FNUZ" //
	F8E5M2NUZ DType = "F8_E5M2FNUZ" //
	I16       DType = "I16"         //
	U16       DType = "U16"         //
	F16       DType = "F16"         //
	BF16      DType = "BF16"        //
	I32       DType = "I32"         //
	U32       DType = "U32"         //
	F32       DType = "F32"         //
	C64       DType = "C64"         // two F32: real, imaginary
	F64       DType = "F64"         //
	I64       DType = "I64"         //
	U64       DType = "U64"         //
)

// DTypes lists every dtype of the format.
func DTypes() []DType {
	return []DType{
		Bool, F4, F6E2M3, F6E3M2, U8, I8, F8E5M2, F8E4M3, F8E8M0, F8E4M3NUZ, F8E5M2NUZ,
		I16, U16, F16, BF16, I32, U32, F32, C64, F64, I64, U64,
	}
}

// Bits is the size of one element in bits, or 0 for a dtype that the format does not have.
func (d DType) Bits() int {
	switch d {
	case F4:
		return 4
	case F6E2M3, F6E3M2:
		return 6
	case Bool, U8, I8, F8E5M2, F8E4M3, F8E8M0, F8E4M3NUZ, F8E5M2NUZ:
		return 8
	case I16, U16, F16, BF16:
		return 16
	case I32, U32, F32:
		return 32
	case C64, F64, I64, U64:
		return 64
	}
	return 0
}

// knownDTypes is the list as words, for error sentences.
func knownDTypes() string {
	var words []string
	for _, d := range DTypes() {
		words = append(words, string(d))
	}
	return strings.Join(words, ", ")
}
