// Command worker is a candidate in a process of its own: top-k as a kernel would select, served over the worker
// protocol on standard input and output.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func main() {
	topk := bench.FromKernel("heap-topk", "topk", selectTop)
	if err := bench.Serve(context.Background(), os.Stdin, os.Stdout, topk); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// selectTop writes the positions of the top_k largest of the first length scores of every row, ties as the call asks;
// slots without a key hold -1.
func selectTop(a bench.Args) (bench.Results, error) {
	scores, k := a.In("scores"), a.Int("top_k")
	out := a.Fresh("indices")
	for row, length := range a.In("lengths").Ints() {
		order := make([]int, length)
		for i := range order {
			order[i] = i
		}
		if a.Word("tie_break") == "highest-index" {
			slices.Reverse(order)
		}
		if s := scores.Row(row); length > k {
			slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(s[j], s[i]) })
		}
		for slot := range k {
			out[row*k+slot] = -1
			if slot < length {
				out[row*k+slot] = float64(order[slot])
			}
		}
	}
	return bench.Results{"indices": out}, nil
}
