package inflate

import (
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/oracle"
)

// middle is the shape of hidden 512, large enough for every axis to grow.
var middle = Shapes()[3]

func flash(t testing.TB) fs.FS {
	t.Helper()
	fsys, err := fs.Sub(fixtures.FS, "nano-flash")
	require.NoError(t, err)
	return fsys
}

// written is a folder of nano-flash, in fp64 unless the options say another format.
func written(t testing.TB, o Options, plant func(*layout)) string {
	t.Helper()
	if o.Format.Name == "" {
		var err error
		o.Format, err = FormatByName("hf-fp64")
		require.NoError(t, err)
	}
	if o.Shape.Name == "" {
		o.Shape = middle
	}
	o.From, o.FromName, o.Out = flash(t), "nano-flash", filepath.Join(t.TempDir(), "out")
	_, err := run(context.Background(), o, hand{v4: plant})
	require.NoError(t, err)
	return o.Out
}

func untouched(*layout) {}

func loaded(t testing.TB, fsys fs.FS) *nano.Model {
	t.Helper()
	m, err := nano.Load(fsys, oracle.Reference())
	require.NoError(t, err)
	return m
}

// prompt is n tokens of prose with a needle and its question at the end.
func prompt(t testing.TB, n int) []int {
	t.Helper()
	prose, err := fixtures.ReadFile(fixtures.FS, "haystack/opticks.txt.gz")
	require.NoError(t, err)
	ids := nano.Encode("the access code for the lisbon archive is 40718. " + string(prose[20000:20000+6*n]))
	end := append(nano.Encode("what is the access code for the lisbon archive?"), nano.Assistant)
	ids = append([]int{nano.BOS, nano.User}, ids...)
	return append(ids[:n-len(end)], end...)
}

// recording keeps the tensors of a pass by name.
type recording map[string]oracle.Mat

func (r recording) Tensor(name string, m oracle.Mat) { r[name] = m.Clone() }
func (r recording) Sets(string, [][]int)             {}

func pass(t testing.TB, m *nano.Model, ids []int) recording {
	t.Helper()
	r := recording{}
	_, err := m.ExtendRecorded(context.Background(), m.NewState(), ids, len(ids), r)
	require.NoError(t, err)
	return r
}

// apart is the largest difference of the logits.
func apart(a, b recording) float64 {
	x, y := a["lm_head.out"], b["lm_head.out"]
	worst := 0.0
	for t := range x.Rows {
		for v, want := range x.Row(t) {
			if d := math.Abs(y.Row(t)[v] - want); !(d <= worst) {
				worst = d
			}
		}
	}
	return worst
}

// noise is what float64 leaves of logits of up to 50, after some thousand additions a layer.
const noise = 1e-9

// The inflated model MUST give the small one's logits, placed, spread and between passing layers; a layout that breaks
// one symmetry MUST not.
func TestInflatedIsTheModel(t *testing.T) {
	small, short, long := loaded(t, flash(t)), prompt(t, 48), prompt(t, 280) // 128 and 256 are ends of blocks
	wantShort, wantLong := pass(t, small, short), pass(t, small, long)
	for _, row := range []struct {
		name string
		o    Options
		ids  []int
		want recording
		off  float64
	}{
		{"placed", Options{Experts: 12}, short, wantShort, noise},
		{"spread", Options{Seed: 7}, long, wantLong, noise},
		// hc_eps lets 1e-6 of each stream into the others at every passing layer; the bound
		{"passing", Options{Seed: 7, Layers: 7}, short, wantShort, 5e-3},
	} {
		t.Run(row.name, func(t *testing.T) {
			off := apart(row.want, pass(t, loaded(t, os.DirFS(written(t, row.o, untouched))), row.ids))
			t.Logf("%d tokens: logits within %.1e", len(row.ids), off)
			if !(off <= row.off) {
				t.Errorf("logits are off by %g, allowed %g", off, row.off)
			}
		})
	}
	for name, plant := range map[string]func(*layout){
		"share": func(l *layout) { l.groups.share[0] *= 1.001 },
		"iso":   func(l *layout) { l.head.iso[3] *= 1.001 },
		"inner": func(l *layout) { l.inner.share[0] *= 1.01 },
		"frequency": func(l *layout) {
			n := l.head.N
			l.head.source[n-32+8], l.head.source[n-32+6] = -1, l.head.source[n-32+8]
		},
		"expert": func(l *layout) { l.experts[2].source[0] = (l.experts[2].source[0] + 1) % 4 },
		"scale":  func(l *layout) { l.indexScale *= 1.001; l.headScale *= 1.001 },
	} {
		t.Run("planted/"+name, func(t *testing.T) {
			off := apart(wantShort, pass(t, loaded(t, os.DirFS(written(t, Options{Seed: 7, Experts: 12}, plant))), short))
			if off <= noise {
				t.Errorf("the planted fault moves logits by %g, which nothing would see", off)
			}
		})
	}
}

// Every operator's output MUST be the small one's, laid out as the axes say.
func TestOperatorsAreLaidOut(t *testing.T) {
	var l *layout
	dir := written(t, Options{Seed: 5}, func(made *layout) { l = made })
	ids := prompt(t, 140)
	small, large := pass(t, loaded(t, flash(t)), ids), pass(t, loaded(t, os.DirFS(dir)), ids)
	stream, heads := dims{{l.hidden, iso}}, dims{{l.head, iso}}
	same := func(n int) dims { return dims{{placed(n, upTo(n)), copied}} }
	seen := map[string]int{}
	for name, want := range small {
		var d dims
		scale := 1.0
		kind := name[strings.LastIndex(strings.TrimSuffix(name, ".out"), ".")+1:]
		switch {
		case strings.HasSuffix(name, "_hc.out.0"), strings.HasSuffix(name, "_hc.out.1"):
			d, kind = same(want.Cols), "gates"
		case strings.HasSuffix(name, "_hc.in.0"), strings.HasSuffix(name, "layers.3.out"):
			d, scale, kind = dims{{l.streams, copied}, {l.hidden, iso}}, l.hiddenScale, "streams"
		case strings.HasSuffix(name, "_hc.out.2"), strings.HasSuffix(name, "self_attn.out.0"),
			strings.HasSuffix(name, "mlp.out"):
			d, scale, kind = stream, l.hiddenScale, "sublayer"
		case strings.HasSuffix(name, "self_attn.kv_norm.out"), strings.HasSuffix(name, "self_attn.compressor.kv_norm.out"),
			strings.HasSuffix(name, "self_attn.compressor.out.0"):
			d, kind = heads, "rows"
		case strings.HasSuffix(name, "indexer.kv_norm.out"), strings.HasSuffix(name, "scorer.in.1"):
			d, kind = dims{{l.index, iso}}, "index keys"
		case strings.HasSuffix(name, "o_a_proj.out"):
			d = dims{{l.groups, copied}, {l.oRank, iso}}
		case strings.HasSuffix(name, "scorer.out"):
			d, kind = same(want.Cols), "scores"
		case strings.HasSuffix(name, "gate.out.0"):
			kind = "gate"
			d = dims{{l.experts[int(name[len("model.layers.")]-'0')], copied}}
		case name == "lm_head.out":
			d = same(want.Cols)
		default:
			continue
		}
		seen[kind]++
		got, worst, size := large[name], 0.0, 0.0
		laid := inflate(want.Data, same(want.Rows), d, scale)
		row := make([]float64, laid.cols)
		for i := range want.Rows {
			laid.fill(i, row)
			for j, v := range row {
				if !math.IsInf(v, 0) { // scores of rows that are not visible yet
					worst = math.Max(worst, math.Abs(got.Row(i)[j]-v))
					size = math.Max(size, math.Abs(v))
				}
			}
		}
		if !(worst <= 1e-9*math.Max(size, 1)) { // the issue asks for 1e-6
			t.Errorf("%s is off by %g of %g", name, worst, size)
		}
	}
	for _, kind := range []string{
		"gates", "streams", "sublayer", "rows", "index keys", "o_a_proj.out", "scores", "gate", "lm_head.out",
	} {
		if seen[kind] == 0 {
			t.Errorf("no output of the kind %q was looked at, but %v", kind, seen)
		}
	}
}
