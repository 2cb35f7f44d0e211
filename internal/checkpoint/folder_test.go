package checkpoint_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/spelling"
	"github.com/assay-suite/assay/safetensors"
)

// stored is one tensor of a folder that is about to be damaged.
type stored struct {
	name, dtype string
	shape       []int
	raw         []byte
	shard       string
}

// folder is a shipped checkpoint taken apart, so that a test can damage it and write it to a temporary
// directory. cuts are bytes to cut off a shard after it was written.
type folder struct {
	t        testing.TB
	tensors  []*stored
	config   map[string]any
	indexed  bool
	weights  map[string]string // weight_map; nil to make it from the tensors
	total    int64             // total_size; -1 to make it
	cuts     map[string]int
	files    map[string][]byte // further files, written last; nil removes one
	rawIndex func([]byte) []byte
}

func open(t testing.TB, name string) *folder {
	t.Helper()
	c, err := safetensors.OpenCheckpoint(os.DirFS(filepath.Join("..", "..", "fixtures")), name)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	f := &folder{t: t, indexed: name != "nano-v4", total: -1, cuts: map[string]int{}, files: map[string][]byte{}}
	for _, n := range c.Names() {
		info, _ := c.Tensor(n)
		raw, err := c.Bytes(n)
		require.NoError(t, err)
		f.tensors = append(f.tensors, &stored{n, string(info.DType), info.Shape, raw, filepath.Base(info.File)})
	}
	require.NoError(t, json.Unmarshal(nanoConfig(t), &f.config))
	return f
}

// get finds a tensor by its release name.
func (f *folder) get(name string) *stored {
	f.t.Helper()
	i := slices.IndexFunc(f.tensors, func(s *stored) bool { return spelling.Release(s.name) == name })
	require.GreaterOrEqual(f.t, i, 0, "no tensor %s to damage", name)
	return f.tensors[i]
}

func (f *folder) remove(name string) {
	s := f.get(name)
	f.tensors = slices.DeleteFunc(f.tensors, func(x *stored) bool { return x == s })
}

func (f *folder) add(like *stored, name string, shard string) {
	c := *like
	c.raw, c.shape = bytes.Clone(like.raw), slices.Clone(like.shape)
	c.name, c.shard = name, shard
	f.tensors = append(f.tensors, &c)
}

// exchange swaps the contents of all tensors below two prefixes.
func (f *folder) exchange(a, b string) {
	n := 0
	for _, s := range f.tensors {
		release := spelling.Release(s.name)
		if rest, ok := strings.CutPrefix(release, a); ok {
			o := f.get(b + rest)
			s.raw, o.raw = o.raw, s.raw
			n++
		}
	}
	require.Positive(f.t, n, "nothing below %s", a)
}

func (s *stored) float32s() []float32 {
	out := make([]float32, len(s.raw)/4)
	if _, err := binary.Decode(s.raw, binary.LittleEndian, out); err != nil {
		panic(err) // a fixture: its size is a multiple of four
	}
	return out
}

func (s *stored) setFloat32s(v []float32) {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
		panic(err)
	}
	s.raw = b.Bytes()
}

func (s *stored) each(change func(i int, b byte) byte) {
	s.raw = bytes.Clone(s.raw)
	for i := range s.raw {
		s.raw[i] = change(i, s.raw[i])
	}
}

// write puts the folder into a temporary directory.
func (f *folder) write() string {
	f.t.Helper()
	dir := f.t.TempDir()
	weights, total := map[string]string{}, int64(0)
	var shards []string
	for _, s := range f.tensors {
		if !slices.Contains(shards, s.shard) {
			shards = append(shards, s.shard)
		}
		if _, twice := weights[s.name]; !twice {
			weights[s.name] = s.shard
		}
		total += int64(len(s.raw))
	}
	for _, shard := range shards {
		raw := encode(f.tensors, shard)
		f.put(dir, shard, raw[:len(raw)-f.cuts[shard]])
	}
	if f.weights != nil {
		weights = f.weights
	}
	if f.total >= 0 {
		total = f.total
	}
	if f.indexed {
		raw, err := json.Marshal(map[string]any{"metadata": map[string]any{"total_size": total}, "weight_map": weights})
		require.NoError(f.t, err)
		if f.rawIndex != nil {
			raw = f.rawIndex(raw)
		}
		f.put(dir, "model.safetensors.index.json", raw)
	}
	raw, err := json.Marshal(f.config)
	require.NoError(f.t, err)
	f.put(dir, "config.json", raw)
	for name, content := range f.files {
		if content == nil {
			require.NoError(f.t, os.Remove(filepath.Join(dir, name)))
			continue
		}
		f.put(dir, name, content)
	}
	return dir
}

func (f *folder) put(dir, name string, raw []byte) {
	f.t.Helper()
	require.NoError(f.t, os.WriteFile(filepath.Join(dir, name), raw, 0o600))
}

// listing is the weight_map of the tensors as they are.
func (f *folder) listing() map[string]string {
	out := map[string]string{}
	for _, s := range f.tensors {
		out[s.name] = s.shard
	}
	return out
}

// encode writes one shard in the safetensors format.
func encode(tensors []*stored, shard string) []byte {
	var header, data bytes.Buffer
	header.WriteByte('{')
	for _, s := range tensors {
		if s.shard != shard {
			continue
		}
		if header.Len() > 1 {
			header.WriteByte(',')
		}
		shape := strings.ReplaceAll(fmt.Sprint(s.shape), " ", ",")
		fmt.Fprintf(&header, "%q:{\"dtype\":%q,\"shape\":%s,\"data_offsets\":[%d,%d]}", s.name, s.dtype, shape, data.Len(),
			data.Len()+len(s.raw))
		data.Write(s.raw)
	}
	header.WriteByte('}')
	out := binary.LittleEndian.AppendUint64(nil, uint64(header.Len()))
	return append(append(out, header.Bytes()...), data.Bytes()...)
}
