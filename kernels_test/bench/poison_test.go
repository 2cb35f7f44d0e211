package bench_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/norm"
)

// poisonable raises in its second call, which is the first with poison, as a kernel does that reads an index in memory
// that it must not read; it answers the others, rightly or not.
type poisonable struct {
	bench.Candidate
	wrong bool
	calls int
}

func (p *poisonable) Run(ctx context.Context, c bench.Call) (bench.Reply, error) {
	if p.calls++; p.calls == 2 {
		return bench.Reply{}, errors.New("index 2147483647 is out of bounds")
	}
	r, err := p.Candidate.Run(ctx, c)
	if err == nil && p.wrong {
		r.Outputs["y"].Data[1]++
	}
	return r, err
}

// What raises under poison alone is an error of the candidate where its answers are right, and is judged by its answers
// where they are wrong without poison.
func TestRaisesUnderPoison(t *testing.T) {
	s, seen := norm.Suite(), 0
	for _, c := range s.Cases() {
		if c.Family.Op != "rms_norm" || c.Scenario.Layout == nil || seen == 1 {
			continue
		}
		b, err := bench.New(c)
		require.NoError(t, err)
		sound, err := s.Built(c.Contract.Name)
		require.NoError(t, err)
		seen++
		_, err = b.Judge(t.Context(), &poisonable{Candidate: sound})
		require.ErrorContains(t, err, "with poison in what is not to be read")
		r, err := b.Judge(t.Context(), &poisonable{Candidate: sound, wrong: true})
		require.NoError(t, err)
		assert.False(t, r.Accepted())
	}
	assert.Equal(t, 1, seen, "no case has memory to poison")
}
