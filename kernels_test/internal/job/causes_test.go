package job

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// A known bug MUST come first where every case that was compared agrees on one class, and nowhere else.
func TestKnownBugsComeFirst(t *testing.T) {
	address, scale := bench.Cause{Class: "address", Name: "page-mod"}, bench.Cause{Class: "scale", Name: "scale-lost"}
	for name, row := range map[string]struct {
		like [][]bench.Cause
		want string
	}{
		"one class in every case":       {[][]bench.Cause{{address}, {address}}, "address"},
		"one case looks like none":      {[][]bench.Cause{{address}, nil}, ""},
		"cases that disagree":           {[][]bench.Cause{{address}, {scale}}, ""},
		"bugs of two classes in a case": {[][]bench.Cause{{address, scale}, {address}}, ""},
		"nothing was compared":          {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var rows []Row
			var compared []int
			for i, like := range row.like {
				rows, compared = append(rows, Row{Like: like}), append(compared, i)
			}
			c, ok := agreed(rows, compared)
			assert.Equal(t, row.want, c.Class)
			assert.Equal(t, row.want != "", ok)
		})
	}
}
