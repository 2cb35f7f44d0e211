package candidate

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/assay-suite/assay/safetensors"
)

// headerRoom is how much longer than its tensors an output file may be, in bytes.
const headerRoom = 1 << 20

// tempFolder makes a folder for tensor files below parent; if that is empty, in memory where the system offers it.
func tempFolder(parent string) (string, error) {
	const memory = "/dev/shm"
	if parent == "" {
		if dir, err := os.MkdirTemp(memory, "assay-candidate-*"); err == nil {
			return dir, nil
		}
		parent = os.TempDir()
	}
	dir, err := os.MkdirTemp(parent, "assay-candidate-*")
	if err != nil {
		return "", fmt.Errorf("no folder for tensor files can be made in %q; give one that is writable: %w", parent, err)
	}
	return filepath.Abs(dir)
}

// writeInputs writes the storages of a call.
func writeInputs(path string, storage map[string]Storage) error {
	var tensors []safetensors.Tensor
	for _, name := range slices.Sorted(maps.Keys(storage)) {
		s := storage[name]
		tensors = append(tensors, safetensors.Tensor{
			Name:  name,
			DType: safetensors.DType(s.DType),
			Shape: s.Shape,
			Data:  s.Data,
		})
	}
	return safetensors.WriteFile(path, nil, tensors...)
}

// readOutputs reads what a worker wrote and compares it with what was asked for. Nothing is read of a file that is
// larger than it may be.
func readOutputs(path string, want map[string]Output) (_ map[string]Storage, err error) {
	if len(want) == 0 {
		return map[string]Storage{}, nil
	}
	limit := int64(headerRoom)
	for _, o := range want {
		size, err := byteSize(o.DType, o.Shape)
		if err != nil {
			return nil, err
		}
		limit += int64(size)
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, problem(KindOutput, nil, "the answer says ok, and no outputs were written; write them to the path "+
			"under \"write\" before answering")
	case err != nil:
		return nil, problem(KindOutput, err, "the file of outputs cannot be seen")
	case !info.Mode().IsRegular():
		return nil, problem(KindOutput, nil, "the outputs are no regular file but %v", info.Mode())
	case info.Size() > limit:
		return nil, problem(KindOutput, nil, "the file of outputs has %d bytes, and the outputs asked for at most %d; "+
			"write those alone", info.Size(), limit)
	}
	f, err := safetensors.Open(path)
	if err != nil {
		return nil, problem(KindOutput, err, "the file of outputs is damaged")
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for _, name := range f.Names() {
		if _, asked := want[name]; !asked {
			return nil, problem(KindOutput, nil, "output %q was written and not asked for; asked for was %q", name,
				slices.Sorted(maps.Keys(want)))
		}
	}
	out := make(map[string]Storage, len(want))
	for _, name := range slices.Sorted(maps.Keys(want)) {
		o := want[name]
		info, ok := f.Tensor(name)
		switch {
		case !ok:
			return nil, problem(KindOutput, nil, "output %q is missing; written was %q", name, f.Names())
		case string(info.DType) != o.DType:
			return nil, problem(KindOutput, nil, "output %q has dtype %q, and %q was asked for", name, info.DType, o.DType)
		case !slices.Equal(info.Shape, o.Shape):
			return nil, problem(KindOutput, nil, "output %q has shape %v, and %v was asked for", name, info.Shape, o.Shape)
		}
		data, err := f.Bytes(name)
		if err != nil {
			return nil, problem(KindOutput, err, "output %q cannot be read", name)
		}
		out[name] = Storage{DType: o.DType, Shape: slices.Clone(o.Shape), Data: data}
	}
	return out, nil
}
