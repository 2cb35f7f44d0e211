package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// UnfitError says that a path is no checkpoint that can be examined: a usage error, in one sentence.
type UnfitError struct{ Text string }

func (u *UnfitError) Error() string { return u.Text }

func unfit(format string, args ...any) error { return &UnfitError{fmt.Sprintf(format, args...)} }

// Open gives the files of a checkpoint folder. What is no such folder is an *UnfitError that says what it is and what
// to do.
//
// Nothing outside the folder is read: a link is followed where it stays inside it or, from snapshots/<revision> of a
// hub cache, leads into the cache's own blobs; any other is refused by name.
func Open(dir string) (fs.FS, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, unfit("%q does not exist; give the folder of a checkpoint", dir)
	case err != nil:
		return nil, unfit("%q cannot be looked at (%v); give the folder of a checkpoint", dir, err)
	case !info.IsDir():
		return nil, unfit("%q is a file (%s); give the folder that holds the checkpoint", dir, whatIs(filepath.Base(dir)))
	}
	root, err := filepath.EvalSymlinks(dir)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return nil, unfit("%q cannot be resolved: %v", dir, err)
	}
	f := &folderFS{root: root, inner: os.DirFS(root)}
	if filepath.Base(filepath.Dir(root)) == "snapshots" {
		f.blobs = filepath.Join(filepath.Dir(filepath.Dir(root)), "blobs")
	}
	return f, fitness(f, dir)
}

// folderFS is os.DirFS with its links under control.
type folderFS struct {
	root, blobs string
	inner       fs.FS
}

func (f *folderFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.inner, name) }

func (f *folderFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("the name leads out of the checkpoint's folder; " +
			"correct the index")}
	}
	at, err := filepath.EvalSymlinks(filepath.Join(f.root, filepath.FromSlash(name)))
	if err != nil {
		return nil, err //nolint:wrapcheck // a *fs.PathError that names the file
	}
	if !within(f.root, at) && (f.blobs == "" || !within(f.blobs, at)) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("it is a link to %s, outside the checkpoint's "+
			"folder; copy the file in", at)}
	}
	info, err := os.Stat(at)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is no regular file; replace it by one")}
	}
	file, err := os.Open(at)
	if err != nil {
		return nil, err //nolint:wrapcheck // a *fs.PathError that names the file
	}
	return file, nil
}

func within(dir, at string) bool {
	rel, err := filepath.Rel(dir, at)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// whatIs says what a file is by its name.
func whatIs(name string) string {
	lower := strings.ToLower(name)
	switch ext := path.Ext(lower); {
	case ext == ".gguf":
		return "GGUF, llama.cpp's format"
	case lower == "adapter_model.safetensors" || lower == "adapter_model.bin":
		return "a LoRA adapter"
	case ext == ".safetensors":
		return "one safetensors file"
	case ext == ".bin", ext == ".pt", ext == ".pth", ext == ".ckpt":
		return "a PyTorch pickle"
	case ext == ".npz":
		return "numpy arrays"
	case ext == ".h5", ext == ".msgpack", ext == ".tflite", ext == ".onnx", ext == ".engine", ext == ".plan":
		return "weights of another framework"
	}
	return "no checkpoint"
}

// fitness refuses a folder without a safetensors checkpoint by saying what it holds.
func fitness(fsys fs.FS, dir string) error {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return unfit("%q cannot be listed: %v", dir, err)
	}
	kinds := map[string][]string{}
	for _, e := range entries {
		name := e.Name()
		if isIndex(name) {
			return nil
		}
		if what := whatIs(name); what != "no checkpoint" && !e.IsDir() {
			kinds[what] = append(kinds[what], name)
		}
	}
	some := func(what string) string {
		n := kinds[what]
		slices.Sort(n)
		return n[0]
	}
	switch {
	case len(kinds["one safetensors file"]) > 0:
		return nil
	case len(kinds["a LoRA adapter"]) > 0:
		return unfit("%q holds a LoRA adapter alone (%s), which is a difference and no model; merge it into its base and "+
			"examine the result", dir, some("a LoRA adapter"))
	case len(kinds["GGUF, llama.cpp's format"]) > 0:
		return unfit("%q holds GGUF (%s), which only llama.cpp's tools read; examine the safetensors checkpoint that it was "+
			"converted from", dir, some("GGUF, llama.cpp's format"))
	case len(kinds["a PyTorch pickle"]) > 0:
		return unfit("%q holds PyTorch pickles (%s), which run code when they are read; convert them with "+
			"safetensors.torch.save_file and examine the result", dir, some("a PyTorch pickle"))
	case len(kinds["numpy arrays"])+len(kinds["weights of another framework"]) > 0:
		return unfit("%q holds weights of another framework and no safetensors; export the model as safetensors", dir)
	case len(entries) == 0:
		return unfit("%q is empty; give the folder that holds model.safetensors, or shards and their index", dir)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "models--") || e.Name() == "snapshots" {
			return unfit("%q is a hub cache; give the folder snapshots/<revision> of the model", dir)
		}
	}
	return unfit("%q holds neither model.safetensors nor an index of shards; give the folder of the weights", dir)
}
