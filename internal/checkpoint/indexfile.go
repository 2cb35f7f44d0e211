package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// shardIndex is a *.safetensors.index.json as it stands, right or wrong.
type shardIndex struct {
	names     []string          // in the order of the file
	shardOf   map[string]string // stored name to shard
	shards    []string          // in the order of first mention
	totalSize int64             // -1 when absent
	repeated  []string          // names listed twice
	padding   bool              // metadata declares tensors that were filled up with zeros
}

// parseIndex reads an index. The 135,235 names of a large checkpoint are read by a scanner of plain
// string pairs; anything unusual (escapes, nested values) goes to encoding/json.
func parseIndex(raw []byte) (*shardIndex, error) {
	ix := &shardIndex{totalSize: -1}
	before, body, ok := bytes.Cut(raw, []byte(`"weight_map"`))
	if !ok || bytes.Contains(body, []byte(`"weight_map"`)) {
		return parseSlow(raw)
	}
	_, inside, ok := bytes.Cut(body, []byte{'{'})
	if !ok {
		return parseSlow(raw)
	}
	rest, ok := ix.pairs(inside)
	if !ok {
		return parseSlow(raw)
	}
	// What surrounds the map is small: read it with the map taken out.
	outer := append(bytes.Clone(before), `"weight_map":{}`...)
	outer = append(outer, rest...)
	var doc indexDoc
	if err := json.Unmarshal(outer, &doc); err != nil {
		return parseSlow(raw)
	}
	return ix, ix.total(doc)
}

type indexDoc struct {
	Metadata struct {
		TotalSize json.Number     `json:"total_size"`
		Padding   json.RawMessage `json:"assay.padding"`
	} `json:"metadata"`
	WeightMap map[string]string `json:"weight_map"`
}

func (ix *shardIndex) total(doc indexDoc) error {
	ix.padding = len(doc.Metadata.Padding) > 0
	if doc.Metadata.TotalSize == "" {
		return nil
	}
	n, err := doc.Metadata.TotalSize.Int64()
	if err != nil {
		f, ferr := doc.Metadata.TotalSize.Float64() // some writers sum in floating point
		if ferr != nil || f < 0 || f >= 1<<53 || f != float64(int64(f)) {
			return fmt.Errorf("metadata.total_size is %q, not a number of bytes; write the index again from the shards",
				doc.Metadata.TotalSize)
		}
		n = int64(f)
	}
	ix.totalSize = n
	return nil
}

func parseSlow(raw []byte) (*shardIndex, error) {
	var doc indexDoc
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("it is not the JSON of an index: %w; write it again from the shards", err)
	}
	if doc.WeightMap == nil {
		return nil, errors.New("it has no weight_map; write it again from the shards")
	}
	ix := &shardIndex{totalSize: -1, shardOf: map[string]string{}}
	known := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(doc.WeightMap)) {
		ix.enter(name, doc.WeightMap[name], known)
	}
	return ix, ix.total(doc)
}

// pairs reads `"name": "shard", ... }` and gives what follows the brace; ok is false for everything
// that is not plain strings without escapes.
func (ix *shardIndex) pairs(b []byte) (rest []byte, ok bool) {
	n := bytes.Count(b, []byte{','}) + 1
	ix.shardOf = make(map[string]string, n)
	ix.names = make([]string, 0, n)
	known := map[string]bool{}
	last := "" // the shard of the entry before: neighbours share it
	for first := true; ; first = false {
		b = blanks(b)
		if len(b) > 0 && b[0] == '}' {
			return b[1:], true
		}
		if !first {
			if len(b) == 0 || b[0] != ',' {
				return nil, false
			}
			b = blanks(b[1:])
		}
		name, after, ok := plain(b)
		if !ok {
			return nil, false
		}
		b = blanks(after)
		if len(b) == 0 || b[0] != ':' {
			return nil, false
		}
		shard, after, ok := plain(blanks(b[1:]))
		if !ok {
			return nil, false
		}
		b = after
		if string(shard) != last {
			last = string(shard)
		}
		ix.enter(string(name), last, known)
	}
}

func (ix *shardIndex) enter(name, shard string, known map[string]bool) {
	before := len(ix.shardOf)
	ix.shardOf[name] = shard
	if len(ix.shardOf) > before {
		ix.names = append(ix.names, name)
	} else {
		ix.repeated = append(ix.repeated, name)
	}
	if len(ix.shards) > 0 && ix.shards[len(ix.shards)-1] == shard {
		return
	}
	if !known[shard] {
		known[shard] = true
		ix.shards = append(ix.shards, shard)
	}
}

func blanks(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\n' || b[0] == '\t' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// plain reads one string without escapes or control bytes.
func plain(b []byte) (s, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	end := bytes.IndexByte(b[1:], '"')
	if end < 0 {
		return nil, nil, false
	}
	s = b[1 : 1+end]
	if bytes.IndexByte(s, '\\') >= 0 {
		return nil, nil, false
	}
	return s, b[2+end:], true
}

// readIndex finds and parses the index of the folder. Without one, index is nil and name "".
func readIndex(fsys fs.FS) (ix *shardIndex, name string, err error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, "", fmt.Errorf("the folder cannot be listed: %w", err)
	}
	for _, e := range entries {
		if isIndex(e.Name()) && (name == "" || e.Name() == "model"+indexSuffix) {
			name = e.Name()
		}
	}
	if name == "" {
		return nil, "", nil
	}
	raw, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, name, fmt.Errorf("it cannot be read: %w", err)
	}
	ix, err = parseIndex(raw)
	return ix, name, err
}
