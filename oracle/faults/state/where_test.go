package state

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/oracle"
)

// where is one point of a grid: a check, and whether the fault can show there at all.
type where struct {
	check func(bool) error
	shows bool
}

// The corrected model passes on the whole grid, and the fault is found exactly where the report and
// arithmetic say that it shows: neither luck nor an accident of the chosen cases.
func TestFaultsShowExactlyWhere(t *testing.T) {
	for name, grid := range map[string][]where{
		"addresses": addressGrid(), "buffers": bufferGrid(), "dispatch": dispatchGrid(),
		"scales": scaleGrid(), "columns": columnGrid(), "races": raceGrid(),
	} {
		shown := 0
		for i, p := range grid {
			require.NoError(t, p.check(false), "%s, point %d: the corrected model", name, i)
			err := p.check(true)
			var found *ViolationError
			if errors.As(err, &found) != p.shows {
				t.Errorf("%s, point %d: found %v, shows %v", name, i, err, p.shows)
			}
			if p.shows {
				shown++
			}
		}
		t.Logf("%s: %d points, the fault shows at %d", name, len(grid), shown)
		if shown == 0 || shown == len(grid) {
			t.Errorf("%s: a grid needs points on both sides; %d of %d show", name, shown, len(grid))
		}
	}
}

func addressGrid() (out []where) {
	for _, stride := range []int64{576, 276480, 1039680, 1400000} {
		s := oracle.CacheStrides{Page: stride, Token: 576}
		for _, page := range []int64{0, 1, 1533, 1534, 2065, 2066, 7767, 7768, 15534, 1 << 20, 3728270} {
			const size = 4
			beyond := page*stride > math.MaxInt32
			out = append(out, where{reaches(narrowPage, int(page), size, s), beyond},
				where{reaches(narrowAll, int(page), size, s), page*stride+(size-1)*s.Token > math.MaxInt32})
		}
	}
	return out
}

func bufferGrid() (out []where) {
	for page := 1; page <= 5; page++ {
		for tokens := 1; tokens <= 12; tokens++ {
			out = append(out, where{bufferFits(tokens, page), page > 1 && tokens > 1})
		}
		for captured := 1; captured <= 12; captured++ {
			for replayed := 1; replayed <= 12; replayed++ {
				pages := func(n int) int { return (n + page - 1) / page }
				out = append(out, where{replays([]int{captured}, []int{replayed}, page, 12), pages(replayed) > pages(captured)},
					where{replays([]int{captured, 1}, []int{replayed, 1}, page, 12), pages(captured) < pages(12)})
			}
		}
	}
	return out
}

func dispatchGrid() (out []where) {
	for length := 1; length <= 3*stageLimit; length++ {
		for _, prefill := range []bool{false, true} {
			for _, k := range []int{1, 4, stageLimit, 2 * stageLimit} {
				out = append(out, where{selects(length, k, prefill), prefill && length > stageLimit})
			}
		}
	}
	for n := 1; n <= 200; n++ {
		for _, heads := range []int{1, 64, 65, 128} {
			out = append(out, where{uniformLSE(n, 0, heads), heads > 64 && n > 1}, where{uniformLSE(n, 2.5, heads), heads > 64})
		}
	}
	return out
}

func scaleGrid() (out []where) {
	memory := []float64{0, 1, 0.25, 8, -2, math.NaN()}
	for _, fresh := range memory {
		one := 1.0
		unwritten := !(fresh > 0) // a positive leftover cancels
		out = append(out, where{experts(fresh, expert{3, 0.5, nil}), unwritten}, where{
			experts(fresh, expert{3, 0.5, &one}), false,
		},
			where{experts(fresh, expert{3, 0.5, &one}, expert{5, 2, nil}), unwritten})
		for _, s := range []float64{0.25, 0.5, 8} {
			out = append(out, where{gateUpKept(fresh, s), !(fresh <= s)}, where{gateUpKept(fresh, s, 4), false})
		}
		out = append(out, where{mergedKept(3, fresh, []int{0}, []int{1}, []int{2}), false}, where{
			mergedKept(3, fresh, []int{0, 1}, []int{2}), fresh != 2,
		},
			where{mergedKept(3, fresh, []int{0}, []int{1, 2}), true})
	}
	for _, k := range []float64{0.06, 1, 2} {
		for _, v := range []float64{0.5, 1, 3} {
			out = append(out, where{plumbed(k, v), k != 1 || v != 1})
		}
	}
	return out
}

func columnGrid() (out []where) {
	for n := 1; n <= 5; n++ {
		for _, stream := range permutations(n) {
			sizes := []int{1, 2, 1, 3, 2}[:n]
			out = append(out, where{inSlots(sizes, stream), !slices.IsSorted(stream)})
		}
	}
	for _, heads := range []int{1, 2, 4, 8} {
		for ranks := heads; ranks <= 32; ranks *= 2 {
			out = append(out, where{replicas(64, heads, ranks), heads > 1 && ranks > heads})
		}
	}
	return out
}

func raceGrid() (out []where) {
	for tiles := 1; tiles <= 5; tiles++ {
		out = append(out, where{attention(tiles, nobody), tiles >= 2}, where{attention(tiles, firstWarpLater), tiles >= 3})
		for blocks := 1; blocks <= 5; blocks++ {
			out = append(out, where{gather(tiles, blocks), tiles > blocks})
		}
	}
	for kernels := 1; kernels <= 3; kernels++ {
		out = append(out, where{chain(kernels, true), kernels >= 2}, where{chain(kernels, false), false})
	}
	for tiles := 1; tiles <= 3; tiles++ {
		for slots := 1; slots <= 4; slots++ {
			out = append(out, where{gemmAfterQuantise(tiles, slots), slots >= 2})
		}
	}
	for passes := 1; passes <= 4; passes++ {
		mass := [][2]int{{8, 8}, {4, 4}, {2, 2}, {1, 1}}[:passes]
		total := 0
		for _, m := range mass {
			total += m[0] + m[1]
		}
		out = append(out, where{sample(total-1, mass...), passes >= 2})
	}
	return out
}
