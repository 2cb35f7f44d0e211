package checkpoint

import (
	"context"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
)

// Exchanging gate and up, or the nibbles of a tensor, negates the z that judges it. So the sound folders tell
// which of these single faults the statistics would find without a base: all nibble orders; gate and up of
// the experts in which they differ beyond the stated risk, and all of them when the whole checkpoint is
// exchanged (planted tests). The rest takes a base.
func TestPowerOfSuspects(t *testing.T) {
	for _, folder := range []string{"nano-v4", "nano-v4-mxfp4", "nano-v4-nvfp4"} {
		fsys, err := fs.Sub(fixtures.FS, folder)
		require.NoError(t, err)
		p := newPatient(fsys)
		require.NoError(t, p.load(nil))
		p.names()
		require.NoError(t, p.scan(context.Background(), p.jobs(p.quantised(), true), nil))
		all, err := p.profiles(context.Background(), nil)
		require.NoError(t, err)
		p.close()

		limit := critical(risk, len(all))
		var follow []float64
		for _, e := range all {
			follow = append(follow, fisher(pearson(e.up, e.down)))
		}
		l := law{usual: median(follow), width: spread(follow)}
		swaps, nibbles, packed := 0, 0, 0
		for _, e := range all {
			if dependent(pearson(e.up, e.down), pearson(e.gate, e.down), pearson(e.gate, e.up), len(e.up)) > limit &&
				l.follows(pearson(e.up, e.down), e) {
				swaps++
			}
			for i, w := range []weight{e.w1, e.w2, e.w3} {
				if w.q == nil || w.q.scheme == blockFP8 {
					continue
				}
				packed++
				if e.order[i] > critical(risk, 3*len(all)) {
					nibbles++
				}
			}
		}
		t.Logf("%s: single exchanges of gate and up found without a base: %d of %d; nibble orders: %d of %d", folder, swaps,
			len(all), nibbles, packed)
		if nibbles != packed {
			t.Errorf("%s: a wrong nibble order would be found in %d of %d tensors, want all", folder, nibbles, packed)
		}
		if swaps < len(all)/2 {
			t.Errorf("%s: exchanged gate and up would be found in %d of %d experts, want at least half", folder, swaps, len(all))
		}
	}
}
