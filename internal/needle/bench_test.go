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
	for name, text := range map[string]func(uint64, int) (*needle.Haystack, error){
		"generated": needle.Generated, "agent": needle.Agent,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				h, err := text(1, 1_010_000)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := (needle.Builder{Haystack: h, Count: unitCount}).Build(b.Context(), needle.Spec{
					Case:   "bench",
					Length: 1_000_000,
					Depth:  0.5,
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkClassify reads answers to a prompt of 32 K tokens: a hit, which most are, and an invented
// code, for which the whole filler is searched.
func BenchmarkClassify(b *testing.B) {
	h, err := needle.Generated(1, 40_000)
	if err != nil {
		b.Fatal(err)
	}
	p, err := needle.Builder{Haystack: h, Count: unitCount}.Build(b.Context(), needle.Spec{
		Case:   "bench",
		Length: 32_768,
		Depth:  0.5,
		Code:   "48213",
	})
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{
		"hit": "The code is 48213.", "invented": "I believe that the access code is 90657 there.",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				needle.Classify(needle.Answer{Text: text}, p.Truth)
			}
		})
	}
}
