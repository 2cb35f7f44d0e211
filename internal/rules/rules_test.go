package rules

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/suite"
)

// tags make every file of the module visible to go list, the magefile aside.
const tags = "live,gpu,weights,exhaustive"

func root(t *testing.T) string {
	t.Helper()
	wd, err := os.Getwd()
	require.NoError(t, err)
	at, inside := suite.FindModule(wd)
	require.True(t, inside, "the rules look at the source tree and must run inside of it")
	return at
}

// eachFile visits the regular files of the working tree that git would track.
func eachFile(t *testing.T, visit func(rel, path string, size int64) error) {
	t.Helper()
	skipped := map[string]bool{".git": true, "bin": true, "dist": true, "artifacts": true, "_artifacts": true}
	at := root(t)
	err := filepath.WalkDir(at, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(at, p)
		if err != nil {
			return err
		}
		if rel == ".git" && !d.IsDir() {
			return nil // the pointer of a linked worktree
		}
		if d.IsDir() {
			if skipped[rel] {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(p, ".test") {
			return err
		}
		return visit(filepath.ToSlash(rel), p, info.Size())
	})
	require.NoError(t, err)
}

// repository reads the text files of the working tree. It reads them in this process, so that the test cache sees a
// change of any of them.
func repository(t *testing.T) Files {
	t.Helper()
	files := Files{}
	eachFile(t, func(rel, path string, size int64) error {
		const tooLargeForText = 1 << 20
		if size > tooLargeForText {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err == nil && utf8.Valid(raw) {
			files[rel] = string(raw)
		}
		return err
	})
	require.Contains(t, files, "go.mod")
	return files
}

// list runs go list and decodes its stream of packages.
func list(t *testing.T, args ...string) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-tags", tags}, args...)...)
	cmd.Dir, cmd.Stderr = root(t), os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	got := map[string][]string{}
	for dec := json.NewDecoder(out); ; {
		var p struct {
			ImportPath    string
			Imports, Deps []string
		}
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		got[p.ImportPath] = append(p.Imports, p.Deps...)
	}
	require.NoError(t, cmd.Wait())
	require.NotEmpty(t, got)
	return got
}

func check(t *testing.T, violations []string) {
	t.Helper()
	for _, v := range violations {
		t.Error(v)
	}
}

func variableNames() []string {
	var names []string
	for _, v := range suite.Env() {
		names = append(names, v.Name)
	}
	return names
}

func TestImportArrows(t *testing.T) {
	repository(t) // for the test cache
	check(t, Arrows(list(t, "-json=ImportPath,Imports", "./...")))
}

func TestEveryTestBinaryUnderstandsUpdate(t *testing.T) {
	repository(t) // for the test cache
	check(t, TestBinaries(list(t, "-test", "-json=ImportPath,Deps", "./...")))
}

func TestFileRules(t *testing.T) {
	files := repository(t)
	for name, rule := range map[string]func(Files) []string{
		"length": Lengths, "foreign paths": Foreign, "banned calls": Banned, "kernels package": KernelsPackage,
		"suite.Main": Mains, "public doors": Doors,
	} {
		t.Run(name, func(t *testing.T) { check(t, rule(files)) })
	}
}

func TestTrackedSize(t *testing.T) {
	sizes := map[string]int64{}
	eachFile(t, func(rel, _ string, size int64) error {
		if !strings.HasPrefix(rel, ".") && !strings.Contains(rel, "__pycache__") {
			sizes[rel] = size
		}
		return nil
	})
	check(t, Tracked(sizes))
}

func TestVariablesAreInTheTables(t *testing.T) {
	files := repository(t)
	check(t, Variables(files, variableNames()))
	check(t, Documented(files["README.md"], variableNames()))
}

func TestGoldensAreReadableAndClaimed(t *testing.T) {
	families, err := golden.FamiliesIn(os.DirFS(filepath.Join(root(t), "goldens")))
	require.NoError(t, err)
	for _, family := range families {
		_, err := golden.Read(family)
		require.NoError(t, err)
	}
	check(t, OrphanGoldens(repository(t), families))
}
