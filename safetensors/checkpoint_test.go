package safetensors_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/safetensors"
)

const indexName = "model.safetensors.index.json"

// goodIndex fits twoShards: a (8 bytes) and b (3 bytes) in s1, c (2 bytes) in s2.
const goodIndex = `{"metadata":{"total_size":13},"weight_map":{"a":"s1.safetensors","b":"s1.safetensors",` +
	`"c":"s2.safetensors"}}`

// twoShards is a folder "w" with that index text and both shards.
func twoShards(index string) fstest.MapFS {
	return fstest.MapFS{
		"w/" + indexName:   {Data: []byte(index)},
		"w/s1.safetensors": {Data: build(goodB, 11)},
		"w/s2.safetensors": {Data: build(`{"__metadata__":{"format":"pt"},`+tensor("c", "I8", "2", 0, 2)+`}`, 2)},
	}
}

// An index that its shards contradict MUST be refused at the offending byte; the good one opens.
// § marks the byte in the index, as in TestMalformedHeaders.
func TestMalformedIndexes(t *testing.T) {
	if _, err := safetensors.OpenCheckpoint(twoShards(goodIndex), "w"); err != nil {
		t.Fatalf("the corrected twin of every row does not open: %v", err)
	}
	for _, row := range []struct{ name, index, tensor, cause string }{
		{"empty", `§`, "", "ends before it is complete"},
		{"cut", `{"weight_map":{"a":"s1.safetensors"§`, "", "ends before it is complete"},
		{"array", `§[]`, "", "must be a JSON object, not an array"},
		{"no-weight-map", `§{"metadata":{"total_size":13}}`, "", "no weight_map"},
		{"weight-map-null", `{"weight_map":§null}`, "", "must be a JSON object, not null"},
		{"weight-map-twice", `{"weight_map":{},§"weight_map":{}}`, "", `key "weight_map" twice`},
		{"tensor-twice", `{"weight_map":{"a":"s1.safetensors",§"a":"s2.safetensors"}}`, "", `key "a" twice`},
		{"shard-number", `{"weight_map":{"a":§1}}`, "a", "must be a string"},
		{"shard-absolute", `{"weight_map":{"a":§"/etc/passwd"}}`, "a", "not a plain path"},
		{"shard-upwards", `{"weight_map":{"a":§"../s1.safetensors"}}`, "a", "not a plain path"},
		{"shard-backslash", `{"weight_map":{"a":§"..\\s1.safetensors"}}`, "a", "not a plain path"},
		{"shard-empty", `{"weight_map":{"a":§""}}`, "a", "not a plain path"},
		{"shard-is-folder", `{"weight_map":{"a":§"."}}`, "a", "not a plain path"},
		{"not-utf8", "{\"weight_map\":{\"§\xc3(\":\"s1.safetensors\"}}", "", "not valid UTF-8"},
		{"text-after", goodIndex + ` §x`, "", "stands after the JSON object"},
		{
			"listed-not-stored", strings.Replace(goodIndex, `"c"`, `§"d":"s1.safetensors","c"`, 1), "d",
			`puts it into "s1.safetensors", which does not hold it`,
		},
		{
			"listed-twice-missing", strings.Replace(goodIndex, `"c"`, `§"z":"s2.safetensors","d":"s1.safetensors","c"`, 1), "z",
			"does not hold it",
		},
		{"empty-name-not-stored", strings.Replace(goodIndex, `"c"`, `§"":"s2.safetensors","c"`, 1), "", "does not hold it"},
	} {
		t.Run(row.name, func(t *testing.T) {
			before, after, _ := strings.Cut(row.index, "§")
			_, err := safetensors.OpenCheckpoint(twoShards(before+after), "w")
			wantFormatError(t, err, "w/"+indexName, row.tensor, int64(len(before)), row.cause)
		})
	}
}

// A shard that holds what the index does not say MUST be blamed by name and byte of its data.
func TestShardsAgainstIndex(t *testing.T) {
	s1, s2 := "w/s1.safetensors", "w/s2.safetensors"
	for _, row := range []struct {
		name   string
		damage func(fs fstest.MapFS)
		file   string
		tensor string
		offset int64
		cause  string
	}{
		{
			"stored-not-listed", func(fs fstest.MapFS) {
				fs["w/"+indexName].Data = []byte(strings.Replace(goodIndex, `"b":"s1.safetensors",`, "", 1))
			}, s1, "b", int64(8 + len(goodB) + 8), "does not list it",
		},
		{
			"in-the-other-shard", func(fs fstest.MapFS) {
				fs["w/"+indexName].Data = []byte(strings.Replace(goodIndex, `"b":"s1`, `"b":"s2`, 1))
			}, s1, "b", int64(8 + len(goodB) + 8), `puts it into "s2.safetensors"`,
		},
		{
			"tensor-in-both-shards", func(fs fstest.MapFS) {
				fs[s2].Data = build(`{`+tensor("a", "I8", "2", 0, 2)+`}`, 2)
			}, s2, "a", int64(8 + len(`{`+tensor("a", "I8", "2", 0, 2)+`}`)), `puts it into "s1.safetensors"`,
		},
		{
			"shard-cut", func(fs fstest.MapFS) { fs[s1].Data = fs[s1].Data[:len(fs[s1].Data)-1] },
			s1, "b", int64(8 + len(goodB) + 10), "ends at data offset 11",
		},
		{
			"spelling-clash", func(fs fstest.MapFS) {
				fs[s1].Data = build(`{`+tensor("embed.weight", "U8", "2", 0, 2)+`}`, 2)
				fs[s2].Data = build(`{`+tensor("model.embed_tokens.weight", "U8", "2", 0, 2)+`}`, 2)
				fs["w/"+indexName].Data = []byte(`{"weight_map":{"embed.weight":"s1.safetensors",` +
					`"model.embed_tokens.weight":"s2.safetensors"}}`)
			}, s2, "model.embed_tokens.weight", int64(8 + len(`{`+tensor("model.embed_tokens.weight", "U8", "2", 0, 2)+`}`)),
			`are both "embed.weight"`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			folder := twoShards(goodIndex)
			row.damage(folder)
			_, err := safetensors.OpenSpelled(folder, "w", spelled)
			wantFormatError(t, err, row.file, row.tensor, row.offset, row.cause)
		})
	}
}

// A folder in which it is not clear what the weights are MUST be refused in words.
func TestFolderRefusals(t *testing.T) {
	one := &fstest.MapFile{Data: build(goodB, 11)}
	index := &fstest.MapFile{Data: []byte(goodIndex)}
	shards := twoShards(goodIndex)
	for _, row := range []struct {
		name   string
		folder fstest.MapFS
		cause  string
		is     error
	}{
		{"no-folder", fstest.MapFS{}, `cannot list the checkpoint folder "w"`, fs.ErrNotExist},
		{"no-weights", fstest.MapFS{"w/config.json": index}, "holds neither model.safetensors nor", fs.ErrNotExist},
		{"other-names", fstest.MapFS{"w/a.safetensors": one, "w/b.safetensors": one}, "holds neither", fs.ErrNotExist},
		{
			"two-indexes",
			fstest.MapFS{"w/a.safetensors.index.json": index, "w/b.safetensors.index.json": index},
			"holds 2 indexes (a.safetensors.index.json, b.safetensors.index.json)", nil,
		},
		{
			"single-and-index",
			fstest.MapFS{"w/model.safetensors": one, "w/" + indexName: shards["w/"+indexName]},
			"holds both model.safetensors and", nil,
		},
		{
			"shard-missing",
			fstest.MapFS{"w/" + indexName: index, "w/s1.safetensors": one},
			`"w/s2.safetensors"`,
			fs.ErrNotExist,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, err := safetensors.OpenCheckpoint(row.folder, "w")
			if c != nil || err == nil || !strings.Contains(err.Error(), row.cause) {
				t.Fatalf("got %v, %v; want an error about %q", c, err, row.cause)
			}
			if row.is != nil && !errors.Is(err, row.is) {
				t.Errorf("%v does not wrap %v", err, row.is)
			}
		})
	}
}

// Layouts that are unusual but clear MUST open.
func TestFolderVariants(t *testing.T) {
	one := &fstest.MapFile{Data: build(goodB, 11)}
	for _, row := range []struct {
		name, dir string
		folder    fstest.MapFS
		tensors   int
	}{
		{"single-file", "w", fstest.MapFS{"w/model.safetensors": one, "w/trace.safetensors": {Data: []byte("not read")}}, 2},
		{"root-folder", ".", fstest.MapFS{"model.safetensors": one}, 2},
		{
			"index-of-another-name", "w", fstest.MapFS{
				"w/x.safetensors.index.json": {Data: []byte(`{"weight_map":{"a":"x.safetensors","b":"x.safetensors"}}`)},
				"w/x.safetensors":            one,
			}, 2,
		},
		{
			"index-that-lists-the-single-file", "w", fstest.MapFS{
				"w/" + indexName:      {Data: []byte(`{"weight_map":{"a":"model.safetensors","b":"model.safetensors"}}`)},
				"w/model.safetensors": one,
			}, 2,
		},
		{"model-index-before-another", "w", func() fstest.MapFS {
			folder := twoShards(goodIndex)
			folder["w/model.fp16.safetensors.index.json"] = &fstest.MapFile{Data: []byte("not read")}
			return folder
		}(), 3},
		{
			"shard-in-subfolder", "w", fstest.MapFS{
				"w/" + indexName:    {Data: []byte(`{"weight_map":{"a":"p/x.safetensors","b":"p/x.safetensors"}}`)},
				"w/p/x.safetensors": one,
			}, 2,
		},
		{
			"free-form-remarks", "w", twoShards(`{"version":[1,{"x":null}],"metadata":{"total_parameters":7.5,` +
				`"note":{"by":["me"]},"total_size":13.0},` + goodIndex[len(`{"metadata":{"total_size":13},`):]), 3,
		},
		{"total-size-of-the-files", "w", twoShards(strings.Replace(goodIndex, `"total_size":13`, `"total_size":141`, 1)), 3},
		{"one-file-of-another-name", "w", fstest.MapFS{
			"w/gptq_model-4bit-128g.safetensors": one, "w/adapter_model.safetensors": one,
		}, 2},
		{"no-tensors", "w", fstest.MapFS{"w/" + indexName: {Data: []byte(`{"weight_map":{}}`)}}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, err := safetensors.OpenCheckpoint(row.folder, row.dir)
			require.NoError(t, err)
			if got := len(c.Names()); got != row.tensors {
				t.Errorf("got %d tensors, want %d", got, row.tensors)
			}
			if err := c.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// spelled is a family in which "model." may stand before a name, and the embedding has two.
func spelled(name string) string {
	if name = strings.TrimPrefix(name, "model."); name == "embed_tokens.weight" {
		return "embed.weight"
	}
	return name
}

// A checkpoint MUST answer as its files do, and say what it does not hold.
func TestCheckpointLookups(t *testing.T) {
	c, err := safetensors.OpenSpelled(twoShards(goodIndex), "w", spelled)
	require.NoError(t, err)
	closeAfter(t, c)
	if diff := cmp.Diff([]string{"a", "b", "c"}, c.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"format": "pt"}, c.Metadata()); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if got, err := c.Bytes("model.b"); err != nil || !slices.Equal(got, []byte{8, 9, 10}) {
		t.Errorf("model.b: %v (%v)", got, err)
	}
	if got, err := c.Int64s("c"); err != nil || !slices.Equal(got, []int64{0, 1}) {
		t.Errorf("c: %v (%v)", got, err)
	}
	if got, err := c.Rows("c", 1, 2); err != nil || !slices.Equal(got, []byte{1}) {
		t.Errorf("row 1 of c: %v (%v)", got, err)
	}
	section, err := c.Section("b")
	require.NoError(t, err)
	if got, err := io.ReadAll(section); err != nil || !slices.Equal(got, []byte{8, 9, 10}) {
		t.Errorf("section of b: %v (%v)", got, err)
	}
	if _, err := c.Float64s("c"); err == nil || !strings.Contains(err.Error(), `"c" is I8`) {
		t.Errorf("c as float64: got %v, want a refusal", err)
	}
	if got := c.Files()[1].Name(); got != "w/s2.safetensors" {
		t.Errorf("the second file is %q", got)
	}
	if _, err := c.Float32s("model.zz"); !errors.Is(err, safetensors.ErrNoTensor) ||
		!strings.Contains(fmt.Sprint(err), `neither under this name nor under "zz"`) {
		t.Errorf("an unknown name: got %v", err)
	}
	if _, ok := c.Tensor("zz"); ok {
		t.Error("an unknown name is found")
	}
}
