package state

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// Any rounds of any drafts leave the draft KV of a run without speculation.
func TestDraftsAnyRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "draft")
		accepts := rapid.SliceOfN(rapid.IntRange(0, k), 1, 8).Draw(t, "accepted")
		if err := drafts(k, false, accepts...)(false); err != nil {
			t.Fatal(err)
		}
		later := k > 1 && func() bool {
			for _, a := range accepts {
				if a > 0 {
					return true
				}
			}
			return false
		}()
		var found *ViolationError
		if got := errors.As(drafts(k, false, accepts...)(true), &found); got != later {
			t.Fatalf("found %v; a guess is kept exactly when a draft of two or more has an accepted token", got)
		}
	})
}
