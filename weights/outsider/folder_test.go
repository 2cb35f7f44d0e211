package outsider

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

type object = map[string]any

type tensor struct {
	name, dtype string
	shape       []int
	data        []byte
}

// weight is one logical matrix (or a stack of slices of them), with what belongs to it.
type weight struct {
	module       string // as stored, without ".weight"
	role         string
	layer        int // -1: no layer
	expert       int // -1: none
	slices       int // matrices in the stored tensor: 1, or the number of fused experts
	rows, cols   int // of one matrix
	linear, mtp  bool
	quantised    bool
	group        int
	parts        map[string]string // codes, scale, zero, global, input, shape, gidx: to the stored tensor's name
	profileIn    bool              // columns are the residual stream
	profileOut   bool              // rows are
	rms          float64
	rowsReversed bool // stored [in, out]
}

func (w *weight) codes() string { return w.parts["codes"] }

// folder is a checkpoint before it is written.
type folder struct {
	pair     string
	scheme   string
	config   object
	files    map[string][]byte
	tensors  []*tensor
	byName   map[string]*tensor
	weights  []*weight
	metadata map[string]string
	shards   int
	tokens   int // ids that the tokenizer has
	excluded []string
	fields   map[string]string // fact ("experts", "layers") to the dotted path of the field in config.json

	source map[*weight][]float32             // what quantised weights were before
	hub    bool                              // as the cache of the hub: snapshots/<revision> of links into blobs
	spoil  func(dir string) error            // what damages files after they were written
	index  func(weightMap map[string]string) // what damages the index
}

func (f *folder) add(name, dtype string, data []byte, shape ...int) *tensor {
	if f.byName[name] != nil {
		panic("twice: " + name)
	}
	n := width(dtype)
	for _, s := range shape {
		n *= s
	}
	if n != len(data) {
		panic(fmt.Sprintf("%s: %d bytes for %s %v", name, len(data), dtype, shape))
	}
	t := &tensor{name, dtype, append([]int{}, shape...), data}
	f.tensors, f.byName[name] = append(f.tensors, t), t
	return t
}

func (f *folder) drop(name string) {
	f.tensors = slices.DeleteFunc(f.tensors, func(t *tensor) bool { return t.name == name })
	delete(f.byName, name)
}

// own gives a tensor whose bytes may be changed.
func (f *folder) own(name string) *tensor {
	t := f.byName[name]
	if t == nil {
		panic("no tensor " + name)
	}
	c := &tensor{t.name, t.dtype, slices.Clone(t.shape), slices.Clone(t.data)}
	f.tensors[slices.Index(f.tensors, t)], f.byName[name] = c, c
	return c
}

// clone shares the bytes of tensors: damages call own first.
func (f *folder) clone() *folder {
	c := *f
	c.config = deep(f.config).(object)
	c.files, c.byName = maps.Clone(f.files), maps.Clone(f.byName)
	c.tensors, c.metadata = slices.Clone(f.tensors), maps.Clone(f.metadata)
	return &c
}

func deep(v any) any {
	switch v := v.(type) {
	case object:
		o := object{}
		for k, x := range v {
			o[k] = deep(x)
		}
		return o
	case []any:
		o := make([]any, len(v))
		for i, x := range v {
			o[i] = deep(x)
		}
		return o
	}
	return v
}

// field finds the object that holds a dotted path of config.json.
func (f *folder) field(path string) (object, string) {
	o, parts := f.config, strings.Split(path, ".")
	for _, p := range parts[:len(parts)-1] {
		o = o[p].(object)
	}
	return o, parts[len(parts)-1]
}

func encoded(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	// as Python's json writes what JSON has no word for
	return []byte(strings.NewReplacer(`"@Infinity"`, "Infinity", `"@NaN"`, "NaN").Replace(string(b)) + "\n")
}

// write makes the folder on disk as save_pretrained does: names in order, shards cut by size, an index where there are
// several.
func (f *folder) write(dir string) error {
	ts := slices.Clone(f.tensors)
	total := 0
	for _, t := range ts {
		total += len(t.data)
	}
	var shards [][]*tensor
	for size, i := 0, 0; i < len(ts); i++ {
		if want := size * f.shards / max(total, 1); len(shards) <= want && len(shards) < f.shards {
			shards = append(shards, nil)
		}
		shards[len(shards)-1] = append(shards[len(shards)-1], ts[i])
		size += len(ts[i].data)
	}
	where := map[string]string{}
	for i, s := range shards {
		name := "model.safetensors"
		if len(shards) > 1 {
			name = fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, len(shards))
		}
		for _, t := range s {
			where[t.name] = name
		}
		if err := os.WriteFile(filepath.Join(dir, name), shard(s, f.metadata), 0o600); err != nil {
			return err
		}
	}
	if len(shards) > 1 {
		if f.index != nil {
			f.index(where)
		}
		idx := encoded(object{"metadata": object{"total_size": total}, "weight_map": where})
		if err := os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), idx, 0o600); err != nil {
			return err
		}
	}
	files := maps.Clone(f.files)
	if f.config != nil {
		files["config.json"] = encoded(f.config)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	if f.spoil != nil {
		return f.spoil(dir)
	}
	return nil
}

// shard is one file of the format, widest elements first as the Rust writer orders them.
func shard(ts []*tensor, metadata map[string]string) []byte {
	ts = slices.Clone(ts)
	slices.SortStableFunc(ts, func(a, b *tensor) int {
		if d := width(b.dtype) - width(a.dtype); d != 0 {
			return d
		}
		return strings.Compare(a.name, b.name)
	})
	type entry struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	head, at := map[string]any{}, 0
	if metadata != nil {
		head["__metadata__"] = metadata
	}
	for _, t := range ts {
		head[t.name] = entry{t.dtype, t.shape, [2]int{at, at + len(t.data)}}
		at += len(t.data)
	}
	h, err := json.Marshal(head)
	if err != nil {
		panic(err)
	}
	h = append(h, strings.Repeat(" ", (8-len(h)%8)%8)...)
	out := make([]byte, 8, 8+len(h)+at)
	binary.LittleEndian.PutUint64(out, uint64(len(h)))
	out = append(out, h...)
	for _, t := range ts {
		out = append(out, t.data...)
	}
	return out
}
