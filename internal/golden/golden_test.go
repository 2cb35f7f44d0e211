package golden

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMissingGoldenFailsWithTheCommands(t *testing.T) {
	f := assertOn(t, t.TempDir(), false, doc(t, map[string]any{"a": 1}), Rules{})
	require.Len(t, f.errors, 1)
	assert.Contains(t, f.text(), "does not exist")
	assert.Contains(t, f.text(), `again  go test ./internal/golden -count=1 -run '^TestX$/^it'\''s one$/^len-65$'`)
	assert.Contains(t, f.text(), `accept go test ./internal/golden -count=1 -run '^TestX$/^it'\''s one$/^len-65$' -update`)
}

func TestUpdateWritesSortedKeysAndAFinalNewline(t *testing.T) {
	dir := t.TempDir()
	type value struct{ Z, A int }
	f := assertOn(t, dir, true, doc(t, map[string]any{"b": value{1, 2}, "a": Float(math.Inf(-1))}), Rules{})
	require.Empty(t, f.errors)
	text := goldenBytes(t, dir)
	assert.Contains(t, text, "\"cases\": {\n    \"a\": \"-Inf\",\n    \"b\": {\n      \"A\": 2,\n      \"Z\": 1\n    "+
		"}\n  }\n}\n")
	assert.True(t, strings.HasSuffix(text, "}\n"), "final newline")
	left, err := filepath.Glob(filepath.Join(dir, "numerics", ".golden-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "temporary files")
	require.Empty(t, assertOn(t, dir, false, doc(t, map[string]any{"b": value{1, 2}, "a": Float(math.Inf(-1))}),
		Rules{}).errors)
}

func TestDiffListsOnlyWhatIsViolated(t *testing.T) {
	dir := t.TempDir()
	rules := Rules{Default: Rel(1e-3, "two runs differ by 4e-4")}.With("n", Count("cases are counted"))
	assertOn(t, dir, true, doc(t, map[string]any{
		"noise": map[string]any{"x": 1.0, "n": 3},
		"fault": map[string]any{"x": 2.0, "n": 3},
	}), rules)

	f := assertOn(t, dir, false, doc(t, map[string]any{
		"noise": map[string]any{"x": 1.0005, "n": 3},
		"fault": map[string]any{"x": 2.1, "n": 4},
	}), rules)
	require.Len(t, f.errors, 1)
	assert.NotContains(t, f.text(), "noise")
	for _, want := range []string{
		"1 of 2 cases violated, 2 values", "value  x", "got    2.1", "want   2", "rule   rel 0.001 (two runs differ by 4e-4)",
		"margin 50 times", "value  n", "count-exact (cases are counted)", "accept go test",
	} {
		assert.Contains(t, f.text(), want)
	}
}

func TestUpdateWithinToleranceLeavesTheBytes(t *testing.T) {
	dir := t.TempDir()
	rules := All(Rel(1e-3, "noise"))
	assertOn(t, dir, true, doc(t, map[string]any{"a": 1.0, "b": 5.0}), rules)
	before := goldenBytes(t, dir)
	info, err := os.Stat(filepath.Join(dir, "numerics", "demo.json"))
	require.NoError(t, err)

	require.Empty(t, assertOn(t, dir, true, doc(t, map[string]any{"a": 1.0001, "b": 5.0001}), rules).errors)
	after, err := os.Stat(filepath.Join(dir, "numerics", "demo.json"))
	require.NoError(t, err)
	assert.Equal(t, before, goldenBytes(t, dir))
	assert.True(t, os.SameFile(info, after), "the file was replaced")

	// One value outside: the other keeps its old digits.
	require.Empty(t, assertOn(t, dir, true, doc(t, map[string]any{"a": 1.0001, "b": 6.0}), rules).errors)
	assert.Contains(t, goldenBytes(t, dir), `"a": 1,`)
	assert.Contains(t, goldenBytes(t, dir), `"b": 6`)
}

func TestPartialUpdateKeepsTheOtherCases(t *testing.T) {
	dir := t.TempDir()
	assertOn(t, dir, true, doc(t, map[string]any{"a": 1, "b": 2}), Rules{})
	require.Empty(t, assertOn(t, dir, true, doc(t, map[string]any{"b": 3}), Rules{}).errors)
	assert.Contains(t, goldenBytes(t, dir), `"a": 1,`)
	assert.Contains(t, goldenBytes(t, dir), `"b": 3`)

	t.Run("of another provenance is refused", func(t *testing.T) {
		d := doc(t, map[string]any{"b": 4})
		d.Provenance.Source = "another recording"
		f := assertOn(t, dir, true, d, Rules{})
		require.Len(t, f.errors, 1)
		assert.Contains(t, f.text(), "update the whole family at once")
		assert.Contains(t, goldenBytes(t, dir), `"b": 3`)
	})
	t.Run("of the whole family may change it", func(t *testing.T) {
		d := doc(t, map[string]any{"a": 1, "b": 4})
		d.Provenance.Source = "another recording"
		require.Empty(t, assertOn(t, dir, true, d, Rules{}).errors)
		assert.Contains(t, goldenBytes(t, dir), "another recording")
	})
}

func TestUpdateIsRefused(t *testing.T) {
	t.Run("in CI", func(t *testing.T) {
		t.Setenv("CI", "true")
		dir := t.TempDir()
		_, err := merge(t, folder(dir), "numerics/demo", prov(), map[string]any{"a": 1}, nil)
		require.ErrorContains(t, err, `CI="true"`)
		assert.NoDirExists(t, filepath.Join(dir, "numerics"))
	})
	t.Run("in CI unless told otherwise", func(t *testing.T) {
		t.Setenv("CI", "true")
		*inCI = true
		defer func() { *inCI = false }()
		_, err := merge(t, folder(t.TempDir()), "numerics/demo", prov(), map[string]any{"a": 1}, nil)
		require.NoError(t, err)
	})
	t.Run("without provenance", func(t *testing.T) {
		t.Setenv("CI", "")
		p := prov()
		p.Seed, p.Source = "", " "
		_, err := merge(t, folder(t.TempDir()), "numerics/demo", p, map[string]any{"a": 1}, nil)
		require.ErrorContains(t, err, `"seed"`)
		require.ErrorContains(t, err, `"source"`)
	})
	t.Run("without a model in the fidelity pillar", func(t *testing.T) {
		t.Setenv("CI", "")
		_, err := merge(t, folder(t.TempDir()), "fidelity/nano-v4/fp32", prov(), map[string]any{"a": 1}, nil)
		require.ErrorContains(t, err, `"model"`)
	})
	t.Run("away from the source tree", func(t *testing.T) {
		t.Setenv("CI", "")
		_, err := merge(t, []root{{"the goldens built into this binary", "", os.DirFS(t.TempDir())}}, "numerics/demo", prov(),
			map[string]any{"a": 1}, nil)
		require.ErrorContains(t, err, "set ASSAY_GOLDENS")
	})
}

func TestAssertRefusesEmptyWork(t *testing.T) {
	f := &fake{TB: t}
	Assert(f, "numerics/demo", Doc{Provenance: prov()}, Rules{})
	assert.Contains(t, f.text(), "nothing was compared")

	f = &fake{TB: t}
	Assert(f, "numerics/demo", Doc{Cases: map[string]any{"a": 1}}, Rules{})
	assert.Contains(t, f.text(), `no provenance field "generator"`)

	f = &fake{TB: t}
	Assert(f, "numerics/demo", Doc{Provenance: prov(), Cases: map[string]any{"a": math.NaN()}}, Rules{})
	assert.Contains(t, f.text(), "golden.Float writes NaN")

	f = &fake{TB: t}
	Assert(f, "../demo", Doc{Provenance: prov(), Cases: map[string]any{"a": 1}}, Rules{})
	assert.Contains(t, f.text(), `segment ".."`)
}

func TestOrphans(t *testing.T) {
	dir := t.TempDir()
	assertOn(t, dir, true, doc(t, map[string]any{"a": 1, "gone": 2}), Rules{})

	f := &fake{TB: t}
	updating(t, false)
	orphansIn(f, folder(dir), "numerics/demo", []string{"a", "gone", "new"})
	require.Empty(t, f.errors, "every case claimed")
	updating(t, false)
	orphansIn(f, folder(dir), "numerics/other", []string{"a"})
	require.Empty(t, f.errors, "no file")

	updating(t, false)
	orphansIn(f, folder(dir), "numerics/demo", []string{"a"})
	require.Len(t, f.errors, 1)
	assert.Contains(t, f.text(), "no registered case claims: gone")

	f = &fake{TB: t}
	updating(t, true)
	orphansIn(f, folder(dir), "numerics/demo", []string{"a"})
	require.Empty(t, f.errors)
	assert.NotContains(t, goldenBytes(t, dir), "gone")
	assert.Contains(t, goldenBytes(t, dir), `"a": 1`)
}

func TestUserFolderComesBeforeTheShippedOne(t *testing.T) {
	user, shipped := t.TempDir(), t.TempDir()
	t.Setenv("ASSAY_GOLDENS", user)
	roots, err := findRoots()
	require.NoError(t, err)
	require.Len(t, roots, 3, "user, module, built in")
	assert.Equal(t, user, roots[0].dir)

	assertOn(t, shipped, true, doc(t, map[string]any{"a": 1}), Rules{})
	both := append(folder(user), folder(shipped)...)
	f := &fake{TB: t}
	updating(t, false)
	assertIn(f, both, "numerics/demo", doc(t, map[string]any{"a": 1}), Rules{})
	require.Empty(t, f.errors, "what the user has not recorded is read from the shipped folder")
	updating(t, true)
	assertIn(f, both, "numerics/demo", doc(t, map[string]any{"a": 7}), Rules{})
	require.Empty(t, f.errors)
	assert.Contains(t, goldenBytes(t, user), `"a": 7`)
	assert.Contains(t, goldenBytes(t, shipped), `"a": 1`)

	t.Setenv("ASSAY_GOLDENS", filepath.Join(user, "nowhere"))
	_, err = findRoots()
	require.ErrorContains(t, err, "is not a folder")
}

func TestAwayFromTheSourceTreeTheBuiltInCopyIsRead(t *testing.T) {
	t.Setenv("ASSAY_GOLDENS", "")
	t.Chdir(t.TempDir())
	roots, err := findRoots()
	require.NoError(t, err)
	require.Len(t, roots, 1)
	_, err = roots[0].fsys.Open("README.md")
	require.NoError(t, err)
}

func TestMalformedFiles(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"cut off":       {`{"assay-golden": 1, "family"`, "restore it from version control"},
		"unknown field": {`{"assay-golden": 1, "tolerance": 3}`, "unknown field"},
		"trailing text": {`{"assay-golden": 1} x`, "after its closing brace"},
		"later schema":  {`{"assay-golden": 9}`, "schema version 9"},
		"moved":         {`{"assay-golden": 1, "family": "numerics/else"}`, "moved by hand"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "numerics"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "numerics", "demo.json"), []byte(row.text), 0o600))
			_, _, err := load(folder(dir), "numerics/demo")
			require.ErrorContains(t, err, row.want)
			require.ErrorContains(t, err, "demo.json")
		})
	}
}

func TestFamiliesIn(t *testing.T) {
	dir := t.TempDir()
	assertOn(t, dir, true, doc(t, map[string]any{"a": 1}), Rules{})
	got, err := FamiliesIn(os.DirFS(dir))
	require.NoError(t, err)
	assert.Equal(t, []string{"numerics/demo"}, got)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "stray.json"), nil, 0o600))
	_, err = FamiliesIn(os.DirFS(dir))
	require.ErrorContains(t, err, "stray.json")
}

// The copy that is built into a binary MUST decide like a folder.
func TestBuiltInCopyIsCompared(t *testing.T) {
	dir := t.TempDir()
	assertOn(t, dir, true, doc(t, map[string]any{"a": 1.0}), Rules{})
	updating(t, false)
	builtIn := []root{{"built in", "", os.DirFS(dir)}}
	f := &fake{TB: t}
	assertIn(f, builtIn, "numerics/demo", doc(t, map[string]any{"a": 1.5}), All(Abs(0.5, "")))
	require.Empty(t, f.errors)
	assertIn(f, builtIn, "numerics/demo", doc(t, map[string]any{"a": 1.75}), All(Abs(0.5, "")))
	require.Len(t, f.errors, 1)
	assert.Contains(t, f.text(), "got    1.75")
}

// goldie's -clean removes folders that are older than the run: it MUST NOT find the goldens of others.
func TestCleanKeepsOtherFamilies(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "numerics", "other.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(other), 0o750))
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	require.NoError(t, os.Chtimes(filepath.Dir(other), time.Unix(1, 0), time.Unix(1, 0)))
	require.NoError(t, flag.Set("clean", "true"))
	t.Cleanup(func() { require.NoError(t, flag.Set("clean", "false")) })
	require.Empty(t, assertOn(t, dir, true, doc(t, map[string]any{"a": 1}), Rules{}).errors)
	assert.FileExists(t, other)
}
