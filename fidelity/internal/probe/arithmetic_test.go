package probe

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/internal/endpoint"
)

// Edges of public reports MUST be matched to their cause, and an edge beside all of them to none.
func TestCliffs(t *testing.T) {
	for _, c := range []struct {
		edge  int
		known Known
		win   int
		want  string // part of a line; empty: none at all
	}{
		{2048, Known{}, 0, "top-k 512 x ratio 4"},
		{2070, Known{}, 0, "top-k 2048"},
		{2200, Known{}, 0, ""},
		{4100, Known{}, 0, "sliding window 4096"},
		{300, Known{}, 0, ""},
		{260, Known{}, 0, "window of 256"},
		{3072, Known{TopK: 768, Ratio: 4}, 0, "top-k 768 x ratio 4 as configured"},
		{6000, Known{Chunk: 3000}, 0, "seam 2 of the prefill chunks of 3000"},
		{5002, Known{}, 10000, "half of the window of 10000"},
		{2500, Known{}, 10000, "split among 4 slots"},
		{131072, Known{}, 0, "overflow of an index"},
	} {
		got := Cliffs(c.edge, 16, c.known, c.win)
		if c.want == "" {
			assert.Empty(t, got, c.edge)
			continue
		}
		assert.Contains(t, strings.Join(got, "\n"), c.want, c.edge)
	}
}

func TestBracket(t *testing.T) {
	for name, c := range map[string]struct {
		shares []float64
		lo, hi int
		ok     bool
	}{
		"cliff":          {[]float64{1, 1, 1, 0, 0}, 3, 4, true},
		"lottery":        {[]float64{1, 1, 1, 0.33, 0.66}, 3, 4, true},
		"healthy":        {[]float64{1, 1, 1, 1, 1}, 0, 0, false},
		"all wrong":      {[]float64{0, 0, 0, 0, 0}, 0, 0, false},
		"one bad length": {[]float64{1, 0, 1, 1, 1}, 0, 0, false},
		"weak model":     {[]float64{0.75, 1, 0.75, 0.5, 0.75}, 0, 0, false},
		"slope":          {[]float64{1, 1, 0.62, 0.12, 0}, 2, 4, true},
		"long slope":     {[]float64{1, 0.62, 0.62, 0.55, 0.5, 0}, 1, 5, true},
		"dip before":     {[]float64{1, 0.6, 1, 0, 0}, 0, 0, false},
		"dip at first":   {[]float64{0.6, 0.2, 0}, 0, 0, false},
		"never half":     {[]float64{1, 0.6, 0.6, 0.6}, 0, 0, false},
	} {
		var ps []point
		for i, s := range c.shares {
			ps = append(ps, point{i + 1, s})
		}
		lo, hi, ok := bracket(ps)
		assert.Equal(t, []any{c.lo, c.hi, c.ok}, []any{lo, hi, ok}, name)
	}
}

// The modulus MUST be the true one, whatever the residue, and none where the failures are not of one residue.
func TestModulus(t *testing.T) {
	for _, m := range []int{2, 4, 8} {
		for r := range m {
			failed := map[int]bool{}
			for n := 1024; n < 1040; n++ {
				failed[n] = n%m == r
			}
			got, residue, ok := modulus(failed)
			assert.True(t, ok)
			assert.Equal(t, []int{m, r}, []int{got, residue})
		}
	}
	_, _, ok := modulus(map[int]bool{1: true, 2: true, 3: false, 4: false, 5: false, 6: false})
	assert.False(t, ok, "two neighbours are of no residue")
	_, _, ok = modulus(map[int]bool{1: true, 2: true, 3: true})
	assert.False(t, ok, "all of them fail")
}

func TestCounted(t *testing.T) {
	list := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			b.WriteString(itoa(i) + "\n")
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text, finish string
		onset        float64
		sign         string // number above 0
		right        bool
	}{
		"whole":          {list(1, 50), "stop", 50, "", true},
		"loops":          {list(1, 20) + strings.Repeat("21\n22\n", 40), "length", 22, "loops", false},
		"skipped":        {list(1, 20) + list(22, 50), "stop", 20, "skipped", false},
		"early end":      {list(1, 20), "stop", 20, "early-end", false},
		"foreign script": {list(1, 20) + "двадцать один\n" + list(22, 50), "stop", 20, "foreign-script", false},
		"dots":           {"1.\n2.\n" + list(3, 50), "stop", 50, "", true},
	} {
		v := counted(endpoint.Answer{Text: c.text, Finish: c.finish}, 50)
		assert.Equal(t, c.right, v.Right, name)
		assert.True(t, v.Measured, name)
		assert.Equal(t, int(c.onset), int(v.Numbers["onset"]), name)
		if c.sign != "" {
			assert.Positive(t, v.Numbers[c.sign], name)
		}
	}
	assert.False(t, counted(endpoint.Answer{Text: list(1, 20), Finish: "length"}, 50).Measured,
		"a right list that was cut says nothing")
}
