package rules

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPublicPackagesNameNoInternalType(t *testing.T) {
	repository(t) // for the test cache
	exports, public := exported(t)
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for _, path := range public {
		pkg, err := imp.Import(path)
		require.NoError(t, err)
		for _, line := range API(pkg) {
			t.Errorf("%s: %s: make a type of the package's own, or move what needs it to an internal package", path, line)
		}
	}
}

// exported gives the files of export data by import path, and the public packages.
func exported(t *testing.T) (files map[string]string, public []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Export", "./...")
	cmd.Dir, cmd.Stderr = root(t), os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	files = map[string]string{}
	for dec := json.NewDecoder(out); ; {
		var p struct{ ImportPath, Export string }
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		files[p.ImportPath] = p.Export
		if Public(p.ImportPath) && p.Export != "" {
			public = append(public, p.ImportPath)
		}
	}
	require.NoError(t, cmd.Wait())
	slices.Sort(public)
	require.Contains(t, public, m("fidelity"))
	return files, public
}

func TestPublic(t *testing.T) {
	for path, want := range map[string]bool{
		m("numerics"): true, m("kernels_test/bench"): true, m("internal/suite"): false,
		m("fidelity/internal/ask"): false, m("cmd/mage"): false, m("examples/x"): false, "fmt": false,
	} {
		assert.Equal(t, want, Public(path), path)
	}
}

func TestPlantedInternalTypes(t *testing.T) {
	for name, row := range map[string]struct{ source, want string }{
		"a parameter":                 {`func F(c *x.T) {}`, "a.F names internal/x.T"},
		"a result in a slice":         {`func F() []x.T { return nil }`, "a.F names internal/x.T"},
		"a method":                    {`type A int; func (A) M() x.T { return x.T{} }`, "a.A.M names"},
		"a field":                     {`type A struct{ F map[string]x.T }`, "a.A.F names"},
		"an embedded type":            {`type A struct{ x.T }`, "a.A.T names"},
		"an alias":                    {`type A = x.T`, "a.A names"},
		"an underlying struct":        {`type A struct{ F func(x.T) }`, "a.A.F names"},
		"a variable's inferred type":  {`var V = x.Make()`, "a.V names"},
		"an interface's method":       {`type A interface{ M(x.T) }`, "a.A.M names"},
		"through a hidden type":       {`type h struct{ F x.T }; func F() h { return h{} }`, "a.F.F names"},
		"a type argument":             {`type G[T any] struct{}; func F() G[x.T] { return G[x.T]{} }`, "a.F names"},
		"embedded, without a name":    {`type h struct{ F x.T }; type A struct{ h }`, "a.A.h.F names"},
		"a field that is hidden":      {`type A struct{ f x.T }`, ""},
		"a function that is hidden":   {`func f(x.T) {}`, ""},
		"a method that is hidden":     {`type A int; func (A) m() x.T { return x.T{} }`, ""},
		"used inside":                 {`func F() int { return x.Make().N }`, ""},
		"a type of its own":           {`type T struct{ N int }; func F() T { return T(x.Make()) }`, ""},
		"a constant of its own":       {`const C = x.C`, ""},
		"another module's own affair": {`func F() error { return nil }`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := "package x\ntype T struct{ N int }\nfunc Make() T { return T{} }\nconst C = 1\n"
			inner := checked(t, m("internal/x"), x, nil)
			got := API(checked(t, m("a"), "package a\nimport \"internal/x\"\nvar _ = x.C\n"+row.source, inner))
			expect(t, got, row.want)
		})
	}
}

// checked type-checks one file that may import one package.
func checked(t *testing.T, path, source string, inner *types.Package) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "a.go", source, 0)
	require.NoError(t, err)
	conf := types.Config{Importer: only{inner}}
	pkg, err := conf.Check(path, fset, []*ast.File{f}, nil)
	require.NoError(t, err)
	return pkg
}

type only struct{ pkg *types.Package }

func (o only) Import(string) (*types.Package, error) { return o.pkg, nil }
