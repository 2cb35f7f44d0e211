package indexer

import "github.com/assay-suite/assay/kernels_test/bench"

// dotFour has four accumulators, added in pairs; written out, since sizes of production run it.
func dotFour(q, k []float32) float32 {
	var a, b, c, d float32
	k = k[:len(q)]
	for i := 0; i+3 < len(q); i += 4 {
		a += float32(q[i] * k[i])
		b += float32(q[i+1] * k[i+1])
		c += float32(q[i+2] * k[i+2])
		d += float32(q[i+3] * k[i+3])
	}
	return float32(a+b) + float32(c+d)
}

// dotBlocks adds inside blocks of n, then the blocks.
func dotBlocks(n int, inside, over bench.Summing) bench.Dot[float32] {
	return func(q, k []float32) float32 {
		var parts, products []float32
		for from := 0; from < len(q); from += n {
			products = products[:0]
			for i := from; i < min(from+n, len(q)); i++ {
				products = append(products, q[i]*k[i])
			}
			parts = append(parts, inside(products))
		}
		return over(parts)
	}
}

func roundAll(y []float32) {
	for i, v := range y {
		y[i] = bench.AsBF16(v)
	}
}
