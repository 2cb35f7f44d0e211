package stat

import (
	"fmt"
	"math"
)

// Table is a fourfold table, as FisherExact takes it: two rows of hits and misses.
type Table struct{ A, B, C, D int }

// StratifiedExact asks whether the first rows of some tables hit more often than their second rows, whatever the rates
// are in each table: the sum of the first cells, given all margins of all tables. What differs between the tables
// (length, depth) cannot pass for a difference between the rows. Of one table it is FisherExact with Greater.
//
// Source: the exact conditional test of a common odds ratio of 1, C. R. Mehta, N. R. Patel and R. Gray, JASA 80 (1985)
// 969-973; its law is the convolution of the tables' hypergeometric laws. Tables with an empty row or column say
// nothing. It fails on a negative count.
func StratifiedExact(tables []Table) (float64, error) {
	law := []float64{1} // of the sum above its least possible value
	observed := 0       // above the least possible
	for i, t := range tables {
		if t.A < 0 || t.B < 0 || t.C < 0 || t.D < 0 {
			return 0, fmt.Errorf("stratified exact test: table %d is %v, want no negative count", i, t)
		}
		row, col, n := t.A+t.B, t.A+t.C, t.A+t.B+t.C+t.D
		lo, hi := max(0, col-(n-row)), min(row, col)
		if lo == hi {
			continue
		}
		observed += t.A - lo
		next := make([]float64, len(law)+hi-lo)
		for k := lo; k <= hi; k++ {
			p := math.Exp(logChoose(row, k) + logChoose(n-row, col-k) - logChoose(n, col))
			for j, q := range law {
				next[j+k-lo] += p * q
			}
		}
		law = next
	}
	sum := 0.0
	for k := len(law) - 1; k >= observed; k-- { // smallest first
		sum += law[k]
	}
	return math.Min(1, sum), nil
}
