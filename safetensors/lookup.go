package safetensors

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// addNames enters the tensors of one file. Two tensors that mean the same one are an error: every
// consumer would silently pick either.
func (c *Checkpoint) addNames(f *File) error {
	for _, t := range f.tensors {
		canon := c.canon(t.Name)
		if other, taken := c.stored[canon]; taken {
			return &FormatError{
				File:   f.name,
				Tensor: clip(t.Name),
				Offset: t.Offset,
				Problem: fmt.Sprintf("it and %q in %s are both %q; remove one of the two", clip(other),
					c.owner[other].name, clip(canon)),
			}
		}
		c.stored[canon] = t.Name
		c.owner[t.Name] = f
	}
	return nil
}

// Resolve gives the stored name of a tensor that is asked for in either spelling.
func (c *Checkpoint) Resolve(name string) (stored string, ok bool) {
	if _, ok := c.owner[name]; ok {
		return name, true
	}
	stored, ok = c.stored[c.canon(name)]
	return stored, ok
}

// Files are the opened shards, in the order in which the index mentions them first.
func (c *Checkpoint) Files() []*File { return slices.Clone(c.files) }

// Names lists the stored names: shard by shard, each in the order of its bytes.
func (c *Checkpoint) Names() []string {
	var names []string
	for _, f := range c.files {
		names = append(names, f.Names()...)
	}
	return names
}

// Tensor describes a tensor; Info.Name is the stored spelling, Info.File the shard.
func (c *Checkpoint) Tensor(name string) (Info, bool) {
	stored, ok := c.Resolve(name)
	if !ok {
		return Info{}, false
	}
	return c.owner[stored].Tensor(stored)
}

// Metadata merges the __metadata__ of all shards; where they differ the first shard's value stays.
// Files has each shard's own.
func (c *Checkpoint) Metadata() map[string]string {
	all := map[string]string{}
	for _, f := range c.files {
		for key, value := range f.meta {
			if _, taken := all[key]; !taken {
				all[key] = value
			}
		}
	}
	return all
}

// locate finds file and stored name or says what to do.
func (c *Checkpoint) locate(name string) (*File, string, error) {
	stored, ok := c.Resolve(name)
	if !ok {
		return nil, "", fmt.Errorf("safetensors: checkpoint at %s: tensor %q is not among its %d tensors, neither under "+
			"this name nor under %q; Names lists them: %w", c.place(), clip(name), len(c.owner), clip(c.canon(name)),
			ErrNoTensor)
	}
	return c.owner[stored], stored, nil
}

// place names the checkpoint by its first file; an index without tensors has none.
func (c *Checkpoint) place() string {
	if len(c.files) == 0 {
		return "an empty index"
	}
	return c.files[0].name
}

// Bytes is File.Bytes for either spelling.
func (c *Checkpoint) Bytes(name string) ([]byte, error) {
	return via(c, name, (*File).Bytes)
}

// Rows is File.Rows for either spelling.
func (c *Checkpoint) Rows(name string, from, to int) ([]byte, error) {
	return via(c, name, func(f *File, stored string) ([]byte, error) { return f.Rows(stored, from, to) })
}

// Section is File.Section for either spelling.
func (c *Checkpoint) Section(name string) (*io.SectionReader, error) {
	return via(c, name, (*File).Section)
}

// Float32s is File.Float32s for either spelling.
func (c *Checkpoint) Float32s(name string) ([]float32, error) {
	return via(c, name, (*File).Float32s)
}

// Float64s is File.Float64s for either spelling.
func (c *Checkpoint) Float64s(name string) ([]float64, error) {
	return via(c, name, (*File).Float64s)
}

// Int64s is File.Int64s for either spelling.
func (c *Checkpoint) Int64s(name string) ([]int64, error) {
	return via(c, name, (*File).Int64s)
}

func via[T any](c *Checkpoint, name string, read func(*File, string) (T, error)) (T, error) {
	f, stored, err := c.locate(name)
	if err != nil {
		var none T
		return none, err
	}
	return read(f, stored)
}

// Close closes every shard and joins their errors. A second Close does nothing.
func (c *Checkpoint) Close() error {
	var errs []error
	for _, f := range c.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
