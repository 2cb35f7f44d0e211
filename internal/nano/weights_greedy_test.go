//go:build weights

package nano_test

import (
	"fmt"
	"testing"

	"github.com/assay-suite/assay/oracle"
)

// All 126 recorded prompts, about a minute.
func TestWeightsGreedyAnswersLikeHuggingFace(t *testing.T) {
	m := load(t, "nano-v4", oracle.Reference())
	all := greedyCases(t)
	for from := 0; from < len(all); from += 21 {
		fmt.Printf("nano-v4: greedy answers against Hugging Face's, prompts %d to %d of %d\n", from+1, min(from+21, len(all)),
			len(all))
		checkGreedy(t, m, all[from:min(from+21, len(all))])
	}
}
