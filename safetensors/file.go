package safetensors

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// Info describes one stored tensor.
type Info struct {
	Name   string // as stored
	DType  DType  //
	Shape  []int  // row-major, in elements; empty for a scalar
	Offset int64  // absolute byte in File
	Size   int64  // in bytes
	File   string // the file that holds it
}

// Elements is the product of the shape: 1 for a scalar, 0 when a dimension is 0.
func (i Info) Elements() int {
	n := 1
	for _, d := range i.Shape {
		n *= d
	}
	return n
}

// Tensors is what *File and *Checkpoint have in common.
type Tensors interface {
	Names() []string
	Tensor(name string) (Info, bool)
	Metadata() map[string]string
	Bytes(name string) ([]byte, error)
	Rows(name string, from, to int) ([]byte, error)
	Section(name string) (*io.SectionReader, error)
	Float32s(name string) ([]float32, error)
	Float64s(name string) ([]float64, error)
	Int64s(name string) ([]int64, error)
	Close() error
}

// File is one opened safetensors file: its checked header and a way to its bytes.
type File struct {
	name    string
	r       io.ReaderAt
	closer  io.Closer // nil when the reader is the caller's
	tensors []Info    // in the order of their bytes
	index   map[string]int
	meta    map[string]string
}

var (
	_ Tensors = (*File)(nil)
	_ Tensors = (*Checkpoint)(nil)
)

// NewReader checks the header of a file of size bytes behind r; name is used in errors only.
// A file that breaks the format gives a *FormatError. The reader stays the caller's: Close leaves it open.
func NewReader(r io.ReaderAt, size int64, name string) (*File, error) {
	tensors, meta, err := readHeader(r, size, name)
	if err != nil {
		return nil, err
	}
	f := &File{name: name, r: r, tensors: tensors, meta: meta, index: make(map[string]int, len(tensors))}
	for i, t := range tensors {
		f.index[t.Name] = i
	}
	return f, nil
}

// Open opens a file of the operating system. Call Close when done.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: cannot open %q: %w", path, err)
	}
	return adopt(file, path)
}

// OpenFS opens a file of fsys, whose files must implement io.ReaderAt: those of os.DirFS, embed.FS
// and testing/fstest do, those of a zip archive do not.
func OpenFS(fsys fs.FS, name string) (*File, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("safetensors: cannot open %q: %w", name, err)
	}
	return adopt(file, name)
}

// adopt takes over an opened file: it is closed by File.Close, or here when the file is refused.
func adopt(file fs.File, name string) (_ *File, err error) {
	defer func() {
		if err != nil {
			_ = file.Close() // the first error is the one to report
		}
	}()
	stat, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("safetensors: cannot stat %q: %w", name, err)
	}
	if !stat.Mode().IsRegular() {
		return nil, fmt.Errorf("safetensors: %q is not a regular file (%s); name the .safetensors file itself, or use "+
			"OpenCheckpoint for a folder", name, stat.Mode().Type())
	}
	r, ok := file.(io.ReaderAt)
	if !ok {
		return nil, fmt.Errorf("safetensors: the file system gives %q as %T without ReadAt, so single tensors cannot be "+
			"read; unpack the file and use os.DirFS", name, file)
	}
	f, err := NewReader(r, stat.Size(), name)
	if err != nil {
		return nil, err
	}
	f.closer = file
	return f, nil
}

// Close closes the underlying file where Open or OpenFS opened it. A second Close does nothing.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	err := f.closer.Close()
	f.closer = nil
	return err
}

// Name is the file's name as it was opened.
func (f *File) Name() string { return f.name }

// Names lists the tensors in the order of their bytes (header order where an empty tensor shares its place).
func (f *File) Names() []string {
	names := make([]string, len(f.tensors))
	for i, t := range f.tensors {
		names[i] = t.Name
	}
	return names
}

// Tensor describes the tensor of that stored name. The Info is the caller's to change.
func (f *File) Tensor(name string) (Info, bool) {
	i, ok := f.index[name]
	if !ok {
		return Info{}, false
	}
	info := f.tensors[i]
	info.Shape = slices.Clone(info.Shape)
	return info, true
}

// Metadata is a copy of the __metadata__ map; empty when the file has none.
func (f *File) Metadata() map[string]string { return maps.Clone(f.meta) }
