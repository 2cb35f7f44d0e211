package gguf

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/assay-suite/assay/fixtures"
)

// Command is gguf -out=FILE: it returns 0 written, 2 usage, 5 failed.
func Command(args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("gguf", flag.ContinueOnError)
	set.SetOutput(stderr)
	out := set.String("out", "", "file to write, e.g. nano-llama.gguf")
	stored := set.String("type", "f32", "what matrices are stored in: f32, f16 or bf16")
	from := set.String("from", "", "folder of a plain Llama with this tokenizer; the embedded nano-llama when not given")
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case *out == "" || set.NArg() > 0:
		fmt.Fprintln(stderr, "gguf: -out is missing or something is no flag; gguf -out=nano-llama.gguf writes the model")
		return 2
	}
	if _, known := types[*stored]; !known {
		fmt.Fprintf(stderr, "gguf: -type=%s is not written; take f32, f16 or bf16\n", *stored)
		return 2
	}
	fsys, name, err := source(*from)
	if err != nil {
		fmt.Fprintf(stderr, "gguf: %v\n", err)
		return 2
	}
	content, err := Encode(fsys, name, *stored)
	if err == nil {
		err = Write(*out, content)
	}
	if err != nil {
		fmt.Fprintf(stderr, "gguf: %v\n", err)
		return 5
	}
	fmt.Fprintf(stdout, "%s: %s, matrices in %s, %.1f MiB\n", *out, name, *stored, float64(len(content))/(1<<20))
	return 0
}

func source(from string) (fs.FS, string, error) {
	if from != "" {
		if _, err := os.Stat(filepath.Join(from, "config.json")); err != nil {
			return nil, "", fmt.Errorf("-from=%s is no folder of a model: %w", from, err)
		}
		return os.DirFS(from), filepath.Base(from), nil
	}
	sub, err := fs.Sub(fixtures.FS, "nano-llama")
	return sub, "nano-llama", err
}
