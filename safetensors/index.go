package safetensors

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// shardIndex is a parsed *.safetensors.index.json.
type shardIndex struct {
	shards  []string          // in the order of first mention
	shardOf map[string]string // tensor name to shard
	at      map[string]int64  // tensor name to its byte in the index, for errors
}

// readIndex reads an index of at most 100 MB, the format's limit for a header of the same content.
func readIndex(fsys fs.FS, name string) (*shardIndex, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("safetensors: cannot open the index %q: %w", name, err)
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxHeader+1))
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("safetensors: cannot read the index %q: %w", name, err)
	}
	if len(raw) > maxHeader {
		return nil, &FormatError{
			File:    name,
			Offset:  maxHeader,
			Problem: fmt.Sprintf("the index is longer than %d bytes; %s", maxHeader, fixWriter),
		}
	}
	return parseIndex(name, raw)
}

// parseIndex reads {"weight_map":{tensor: shard,...}, ...}. Other keys are skipped, metadata too: writers put free-form
// remarks there, and no loader reads total_size.
func parseIndex(name string, raw []byte) (*shardIndex, error) {
	w := newWalker(name, raw, 0)
	if err := w.checkUTF8(); err != nil {
		return nil, err
	}
	ix := &shardIndex{shardOf: map[string]string{}, at: map[string]int64{}}
	mapped := false
	err := w.object("the index", func(key string, _ int64) error {
		if key != "weight_map" {
			return w.skip()
		}
		mapped = true
		return readWeightMap(w, ix)
	})
	if err != nil {
		return nil, err
	}
	if err := w.end(); err != nil {
		return nil, err
	}
	if !mapped {
		return nil, w.fail(0, "the index has no weight_map; %s", fixWriter)
	}
	return ix, nil
}

func readWeightMap(w *walker, ix *shardIndex) error {
	known := map[string]bool{}
	return w.object("weight_map", func(tensor string, at int64) error {
		w.tensor = tensor
		defer func() { w.tensor = "" }()
		shard, err := w.text("the shard")
		if err != nil {
			return err
		}
		// A shard may lie in a subfolder, but an index must not reach outside its own folder.
		if !fs.ValidPath(shard) || shard == "." || strings.ContainsAny(shard, "\\\x00") {
			return w.fail(w.at, "the shard %q is not a plain path inside the checkpoint's folder; correct the weight_map",
				clip(shard))
		}
		if !known[shard] {
			known[shard] = true
			ix.shards = append(ix.shards, shard)
		}
		ix.shardOf[tensor], ix.at[tensor] = shard, at
		return nil
	})
}

// skip passes over one value of any kind.
func (w *walker) skip() error {
	depth := 0
	for {
		tok, err := w.token()
		if err != nil {
			return err
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// firstMissing finds the listed tensor that its shard does not hold and that comes first in the
// index: a fixed choice, where ranging over the map would report another one each time.
func (ix *shardIndex) firstMissing(files map[string]*File) (tensor string, lost bool) {
	for name, shard := range ix.shardOf {
		if _, held := files[shard].index[name]; held {
			continue
		}
		if !lost || ix.at[name] < ix.at[tensor] {
			tensor, lost = name, true
		}
	}
	return tensor, lost
}
