package numerics_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// examineCodec compares a recorded table of codes (name.enc or a PTX cvt) or of values (name.decode) with the format it
// names. NaN codes count as one class: which of them is written differs between sources and is tested in
// numerics/format.
func examineCodec(t testing.TB, f *safetensors.File, group, name string) (line, bool) {
	t.Helper()
	_, kind, _ := cutLast(name)
	slug, rule, _ := strings.Cut(kind, "_") // PTX: bf16_rn, e4m3_rn_satfinite
	in := "in"
	if kind == "enc" || kind == "decode" {
		slug, rule, in = group, "", group+".in"
	}
	ff, ok := formatNamed(slug)
	if !ok {
		return line{}, false
	}
	mode, saturation := format.RN, format.Overflow
	if strings.HasPrefix(rule, "rna") {
		mode = format.RNA
	}
	if strings.HasSuffix(rule, "satfinite") {
		saturation = format.Saturate
	}
	l := line{group: name, contract: ff.Name + "-codec-" + mode.String(), fit: "rounding " + mode.String()}
	if saturation == format.Saturate {
		l.fit += ", saturating"
	}
	codes := raw(t, f, name)
	l.of = len(codes)
	if kind == "decode" {
		l.fit = "every code's value"
		for c, w := range codes {
			l.count(ff.Decode(uint32(c)), float64(math.Float32frombits(w)))
		}
	} else {
		for i, w := range raw(t, f, in) {
			x := float64(math.Float32frombits(w))
			got, want := ff.Encode(x, mode, saturation), codes[i]
			// ml_dtypes writes a NaN to a format without one as the code of -0 and takes 1.5·2^-127 − 2^-149 to 2^-126 in
			// e8m0, the farther neighbour: the one recorded code that arithmetic refutes.
			refuted := ff == format.E8M0 && w == 0x005fffff
			if ff.NaN == format.NaNNone && math.IsNaN(x) || refuted {
				l.equal++
				continue
			}
			l.count(ff.Decode(got), ff.Decode(want))
		}
	}
	l.accepted = l.equal == l.of
	l.explained = l.accepted
	return l, true
}

func (l *line) count(got, want float64) {
	if math.Float64bits(got) == math.Float64bits(want) || math.IsNaN(got) && math.IsNaN(want) {
		l.equal++
		return
	}
	l.rho = math.Inf(1)
}

func formatNamed(slug string) (format.Format, bool) {
	for _, s := range []string{slug, strings.TrimSuffix(slug, "fn"), strings.TrimSuffix(slug, "fnu"), slug + "fn"} {
		if f, err := format.ByName(s); err == nil {
			return f, true
		}
	}
	return format.Format{}, false
}

// raw reads a tensor as little-endian words of its element size.
func raw(t testing.TB, f *safetensors.File, name string) []uint32 {
	t.Helper()
	info, ok := f.Tensor(name)
	require.True(t, ok, "no tensor %q", name)
	b, err := f.Bytes(name)
	require.NoError(t, err)
	out := make([]uint32, info.Elements())
	for i := range out {
		switch len(b) / len(out) {
		case 1:
			out[i] = uint32(b[i])
		case 2:
			out[i] = uint32(binary.LittleEndian.Uint16(b[2*i:]))
		default:
			out[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
	}
	return out
}
