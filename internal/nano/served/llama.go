package served

import (
	"fmt"

	"github.com/assay-suite/assay/internal/nano/llama"
)

// Llama is nano-llama as an engine of fp32 or bf16 serves it; its weights are in bf16 as they are. The gauge has
// one factor for results and one for inputs of products.
func Llama(m *llama.Model, name string, seed uint64) (*llama.Model, error) {
	f, err := ByName(name)
	if err != nil {
		return nil, err
	}
	if f.cache {
		return nil, fmt.Errorf("nano-llama is emulated in fp32 and bf16, not in %s", name)
	}
	g := gauge(seed)
	in, out := g.factor(product, 0), g.factor(result, 0)
	return m.Rounded(func(x []float64, input bool) {
		if input {
			round(x, f.activations, in)
			return
		}
		round(x, f.activations, out)
	}), nil
}
