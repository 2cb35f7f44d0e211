package oracle

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/numerics/format"
)

// PagedIndexer is the decode form of the lightning indexer: N queries a request (1, or the drafts of
// a verify step), keys in pages.
type PagedIndexer struct {
	Q        Mat       // [B·N, H·D], request-major
	W        Mat       // [B·N, H], every scale of q folded in
	Keys     Paged     // [P·size, D]
	KeyScale []float64 // [P·size]: scale of each physical row, or nil when Keys are dequantised
	Table    PageTable // [B]
	Lengths  [][]int   // [B][N]: keys that query i of request b sees
	Width    int       // columns of the result, the longest context of the launch
}

// IndexerLogitsPaged scores logical key j of every request through its page table:
//
//	L[b·N+i, j] = (sum_h w · relu(<q[h], K[slot(b, j)]>)) · ks[slot(b, j)]    j < lengths[b][i], else -Inf
//
// Result [B·N, Width]. Rows of pages beyond a length are never read, so they may hold anything.
//
// It fails on a length outside of [0, Width], a key without page, and a read scale that is not positive.
//
// Source: DeepGEMM tests/test_attention.py fp8_paged_mqa_logits.
func IndexerLogitsPaged(in PagedIndexer) (Mat, error) {
	out := NewMat(in.Q.Rows, in.Width)
	for i := range out.Data {
		out.Data[i] = math.Inf(-1)
	}
	t := 0
	for b, lengths := range in.Lengths {
		for i, n := range lengths {
			if n < 0 || n > in.Width {
				return Mat{}, fmt.Errorf("paged indexer: query %d of request %d sees %d keys; the result has %d columns", i, b, n,
					in.Width)
			}
			for j := range n {
				at, err := in.Keys.slot(in.Table[b], j)
				if err != nil {
					return Mat{}, fmt.Errorf("paged indexer: request %d: %w", b, err)
				}
				l := indexerLogit(in.Q.Row(t), in.Keys.Rows.Row(at), in.W.Row(t))
				if in.KeyScale != nil {
					if err := positive("paged indexer", in.KeyScale[at:at+1]); err != nil {
						return Mat{}, fmt.Errorf("request %d, key %d: %w", b, j, err)
					}
					l *= in.KeyScale[at]
				}
				out.Row(t)[j] = l
			}
			t++
		}
	}
	return out, nil
}

// DraftLengths turns one context length a request, which includes the N tokens of this step, into a
// length for each of them: query i sees context-N+i+1 keys (DeepGEMM's one-dimensional form).
func DraftLengths(contexts []int, n int) [][]int {
	out := make([][]int, len(contexts))
	for b, c := range contexts {
		for i := range n {
			out[b] = append(out[b], max(0, c-n+i+1))
		}
	}
	return out
}

// DecodePages dequantises the pages of a cache, exactly: row t of page p holds the values of token t
// in the order of the layout's fields. Every row is decoded, written or not; unwritten bytes may
// decode to NaN.
func DecodePages(l format.Layout, pages [][]byte) (Paged, error) {
	out := NewPaged(len(pages), l.Tokens, l.Width())
	for p, page := range pages {
		for t := range l.Tokens {
			row, err := l.Decode(page, t)
			if err != nil {
				return Paged{}, fmt.Errorf("page %d, token %d: %w", p, t, err)
			}
			copy(out.Rows.Row(p*l.Tokens+t), row)
		}
	}
	return out, nil
}
