package schema

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/oracle/faults"
)

// Verdicts are those of JSON Schema 2020-12, cross-checked once with python-jsonschema 4.26.
func TestCheck(t *testing.T) {
	for name, row := range map[string]struct {
		schema, document string
		breaks           string // part of the error, empty for a document that holds
	}{
		"integer is a number":   {`{"type": "number"}`, `1`, ""},
		"1.0 is an integer":     {`{"type": "integer"}`, `1.0`, ""},
		"1.5 is none":           {`{"type": "integer"}`, `1.5`, "of type number"},
		"null":                  {`{"type": "object"}`, `null`, "of type null"},
		"const":                 {`{"const": 1}`, `2`, "want 1"},
		"const of a text":       {`{"const": 1}`, `"1"`, "want 1"},
		"enum":                  {`{"enum": ["a", null]}`, `null`, ""},
		"not in enum":           {`{"enum": ["a"]}`, `"b"`, "one of"},
		"required":              {`{"required": ["a"]}`, `{"b": 1}`, "/a is missing"},
		"required of no object": {`{"required": ["a"]}`, `[]`, ""},
		"property":              {`{"properties": {"a": {"type": "string"}}}`, `{"a": 1}`, "/a/ is of type"},
		"more properties":       {`{"properties": {"a": true}, "additionalProperties": false}`, `{"b": 1}`, "/b/ may not"},
		"known property":        {`{"properties": {"a": true}, "additionalProperties": false}`, `{"a": 1}`, ""},
		"typed properties":      {`{"additionalProperties": {"type": "string"}}`, `{"b": 1}`, "/b/ is of type"},
		"property names":        {`{"propertyNames": {"minLength": 2}}`, `{"b": 1}`, "at least 2"},
		"items":                 {`{"items": {"type": "string"}}`, `["a", 1]`, "/1/ is of type"},
		"pattern":               {`{"pattern": "^a+$"}`, `"ab"`, "a match of"},
		"pattern of a number":   {`{"pattern": "^a+$"}`, `7`, ""},
		"length in characters":  {`{"minLength": 2}`, `"ü"`, "at least 2 characters"},
		"minimum":               {`{"minimum": 0}`, `-0.5`, "at least 0"},
		"any":                   {`{"anyOf": [{"type": "string"}, {"const": 1}]}`, `1`, ""},
		"none of any":           {`{"anyOf": [{"type": "string"}, {"const": 1}]}`, `2`, "alternatives"},
		"then":                  {`{"if": {"const": 1}, "then": {"type": "string"}}`, `1`, "of type integer"},
		"else":                  {`{"if": {"const": 1}, "else": {"type": "string"}}`, `2`, "of type integer"},
		"neither":               {`{"if": {"const": 1}, "else": {"type": "string"}}`, `1`, ""},
		"false":                 {`false`, `1`, "may not"},
		"two documents":         {`true`, `1 2`, "behind"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Parse([]byte(row.schema))
			require.NoError(t, err)
			err = s.Check([]byte(row.document))
			if row.breaks == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, row.breaks)
			}
		})
	}
}

// A rule that is not known MUST NOT be passed over.
func TestUnknownKeyword(t *testing.T) {
	_, err := Parse([]byte(`{"properties": {"a": {"maxLength": 3}}}`))
	assert.ErrorContains(t, err, "/properties/a/maxLength")
}

// Every committed golden MUST hold the published schema, and a changed one MUST NOT.
func TestGoldens(t *testing.T) {
	s, err := Published("golden-1")
	require.NoError(t, err)
	seen := 0
	require.NoError(t, fs.WalkDir(os.DirFS(InModule("goldens")), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".json" {
			return err
		}
		seen++
		raw, err := os.ReadFile(InModule("goldens", name))
		require.NoError(t, err)
		assert.NoError(t, s.Check(raw), name)
		for from, to := range map[string]string{
			`"assay-golden": 1`: `"assay-golden": 2`, `"seed"`: `"seeds"`, `"cases"`: `"case"`, `"family": "`: `"family": "/`,
		} {
			assert.Error(t, s.Check([]byte(strings.Replace(string(raw), from, to, 1))), "%s with %s", name, to)
		}
		return nil
	}))
	assert.Greater(t, seen, 20)
}

// Lines that a ledger does not hold; what it does hold is checked where ledgers are written.
func TestLedgerSchema(t *testing.T) {
	s, err := Published("ledger-1")
	require.NoError(t, err)
	const good = `{"schema":1,"case":"a/b","outcome":"fail","seconds":1,"message":"m","numbers":{"x":"NaN"},"later":1}`
	require.NoError(t, s.CheckLines([]byte(good+"\n"+good+"\n")))
	for from, to := range map[string]string{
		`:1,"case"`: `:2,"case"`, `a/b`: `a`, `"fail"`: `"fine"`, `"m"`: `""`, `,"message":"m"`: ``, `"NaN"`: `"nan"`,
		`"seconds":1`: `"seconds":-1`, `"seconds":1,`: ``,
	} {
		assert.Error(t, s.CheckLines([]byte(strings.Replace(good, from, to, 1))), to)
	}
	assert.Error(t, s.CheckLines(nil))
}

// docs/catalogue.json MUST be oracle/faults' catalogue, by its published schema.
func TestCatalogue(t *testing.T) {
	type row struct {
		ID       string `json:"id"`
		Slug     string `json:"slug"`
		Suite    string `json:"suite"`
		KilledBy string `json:"killed-by"`
		Class    string `json:"class"`
		Origin   string `json:"origin"`
		Effect   string `json:"effect"`
	}
	page := struct {
		Version int               `json:"assay-catalogue"`
		Classes map[string]string `json:"classes"`
		Faults  []row             `json:"faults"`
	}{Version: 1, Classes: faults.Classes()}
	for _, r := range faults.Catalogue() {
		page.Faults = append(page.Faults, row(r))
		assert.Contains(t, page.Classes, r.Class)
	}
	assert.Len(t, page.Faults, 76)
	raw, err := json.MarshalIndent(page, "", "  ")
	require.NoError(t, err)
	s, err := Published("catalogue-1")
	require.NoError(t, err)
	require.NoError(t, s.Check(raw))
	golden.Page(t, InModule("docs", "catalogue.json"), string(raw)+"\n")
}
