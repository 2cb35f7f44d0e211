//go:build exhaustive

package format_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
)

const (
	segmentBits = 24
	chunk       = 1 << 16
)

// walk returns the definition for ascending words from first on: an index that only moves forward.
func (s *steps) walk(first uint32) func(w uint32) uint32 {
	i := 0
	for i+1 < len(s.thresholds) && s.thresholds[i+1] <= first&0x7fffffff {
		i++
	}
	return func(w uint32) uint32 {
		m := w & 0x7fffffff
		for i+1 < len(s.thresholds) && s.thresholds[i+1] <= m {
			i++
		}
		return s.finish(w, uint32(i))
	}
}

// All 2^32 fp32 words by every conversion: all ways agree on each, and the digest is the committed
// one. It is the sha256 of the sha256 sums of 256 segments of 2^24 words, in order, so that segments
// can be computed side by side. One conversion: -run 'Exhaustive/bf16.rn'. Cost: about four core
// minutes a conversion; -short leaves out the generic encoder and costs a fifth.
func TestExhaustive(t *testing.T) {
	doc := golden.Doc{
		Provenance: golden.Provenance{
			Generator: "numerics/format_test.TestExhaustive, -tags exhaustive",
			Seed:      "none: all 2^32 fp32 words",
			Source:    "step functions from exact midpoints, in the same run",
			Notes:     "sha256 of 256 sha256 sums, one for 2^24 codes each",
		},
		Cases: map[string]any{},
	}
	for _, c := range conversions {
		t.Run(c.name(), func(t *testing.T) {
			st := newSteps(t, c)
			var sums [1 << (32 - segmentBits)][sha256.Size]byte
			var next atomic.Int32
			var once sync.Once
			var failed atomic.Bool
			var wg sync.WaitGroup
			for range runtime.GOMAXPROCS(0) {
				wg.Go(func() {
					x := make([]float32, chunk)
					for seg := next.Add(1) - 1; int(seg) < len(sums) && !failed.Load(); seg = next.Add(1) - 1 {
						first := uint32(seg) << segmentBits
						want, h := st.walk(first), sha256.New()
						for at := uint32(0); at < 1<<segmentBits; at += chunk {
							for i := range x {
								x[i] = math.Float32frombits(first + at + uint32(i))
							}
							raw, err := c.convert(x, want, !testing.Short())
							if err != nil {
								failed.Store(true)
								once.Do(func() { t.Error(err) })
								return
							}
							h.Write(raw)
						}
						copy(sums[seg][:], h.Sum(nil))
					}
				})
			}
			wg.Wait()
			require.False(t, failed.Load())
			all := sha256.New()
			for _, s := range sums {
				all.Write(s[:])
			}
			doc.Cases[c.name()] = map[string]any{"words": "2^32", "sha256": hex.EncodeToString(all.Sum(nil))}
		})
	}
	if !t.Failed() {
		golden.Assert(t, "numerics/format-exhaustive", doc, digestRules)
	}
}
