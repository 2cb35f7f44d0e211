package emulate

import (
	"bytes"
	_ "embed" // the header
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/assay-suite/assay/internal/cuda"
)

//go:embed simt.h
var header []byte

// dynamic is the declaration of dynamic shared memory, which C++ does not have.
var dynamic = regexp.MustCompile(`extern\s+__shared__\s+(?:__align__\(\d+\)\s+)?([\w ]+?)\s+(\w+)\s*\[\s*\]\s*;`)

// program is a source with the header before it and a function behind it for each entry.
func program(s cuda.Source) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "#include \"simt.h\"\n#line 1 %q\n", s.Path)
	b.Write(dynamic.ReplaceAll(s.Text, []byte(`$1 *$2 = ($1 *)simt::dynamic;`)))
	for _, e := range s.Entries {
		fmt.Fprintf(&b, "\nextern \"C\" const char *emulated_%s(const unsigned *geometry, int shared, void **params) { "+
			"return simt::launch(%s, geometry, shared, params); }", e, e)
	}
	return b.Bytes()
}

// compile makes a shared library of a source, in dir.
func compile(compiler, dir string, s cuda.Source) (string, error) {
	base := strings.TrimSuffix(filepath.Base(s.Path), ".cu")
	source, library := filepath.Join(dir, base+".cpp"), filepath.Join(dir, "lib"+base+".so")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "simt.h"), header, 0o600),
		os.WriteFile(source, program(s), 0o600)); err != nil {
		return "", err
	}
	args := []string{
		"-std=c++17", "-O2", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-fno-strict-aliasing", "-fno-gnu-unique",
		"-U_FORTIFY_SOURCE", "-o", library, source,
	}
	for _, o := range s.Options {
		if strings.HasPrefix(o, "-D") {
			args = append(args, o)
		}
	}
	out, err := exec.Command(compiler, args...).CombinedOutput() //nolint:noctx // ends with the worker
	if err != nil {
		return "", &cuda.Error{
			Call: compiler, Code: 1, Name: "does not compile " + s.Path, Text: err.Error(),
			Log: string(out[:min(len(out), 8<<10)]),
		}
	}
	return library, nil
}
