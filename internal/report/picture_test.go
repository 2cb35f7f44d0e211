package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A picture MUST colour what is beyond the bound apart from what is within, leave out what was not judged, and escape
// its texts.
func TestPicture(t *testing.T) {
	p := Picture{
		Title: "<b>y</b>", RowLabel: "token", ColLabel: "channel", Rows: []string{"0", "1"},
		Cols:   []string{"0 to 7", "8 to 15"},
		Values: [][]float64{{0, 0.5}, {3, math.NaN()}}, Caption: "largest of each box",
	}
	svg := string(p.draw().SVG)
	assert.Equal(t, 1, strings.Count(svg, `class="within"`))
	assert.Equal(t, 1, strings.Count(svg, `class="beyond"`))
	assert.Contains(t, svg, "token 1, channel 0 to 7: 3 of the bound")
	assert.NotContains(t, svg, "<b>")
	var out bytes.Buffer
	require.NoError(t, WriteHTML(&out, Run{Findings: []Finding{{Case: "kernels/x", Pictures: []Picture{p}}}}))
	assert.Contains(t, out.String(), `class="residual"`)
	assert.NotContains(t, out.String(), "<h3>answer</h3>", "a kernel gives no answer")
	assert.Less(t, strengthOf(1e-9), strengthOf(0.5))
	assert.Less(t, strengthOf(0.5), strengthOf(100))
	assert.Equal(t, 1.0, strengthOf(math.Inf(1)))
}
