package oracle

import (
	"fmt"
	"math/bits"
)

// TopKPages turns a query's chosen keys into rows of a paged cache, as the selection kernels fuse it:
//
//	row = table[s >> b] << b  |  s & (2^b - 1)        b = log2(size)
//
// chosen: logical keys, in any order; a -1 among them stays -1 in its place. The result has k entries,
// the tail filled with -1 (short rows). It fails on a page size that is no power of two, more than k
// keys, and a key without page.
//
// Source: SGLang dsv4/indexer.py and jit_kernel/csrc/deepseek_v4/topk_v1.cuh.
func TopKPages(chosen, table []int, size, k int) ([]int, error) {
	if size < 1 || bits.OnesCount(uint(size)) != 1 {
		return nil, fmt.Errorf("top-k pages: page size %d is no power of two", size)
	}
	if len(chosen) > k {
		return nil, fmt.Errorf("top-k pages: %d keys are chosen; a row holds %d", len(chosen), k)
	}
	b := bits.TrailingZeros(uint(size))
	out := make([]int, k)
	for i := range out {
		out[i] = -1
		if i >= len(chosen) || chosen[i] == -1 {
			continue
		}
		s := chosen[i]
		if s < 0 || s>>b >= len(table) || table[s>>b] < 0 {
			return nil, fmt.Errorf("top-k pages: key %d has no page in a table of %d", s, len(table))
		}
		out[i] = table[s>>b]<<b | s&(size-1)
	}
	return out, nil
}

// SelectTopKPages is SelectTopK followed by TopKPages: one row of the fused kernel. A row with at
// most k visible keys is 0 .. visible-1 through the table, then -1, and is never ranked.
func SelectTopKPages(scores []float64, visible, k int, tie TieRule, table []int, size int) ([]int, error) {
	chosen, err := SelectTopK(scores, visible, k, tie)
	if err != nil {
		return nil, err
	}
	return TopKPages(chosen, table, size, k)
}
