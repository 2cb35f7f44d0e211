package llama

import (
	"context"

	"github.com/assay-suite/assay/oracle"
)

// States is Extend with the residual stream after every layer: one matrix [len(ids), hidden] each.
func (m *Model) States(ids []int, last int) (logits [][]float64, after []oracle.Mat, err error) {
	after = make([]oracle.Mat, m.Config.Layers)
	logits, err = m.extend(context.Background(), m.NewState(), ids, last, func(layer int, x oracle.Mat) {
		after[layer] = after[layer].Append(x)
	})
	return logits, after, err
}

// Attention is the model's attention on given rows: q [T, H·d], k and v [S, G·d].
func (m *Model) Attention(q, k, v oracle.Mat) oracle.Mat {
	var c cache
	for g := range m.Config.KVHeads {
		c.k, c.v = append(c.k, columns(k, g, m.Config.HeadDim)), append(c.v, columns(v, g, m.Config.HeadDim))
	}
	return m.attention(q, c, k.Rows-q.Rows)
}
