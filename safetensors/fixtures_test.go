package safetensors_test

import (
	"encoding/binary"
	"encoding/json"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/spelling"
	"github.com/assay-suite/assay/safetensors"
)

// rawEntry and parseRaw are the second source: the header through encoding/json, with no check at all.
type rawEntry struct {
	DType   string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

func parseRaw(t *testing.T, file []byte) (entries map[string]rawEntry, meta map[string]string, dataStart int64) {
	t.Helper()
	n := int64(binary.LittleEndian.Uint64(file))
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(file[8:8+n], &fields))
	meta = map[string]string{}
	if raw, ok := fields["__metadata__"]; ok {
		require.NoError(t, json.Unmarshal(raw, &meta))
		delete(fields, "__metadata__")
	}
	entries = map[string]rawEntry{}
	for name, raw := range fields {
		var e rawEntry
		require.NoError(t, json.Unmarshal(raw, &e))
		entries[name] = e
	}
	return entries, meta, 8 + n
}

// Every fixture file MUST open, and every tensor MUST be what an independent parse says.
func TestFixtureFiles(t *testing.T) {
	opened := 0
	err := fs.WalkDir(fixtures.FS, ".", func(name string, _ fs.DirEntry, err error) error {
		packed := name
		name = strings.TrimSuffix(name, ".gz")
		if err != nil || !strings.HasSuffix(name, ".safetensors") {
			return err
		}
		opened++
		t.Run(name, func(t *testing.T) {
			file, err := fixtures.ReadFile(fixtures.FS, packed)
			require.NoError(t, err)
			entries, meta, start := parseRaw(t, file)
			f, err := safetensors.OpenFS(fstest.MapFS{name: {Data: file}}, name)
			require.NoError(t, err)
			closeAfter(t, f)
			if diff := cmp.Diff(meta, f.Metadata()); diff != "" {
				t.Errorf("metadata (-independent +reader):\n%s", diff)
			}
			if len(f.Names()) != len(entries) {
				t.Errorf("got %d names, want %d", len(f.Names()), len(entries))
			}
			last := int64(0)
			for _, tensor := range f.Names() {
				e := entries[tensor]
				want := safetensors.Info{
					Name: tensor, DType: safetensors.DType(e.DType), Shape: e.Shape,
					Offset: start + e.Offsets[0], Size: e.Offsets[1] - e.Offsets[0], File: name,
				}
				got, ok := f.Tensor(tensor)
				if diff := cmp.Diff(want, got); !ok || diff != "" {
					t.Errorf("%s (-independent +reader):\n%s", tensor, diff)
				}
				raw, err := f.Bytes(tensor)
				if err != nil || !slices.Equal(raw, file[want.Offset:want.Offset+want.Size]) {
					t.Errorf("%s: bytes differ from the file's (err %v)", tensor, err)
				}
				if got.Offset < last {
					t.Errorf("%s: Names are not in the order of bytes", tensor)
				}
				last = got.Offset
			}
		})
		return nil
	})
	require.NoError(t, err)
	// 3 nano-v4 files, 2 x 3 shards, 3 nano-flash files, 2 nano-llama files, 3 oracle files, packed or not: an empty walk
	// would prove nothing.
	if opened != 17 {
		t.Errorf("opened %d fixture files, want 17", opened)
	}
}

// The folders MUST open as checkpoints and give every tensor under both spellings.
func TestFixtureCheckpoints(t *testing.T) {
	for _, row := range []struct {
		name    string
		files   int
		tensors int // counted in the index files and in nano-v4's header by a Python script
	}{
		{"nano-flash", 1, 162},
		{"nano-v4", 1, 162},
		{"nano-v4-mxfp4", 3, 244},
		{"nano-v4-nvfp4", 3, 340},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, err := safetensors.OpenSpelled(fixtures.FS, row.name, spelling.Release)
			require.NoError(t, err)
			closeAfter(t, c)
			if len(c.Files()) != row.files || len(c.Names()) != row.tensors {
				t.Errorf("got %d files and %d tensors, want %d and %d", len(c.Files()), len(c.Names()), row.files, row.tensors)
			}
			for _, name := range c.Names() {
				stored, _ := c.Tensor(name)
				for _, spelling := range []string{name, spelling.Release(name), "model." + spelling.Release(name)} {
					if got, ok := c.Tensor(spelling); !ok || got.Name != stored.Name {
						t.Errorf("%q resolves to %q (%v), want %q", spelling, got.Name, ok, stored.Name)
					}
				}
				if !strings.HasPrefix(stored.File, row.name+"/") {
					t.Errorf("%q: file %q is not in the folder", name, stored.File)
				}
			}
		})
	}
}

// The release names of nano-v4's own tensors MUST be exactly the unscaled names of the quantised
// folders, which were written by the release's own convention (fixtures/README.md).
func TestReleaseNamesMatchTheReleaseLayout(t *testing.T) {
	hf, err := safetensors.OpenSpelled(fixtures.FS, "nano-v4", spelling.Release)
	require.NoError(t, err)
	closeAfter(t, hf)
	release, err := safetensors.OpenSpelled(fixtures.FS, "nano-v4-mxfp4", spelling.Release)
	require.NoError(t, err)
	closeAfter(t, release)
	var mapped, want []string
	for _, name := range hf.Names() {
		mapped = append(mapped, spelling.Release(name))
		if _, ok := release.Tensor(name); !ok {
			t.Errorf("the quantised twin does not find %q", name)
		}
	}
	for _, name := range release.Names() {
		if !strings.HasSuffix(name, ".scale") {
			want = append(want, name)
		}
		if _, ok := hf.Tensor(name); ok == strings.HasSuffix(name, ".scale") {
			t.Errorf("nano-v4 finds %q: %v", name, ok)
		}
	}
	slices.Sort(mapped)
	slices.Sort(want)
	if diff := cmp.Diff(want, mapped); diff != "" {
		t.Errorf("(-release layout +mapped):\n%s", diff)
	}
}

// Typed readers MUST agree with facts known from elsewhere: training config and file bytes.
func TestFixtureValues(t *testing.T) {
	c, err := safetensors.OpenSpelled(fixtures.FS, "nano-v4", spelling.Release)
	require.NoError(t, err)
	closeAfter(t, c)
	raw, err := fs.ReadFile(fixtures.FS, path.Join("nano-v4", "model.safetensors"))
	require.NoError(t, err)

	// tid2eid holds expert ids: 1024 x 2 values in [0, 4), config.json n_routed_experts = 4.
	ids, err := c.Int64s("layers.0.ffn.gate.tid2eid")
	require.NoError(t, err)
	require.Len(t, ids, 1024*2)
	if slices.Min(ids) != 0 || slices.Max(ids) != 3 {
		t.Errorf("tid2eid spans [%d, %d], want [0, 3]", slices.Min(ids), slices.Max(ids))
	}
	info, ok := c.Tensor("embed.weight")
	require.True(t, ok)
	values, err := c.Float32s("embed.weight")
	require.NoError(t, err)
	for i, v := range values {
		if want := binary.LittleEndian.Uint32(raw[info.Offset+int64(4*i):]); math.Float32bits(v) != want {
			t.Fatalf("embed.weight[%d] has bits %08x, want %08x", i, math.Float32bits(v), want)
		}
	}
	rows, err := c.Rows("embed.weight", 7, 9)
	require.NoError(t, err)
	if from := info.Offset + 7*128*4; !slices.Equal(rows, raw[from:from+2*128*4]) {
		t.Error("rows 7 and 8 of embed.weight differ from the file's bytes")
	}
}
