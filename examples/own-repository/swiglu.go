// Package inference stands for the code of somebody who changes an inference engine.
package inference

import "math"

// SwiGLU is silu(gate) * up, elementwise in fp32.
func SwiGLU(y, gate, up []float32) {
	for i, g := range gate {
		y[i] = g / (1 + float32(math.Exp(-float64(g)))) * up[i]
	}
}
