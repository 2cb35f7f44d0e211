package numerics_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// line is what is printed of one recorded output.
type line struct {
	group, contract string
	accepted        bool
	gate            numerics.Gate
	rho             float64
	equal, of       int
	fit             string
	explained       bool
}

func (l line) String() string {
	verdict := "accepted"
	if !l.accepted {
		verdict = "rejected"
	}
	return fmt.Sprintf("%s contract=%s verdict=%s rho=%.3g biteq=%d/%d fit=%q", l.group, l.contract, verdict, l.rho,
		l.equal, l.of, l.fit)
}

// row is the line's row in docs/hardware.md.
func (l line) row() string {
	fit, _, _ := strings.Cut(l.fit, "; the data cannot tell")
	if _, words, found := strings.Cut(fit, "bit-equal: "); found {
		fit = words
	}
	return fmt.Sprintf("| `%s` | %d of %d | %s |", l.group, l.equal, l.of, fit)
}

// What MUST hold of the outputs that ship with the suite, by the end of their group's name: the verdict under the
// contract that its name declares, and the fit. fp8 results are judged under fp32 accumulation, which Hopper does not
// do.
var shipped = []struct {
	suffix, contract string
	accepted         bool
	fit              string
}{
	{"out_fp32", "fp32", true, "fp32 sequential FMA"},
	{"nano.gauss.out_tf32", "tf32-rn", true, "tf32 rn, b=8 f=25 r=23 RZ, 16 splits of 32"},
	{"nano.coherent.out_tf32", "tf32-rn", true, "tf32 rn, b=8 f=25 r=23 RZ, 16 splits of 32"},
	{"flash.gauss.out_tf32", "tf32-rn", true, "tf32 rn, b=8 f=25 r=23 RZ, 57 splits of 288"},
	{"out_bf16", "bf16", true, "bf16 rn, b=16 f=25 r=23 RZ"},
	{"out_fast_accum", "fp8-fp32-accumulate", false, "512/512 bit-equal: b=32 f=13 r=13 RZ, one chain"},
	{"out_accurate", "fp8-fp32-accumulate", false, "512/512 bit-equal: b=32 f=13 r=13 RZ, promotion every 128"},
}

// Every recorded output of every oracle file, the shipped ones and those in the folder ASSAY_ORACLES, one printed line
// each. Shipped GEMMs MUST be explained bit for bit and judged as their names declare; files of others are reported,
// and fail only if they cannot be read.
func TestOracles(t *testing.T) {
	t.Parallel()
	names, err := fixtures.FS.ReadDir("oracles")
	require.NoError(t, err)
	page, err := os.ReadFile("../docs/hardware.md")
	require.NoError(t, err)
	for _, n := range names {
		if !strings.HasSuffix(n.Name(), ".safetensors") {
			continue
		}
		f, err := safetensors.OpenFS(fixtures.FS, "oracles/"+n.Name())
		require.NoError(t, err)
		for _, l := range examineOracle(t, f, n.Name(), "") {
			fmt.Println(l)
			checkShipped(t, l)
			if page := string(page); !strings.Contains(page, l.row()) {
				t.Errorf("docs/hardware.md does not have the row %s", l.row())
			}
		}
	}
	dir, set := os.LookupEnv("ASSAY_ORACLES")
	if !set || dir == "" {
		return
	}
	fsys := os.DirFS(dir)
	files, err := os.ReadDir(dir)
	require.NoError(t, err, "ASSAY_ORACLES must name a folder with safetensors files")
	for _, n := range files {
		if !strings.HasSuffix(n.Name(), ".safetensors") {
			continue
		}
		f, err := safetensors.OpenFS(fsys, n.Name())
		if err != nil {
			t.Errorf("%s in ASSAY_ORACLES: %v", n.Name(), err)
			continue
		}
		for _, l := range examineOracle(t, f, n.Name(), "ASSAY_ORACLES/"+n.Name()+"/") {
			fmt.Println(l)
		}
		_ = f.Close()
	}
}

func checkShipped(t *testing.T, l line) {
	t.Helper()
	if strings.Contains(l.contract, "codec") {
		if l.equal != l.of {
			t.Errorf("%v: want every code", l)
		}
		return
	}
	at := slices.IndexFunc(shipped, func(s struct {
		suffix, contract string
		accepted         bool
		fit              string
	},
	) bool {
		return strings.HasSuffix(l.group, s.suffix)
	})
	if at < 0 {
		t.Errorf("%v: nothing is expected of this group; add a row", l)
		return
	}
	want := shipped[at]
	if l.contract != want.contract || l.accepted != want.accepted || !l.explained || !strings.Contains(l.fit, want.fit) {
		t.Errorf("%v: want contract %s, accepted %v, explained by %q", l, want.contract, want.accepted, want.fit)
	}
}

// examineOracle returns the lines of a file, in the order of its names. kept tells files apart in the cache of bounds.
func examineOracle(t testing.TB, f *safetensors.File, file, kept string) []line {
	t.Helper()
	var lines []line
	for _, name := range f.Names() {
		group, out, found := cutLast(name)
		switch {
		case found && strings.HasPrefix(out, "out_"):
			if l, ok := examineGemm(t, f, kept+group, group, name); ok {
				lines = append(lines, l)
			} else {
				fmt.Printf("%s contract=none verdict=unmeasured rho=0 biteq=0/0 fit=%q\n", name,
					"no operands x_* and w_*, or a_* and b_*, of the group "+group)
			}
		case strings.HasPrefix(file, "codecs") && out != "in":
			if l, ok := examineCodec(t, f, group, name); ok {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

func cutLast(name string) (group, last string, found bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

// operandOf finds the tensor of a group whose last segment starts with one of the prefixes.
func operandOf(f *safetensors.File, group string, prefixes ...string) string {
	for _, name := range f.Names() {
		g, last, _ := cutLast(name)
		if g == group && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(last, p) }) {
			return name
		}
	}
	return ""
}

func examineGemm(t testing.TB, f *safetensors.File, kept, group, name string) (line, bool) {
	t.Helper()
	xn, wn := operandOf(f, group, "x_", "a_"), operandOf(f, group, "w_", "b_")
	if xn == "" || wn == "" {
		return line{}, false
	}
	x, w, got := read(t, f, xn), read(t, f, wn), read(t, f, name)
	if len(x.shape) != 2 || len(w.shape) != 2 || x.shape[1] != w.shape[1] || len(got.v) != x.shape[0]*w.shape[0] {
		return line{}, false
	}
	info, _ := f.Tensor(name)
	out, err := format.ByDType(string(info.DType))
	require.NoError(t, err)
	in := numerics.GemmInputs{X: x.v, W: w.v, M: x.shape[0], N: w.shape[0], K: x.shape[1], Out: out}
	wi, _ := f.Tensor(wn)
	c := declaredBy(name, string(wi.DType), out)
	e, err := numerics.Explain(got.v, in)
	require.NoError(t, err)
	b := work(t, recording{name: kept, x: in.X, w: in.W, m: in.M, n: in.N, k: in.K}, c).bounds
	ensemble, err := c.Ensemble(in.X, in.W, in.M, in.N, in.K, numerics.MinEnsemble, suite.Seed("numerics/oracles/"+name))
	require.NoError(t, err)
	v := numerics.Judge(numerics.Trial{
		Shape: []int{in.M, in.N}, Axes: []string{"row", "col"}, Got: got.v,
		Want: b.Center, Bound: b.Strict, Martingale: b.Martingale, Alpha: alpha, Ensemble: ensemble,
	}, c)
	return line{
		group: name, contract: c.Name, accepted: v.Accepted, gate: v.Gate, rho: math.Max(v.Rho.Max, v.RhoMartingale.Max),
		equal: e.Equal, of: e.Of, fit: e.String(), explained: e.Explained(),
	}, true
}

// declaredBy is the contract that an output's name and its operands' dtype declare.
func declaredBy(name, dtype string, out format.Format) numerics.Contract {
	switch {
	case strings.HasPrefix(dtype, "F8"):
		c := numerics.FP8Hopper("fp8-fp32-accumulate", 0)
		f, err := format.ByDType(dtype)
		if err == nil {
			o := numerics.Operand{Format: f}
			c.Inputs = map[string]numerics.Operand{"x": o, "w": o}
		}
		c.Acc, c.Out = numerics.FP32Any(), out
		return c
	case strings.HasSuffix(name, "tf32"):
		return numerics.MHCTF32()
	case strings.HasSuffix(name, "fp32"):
		return numerics.MHCFP32()
	}
	c := numerics.MHCBF16()
	c.Out = out
	return c
}
