package bench_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/mhc"
)

// mixing is a candidate whose first request takes in what else is in its launch, as flattened padding does.
type mixing struct{ bench.Candidate }

func (m mixing) Run(ctx context.Context, c bench.Call) (bench.Reply, error) {
	r, err := m.Candidate.Run(ctx, c)
	if err == nil && len(c.BatchWith) > 0 {
		r.Outputs["out"].Data[0]++
	}
	return r, err
}

// A request MUST be the same alone and beside others; a candidate that mixes them is refused, by the row that asks.
func TestOneLaunch(t *testing.T) {
	s := mhc.Suite()
	for _, c := range s.Cases() {
		if c.Scenario.ID != "one-launch" {
			continue
		}
		b, err := bench.New(c)
		require.NoError(t, err)
		sound, err := s.Built(c.Contract.Name)
		require.NoError(t, err)
		r, err := b.Judge(t.Context(), sound)
		require.NoError(t, err)
		assert.True(t, r.Accepted())
		r, err = b.Judge(t.Context(), mixing{sound})
		require.NoError(t, err)
		assert.Equal(t, "bound(out-in-parts)", r.Gate())
		return
	}
	t.Fatal("no case asks for several requests in one launch")
}
