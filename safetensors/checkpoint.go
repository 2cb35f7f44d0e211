package safetensors

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// The file names that the Hugging Face libraries write.
const (
	singleFile  = "model.safetensors"
	adapterFile = "adapter_model.safetensors"
	fileSuffix  = ".safetensors"
	indexSuffix = ".safetensors.index.json"
)

// Checkpoint is a folder of weights: one model.safetensors, or shards behind an index.
//
// Every lookup takes a tensor's stored name; one opened by OpenSpelled takes any other spelling of it too, and the
// stored name goes first.
type Checkpoint struct {
	files  []*File
	owner  map[string]*File // stored name to the file that holds it
	canon  func(string) string
	stored map[string]string // what canon makes of a name to the stored name
}

// OpenCheckpoint opens the checkpoint in folder dir of fsys ("." for its root).
//
// With an index (model.safetensors.index.json, or the only other *.safetensors.index.json) every
// shard is opened and index and shards must agree: each listed tensor is in its shard, each
// shard's tensor is listed. total_size is not held against them: no loader reads it, and writers sum different things.
// Without an index there must be a model.safetensors, or one other *.safetensors that is no LoRA adapter. A
// model.safetensors beside an index that does not list it is refused, since it is not clear which of the two is meant.
// Disagreements are *FormatError of the index or of the shard.
func OpenCheckpoint(fsys fs.FS, dir string) (*Checkpoint, error) {
	return OpenSpelled(fsys, dir, func(name string) string { return name })
}

// OpenSpelled is OpenCheckpoint for a family whose tensors are spelled in several ways: canon makes one name of all of
// them, and applied twice gives the same. Lookups take any of them; two tensors with one canonical name are an error.
func OpenSpelled(fsys fs.FS, dir string, canon func(name string) string) (_ *Checkpoint, err error) {
	index, single, err := findWeights(fsys, dir)
	if err != nil {
		return nil, err
	}
	c := &Checkpoint{owner: map[string]*File{}, canon: canon, stored: map[string]string{}}
	defer func() {
		if err != nil {
			_ = c.Close() // the error that led here is the one to report
		}
	}()
	if index == "" {
		f, err := OpenFS(fsys, path.Join(dir, single))
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, f)
		if err := c.addNames(f); err != nil {
			return nil, err
		}
		return c, nil
	}
	name := path.Join(dir, index)
	ix, err := readIndex(fsys, name)
	if err != nil {
		return nil, err
	}
	if exists(fsys, path.Join(dir, singleFile)) && !slices.Contains(ix.shards, singleFile) {
		return nil, fmt.Errorf("safetensors: %q holds both %s and %s, which does not list it, so it is not clear which "+
			"weights are meant; remove one", dir, singleFile, index)
	}
	if err := c.openShards(fsys, dir, name, ix); err != nil {
		return nil, err
	}
	return c, nil
}

// findWeights names the index of a folder, or the one file of a folder without an index.
func findWeights(fsys fs.FS, dir string) (index, single string, err error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return "", "", fmt.Errorf("safetensors: cannot list the checkpoint folder %q: %w", dir, err)
	}
	var indexes, files []string
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasSuffix(name, indexSuffix):
			indexes = append(indexes, name)
		case strings.HasSuffix(name, fileSuffix) && name != adapterFile:
			files = append(files, name)
		}
	}
	switch {
	case slices.Contains(indexes, "model"+indexSuffix):
		return "model" + indexSuffix, "", nil
	case len(indexes) == 1:
		return indexes[0], "", nil
	case len(indexes) > 1:
		return "", "", fmt.Errorf("safetensors: %q holds %d indexes (%s) and none is called model%s; keep the one that is "+
			"meant", dir, len(indexes), strings.Join(indexes, ", "), indexSuffix)
	case slices.Contains(files, singleFile):
		return "", singleFile, nil
	case len(files) == 1:
		return "", files[0], nil
	}
	return "", "", fmt.Errorf("safetensors: %q holds neither %s nor a *%s; give the folder of the weights: %w", dir,
		singleFile, indexSuffix, fs.ErrNotExist)
}

func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// openShards opens every shard of the index and holds the two against each other, both ways.
func (c *Checkpoint) openShards(fsys fs.FS, dir, index string, ix *shardIndex) error {
	byShard := map[string]*File{}
	for _, shard := range ix.shards {
		f, err := OpenFS(fsys, path.Join(dir, shard))
		if err != nil {
			return fmt.Errorf("safetensors: a shard of %s: %w", index, err)
		}
		c.files = append(c.files, f)
		byShard[shard] = f
		for _, t := range f.tensors {
			listed, ok := ix.shardOf[t.Name]
			if !ok {
				return &FormatError{
					File:   f.name,
					Tensor: clip(t.Name),
					Offset: t.Offset,
					Problem: fmt.Sprintf("the shard holds it, but the weight_map of %s does not list it; write the index again from "+
						"the shards", index),
				}
			}
			if listed != shard {
				return &FormatError{
					File:   f.name,
					Tensor: clip(t.Name),
					Offset: t.Offset,
					Problem: fmt.Sprintf("the shard holds it, but the weight_map of %s puts it into %q; write the index again from "+
						"the shards", index, clip(listed)),
				}
			}
		}
	}
	if tensor, lost := ix.firstMissing(byShard); lost {
		return &FormatError{
			File:   index,
			Tensor: clip(tensor),
			Offset: ix.at[tensor],
			Problem: fmt.Sprintf("the weight_map puts it into %q, which does not hold it; fetch the shard again or write the "+
				"index again", ix.shardOf[tensor]),
		}
	}
	for _, f := range c.files {
		if err := c.addNames(f); err != nil {
			return err
		}
	}
	return nil
}
