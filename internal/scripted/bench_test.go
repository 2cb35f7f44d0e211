package scripted_test

import (
	"fmt"
	"testing"

	"github.com/assay-suite/assay/internal/scripted"
)

// BenchmarkRequest is one cold recall request in-process, client's JSON included.
func BenchmarkRequest(b *testing.B) {
	for _, n := range []int{128, 1024, 8192} {
		for _, faults := range [][]string{nil, {"sparse-selection", "warm-forgets"}} {
			b.Run(fmt.Sprintf("tokens=%d/faults=%d", n, len(faults)), func(b *testing.B) {
				c := client(engine(b, scripted.Options{Faults: faults}))
				text := sized(n, 0.3, "b")
				i := 0
				for b.Loop() {
					i++
					ask(b, c, user(fmt.Sprintf("%d %s", i, text)))
				}
			})
		}
	}
}
