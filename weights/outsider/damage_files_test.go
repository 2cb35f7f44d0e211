package outsider

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shardPath is one of the shards on disk.
func (f *folder) shardPath(dir string, i int) string {
	if f.shards == 1 {
		return filepath.Join(dir, "model.safetensors")
	}
	return filepath.Join(dir, fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, f.shards))
}

// several makes the folder one of at least two shards, and draws one of them.
func (f *folder) several(r *rand.Rand) (int, string) {
	f.shards, f.hub = max(2, f.shards), false
	i := r.IntN(f.shards)
	return i, filepath.Base(f.shardPath("", i))
}

var fileDamages = []damage{
	{kind: "shard-missing", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		i, name := f.several(r)
		f.spoil = func(dir string) error { return os.Remove(f.shardPath(dir, i)) }
		return []string{name}, true
	}},
	{kind: "shard-truncated", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		i, name := f.several(r)
		share := between(r, 0.01, 0.9)
		f.spoil = func(dir string) error {
			info, err := os.Stat(f.shardPath(dir, i))
			if err != nil {
				return err
			}
			return os.Truncate(f.shardPath(dir, i), int64(float64(info.Size())*(1-share)))
		}
		return []string{name}, true
	}},
	{kind: "shard-is-another", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		i, name := f.several(r)
		f.spoil = func(dir string) error {
			data, err := os.ReadFile(f.shardPath(dir, (i+1)%f.shards))
			if err != nil {
				return err
			}
			return os.WriteFile(f.shardPath(dir, i), data, 0o600)
		}
		return []string{name}, true
	}},
	{kind: "header-lies", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		i, name := f.several(r)
		f.spoil = func(dir string) error {
			data, err := os.ReadFile(f.shardPath(dir, i))
			if err != nil {
				return err
			}
			n := binary.LittleEndian.Uint64(data)
			at := bytes.Index(data[8:8+n], []byte(`"shape":[`))
			data[8+at+len(`"shape":[`)] ^= 1
			return os.WriteFile(f.shardPath(dir, i), data, 0o600)
		}
		return []string{name}, true
	}},
	{kind: "index-names-a-tensor-too-many", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		f.several(r)
		f.index = func(m map[string]string) {
			m["model.layers.0.extra.weight"] = m[slices.Sorted(maps.Keys(m))[0]]
		}
		return []string{"model.layers.0.extra.weight"}, true
	}},
	{kind: "index-lacks-a-tensor", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		f.several(r)
		w := f.any(r, body)
		f.index = func(m map[string]string) { delete(m, w.codes()) }
		return []string{w.codes()}, true
	}},
	{kind: "index-names-another-shard", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		f.several(r)
		w := f.any(r, body)
		f.index = func(m map[string]string) {
			for _, s := range m {
				if s != m[w.codes()] {
					m[w.codes()] = s
					return
				}
			}
		}
		return []string{w.codes()}, true
	}},
	{kind: "chat-template-unparsable", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		chat := pick(r,
			"{% for m in messages %}{{ m['content'] }}", "{% if a %}{{ x }}{% endfor %}", "{{ messages[0] }",
			"{% for %}x{% endfor %}",
			"{% elif x %}{{ y }}", "{{ 'open }}", "{%- if messages -%}{{ messages | tojson ) }}{%- endif -%}",
		)
		f.chat(chat)
		return []string{"chat_template", "chat template"}, true
	}},
	{kind: "tokenizer-unparsable", do: func(f *folder, _ *rand.Rand) ([]string, bool) {
		raw, ok := f.files["tokenizer.json"]
		if !ok {
			return nil, false
		}
		f.files["tokenizer.json"] = raw[:len(raw)*2/3]
		return []string{"tokenizer.json"}, true
	}},
	{kind: "config-unparsable", do: func(f *folder, _ *rand.Rand) ([]string, bool) {
		f.files["config.json"] = encoded(f.config)[:200]
		f.config = nil
		return []string{"config.json"}, true
	}},
}

// chat replaces the chat template where it stands.
func (f *folder) chat(template string) {
	if _, ok := f.files["chat_template.jinja"]; ok {
		f.files["chat_template.jinja"] = []byte(template)
		return
	}
	var o object
	if err := json.Unmarshal(f.files["tokenizer_config.json"], &o); err != nil {
		panic(err)
	}
	o["chat_template"] = template
	f.files["tokenizer_config.json"] = encoded(o)
}

// named is whether a text holds one of the words.
func named(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return w != "" && strings.Contains(text, w) })
}
