package golden

import (
	"encoding/json"
	"math"
)

// Float is a float64 that survives JSON: NaN and the infinities are written as the strings "NaN", "+Inf" and "-Inf",
// which the comparison reads back as numbers.
type Float float64

// MarshalJSON writes f as a number, or as one of the three strings.
func (f Float) MarshalJSON() ([]byte, error) {
	switch v := float64(f); {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"+Inf"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Inf"`), nil
	default:
		return json.Marshal(v)
	}
}

// Floats converts a slice for a golden.
func Floats(values []float64) []Float {
	out := make([]Float, len(values))
	for i, v := range values {
		out[i] = Float(v)
	}
	return out
}

// number returns the float64 that a JSON value stands for, if it is one.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case string:
		switch v {
		case "NaN":
			return math.NaN(), true
		case "+Inf":
			return math.Inf(1), true
		case "-Inf":
			return math.Inf(-1), true
		}
	}
	return 0, false
}
