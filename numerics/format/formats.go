package format

import (
	"fmt"
	"strings"
)

// The formats. Read only. NaNCode follows ml_dtypes 0.6 where the format has a NaN. The MX element
// types have none: a NaN becomes +max there, as in ONNX Cast to float4e2m1 (ml_dtypes writes the
// code of -0 instead: E2M1.WithNaNCode(0x8), E2M3.WithNaNCode(0x20), E3M2.WithNaNCode(0x20)).
var (
	FP32 = Format{
		Name:     "fp32",
		SignBits: 1,
		ExpBits:  8,
		ManBits:  23,
		Bias:     127,
		Inf:      true,
		NaN:      NaNIEEE,
		NaNCode:  0x7fc00000,
	}
	BF16 = Format{Name: "bf16", SignBits: 1, ExpBits: 8, ManBits: 7, Bias: 127, Inf: true, NaN: NaNIEEE, NaNCode: 0x7fc0}
	FP16 = Format{Name: "fp16", SignBits: 1, ExpBits: 5, ManBits: 10, Bias: 15, Inf: true, NaN: NaNIEEE, NaNCode: 0x7e00}
	// TF32 is a raw fp32 word whose low 13 bits are zero when written and ignored when read.
	TF32 = Format{
		Name:     "tf32",
		SignBits: 1,
		ExpBits:  8,
		ManBits:  10,
		Bias:     127,
		Inf:      true,
		NaN:      NaNIEEE,
		NaNCode:  0x7fc00000,
		Shift:    13,
	}

	E4M3FN   = Format{Name: "e4m3fn", SignBits: 1, ExpBits: 4, ManBits: 3, Bias: 7, NaN: NaNAllOnes, NaNCode: 0x7f}
	E5M2     = Format{Name: "e5m2", SignBits: 1, ExpBits: 5, ManBits: 2, Bias: 15, Inf: true, NaN: NaNIEEE, NaNCode: 0x7e}
	E4M3FNUZ = Format{Name: "e4m3fnuz", SignBits: 1, ExpBits: 4, ManBits: 3, Bias: 8, NaN: NaNNegZero, NaNCode: 0x80}
	E5M2FNUZ = Format{Name: "e5m2fnuz", SignBits: 1, ExpBits: 5, ManBits: 2, Bias: 16, NaN: NaNNegZero, NaNCode: 0x80}

	// E8M0 is a scale: 2^(code-127), code 0 is 2^-127 (no zero, no sign), 255 is NaN.
	E8M0 = Format{Name: "e8m0", ExpBits: 8, Bias: 127, NaN: NaNAllOnes, NaNCode: 0xff, NoZero: true}

	E2M1 = Format{Name: "e2m1", SignBits: 1, ExpBits: 2, ManBits: 1, Bias: 1, NaNCode: 0x7}
	E2M3 = Format{Name: "e2m3", SignBits: 1, ExpBits: 2, ManBits: 3, Bias: 1, NaNCode: 0x1f}
	E3M2 = Format{Name: "e3m2", SignBits: 1, ExpBits: 3, ManBits: 2, Bias: 3, NaNCode: 0x1f}
)

// All lists the formats, widest first.
func All() []Format {
	return []Format{FP32, TF32, BF16, FP16, E4M3FN, E5M2, E4M3FNUZ, E5M2FNUZ, E8M0, E2M3, E3M2, E2M1}
}

// ByName finds a format by its slug.
func ByName(name string) (Format, error) {
	var known []string
	for _, f := range All() {
		if f.Name == name {
			return f, nil
		}
		known = append(known, f.Name)
	}
	return Format{}, fmt.Errorf("no number format %q: use one of %s", name, strings.Join(known, ", "))
}

// ByDType maps a safetensors dtype to its format. Integers, F64 and complex numbers are not formats
// of this package.
func ByDType(dtype string) (Format, error) {
	switch dtype {
	case "F32":
		return FP32, nil
	case "BF16":
		return BF16, nil
	case "F16":
		return FP16, nil
	case "F8_E4M3":
		return E4M3FN, nil
	case "F8_E5M2":
		return E5M2, nil
	case "F8_E4M3FNUZ":
		return E4M3FNUZ, nil
	case "F8_E5M2FNUZ":
		return E5M2FNUZ, nil
	case "F8_E8M0":
		return E8M0, nil
	case "F6_E2M3":
		return E2M3, nil
	case "F6_E3M2":
		return E3M2, nil
	case "F4":
		return E2M1, nil
	}
	return Format{}, fmt.Errorf("safetensors dtype %q is no float format here: want F32, BF16, F16, F8_*, F6_* or F4",
		dtype)
}
