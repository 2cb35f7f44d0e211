package oracle

import (
	"fmt"

	"github.com/assay-suite/assay/numerics/format"
)

// RoundTrip quantises the first leading channels of every row and dequantises them again, the others
// are copied: what the references simulate before keys and values are used. V4's raw and compressed rows:
// 448 of 512 in blocks of 64 (KVFP8); its index keys and queries: all 128 in blocks of 32 (MXFP4); V3.2's
// latent: 512 in blocks of 128. The first release of V4 writes the fp8 case back in its input's dtype,
// which makes it an identity: that contract leaves RoundTrip out. Its fp4 case rounds in both releases.
//
// x [T, D], rounded to fp32 first, which a recipe's arithmetic is in; result [T, D]. The recipe's blocks
// must be one row high. It fails on more channels than there are and as the recipe does.
//
// Source: V4 inference/kernel.py act_quant and fp4_act_quant with inplace; V3.2 inference/model.py.
func RoundTrip(x Mat, leading int, r format.Recipe) (Mat, error) {
	if leading < 0 || leading > x.Cols || r.Block.BlockRows != 1 {
		return Mat{}, fmt.Errorf("round trip: %d of %d channels by recipe %q, whose blocks are %d rows high; rows are "+
			"quantised one by one",
			leading, x.Cols, r.Name, r.Block.BlockRows)
	}
	out := x.Clone()
	if leading == 0 {
		return out, nil
	}
	values := make([]float32, 0, x.Rows*leading)
	for t := range x.Rows {
		for _, v := range x.Row(t)[:leading] {
			values = append(values, float32(v))
		}
	}
	q, err := r.Quantise(values, x.Rows, leading)
	if err != nil {
		return Mat{}, fmt.Errorf("round trip: %w", err)
	}
	back, err := r.Block.Decode(q)
	if err != nil {
		return Mat{}, fmt.Errorf("round trip: %w", err)
	}
	for t := range x.Rows {
		copy(out.Row(t), back[t*leading:(t+1)*leading])
	}
	return out, nil
}
