package outsider

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is the smallest run of zero bytes in a matrix that the doctor sees, by scheme? Said, not judged, but for the
// last step: 16 KiB MUST be seen in every tensor that has them.
func TestSmallestHole(t *testing.T) {
	if !full() {
		return // 400 folders
	}
	first := map[string]pair{}
	for _, p := range pairs() {
		if _, ok := first[p.scheme]; !ok && p.sparse == "" {
			first[p.scheme] = p
		}
	}
	for _, s := range slices.Sorted(maps.Keys(first)) {
		f := draw(first[s], 2000)
		r := seeded("hole "+s, 0)
		w := f.any(r, func(w *weight) bool { return f.coded(w) && len(f.byName[w.codes()].data) >= 16<<10 })
		require.NotNil(t, w, s)
		size := 16 << 10
		for n := size; n >= 128; n /= 2 {
			c := f.clone()
			x := c.own(w.codes())
			at := r.IntN((len(x.data)-n)/16+1) * 16
			clear(x.data[at : at+n])
			if got, _ := judged(t, c, w.words()); got.named == 0 {
				if n == 16<<10 {
					t.Errorf("%s: a hole of %d bytes in %s is not seen", s, n, w.codes())
				}
				break
			}
			size = n
		}
		t.Logf("%-20s %6d bytes of %7d in %s", s, size, len(f.byName[w.codes()].data), w.codes())
	}
}
