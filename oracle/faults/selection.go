package faults

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/assay-suite/assay/oracle"
)

type selector = func(scores []float64, visible, k int, tie oracle.TieRule) ([]int, error)

// selection faults leave rows that see at most k keys alone: there every key is chosen and ranking
// is never exercised, which is why short tests pass.
var selection = []Fault{
	{
		Name:   "select-random",
		Effect: "the indexer's ranking is ignored: k random visible keys are selected",
		Origin: "radix threshold-bin overflow: sgl-project/sglang#36807, vllm-project/vllm#55314",
		Apply: swapSelection(func(scores []float64, visible, k int, _ oracle.TieRule) ([]int, error) {
			// Seeded by the row itself, so that the same prompt loses the same keys again.
			rng := rand.New(rand.NewPCG(uint64(visible), math.Float64bits(scores[0])))
			chosen := rng.Perm(visible)[:k]
			slices.Sort(chosen)
			return chosen, nil
		}),
	},
	{
		Name:   "select-last",
		Effect: "the last k visible keys are selected, whatever their scores",
		Origin: "chunked prefill that scores only keys of the current chunk: hw-native-sys/pypto-lib#592, " +
			"ml-explore/mlx-lm#1189",
		Apply: swapSelection(func(_ []float64, visible, k int, _ oracle.TieRule) ([]int, error) {
			chosen := make([]int, k)
			for i := range chosen {
				chosen[i] = visible - k + i
			}
			return chosen, nil
		}),
	},
	{
		Name:   "select-first",
		Effect: "the first k visible keys are selected, whatever their scores",
		Origin: "ties and stashes resolved by the lowest index: local-inference-lab/b12x#55",
		Row:    "T2",
		Apply: swapSelection(func(_ []float64, _, k int, _ oracle.TieRule) ([]int, error) {
			chosen := make([]int, k)
			for i := range chosen {
				chosen[i] = i
			}
			return chosen, nil
		}),
	},
	{
		Name:   "top-k-quarter",
		Effect: "only a quarter of the keys that should be selected are",
		Origin: "a top-k below the trained one: ml-explore/mlx-lm#1453; the report that assay grew from",
		Apply:  smaller(4),
	},
	{
		Name:   "top-k-16th",
		Effect: "only a sixteenth of the keys that should be selected are",
		Origin: "a top-k below the trained one: ml-explore/mlx-lm#1453",
		Apply:  smaller(16),
	},
}

// smaller keeps the best k/n keys of rows that see more than that.
func smaller(n int) func(oracle.Ops) oracle.Ops {
	return func(ops oracle.Ops) oracle.Ops {
		exact := ops.SelectTopK
		ops.SelectTopK = func(scores []float64, visible, k int, tie oracle.TieRule) ([]int, error) {
			return exact(scores, visible, max(k/n, 1), tie)
		}
		return ops
	}
}

func swapSelection(choose selector) func(oracle.Ops) oracle.Ops {
	return func(ops oracle.Ops) oracle.Ops {
		exact := ops.SelectTopK
		ops.SelectTopK = func(scores []float64, visible, k int, tie oracle.TieRule) ([]int, error) {
			if visible <= k {
				return exact(scores, visible, k, tie)
			}
			return choose(scores, visible, k, tie)
		}
		return ops
	}
}
