package probe

import (
	"context"
	"slices"

	"github.com/assay-suite/assay/internal/needle"
)

// seamOffsets are where a needle begins, from a seam: well before, over it, well behind.
var seamOffsets = []int{-256, -96, -48, -24, -8, 12, 40, 96, 256}

// chunks are the sizes of prefill chunks whose first seam is looked at: the configured one, or the usual ones.
func chunks(r *Runner) []int {
	all := []int{1024, 2048, 4096, 8192}
	if r.o.Budget == Full {
		all = []int{512, 1024, 2048, 4096, 8192, 16384}
	}
	if c := r.o.Known.Chunk; c > 0 {
		all = []int{c}
	}
	return slices.DeleteFunc(all, func(n int) bool { return n*5/4+512 > r.s.longest })
}

// seam asks for needles on a seam and beside it, in prompts of one length, and again with other needles where only
// those on the seam are lost.
func (t *task) seam(ctx context.Context, chunk int) error {
	for try := range 2 {
		var units []unit
		for _, off := range seamOffsets {
			arm := "seam-" + itoa(chunk) + "-" + itoa(off)
			units = append(units, one(t.id("%s/%d", arm, try), t.r.seamStep(arm, chunk, off, try)))
		}
		rss, err := t.take(ctx, units...)
		if err != nil {
			return err
		}
		on, beside := 0, 0
		for i, rs := range rss {
			switch d := seamOffsets[i]; {
			case !rs[0].Measured:
				return nil
			case d < -128 || d > 128:
				if rs[0].Right {
					beside++
				}
			case (d < -32 || d > 32) && !rs[0].Right: // how wide a seam is differs
			case d < -32 || d > 32:
			case rs[0].Right:
				on++
			}
		}
		if on > 0 || beside < 2 {
			return nil
		}
	}
	t.number("seam", float64(chunk))
	return nil
}

func (r *Runner) seamStep(arm string, chunk, off, try int) step {
	length := chunk*5/4 + 512
	return step{
		arm:    arm,
		at:     float64(chunk + off),
		tokens: length,
		make: func(ctx context.Context, s salt) (query, error) {
			n := needle.Spec{
				Case:   "seam/" + itoa(chunk) + "/" + itoa(try),
				Seed:   r.o.Seed,
				Nonce:  s.nonce + "/" + s.id,
				Length: length,
			}
			ps, err := r.exact.BuildAt(ctx, n, chunk+off)
			if err != nil {
				return query{}, err
			}
			return needleAsk(ps[0], nil), nil
		},
	}
}
