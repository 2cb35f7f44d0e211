package golden

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Expected verdicts follow from the definitions, the stated inequalities.
func TestRules(t *testing.T) {
	inf, nan, negZero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	next := func(x float64, n int) float64 {
		for range n {
			x = math.Nextafter(x, inf)
		}
		return x
	}
	for name, row := range map[string]struct {
		rule      Rule
		got, want float64
		ok        bool
	}{
		"zero rule equal":          {Rule{}, 1, 1, true},
		"zero rule one ulp":        {Rule{}, next(1, 1), 1, false},
		"exact sign of zero":       {Exact(""), 0, negZero, false},
		"exact NaN":                {Exact(""), nan, nan, true},
		"NaN against number":       {Rel(9, ""), nan, 1, false},
		"number against NaN":       {Abs(9, ""), 1, nan, false},
		"inf against number":       {Abs(inf, ""), inf, 1, false},
		"inf against inf":          {Abs(1, ""), inf, inf, true},
		"inf against -inf":         {Factor(2, ""), inf, -inf, false},
		"count equal":              {Count(""), 3, 3, true},
		"count off by one":         {Count(""), 4, 3, false},
		"count not an integer":     {Count(""), 3.5, 3.5, false},
		"rel inside":               {Rel(0.1, ""), 109, 100, true},
		"rel outside":              {Rel(0.1, ""), 111, 100, false},
		"rel of zero":              {Rel(0.1, ""), 1e-300, 0, false},
		"abs inside":               {Abs(0.5, ""), 1.5, 1, true},
		"abs outside":              {Abs(0.5, ""), 1.75, 1, false},
		"abs or rel by abs":        {AbsOrRel(1e-3, 0.1, ""), 5e-4, 0, true},
		"abs or rel by rel":        {AbsOrRel(1e-3, 0.1, ""), 109, 100, true},
		"abs or rel outside":       {AbsOrRel(1e-3, 0.1, ""), 2e-3, 0, false},
		"factor up":                {Factor(1.5, "two digits"), 0.15, 0.1, true},
		"factor down":              {Factor(1.5, ""), 0.07, 0.1, true},
		"factor beyond up":         {Factor(1.5, ""), 0.151, 0.1, false},
		"factor beyond down":       {Factor(1.5, ""), 0.066, 0.1, false},
		"factor zeros":             {Factor(1.5, ""), 0, 0, true},
		"factor zero against some": {Factor(1.5, ""), 0.1, 0, false},
		"factor other sign":        {Factor(1.5, ""), -0.1, 0.1, false},
		"info":                     {Info("wall clock"), 5, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			x := row.rule.measure(row.got, row.want)
			assert.Equal(t, row.ok, x <= 1, "excess %g under %s", x, row.rule)
		})
	}
	assert.Equal(t, "factor x1.5 (two digits)", Factor(1.5, "two digits").String())
	assert.Equal(t, "exact", Rule{}.String())
}

func TestFieldPatterns(t *testing.T) {
	rules := All(Exact("default")).With("rho/*", Factor(1.5, "")).With("**/margin", Abs(1, "")).With("seconds", Info(""))
	for path, want := range map[string]string{
		"rho/p99":              "factor x1.5",
		"rho":                  "exact (default)",
		"rho/p99/x":            "exact (default)",
		"margin":               "abs 1",
		"layers/3/deep/margin": "abs 1",
		"seconds":              "not compared",
	} {
		assert.Equal(t, want, rules.find(strings.Split(path, "/")).String(), path)
	}
}

func TestStructuralDifferences(t *testing.T) {
	rules := All(Rel(1, "loose")).With("note", Info("free text")).With("timing/**", Info("wall clock"))
	for name, row := range map[string]struct {
		got, want any
		path      string // of the one violation expected, "-" for none
	}{
		"string for string":     {map[string]any{"s": "a"}, map[string]any{"s": "b"}, "s"},
		"number for string":     {map[string]any{"s": 1}, map[string]any{"s": "b"}, "s"},
		"number for NaN":        {map[string]any{"s": 1}, map[string]any{"s": Float(math.NaN())}, "s"},
		"bool for bool":         {map[string]any{"s": true}, map[string]any{"s": false}, "s"},
		"absent key":            {map[string]any{}, map[string]any{"s": 1}, "s"},
		"new key":               {map[string]any{"s": 1}, map[string]any{}, "s"},
		"shorter list":          {map[string]any{"l": []int{1}}, map[string]any{"l": []int{1, 2}}, "l"},
		"list element":          {map[string]any{"l": []int{1, 9}}, map[string]any{"l": []int{1, 2}}, "l/1"},
		"list for object":       {map[string]any{"l": []int{1}}, map[string]any{"l": map[string]int{"a": 1}}, "l"},
		"null for number":       {map[string]any{"l": nil}, map[string]any{"l": 0}, "l"},
		"informational text":    {map[string]any{"note": "a"}, map[string]any{"note": "b"}, "-"},
		"informational missing": {map[string]any{}, map[string]any{"note": "b"}, "-"},
		"informational list": {
			map[string]any{"timing": map[string]any{"l": []int{1}}},
			map[string]any{"timing": map[string]any{"l": []int{1, 2}}},
			"-",
		},
		"within tolerance": {map[string]any{"x": 1.5}, map[string]any{"x": 1}, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			got := compareCases(canon(t, map[string]any{"c": row.got}), canon(t, map[string]any{"c": row.want}), rules)
			if row.path == "-" {
				assert.Empty(t, got)
				return
			}
			if assert.Len(t, got, 1) {
				assert.Equal(t, row.path, got[0].path)
			}
		})
	}
}
