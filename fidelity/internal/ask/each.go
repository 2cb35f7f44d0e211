package ask

import (
	"context"
	"sync"
)

// Each does n units, at most parallel at once, and begins them in order. A unit that is alone begins when all before it
// are done, and none begins beside it. The first error, or the end of ctx, lets no further unit begin and is returned
// once those in flight are done.
func Each(
	ctx context.Context,
	parallel, n int,
	alone func(i int) bool,
	do func(ctx context.Context, i int) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, max(1, parallel))
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range n {
		if alone(i) {
			wg.Wait()
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := do(ctx, i); err != nil {
				cancel(err)
			}
		})
		if alone(i) {
			wg.Wait()
		}
	}
	wg.Wait()
	return context.Cause(ctx)
}
