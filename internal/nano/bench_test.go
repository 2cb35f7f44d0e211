package nano_test

import (
	"context"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/oracle"
)

// load reads one of the embedded checkpoints under the given operators.
func load(tb testing.TB, folder string, ops oracle.Ops) *nano.Model {
	tb.Helper()
	sub, err := fs.Sub(fixtures.FS, folder)
	require.NoError(tb, err)
	m, err := nano.Load(sub, ops)
	require.NoError(tb, err)
	return m
}

// benchPrompt is n ids that exercise buckets and digits alike.
func benchPrompt(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = nano.FirstBucket + (i*7919)%nano.Buckets
	}
	return ids
}

func BenchmarkPrefill(b *testing.B) {
	for _, name := range []string{"nano-v4", "nano-flash"} {
		oracles := load(b, name, oracle.Reference())
		for _, n := range []int{1024, 8192} {
			prefill(b, fmt.Sprintf("%s/fast/%d", name, n), oracles.Fast(), n)
		}
		prefill(b, name+"/oracle/1024", oracles, 1024)
	}
}

func prefill(b *testing.B, name string, m *nano.Model, n int) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		ids := benchPrompt(n)
		for b.Loop() {
			if _, err := m.Extend(context.Background(), m.NewState(), ids, 1); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N*len(ids))/b.Elapsed().Seconds(), "tokens/s")
	})
}

func BenchmarkDecodeAt1024(b *testing.B) {
	for _, name := range []string{"nano-v4", "nano-flash"} {
		oracles := load(b, name, oracle.Reference())
		decode(b, name+"/fast", oracles.Fast())
		decode(b, name+"/oracle", oracles)
	}
}

func decode(b *testing.B, name string, m *nano.Model) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		start := m.NewState()
		if _, err := m.Extend(context.Background(), start, benchPrompt(1024), 1); err != nil {
			b.Fatal(err)
		}
		const steps = 32
		for b.Loop() {
			s := start.Clone()
			for i := range steps {
				if _, err := m.Extend(context.Background(), s, []int{nano.FirstBucket + i}, 1); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.N*steps)/b.Elapsed().Seconds(), "tokens/s")
	})
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		load(b, "nano-v4", oracle.Reference())
	}
}
