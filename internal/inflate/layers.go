package inflate

import (
	"fmt"
	"slices"

	"github.com/assay-suite/assay/internal/nano"
)

// layer is one layer of the large model: a layer of the small one, or one that hands its input on unchanged and runs
// copies of small layers of its kind whose outputs are multiplied by zero.
type layer struct {
	ratio   int
	sparse  bool
	hash    bool
	passing bool
	attn    int // layer of the small model whose attention it has
	ffn     int // and whose experts
}

// layersOf lays n layers out. As many as the small model has are its own; more are those of the shape's pattern, the
// small ones at the first places of their ratio.
func layersOf(c nano.Config, s Shape, n int) ([]layer, error) {
	var own []layer
	for i := range c.Layers {
		own = append(own, layer{ratio: c.Ratios[i], sparse: c.Sparse[i], hash: c.Hash[i], attn: i, ffn: i})
	}
	if n == c.Layers {
		return own, nil
	}
	if n < c.Layers || n > len(s.Ratios) {
		return nil, fmt.Errorf("%d layers: the model has %d, which is the least, and shape %s has %d, which is the most", n,
			c.Layers, s.Name, len(s.Ratios))
	}
	hashes := 0
	for hashes < c.Layers && c.Hash[hashes] {
		hashes++
	}
	all, next := make([]layer, 0, n), 0
	for i, ratio := range s.Ratios[:n] {
		hash := i < s.HashLayers
		if next < c.Layers && hash == own[next].hash && (ratio == own[next].ratio || next == 0 && i == 0) {
			all = append(all, own[next])
			next++
			continue
		}
		l := layer{ratio: ratio, hash: hash, passing: true}
		l.attn = slices.Index(c.Ratios, ratio)
		l.ffn = slices.Index(c.Hash, hash)
		if l.attn < 0 || l.ffn < 0 {
			return nil, fmt.Errorf("layer %d of shape %s has ratio %d, hash-routed %v, and the model has no layer like it", i,
				s.Name, ratio, hash)
		}
		l.sparse = c.Sparse[l.attn]
		all = append(all, l)
	}
	if next < c.Layers {
		return nil, fmt.Errorf("the first %d layers of shape %s have room for %d of the model's %d; take %d layers, or more "+
			"than %d", n, s.Name, next, c.Layers, c.Layers, n)
	}
	return all, nil
}
