package format_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/numerics/format"
)

// digestRules: codes are bits, there is nothing to tolerate.
var digestRules = golden.All(golden.Exact("a digest of codes, bit for bit"))

// codesOf reads the codes in raw, here and not by the package.
func codesOf(dst []uint32, raw []byte, width int) {
	switch width {
	case 8:
		for i := range dst {
			dst[i] = uint32(raw[i])
		}
	case 16:
		for i := range dst {
			dst[i] = uint32(binary.LittleEndian.Uint16(raw[2*i:]))
		}
	case 32:
		for i := range dst {
			dst[i] = binary.LittleEndian.Uint32(raw[4*i:])
		}
	default:
		for i := range dst {
			var v uint32
			for b := range width {
				bit := i*width + b
				v |= uint32(raw[bit/8]>>(bit%8)&1) << b
			}
			dst[i] = v
		}
	}
}

// convert encodes x in every way the package has, and reports where they disagree with each other or
// with the definition: slices, their pure Go twins where there is assembly, and, if generic, Encode.
func (c conversion) convert(x []float32, want func(w uint32) uint32, generic bool) ([]byte, error) {
	raw, err := format.AppendEncoded(nil, c.f, x, c.r, c.s)
	if err != nil {
		return nil, err
	}
	got := make([]uint32, len(x))
	codesOf(got, raw, c.f.Width())
	for i, v := range x {
		w := math.Float32bits(v)
		expected := want(w)
		if got[i] != expected {
			return nil, fmt.Errorf("%s: AppendEncoded of %v (%#08x) is %#x, by definition %#x", c.name(), v, w, got[i], expected)
		}
		if !generic {
			continue
		}
		if e := c.f.Encode(float64(v), c.r, c.s); e != expected {
			return nil, fmt.Errorf("%s: Encode of %v (%#08x) is %#x, by definition %#x", c.name(), v, w, e, expected)
		}
	}
	if twin := format.EncodeTwin(x, c.f, c.r, c.s); twin != nil && !bytes.Equal(twin, raw) {
		return nil, fmt.Errorf("%s: assembly and Go differ between %#08x and %#08x", c.name(), math.Float32bits(x[0]),
			math.Float32bits(x[len(x)-1]))
	}
	return raw, nil
}

// Every 16,381st fp32 word, 262,191 of them: the generic encoder, the slice encoder and the step
// function agree on each, and the codes have the committed digest. The exhaustive run is behind
// -tags exhaustive.
func TestSampledDigests(t *testing.T) {
	const stride, start = 16381, 20261129 % 16381
	var x []float32
	for w := uint64(start); w < 1<<32; w += stride {
		x = append(x, math.Float32frombits(uint32(w)))
	}
	x = x[:len(x)&^3] // whole groups of 6-bit codes
	doc := golden.Doc{
		Provenance: golden.Provenance{
			Generator: "numerics/format_test.TestSampledDigests",
			Seed:      fmt.Sprintf("none: fp32 words %d + %d*k", start, stride),
			Source:    "step functions from exact midpoints, in the same run",
			Notes:     "sha256 of the codes, little-endian, 4 and 6 bits packed",
		},
		Cases: map[string]any{},
	}
	for _, c := range conversions {
		st := newSteps(t, c)
		raw, err := c.convert(x, st.at, true)
		require.NoError(t, err)
		sum := sha256.Sum256(raw)
		doc.Cases[c.name()] = map[string]any{"words": len(x), "sha256": hex.EncodeToString(sum[:])}
	}
	golden.Assert(t, "numerics/format-sampled", doc, digestRules)
}

// Planted: a conversion that is off for one word in the sample is seen.
func TestConvertSeesOneWrongWord(t *testing.T) {
	c := conversions[0]
	st := newSteps(t, c)
	x := []float32{1, 2, 3, 4}
	_, err := c.convert(x, st.at, true)
	require.NoError(t, err)
	_, err = c.convert(x, func(w uint32) uint32 {
		if w == math.Float32bits(3) {
			return st.at(w) + 1
		}
		return st.at(w)
	}, true)
	require.ErrorContains(t, err, "AppendEncoded of 3")
}

// The digests of NVIDIA's own conversions over all 2^32 words, recorded on an H200 with
// testdata/h200_digests.py, are those that the exhaustive run committed.
func TestHardwareDigests(t *testing.T) {
	raw, err := os.ReadFile("testdata/h200_digests.json")
	require.NoError(t, err)
	var recorded struct {
		Conversions map[string]struct {
			Instruction, SHA256, NaN string
		}
	}
	require.NoError(t, json.Unmarshal(raw, &recorded))
	require.Len(t, recorded.Conversions, 9)
	file, err := golden.Read("numerics/format-exhaustive")
	require.NoError(t, err)
	require.Len(t, file.Cases, len(conversions), "every conversion has been run exhaustively")
	for _, c := range conversions {
		ours, ok := file.Cases[c.name()].(map[string]any)
		require.True(t, ok, c.name())
		theirs, ok := recorded.Conversions[c.name()]
		if !ok {
			continue
		}
		delete(recorded.Conversions, c.name())
		require.Equal(t, fmt.Sprintf("%#x", c.nan), theirs.NaN)
		if ours["sha256"] != theirs.SHA256 {
			t.Errorf("%s: all words have digest %v, %s gave %v", c.name(), ours["sha256"], theirs.Instruction, theirs.SHA256)
		}
	}
	require.Empty(t, recorded.Conversions, "each recording belongs to a conversion")
}
