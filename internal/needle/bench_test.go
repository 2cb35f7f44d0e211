package needle_test

import (
	"context"
	"testing"

	"github.com/assay-suite/assay/internal/needle"
)

func unitCount(_ context.Context, text string) (int, error) { return needle.Units(text) + 3, nil }

// BenchmarkMillion is a prompt of a million tokens from nothing: text, needle and fit, with a
// counter as cheap as Units.
func BenchmarkMillion(b *testing.B) {
	for name, make := range map[string]func(uint64, int) (*needle.Haystack, error){"generated": needle.Generated, "agent": needle.Agent} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				h, err := make(1, 1_010_000)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := (needle.Builder{Haystack: h, Count: unitCount}).Build(b.Context(), needle.Spec{Case: "bench", Length: 1_000_000, Depth: 0.5}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
