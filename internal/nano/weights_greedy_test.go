//go:build weights

package nano_test

import (
	"fmt"
	"testing"

	"github.com/assay-suite/assay/oracle"
)

// All recorded prompts on both paths, about three minutes.
func TestWeightsGreedyAnswersLikeHuggingFace(t *testing.T) {
	for _, r := range records {
		t.Run(r.model, func(t *testing.T) {
			m := load(t, r.model, oracle.Reference())
			quick, all := m.Fast(), r.all(t)
			for from := 0; from < len(all); from += 21 {
				to := min(from+21, len(all))
				fmt.Printf("%s: greedy answers against Hugging Face's, prompts %d to %d of %d\n", r.model, from+1, to, len(all))
				checkGreedy(t, m, all[from:to])
				checkGreedy(t, quick, all[from:to])
			}
		})
	}
}

// The traces beyond the length from which ranking matters.
func TestWeightsFreeRunningReproducesTheLongTraces(t *testing.T) {
	for _, r := range records {
		t.Run(r.model, func(t *testing.T) {
			m := load(t, r.model, oracle.Reference())
			for _, tr := range r.open(t, r.long) {
				fmt.Printf("%s: every operator's output against Hugging Face's in %s\n", r.model, tr.Name)
				t.Run(tr.Name, func(t *testing.T) { reproduces(t, m, tr) })
				t.Run("fast/"+tr.Name, func(t *testing.T) { reproduces(t, m.Fast(), tr) })
			}
		})
	}
}
