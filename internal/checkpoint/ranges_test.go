package checkpoint

import (
	"io/fs"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
)

// The limits of a role MUST leave a factor of eight on either side of every trained model that is shipped, and of the
// largest embedding that is known to begin with: T5's, which transformers draws with a deviation of 1 and which grows.
func TestRangesAreWide(t *testing.T) {
	wide := func(role int, size float64, what string) {
		limits := rangeOf[role]
		if lo, hi := math.Log2(limits[0])+3, math.Log2(limits[1])-3; size < lo || size > hi {
			t.Errorf("%s: 2^%.1f is not within 2^%.1f and 2^%.1f", what, size, lo, hi)
		}
	}
	wide(roleEmbed, 0, "the embedding of T5")
	for _, name := range []string{"nano-v4", "nano-v4-mxfp4", "nano-v4-nvfp4", "nano-flash", "nano-llama"} {
		fsys, err := fs.Sub(fixtures.FS, name)
		require.NoError(t, err)
		p := newPatient(fsys)
		p.readConfig(nil)
		p.readPlan()
		require.NoError(t, p.load(nil))
		p.assemble()
		p.names()
		judged := 0
		for _, x := range p.tensors {
			w, ok := p.weightIn(x)
			if _, known := rangeOf[roleOf(x)]; !ok || !known {
				continue
			}
			m, err := w.corner(min(channels, w.rows), breadth)
			require.NoError(t, err)
			if size := logRMS(m); size > -100 { // but for what is zero on purpose
				wide(roleOf(x), size, name+" "+x.stored)
				judged++
			}
		}
		p.close()
		require.Positive(t, judged, name)
	}
}
