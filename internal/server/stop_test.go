package server

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However a text is cut into tokens, what is shown must be the text before the first stop string that
// completes, and never more on the way.
func TestStopperProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringMatching(`[ab]{0,12}`)
		pieces := rapid.SliceOfN(letters, 0, 8).Draw(t, "pieces")
		stops := rapid.SliceOfN(rapid.StringMatching(`[ab]{1,4}`), 0, 4).Draw(t, "stops")
		s := stopper{stops: stops}
		var shown string
		stopped := false
		for _, piece := range pieces {
			text, done := s.push(piece)
			shown += text
			if stopped = done; done {
				break
			}
		}
		shown += s.rest()
		// By definition, piece by piece over the whole text so far.
		want, wantStopped := "", false
		for _, piece := range pieces {
			want += piece
			first := -1
			for _, stop := range stops {
				if i := strings.Index(want, stop); i >= 0 && (first < 0 || i < first) {
					first = i
				}
			}
			if wantStopped = first >= 0; wantStopped {
				want = want[:first]
				break
			}
		}
		if shown != want || stopped != wantStopped {
			t.Fatalf("shown %q stopped %v, want %q %v", shown, stopped, want, wantStopped)
		}
	})
}
