package golden_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/golden"
)

// listener is a testing.TB that keeps what it is told.
type listener struct {
	testing.TB

	said []string
}

func (l *listener) Helper()                      {}
func (l *listener) Name() string                 { return "TestX" }
func (l *listener) Error(args ...any)            { l.said = append(l.said, fmt.Sprint(args...)) }
func (l *listener) Errorf(f string, args ...any) { l.said = append(l.said, fmt.Sprintf(f, args...)) }
func (l *listener) Fatal(args ...any)            { l.Error(args...) }
func (l *listener) FailNow()                     {}

const made = `{
  "assay-golden": 1,
  "family": "mine/decode",
  "provenance": {"generator": "g", "seed": "none", "source": "s"},
  "cases": {"len-65": {"n": 3, "rho": 0.3}, "old": {"rho": 1}}
}
`

func folder(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "mine"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine", "decode.json"), []byte(made), 0o600))
	t.Setenv("ASSAY_GOLDENS", dir)
}

func asserted(t *testing.T, rho float64, n int, p golden.Provenance) []string {
	t.Helper()
	l := &listener{TB: t}
	rules := golden.All(golden.Factor(1.5, "two digits")).With("n", golden.Count("counted"))
	golden.Assert(l, "mine/decode", golden.Doc{Provenance: p, Cases: map[string]any{
		"len-65": map[string]any{"rho": golden.Float(rho), "n": n},
	}}, rules)
	return l.said
}

// What is within its rule passes, what is not is named with its rule, and nothing is compared without provenance.
func TestAssert(t *testing.T) {
	folder(t)
	p := golden.Provenance{Generator: "g", Seed: "none", Source: "s"}
	assert.Empty(t, asserted(t, 0.4, 3, p))
	for name, row := range map[string]struct {
		rho  float64
		n    int
		p    golden.Provenance
		want string
	}{
		"too far":       {0.6, 3, p, "factor x1.5 (two digits)"},
		"not a number":  {math.NaN(), 3, p, "NaN"},
		"another count": {0.3, 4, p, "count-exact (counted)"},
		"no source":     {0.3, 3, golden.Provenance{Generator: "g", Seed: "none"}, "source"},
	} {
		t.Run(name, func(t *testing.T) {
			said := asserted(t, row.rho, row.n, row.p)
			require.Len(t, said, 1)
			assert.Contains(t, said[0], row.want)
		})
	}
}

func TestOrphansAndRead(t *testing.T) {
	folder(t)
	l := &listener{TB: t}
	golden.Orphans(l, "mine/decode", []string{"len-65"})
	require.Len(t, l.said, 1)
	assert.Contains(t, l.said[0], "old")
	cases, err := golden.Read("mine/decode")
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"n": json.Number("3"), "rho": json.Number("0.3")}, cases["len-65"])
	_, err = golden.Read("mine/other")
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.False(t, golden.Updating())
}

// Every rule is the one of its name.
func TestRules(t *testing.T) {
	for name, row := range map[string]struct {
		rule      golden.Rule
		got, want float64
		allowed   bool
	}{
		"exact":               {golden.Exact(""), 1, 1, true},
		"exact, another":      {golden.Exact(""), 1, math.Nextafter(1, 2), false},
		"rel":                 {golden.Rel(0.1, ""), 1.09, 1, true},
		"rel, too far":        {golden.Rel(0.1, ""), 1.2, 1, false},
		"abs":                 {golden.Abs(0.1, ""), 0.05, 0, true},
		"abs, too far":        {golden.Abs(0.1, ""), 0.2, 0, false},
		"abs or rel":          {golden.AbsOrRel(0.1, 0.1, ""), 10.9, 10, true},
		"abs or rel, too far": {golden.AbsOrRel(0.1, 0.1, ""), 11.5, 10, false},
		"info":                {golden.Info(""), 1, 2, true},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, row.allowed, row.rule.Allows(row.got, row.want)) })
	}
}
