package precision

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkBase compares nano-v4-nvfp4 with the fp32 original, as streamed: bytes are those of both folders.
func BenchmarkBase(b *testing.B) {
	m := newMeter(b, "nano-v4-nvfp4", Seeded("x"))
	m.o.Base = shipped(b, "nano-v4")
	jobs, err := m.baseJobs()
	require.NoError(b, err)
	for b.Loop() {
		m.bytes.Store(0)
		for _, j := range jobs {
			_, err := j.run(context.Background())
			require.NoError(b, err)
		}
	}
	b.SetBytes(m.bytes.Load())
}

// BenchmarkMeasureNano is the whole examination of nano-v4 on the committed passes.
func BenchmarkMeasureNano(b *testing.B) {
	ckpt, states, config := shipped(b, "nano-v4"), captured(b, traces...), nanoConfig(b)
	for b.Loop() {
		_, err := Measure(context.Background(), ckpt, states, Options{Config: config})
		require.NoError(b, err)
	}
}
