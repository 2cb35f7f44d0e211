package manifest

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sound = `# comment
operator: op
source: k.cu
dtypes: BF16
in: x BF16[T, D], n I32[T] optional
out: y F32[T, 2 * D]
scratch: part F32[T, splits]
let: splits = min(ceil(D, 4), parts)
require: D % 2 == 0 && word == "a"
entry: first
grid: T, splits
block: 32, 2
smem: 4 * D
args: x, n, part, i32 T, i64 x.stride0, f32 scale, i32 n.given
entry: second
grid: T
block: 64
args: part, y
`

func bound(t *testing.T, attrs map[string]any) *Bound {
	t.Helper()
	m, err := Parse("k.manifest", sound)
	require.NoError(t, err)
	b, err := m.Bind(map[string]Tensor{"x": {"BF16", []int{3, 10}, []int{16, 1}}},
		map[string]Tensor{"y": {"F32", []int{3, 20}, []int{20, 1}}}, attrs)
	require.NoError(t, err)
	return b
}

func TestBind(t *testing.T) {
	b := bound(t, map[string]any{"parts": 2.0, "word": "a", "scale": 0.5})
	g, err := b.Geometry(b.m.Launch[0])
	require.NoError(t, err)
	assert.Equal(t, Geometry{[3]int{3, 2, 1}, [3]int{32, 2, 1}, 40}, g)
	sizes, err := b.Sizes(b.m.Scratch[0])
	require.NoError(t, err)
	assert.Equal(t, []int{3, 2}, sizes)
	for at, want := range map[int]uint64{3: 3, 4: 16, 5: uint64(math.Float32bits(0.5)), 6: 0} {
		bits, _, err := b.Number(b.m.Launch[0].Args[at])
		require.NoError(t, err)
		assert.Equal(t, want, bits, at)
	}
	assert.True(t, b.m.Strided("x"))
	assert.False(t, b.m.Strided("n"))
}

// A manifest that cannot be used MUST be refused with its line and what to write.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ old, with, says string }{
		{"operator: op", "operator", `k.manifest:2: "operator" is no line of a manifest`},
		{"operator: op", "operator:", "k.manifest:2: operator has no value"},
		{"operator: op\n", "", "the manifest has no line operator"},
		{"source: k.cu", "operator: two", "k.manifest:3: operator was given in line 2 already"},
		{"source:", "file:", `there is no key "file"; the keys are operator`},
		{"BF16[T, D]", "BF17[T, D]", `operand x: there is no dtype "BF17"`},
		{"BF16[T, D]", "BF16(T, D)", `is no operand; write NAME DTYPE[SIZE, ...]`},
		{"BF16[T, D]", "BF16[T,, D]", `entry 2 of the list "T,, D" is empty`},
		{"n I32", "x I32", "operand x was given already"},
		{"let: splits =", "let: 2 =", "write let: NAME = EXPRESSION"},
		{"min(ceil(D, 4), parts)", "min(ceil(D), parts)", "column 12: ceil takes 2 arguments and has 1"},
		{"min(ceil(D, 4), parts)", "median(D)", `column 1: there is no function "median"`},
		{"D % 2 == 0", "D % 2 = 0", `"= 0 && word`},
		{"entry: first", "entry: first<float>", "is no name of a kernel"},
		{"grid: T, splits\n", "", "entry first needs the lines grid, block and args"},
		{"block: 64", "block: 1, 2, 3, 4", "block has 4 dimensions"},
		{"i32 T", "T", `argument 4, "T", is neither an operand`},
		{"i32 T", "i32", `argument 4: in ""`},
		{"dtypes: BF16", "made_for: D x", `made_for D: "x" is no size`},
		{"dtypes: BF16", "facet: dtype=F32", `facet: "dtype=F32" is none of`},
	} {
		require.Contains(t, sound, c.old)
		_, err := Parse("k.manifest", strings.Replace(sound, c.old, c.with, 1))
		assert.ErrorContains(t, err, c.says, "%q for %q", c.with, c.old)
	}
}

// What a call does not fit MUST be a mismatch that names operand and value; geometry beyond CUDA's limits an error.
func TestBindRefuses(t *testing.T) {
	m, err := Parse("k.manifest", sound)
	require.NoError(t, err)
	x, y := Tensor{"BF16", []int{3, 10}, []int{16, 1}}, Tensor{"F32", []int{3, 20}, []int{20, 1}}
	good := map[string]any{"parts": 2.0, "word": "a", "scale": 0.5}
	for says, c := range map[string]struct {
		ins, outs map[string]Tensor
		attrs     map[string]any
	}{
		`the call has the operand "z"`:        {map[string]Tensor{"x": x, "z": x}, map[string]Tensor{"y": y}, good},
		`the call has no output "y"`:          {map[string]Tensor{"x": x}, nil, good},
		"x is F32, and the kernel takes BF16": {map[string]Tensor{"x": y}, map[string]Tensor{"y": y}, good},
		"has shape [3], and the kernel takes 2 dimensions": {
			map[string]Tensor{"x": {"BF16", []int{3}, []int{1}}}, map[string]Tensor{"y": y}, good,
		},
		"dimension 1 of y is 10, and 2 * D is 20": {
			map[string]Tensor{"x": x}, map[string]Tensor{"y": {"F32", []int{3, 10}, nil}}, good,
		},
		`column 17: "parts": the call has no such operand, dimension or attribute`: {
			map[string]Tensor{"x": x}, map[string]Tensor{"y": y}, map[string]any{"word": "a"},
		},
		`requires D % 2 == 0 && word == "a", and here D is 10, word is "b"`: {
			map[string]Tensor{"x": x}, map[string]Tensor{"y": y}, map[string]any{"parts": 2.0, "word": "b"},
		},
	} {
		_, err := m.Bind(c.ins, c.outs, c.attrs)
		var no *MismatchError
		require.ErrorAs(t, err, &no, says)
		assert.ErrorContains(t, err, says)
	}
	b := bound(t, good)
	for text, says := range map[string]string{
		"0, 1":                        "block 0 is 0; it must be 1 to 1024",
		"64, 32":                      "has 2048 threads; a block has at most 1024",
		"word":                        `block word is "a"; it must be`,
		"x.size1*9223372036854775807": "leaves the range of 64 bits",
	} {
		l := b.m.Launch[0]
		for d, part := range strings.Split(text, ",") {
			l.Block[d], err = ParseExpr(part)
			require.NoError(t, err)
		}
		_, err = b.Geometry(l)
		assert.ErrorContains(t, err, says)
	}
}

func TestExpressions(t *testing.T) {
	names := map[string]Value{"a": Int(7), "b": Int(-7), "w": {kind: word, s: "x"}, "half": {kind: realNumber, f: 0.5}}
	lookup := func(n string) (Value, bool) { v, ok := names[n]; return v, ok }
	for text, want := range map[string]string{
		"1 + 2 * 3": "7", "(1 + 2) * 3": "9", "a / 2": "3", "b / 2": "-4", "b % 4": "1",
		"ceil(a, 2)": "4", "ceil(b, 2)": "-3",
		"min(a, b, 3)": "-7", "max(a, 3, half)": "7", `w == "x"`: "1", `w != "x"`: "0", "a > 6 && b < 0 || 0": "1",
		"if(a == 7, half, nothing)": "0.5", "0 && nothing": "0", "1 || nothing": "1", "10 - 2 - 3": "5", "half < 1": "1",
	} {
		e, err := ParseExpr(text)
		require.NoError(t, err, text)
		v, err := e.Eval(lookup)
		require.NoError(t, err, text)
		assert.Equal(t, want, v.String(), text)
	}
	for text, says := range map[string]string{
		"a / 0": "the divisor must be positive", "a % b": "the divisor must be positive", "w + 1": "arithmetic is on whole",
		"half * 2": "arithmetic is on whole", "w < 3": "words are compared with words", "nothing": `column 1: "nothing"`,
		"9223372036854775807 + a": "leaves the range", "0 - 9223372036854775807 - a": "leaves the range",
		"if(w, 1, 2)": "a condition",
	} {
		e, err := ParseExpr(text)
		require.NoError(t, err, text)
		_, err = e.Eval(lookup)
		assert.ErrorContains(t, err, says, text)
	}
	for _, text := range []string{
		"", "1 +", "(1", "1)", "min()", "min(1", `"open`, "9223372036854775808", "a b", "1..2", strings.Repeat("(", 99),
	} {
		_, err := ParseExpr(text)
		assert.ErrorContains(t, err, "column", text)
	}
}

// No text may break the reader, and what parses can be bound or is refused.
func FuzzParse(f *testing.F) {
	f.Add(sound)
	f.Add("operator: a\nout: y F32[]\nentry: e\ngrid: 1\nblock: 1\nargs: y\ndtypes: F32\nsource: s")
	f.Fuzz(func(_ *testing.T, text string) {
		m, err := Parse("fuzz", text)
		if err != nil {
			return
		}
		b, err := m.Bind(nil, map[string]Tensor{"y": {"F32", []int{2, 3}, []int{3, 1}}}, map[string]any{"n": 3.5, "w": "x"})
		if err != nil {
			return
		}
		for _, l := range m.Launch {
			_, _ = b.Geometry(l) // any answer will do
			for _, a := range l.Args {
				if a.Operand == "" {
					_, _, _ = b.Number(a)
				}
			}
		}
	})
}
