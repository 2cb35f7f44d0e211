package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/magefile/mage/mage"
)

// compiled returns the path of the compiled magefile: what -compile says, else in the cache, where it may be already.
//
// mage writes the main function that it generates into the checkout, where two starts take it from each other. Here
// copies of the magefiles are compiled in a new folder, within the module, so that they may import packages of it, and
// below a hidden name, so that ./... does not see them; the result is renamed into the cache.
func compiled(inv mage.Invocation) (string, error) {
	files, err := mage.Magefiles(inv.Dir, inv.GOOS, inv.GOARCH, inv.UsesMagefiles())
	if err != nil {
		return "", fmt.Errorf("the magefiles in %s cannot be listed: %w", inv.Dir, err)
	}
	if len(files) == 0 {
		return "", fmt.Errorf("no magefile in %q: run `go tool mage` at the root of the repository", inv.Dir)
	}
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), runtime.GOOS, runtime.GOARCH, mageVersion())
	sources := map[string][]byte{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("the magefile %s cannot be read: %w", file, err)
		}
		sources[filepath.Base(file)] = raw
		fmt.Fprintf(hash, "%s %d %s", filepath.Base(file), len(raw), raw)
	}
	if inv.CompileOut != "" {
		return inv.CompileOut, compile(inv, sources, inv.CompileOut)
	}
	// Its name says all that it is made of, as magefiles import the standard library only; TestMagefileImports.
	binary := filepath.Join(inv.CacheDir, fmt.Sprintf("assay-%x", hash.Sum(nil)))
	if _, err := os.Stat(binary); err == nil && !inv.Force {
		return binary, nil
	}
	inv.CompileOut = "mage"
	return binary, compile(inv, sources, binary)
}

// compile writes binary, whose usage text calls it by the last element of inv.CompileOut.
func compile(inv mage.Invocation, sources map[string][]byte, binary string) (err error) {
	root := filepath.Join(inv.Dir, "bin")
	if err := errors.Join(os.MkdirAll(root, 0o755), os.MkdirAll(filepath.Dir(binary), 0o755)); err != nil {
		return fmt.Errorf("the magefile cannot be compiled: %w", err)
	}
	dir, err := os.MkdirTemp(root, ".mage-*")
	if err != nil {
		return fmt.Errorf("the magefile cannot be compiled: %w", err)
	}
	if !inv.Keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	for name, raw := range sources {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			return fmt.Errorf("the magefile cannot be compiled: %w", err)
		}
	}
	// Beside binary, for a rename cannot go from one file system to another.
	out, err := os.MkdirTemp(filepath.Dir(binary), ".assay-*")
	if err != nil {
		return fmt.Errorf("the magefile cannot be compiled: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(out)) }()
	inv.Dir, inv.Force = dir, true
	if inv.CompileOut, err = filepath.Abs(filepath.Join(out, filepath.Base(inv.CompileOut))); err != nil {
		return fmt.Errorf("the magefile cannot be compiled: %w", err)
	}
	if code := mage.Invoke(inv); code != 0 {
		return fmt.Errorf("the magefile does not compile (mage's code %d)", code)
	}
	if err := os.Rename(inv.CompileOut, binary); err != nil {
		return fmt.Errorf("the compiled magefile cannot be kept: %w", err)
	}
	return nil
}

// mageVersion is the version of mage in this binary, which generates the main function of a magefile.
func mageVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/magefile/mage" {
				return dep.Version
			}
		}
	}
	return ""
}
