package bench

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
)

// Every code of a narrow dtype MUST come back from bytes to values to bytes; the values are those of the format tables,
// which are checked against third-party vectors.
func TestStoragesKeepEveryCode(t *testing.T) {
	for _, dtype := range []string{U8, BF16, F16, E4M3, E8M0} {
		width := map[string]int{U8: 1, BF16: 2, F16: 2, E4M3: 1, E8M0: 1}[dtype]
		var raw []byte
		for code := range 1 << (8 * width) {
			raw = append(raw, byte(code))
			if width == 2 {
				raw = append(raw, byte(code>>8))
			}
		}
		v, err := decode(dtype, raw)
		require.NoError(t, err)
		back, err := encode(dtype, v)
		require.NoError(t, err)
		f, err := format.ByDType(dtype)
		for i := range v {
			if dtype != U8 {
				require.NoError(t, err)
				if want := f.Decode(uint32(i)); !(v[i] == want || math.IsNaN(v[i]) && math.IsNaN(want)) {
					t.Errorf("%s code %#x is %v, want %v", dtype, i, v[i], want)
				}
			}
			if math.IsNaN(v[i]) {
				continue // payloads of narrow NaN need not survive
			}
			assert.Equal(t, raw[i*width:(i+1)*width], back[i*width:(i+1)*width], "%s code %#x", dtype, i)
		}
	}
}

// A layout MUST place every element once, inside of its storage, with the gaps that it names.
func TestLayouts(t *testing.T) {
	for _, l := range []Layout{
		{},
		{Lead: 3, Gap: 5, Tail: 2},
		{Inner: 4},
		{Gap: 1, Inner: 2},
		{Swap: true},
		{Swap: true, Gap: 3, Inner: 2, Lead: 1},
	} {
		for _, shape := range [][]int{{6}, {2, 3}, {2, 3, 4}, {3, 1, 2}, {0, 4}} {
			p := Problem{
				Operands: map[string]Operand{"x": {F32, shape, make([]float64, product(shape))}}, Layout: map[string]Layout{"x": l},
			}
			for i := range p.Operands["x"].Values {
				p.Operands["x"].Values[i] = float64(i + 1)
			}
			c := p.call("op", "case", "", func(string) func() float64 { return func() float64 { return -1 } }, nil)
			require.NoError(t, c.Check(), "%+v %v", l, shape)
			assert.Equal(t, p.Operands["x"].Values, gather(c.Storage["x_storage"], c.Views["x"]).Data, "%+v %v", l, shape)
			hidden := 0
			for _, v := range c.Storage["x_storage"].Data {
				if v == -1 {
					hidden++
				}
			}
			assert.Equal(t, len(c.Storage["x_storage"].Data)-product(shape), hidden, "%+v %v: elements overlap", l, shape)
		}
	}
}
