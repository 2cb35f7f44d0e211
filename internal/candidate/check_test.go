package candidate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommandLine(t *testing.T) {
	for line, want := range map[string]command{
		"python3 worker.py":                      {nil, []string{"python3", "worker.py"}},
		"  a\t b\n":                              {nil, []string{"a", "b"}},
		`a 'b c' "d e" f\ g`:                     {nil, []string{"a", "b c", "d e", "f g"}},
		`a '' ""`:                                {nil, []string{"a", "", ""}},
		`a "x\"y\\z\n" '\'`:                      {nil, []string{"a", `x"y\z\n`, `\`}},
		`a pre'fi'x`:                             {nil, []string{"a", "prefix"}},
		`CUDA_VISIBLE_DEVICES=1 X='a b' run y=2`: {[]string{"CUDA_VISIBLE_DEVICES=1", "X=a b"}, []string{"run", "y=2"}},
		`sh -c 'exec worker 2>log | cat'`:        {nil, []string{"sh", "-c", "exec worker 2>log | cat"}},
		`wörker ü`:                               {nil, []string{"wörker", "ü"}},
	} {
		got, err := parse(line)
		require.NoError(t, err, line)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(command{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
	for line, says := range map[string]string{
		"": "names no program", "  ": "names no program", "A=1": "names no program",
		"a 'b": "does not close it", `a "b`: "does not close it",
		"a | b": "write sh -c", "a && b": "write sh -c", "a >x": "write sh -c", "$HOME/a": "write sh -c",
		"a \"`b`\"": "write sh -c", `a "$b"`: "write sh -c",
	} {
		_, err := parse(line)
		assert.ErrorContains(t, err, says, line)
	}
}

func TestCheck(t *testing.T) {
	good := copying("good", "")
	good.Views = map[string]View{
		"all": {"x", 0, []int{3}, []int{1}}, "row": {"x", 1, []int{1, 2}, []int{99, 1}}, "same": {"x", 2, []int{5}, []int{0}},
		"none": {
			"x", 3, []int{0, 4}, []int{9, 1},
		}, "nothing": {"x", 0, []int{7, 0}, []int{9, 1}},
	}
	require.NoError(t, good.Check())
	for name, c := range map[string]struct {
		change func(*Call)
		says   string
	}{
		"mode":   {func(c *Call) { c.Mode = "lazy" }, `mode "lazy"`},
		"repeat": {func(c *Call) { c.Repeat = -1 }, "repeat is -1"},
		"no storage": {
			func(c *Call) { c.Views = map[string]View{"v": {Storage: "z"}} }, `storage "z", which the call does not have`,
		},
		"past the end": {
			func(c *Call) { c.Views = map[string]View{"v": {"x", 1, []int{3}, []int{1}}} },
			"reaches from element 1 to 3 of a storage of 3",
		},
		"before": {
			func(c *Call) { c.Views = map[string]View{"v": {"x", -1, []int{1}, []int{1}}} }, "reaches from element -1",
		},
		"ranks": {
			func(c *Call) { c.Views = map[string]View{"v": {"x", 0, []int{1}, nil}} }, "one stride for each dimension",
		},
		"negative": {
			func(c *Call) { c.Views = map[string]View{"v": {"x", 2, []int{2}, []int{-1}}} }, "neither may be negative",
		},
		"overflow": {func(c *Call) {
			c.Views = map[string]View{"v": {"x", 0, []int{1 << 33, 1 << 33}, []int{1 << 40, 1 << 40}}}
		}, "leaves its storage"},
		"broadcast too far": {
			func(c *Call) { c.Views = map[string]View{"v": {"x", 0, []int{1 << 32, 1 << 32}, []int{0, 0}}} }, "more than",
		},
		"data": {
			func(c *Call) { c.Storage["x"] = Storage{"F32", []int{2}, make([]byte, 12)} },
			"has 12 bytes of data and should have 8",
		},
		"dtype":       {func(c *Call) { c.Outputs["y"] = Output{"F9", []int{1}, "nan"} }, `no dtype "F9"`},
		"large":       {func(c *Call) { c.Outputs["y"] = Output{"F32", []int{1 << 32, 1 << 32}, "nan"} }, "more than"},
		"nan of ints": {func(c *Call) { c.Outputs["y"] = Output{"I32", []int{1}, "nan"} }, "has no NaN"},
		"prefill":     {func(c *Call) { c.Outputs["y"] = Output{"F32", []int{1}, "zero"} }, `prefill "zero"`},
		"wide prefill": {
			func(c *Call) { c.Outputs["y"] = Output{"BF16", []int{1}, "0x12345"} }, "does not fit into the 16 bits",
		},
		"capture eager":  {func(c *Call) { c.CaptureWith = &Call{Op: "copy", Case: "s"} }, "is given to capture with"},
		"same companion": {func(c *Call) { c.BatchWith = []Call{copying("good", "")} }, "ID of another case or none"},
		"other operator": {func(c *Call) { c.BatchWith = []Call{{Op: "paste", Case: "s"}} }, `is a call of "paste"`},
		"nested": {func(c *Call) {
			c.BatchWith = []Call{{Op: "copy", Case: "s", BatchWith: []Call{{Op: "copy", Case: "t"}}}}
		}, "has companions itself"},
		"bad companion": {func(c *Call) { c.BatchWith = []Call{{Op: "copy", Case: "s", Repeat: -2}} }, "repeat is -2"},
	} {
		call := copying("good", "")
		c.change(&call)
		assert.ErrorContains(t, call.Check(), c.says, name)
	}
}

// The patterns MUST be quiet NaN in every dtype that has NaN: exponent all ones and the first bit of the mantissa set.
func TestNaNPatterns(t *testing.T) {
	for dtype, quiet := range map[string]uint64{
		"F64": 0x7ff8000000000000, "F32": 0x7fc00000, "BF16": 0x7fc0, "F16": 0x7e00, "F8_E5M2": 0x7e, "F8_E4M3": 0x7f,
	} {
		bits, err := Output{DType: dtype, Prefill: "nan"}.Bits()
		require.NoError(t, err)
		if bits&quiet != quiet {
			t.Errorf("%s: 0x%x lacks bits of the quiet NaN 0x%x", dtype, bits, quiet)
		}
	}
	bits, err := Output{DType: "I32", Prefill: "0xdeadbeef"}.Bits()
	require.NoError(t, err)
	assert.Equal(t, uint64(0xdeadbeef), bits)
}

func TestFloat32s(t *testing.T) {
	in := []float32{1, math.Float32frombits(0x7fc5a55a), float32(math.Copysign(0, -1))}
	out, err := FromFloat32s(in).Float32s()
	require.NoError(t, err)
	for i := range in {
		assert.Equal(t, math.Float32bits(in[i]), math.Float32bits(out[i]))
	}
	_, err = Storage{DType: "BF16", Data: make([]byte, 4)}.Float32s()
	require.ErrorContains(t, err, "is not F32")
}

func TestTail(t *testing.T) {
	l := &tail{limit: 6}
	for _, s := range []string{"abc", "def", "gh"} {
		n, err := l.Write([]byte(s))
		require.NoError(t, err)
		require.Len(t, s, n)
	}
	assert.Equal(t, "[2 earlier bytes dropped]\ncdefgh", l.String())
	assert.Equal(t, "gh", l.since(6, 100))
	assert.Equal(t, "h", l.since(6, 1))
	assert.Empty(t, l.since(8, 100))
	_, _ = l.Write([]byte("0123456789"))
	assert.Equal(t, "[12 earlier bytes dropped]\n456789", l.String())
	assert.Equal(t, int64(18), l.written())
}
