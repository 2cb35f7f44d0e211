package ask_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/ask"
	_ "github.com/assay-suite/assay/internal/golden" // registers -update
)

// No more units than allowed MUST be in flight, and none beside one that is alone.
func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inFlight, most, done atomic.Int32
		alone := func(i int) bool { return i%5 == 4 }
		err := ask.Each(t.Context(), 3, 20, alone, func(_ context.Context, i int) error {
			n := inFlight.Add(1)
			most.Store(max(most.Load(), n))
			time.Sleep(time.Second)
			if alone(i) {
				assert.Equal(t, int32(1), inFlight.Load(), "unit %d is not alone", i)
				assert.Equal(t, int32(i), done.Load(), "unit %d began before those ahead of it were done", i)
			}
			inFlight.Add(-1)
			done.Add(1)
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, int32(20), done.Load())
		assert.Equal(t, int32(3), most.Load())
	})
}

// An error MUST end the run, after what is in flight.
func TestEachStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		var done [9]bool
		err := ask.Each(t.Context(), 2, len(done), func(int) bool { return false }, func(_ context.Context, i int) error {
			time.Sleep(time.Duration(i+1) * time.Second)
			done[i] = true
			if i == 2 {
				return broken
			}
			return nil
		})
		require.ErrorIs(t, err, broken)
		n := slices.Index(done[:], false)
		assert.Equal(t, 4, n, "units 0 to 3 were begun before the error: %v", done)
	})
}
