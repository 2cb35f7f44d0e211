package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func m(rel string) string { return Module + "/" + rel }

// Every rule must see a planted violation, and nothing in the correct twin beside it.
func TestPlantedArrows(t *testing.T) {
	for name, row := range map[string]struct {
		pkg, imp string
		want     string // part of the violation, empty for none
	}{
		"std everywhere":               {m("safetensors"), "encoding/json", ""},
		"numerics uses gonum":          {m("numerics"), "gonum.org/v1/gonum/floats", ""},
		"numerics uses testify":        {m("numerics"), "github.com/stretchr/testify/assert", "free of other modules"},
		"numerics uses its formats":    {m("numerics"), m("numerics/format"), ""},
		"format uses numerics":         {m("numerics/format"), m("numerics"), ""},
		"numerics uses oracle":         {m("numerics"), m("oracle"), "wrong way"},
		"oracle uses numerics":         {m("oracle"), m("numerics"), ""},
		"oracle uses faults":           {m("oracle"), m("oracle/faults"), ""},
		"faults use oracle":            {m("oracle/faults"), m("oracle"), ""},
		"faults use nano":              {m("oracle/faults"), m("internal/nano"), "wrong way"},
		"nano uses faults":             {m("internal/nano"), m("oracle/faults"), ""},
		"nano uses server":             {m("internal/nano"), m("internal/server"), "downwards only"},
		"server uses nano":             {m("internal/server"), m("internal/nano"), ""},
		"needle uses endpoint":         {m("internal/needle"), m("internal/endpoint"), "downwards only"},
		"suite uses golden":            {m("internal/suite"), m("internal/golden"), "only _test.go"},
		"internal uses fidelity":       {m("internal/report"), m("fidelity"), "wrong way"},
		"fidelity uses endpoint":       {m("fidelity"), m("internal/endpoint"), ""},
		"fidelity uses oracle":         {m("fidelity"), m("oracle"), "wrong way"},
		"fidelity uses golden":         {m("fidelity"), m("internal/golden"), "only _test.go"},
		"fidelity uses public golden":  {m("fidelity"), m("golden"), "only _test.go"},
		"golden uses what it wraps":    {m("golden"), m("internal/golden"), ""},
		"kernels use faults":           {m("kernels_test"), m("oracle/faults"), ""},
		"kernels use fidelity":         {m("kernels_test"), m("fidelity"), "wrong way"},
		"cmd uses oracle":              {m("cmd/nanoserve"), m("oracle"), "wrong way"},
		"cmd uses internal":            {m("cmd/nanoserve"), m("internal/server"), ""},
		"everybody uses fixtures":      {m("numerics"), m("fixtures"), ""},
		"fixtures use anything":        {m("fixtures"), m("safetensors"), "wrong way"},
		"an unknown internal package":  {m("internal/misc"), "fmt", "no level"},
		"an unknown room":              {m("util"), "fmt", "no room"},
		"a package of another module":  {"example.com/x", m("internal/golden"), ""},
		"a prefix is not a path":       {m("fidelity"), m("internals"), "wrong way"},
		"golden reads the goldens":     {m("internal/golden"), m("goldens"), ""},
		"safetensors uses third party": {m("safetensors"), "gonum.org/v1/gonum/mat", "free of other modules"},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, Arrows(map[string][]string{row.pkg: {row.imp}}), row.want)
		})
	}
}

func expect(t *testing.T, got []string, want string) {
	t.Helper()
	if want == "" {
		assert.Empty(t, got)
		return
	}
	if assert.Len(t, got, 1) {
		assert.Contains(t, got[0], want)
	}
}

func TestPlantedTestBinaries(t *testing.T) {
	got := TestBinaries(map[string][]string{
		m("oracle.test"):     {"fmt", m("internal/golden")},
		m("internal/x.test"): {m("internal/golden") + " [" + m("internal/x.test") + "]"},
		m("numerics.test"):   {"fmt", m("internal/goldenish")},
		m("numerics"):        {"fmt"},
	})
	expect(t, got, "the tests of numerics do not import internal/golden")
}

func TestPlantedFiles(t *testing.T) {
	long := strings.Repeat("// x\n", maxLines)
	for name, row := range map[string]struct {
		rule       func(Files) []string
		path, text string
		want       string
	}{
		"400 lines":           {Lengths, "a.go", long, ""},
		"401 lines":           {Lengths, "a.go", long + "\n", "401 lines"},
		"a long page":         {Lengths, "a.md", long + long, ""},
		"another folder":      {Foreign, "README.md", "see .." + "/shared/design", "README.md:1"},
		"a registry":          {Foreign, "a.go", "\n\"https://proxy." + "golang.org\"", "a.go:2"},
		"a module path":       {Foreign, "a.go", `"golang.org/x/term"`, ""},
		"InDelta in a test":   {Banned, "a_test.go", "\tassert.In" + "Delta(t, 1, 2, 3)", "named rule"},
		"InEpsilonSlice":      {Banned, "a_test.go", "\tassert.In" + "EpsilonSlice(t, 1, 2, 3)", "named rule"},
		"assert.Equal":        {Banned, "a_test.go", "\tassert.Equal(t, 1, 2)", ""},
		"sleep":               {Banned, "a.go", "\ttime.Sleep(1)", "wait for an event"},
		"sleep in a test":     {Banned, "a_test.go", "\ttime.Sleep(1)", ""},
		"panic":               {Banned, "a.go", "\tpanic(err)", "returns errors"},
		"panic in a sentence": {Banned, "a.go", "// it may panic(x) here", ""},
		"kernels":             {KernelsPackage, "kernels_test/doc.go", "// Doc.\npackage kernels\n", ""},
		"kernels_test": {
			KernelsPackage, "kernels_test/doc.go", "package kernels_test\n", "must say package kernels",
		},
		"kernels_test in a test": {KernelsPackage, "kernels_test/a_test.go", "package kernels_test\n", ""},
		"kernels in a test": {
			KernelsPackage, "kernels_test/a_test.go", "package kernels\n", "must say package kernels_test",
		},
		"no clause":                {KernelsPackage, "kernels_test/a.go", "", "must say package kernels"},
		"another folder's package": {KernelsPackage, "kernels_test/sub/a.go", "package sub\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, row.rule(Files{row.path: row.text}), row.want)
		})
	}
}

func TestPlantedMains(t *testing.T) {
	main := "func TestMain(m *testing.M) { suite.Main(m) }"
	files := Files{"fidelity/a_test.go": main, "kernels_test/a_test.go": main, "numerics/a_test.go": main}
	assert.Empty(t, Mains(files))
	files["numerics/a_test.go"], files["numerics/format/a_test.go"] = "", main
	expect(t, Mains(files), "no test file of numerics")
}

func TestPlantedDoors(t *testing.T) {
	files := Files{}
	for _, dir := range doors {
		files[dir+"/doc.go"] = "// Package x judges\n// things.\n//\n// Call F first.\npackage x\n"
		files[dir+"/example_test.go"] = "package x_test\n\nfunc ExampleF() {\n\t// Output: 1\n}\n"
	}
	assert.Empty(t, Doors(files))
	files["weights/doc.go"] = "// Package x judges things.\n//\n// Claimed: much.\n//\n// Call F.\npackage x\n"
	expect(t, Doors(files), "weights's package comment must say what to call first")
	files["weights/doc.go"] = files["oracle/doc.go"]
	files["oracle/example_test.go"] = "package x_test\n\nfunc ExampleF() {}\n"
	expect(t, Doors(files), "oracle has no example that is run")
}

func TestPlantedVariables(t *testing.T) {
	table := []string{"ASSAY_WEIGHTS"}
	assert.Empty(t, Variables(Files{"a.go": `os.LookupEnv("ASSAY_WEIGHTS")`, "b.md": "an unknown `ASSAY_*`"}, table))
	expect(t, Variables(Files{"a.go": "\n" + `os.LookupEnv("ASSAY_WEIGHT")`}, table), "a.go:2 mentions ASSAY_WEIGHT,")

	assert.Empty(t, Documented("| variable |\n| `ASSAY_WEIGHTS` | folder |\n", table))
	expect(t, Documented("set `ASSAY_WEIGHTS`\n", table), "no table row for ASSAY_WEIGHTS")
}

func TestPlantedOrphans(t *testing.T) {
	for name, row := range map[string]struct{ source, want string }{
		"named":                   {`golden.Assert(t, "numerics/mhc-mix", doc)`, ""},
		"computed by format":      {`fmt.Sprintf("numerics/mhc-%s", kind)`, ""},
		"computed by joining":     {`"numerics/" + kind`, "belongs to no test"},
		"another family":          {`"numerics/mhc-mix-2"`, "belongs to no test"},
		"only the pillar":         {`"numerics/%s"`, "belongs to no test"},
		"a folder of the pillar":  {`"numerics/mhc-mix/" + kind`, "belongs to no test"},
		"in a comment, unquoted":  {`// numerics/mhc-mix`, "belongs to no test"},
		"in a raw string literal": {"`numerics/mhc-mix`", ""},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, OrphanGoldens(Files{"numerics/a_test.go": row.source}, []string{"numerics/mhc-mix"}), row.want)
		})
	}
	expect(t, OrphanGoldens(Files{"internal/golden/a_test.go": `"numerics/mhc-mix"`}, []string{"numerics/mhc-mix"}),
		"belongs to no test")
	for name, row := range map[string]struct{ readme, want string }{
		"a row":                {"| `numerics/mhc-mix` | `./numerics` | `TestMix` | rho |\n", ""},
		"a row without a test": {"| `numerics/mhc-mix` | `./numerics` | `TestMax` | rho |\n", "no such test"},
		"a test elsewhere":     {"| `numerics/mhc-mix` | `./oracle` | `TestMix` | rho |\n", "no such test"},
		"a row without a file": {
			"| `numerics/mhc-mix` | `./numerics` | `TestMix` | rho |\n| `numerics/old` | `./numerics` | `TestMix` |\n",
			"no such golden",
		},
		"a pattern":             {"| `numerics/*-mix` | `./numerics` | `TestMix` | rho |\n", ""},
		"another pillar's star": {"| `oracle/*` | `./numerics` | `TestMix` | rho |\n", "no such golden"},
		"named outside a table": {"`numerics/mhc-mix`\n", "belongs to no test"},
	} {
		t.Run(name, func(t *testing.T) {
			got := OrphanGoldens(Files{
				"goldens/README.md":  row.readme,
				"numerics/a_test.go": "package x\n\nfunc TestMix(t *testing.T) {",
			}, []string{"numerics/mhc-mix"})
			if len(got) == 2 && strings.Contains(got[1], "belongs to no test") {
				got = got[:1] // the row is wrong, so the file has no owner besides
			}
			expect(t, got, row.want)
		})
	}
	assert.Empty(t, OrphanGoldens(Files{"a_test.go": `"fidelity/nano-v4/" + profile`}, []string{"fidelity/nano-v4/fp32"}))
}

func TestPlantedSizes(t *testing.T) {
	expect(t, Tracked(map[string]int64{"a": maxTracked / 2, "b": maxTracked / 2}), "")
	expect(t, Tracked(map[string]int64{"a": maxTracked / 2, "b": maxTracked/2 + 1}), "largest are b, a")
}
