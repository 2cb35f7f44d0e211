package session

import (
	"fmt"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/stat"
)

func medianText(v []float64) string {
	if len(v) == 0 {
		return "-"
	}
	return recall.Nats(stat.Median(v))
}

// wanted is what a question was to be answered with, and what it was.
func wanted(o recall.Observation) string {
	return fmt.Sprintf("want %s, got %q", o.Expected, recall.Clip(o.Answer, 80))
}

// duration prints seconds as people say them.
func duration(s float64) string {
	if s < 100 {
		return fmt.Sprintf("%.0f s", max(1, s))
	}
	return fmt.Sprintf("%.0f min", s/60)
}

// thousands prints a number of tokens: 960, 97k.
func thousands(n int) string {
	if n < 10_000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%dk", (n+500)/1000)
}
