//go:build weights

package nano_test

import (
	"testing"

	"github.com/assay-suite/assay/oracle"
)

// All 126 recorded prompts, about a minute.
func TestAllGreedyAnswersLikeHuggingFace(t *testing.T) {
	checkGreedy(t, load(t, "nano-v4", oracle.Reference()), greedyCases(t))
}
