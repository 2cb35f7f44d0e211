package bench_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/norm"
	"github.com/assay-suite/assay/numerics"
)

// swaying answers rightly and moves one element by the last digit in the calls that it is told to: as a kernel does
// whose sums come in an order of their own, or, where they are the poisoned ones, one that reads poison.
type swaying struct {
	bench.Candidate
	sways func(n int, poisoned bool) bool
	plain bench.Call
	calls int
}

func (s *swaying) Run(ctx context.Context, c bench.Call) (bench.Reply, error) {
	if s.calls++; s.calls == 1 {
		s.plain = c.Clone()
	}
	poisoned := false
	for name, storage := range c.Storage {
		poisoned = poisoned || numerics.BitEqual(storage.Data, s.plain.Storage[name].Data) < len(storage.Data)
	}
	r, err := s.Candidate.Run(ctx, c)
	if err == nil && s.sways(s.calls, poisoned) {
		y := r.Outputs["y"].Data
		y[1] = float64(math.Nextafter32(float32(y[1]), float32(math.Inf(1))))
	}
	return r, err
}

// A kernel whose last digit sways by chance is not one that reads what it must not, even where its first rerun meets
// the first result again; one whose last digit follows the poison in every call is.
func TestSwayingIsNoReadingOfPoison(t *testing.T) {
	c := strided(t)
	for name, row := range map[string]struct {
		sways  func(n int, poisoned bool) bool
		varies bool
	}{
		"the second call alone":  {func(n int, _ bool) bool { return n == 2 }, true},
		"once more in the tenth": {func(n int, _ bool) bool { return n == 2 || n == 10 }, true},
		"every call with poison": {func(_ int, poisoned bool) bool { return poisoned }, false},
		"never":                  {func(int, bool) bool { return false }, false},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := bench.New(c)
			require.NoError(t, err)
			sound, err := norm.Suite().Built(c.Contract.Name)
			require.NoError(t, err)
			r, err := b.Judge(t.Context(), &swaying{Candidate: sound, sways: row.sways})
			require.NoError(t, err)
			assert.Equal(t, row.varies, r.Nondeterministic)
			assert.Equal(t, row.varies || name == "never", r.Accepted())
		})
	}
}

// strided is a case with memory to poison and an output in fp32.
func strided(t *testing.T) bench.Case {
	t.Helper()
	for _, c := range norm.Suite().Cases() {
		if c.Family.Op == "rms_norm" && c.Contract.Name == "fp32" && c.Scenario.Layout != nil {
			return c
		}
	}
	t.Fatal("no case has memory to poison")
	return bench.Case{}
}
