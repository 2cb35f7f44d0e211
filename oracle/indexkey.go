package oracle

import (
	"fmt"

	"github.com/assay-suite/assay/numerics/format"
)

// IndexKey is the way from a key's raw channels to what the indexer's cache holds: norm, RoPE, Hadamard,
// then quantisation and the page write.
//
//	V3.2  LayerNorm with bias, RoPE on the first 64 in halves, Hadamard, e4m3 with one scale
//	V4    RMSNorm, RoPE on the last 64 interleaved at the block's first position, Hadamard, e2m1 by 32
//
// vLLM's V4 path leaves Hadamard out, on queries too.
//
// Source: V3.2 and V4 inference/model.py Indexer and Compressor.
type IndexKey struct {
	Weight, Bias []float64 // [D] of the norm; Bias is for LayerNorm alone
	LayerNorm    bool      // else RMSNorm
	Eps          float64
	Rotary       Rotary
	Hadamard     bool
	// Round, if its name is set, is the format that the references keep keys in: it is rounded to after
	// the norm, the rotation and the transform (bf16). Without it all is exact.
	Round format.Format
}

// Keys are the keys before quantisation: x [T, D] with positions [T] to [T, D]. A key of V4 is a
// compressed row, and its position that of its block's first token (b·ratio).
func (k IndexKey) Keys(x Mat, positions []int) (Mat, error) {
	var y Mat
	if k.LayerNorm {
		y = LayerNorm(x, k.Weight, k.Bias, k.Eps)
	} else {
		y = RMSNorm(x, k.Weight, x.Cols, k.Eps)
	}
	k.round(y)
	y, err := k.Rotary.Apply(y, x.Cols, positions, false)
	if err != nil {
		return Mat{}, fmt.Errorf("index key: %w", err)
	}
	k.round(y)
	if k.Hadamard {
		if y, err = Hadamard(y, x.Cols); err != nil {
			return Mat{}, fmt.Errorf("index key: %w", err)
		}
		k.round(y)
	}
	return y, nil
}

func (k IndexKey) round(x Mat) {
	if k.Round.Name != "" {
		k.Round.RoundSlice(x.Data)
	}
}

// Store is Keys followed by the page write: x becomes the keys first, first+1, ... of the sequence.
// Codes next to a rounding boundary depend on the last bit of the keys: where two right kernels may
// differ, the cache is compared by value within a step, never by bytes.
func (k IndexKey) Store(cache BytePages, table []int, first int, x Mat, positions []int, r format.Recipe) error {
	keys, err := k.Keys(x, positions)
	if err != nil {
		return err
	}
	if err := cache.Write(table, first, keys, r); err != nil {
		return fmt.Errorf("index key: %w", err)
	}
	return nil
}

// PageIndexBF16 is a page of index keys kept in bf16 (V4's reference cache dtype): block rows of 2·dim
// bytes, no scales.
func PageIndexBF16(block, dim int) (format.Layout, error) {
	l := format.Layout{Name: "index-bf16", Tokens: block, Size: block * 2 * dim, Fields: []format.Field{
		{Name: "key", Format: format.BF16, Count: dim, Stride: 2 * dim},
	}}
	return l, l.Validate()
}
