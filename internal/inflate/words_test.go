package inflate

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/assay-suite/assay/internal/golden" // registers -update
)

// words.txt MUST hold the words of needles, questions and generated filler; -update takes those of the probes too.
func TestWordsOfPrompts(t *testing.T) {
	all := map[string]bool{}
	var files []string
	globs := []string{"../needle/*.go"}
	update := flag.Lookup("update").Value.String() == "true"
	if update {
		globs = append(globs, "../../fidelity/internal/*/*.go")
	}
	for _, glob := range globs {
		some, err := filepath.Glob(glob)
		require.NoError(t, err)
		files = append(files, some...)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				text, err := strconv.Unquote(l.Value)
				require.NoError(t, err)
				addWords(all, text)
			}
			return true
		})
	}
	want := strings.Join(slices.Sorted(maps.Keys(all)), "\n") + "\n"
	if update {
		require.NoError(t, os.WriteFile("words.txt", []byte(want), 0o600))
		return
	}
	known := map[string]bool{}
	addWords(known, spoken)
	for w := range all {
		if !known[w] {
			t.Errorf("%q is in a prompt and not in words.txt; go test ./internal/inflate -run WordsOfPrompts -update", w)
		}
	}
}
