package state

import (
	"cmp"
	"math"
	"slices"
)

// stageLimit is how many scores of a row the first kernel stages. The real limit is larger; a case
// scales with it.
const stageLimit = 16

// topK1 stages the row and selects from the stage. It loops over the row's length, so that beyond the
// limit it reads what lies behind the stage: poison that wins every comparison. read lists what it
// looked at.
func topK1(row []float64, k int) (chosen, read []int) {
	memory := make([]float64, max(len(row), stageLimit))
	for i := range memory {
		memory[i] = math.MaxFloat64
	}
	copy(memory[:stageLimit], row)
	order := make([]int, len(row))
	for i := range order {
		order[i] = i
	}
	read = slices.Clone(order)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(memory[b], memory[a]) })
	return order[:min(k, len(order))], read
}

// topK2 keeps the k best while it streams over a row of any length.
func topK2(row []float64, k int) (chosen []int) {
	for i, v := range row {
		at, _ := slices.BinarySearchFunc(chosen, v, func(j int, v float64) int {
			if row[j] >= v {
				return -1
			}
			return 1
		})
		if chosen = slices.Insert(chosen, at, i); len(chosen) > k {
			chosen = chosen[:k]
		}
	}
	return chosen
}

// selectKeys dispatches by phase and length and says which indices of the stage were read.
func selectKeys(row []float64, k int, prefill, faulty bool) (chosen, staged []int) {
	if len(row) <= stageLimit || prefill && faulty {
		return topK1(row, k)
	}
	return topK2(row, k), nil
}

// selects runs one row, distinct scores in a shuffled order, and holds the result against a sort and the
// reads against the stage.
func selects(length, k int, prefill bool) func(bool) error {
	return func(faulty bool) error {
		row := make([]float64, length)
		order := make([]int, length)
		for i := range row {
			row[i], order[i] = float64(i*7919%10007), i
		}
		chosen, staged := selectKeys(row, k, prefill, faulty)
		for _, i := range staged {
			if i >= stageLimit {
				return violated("a row of %d: the kernel read entry %d of a stage of %d", length, i, stageLimit)
			}
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(row[b], row[a]) })
		if want := order[:min(k, length)]; !slices.Equal(chosen, want) {
			return violated("a row of %d: keys %v, by sorting %v", length, chosen, want)
		}
		return nil
	}
}

// lseNatural is log-sum-exp in base e, in two passes.
func lseNatural(scores []float64) float64 {
	m, sum := slices.Max(scores), 0.0
	for _, s := range scores {
		sum += math.Exp(s - m)
	}
	return m + math.Log(sum)
}

// lseBinary is the same in one online pass and base 2, as kernels with exp2 do.
func lseBinary(scores []float64) float64 {
	m, sum := math.Inf(-1), 0.0
	for _, s := range scores {
		s *= math.Log2E
		next := max(m, s)
		sum = sum*math.Exp2(m-next) + math.Exp2(s-next)
		m = next
	}
	return m + math.Log2(sum)
}

// autoLSE picks a backend by the number of heads. Both must return base e; the faulty dispatch hands on
// whatever base the backend computes in.
func autoLSE(scores []float64, heads int, faulty bool) float64 {
	if heads <= 64 {
		return lseNatural(scores)
	}
	if faulty {
		return lseBinary(scores)
	}
	return lseBinary(scores) * math.Ln2
}

// uniformLSE is a fingerprint: over equal scores s of n keys the LSE is s + ln n on every backend. The
// slack of 16 ulp covers the conversion of s, n rescaled adds that are exact here, one log and the
// conversion back; the fault is off by 44 %.
func uniformLSE(n int, score float64, heads ...int) func(bool) error {
	return func(faulty bool) error {
		scores := slices.Repeat([]float64{score}, n)
		want := score + math.Log(float64(n))
		for _, h := range heads {
			if got := autoLSE(scores, h, faulty); math.Abs(got-want) > 0x1p-48*math.Abs(want) {
				return violated("%d heads: LSE of %d equal scores is %v, want %v (ratio %.4f)", h, n, got, want, got/want)
			}
		}
		return nil
	}
}

func dispatchModels() []Model {
	return []Model{
		{
			Row: "T8", Slug: "prefill-topk-first-kernel-always", Class: "dispatch",
			Effect: "prefill takes the kernel for short rows at every length, which reads behind its stage",
			Origin: "sgl-project/sglang#37892; the limit is a parameter here",
			Cases: []Case{
				{ID: "prefill-limit-plus-1", Why: "one key beyond the limit", Run: selects(stageLimit+1, 4, true)},
				{
					ID:  "prefill-128-times-limit",
					Why: "as 32,768 tokens to 256 of the warm-up",
					Run: selects(128*stageLimit, 4, true),
				},
				{ID: "warm-up", Why: "a warm-up prompt within the limit", Blind: true, Run: selects(stageLimit, 4, true)},
				{ID: "decode-long", Why: "decode dispatches by length", Blind: true, Run: selects(128*stageLimit, 4, false)},
			},
		},
		{
			Row: "S4", Slug: "lse-base-by-backend", Class: "log-base",
			Effect: "the returned LSE is in base e or in base 2 depending on the backend that auto picks",
			Origin: "flashinfer-ai/flashinfer#4485",
			Cases: []Case{
				{ID: "uniform-8", Why: "ln 8 over both backends", Run: uniformLSE(8, 0, 64, 128)},
				{ID: "uniform-100-shifted", Why: "equal scores of 1.5: s + ln n", Run: uniformLSE(100, 1.5, 16, 128)},
				{
					ID:  "merge-2-and-8",
					Why: "states of two backends: Z = (2, 8), o = (0, 1) merge to 0.8",
					Run: func(faulty bool) error {
						a, b := autoLSE([]float64{0, 0}, 64, faulty), autoLSE(make([]float64, 8), 128, faulty)
						if got := math.Exp(b) / (math.Exp(a) + math.Exp(b)); math.Abs(got-0.8) > 0x1p-45 {
							return violated("the states merge to %v, want 0.8", got)
						}
						return nil
					},
				},
				{
					ID:    "one-key",
					Why:   "one key with score 0: the LSE is 0 in every base",
					Blind: true,
					Run:   uniformLSE(1, 0, 64, 128),
				},
				{
					ID:    "one-backend",
					Why:   "a test with 64 heads never leaves the first backend",
					Blind: true,
					Run:   uniformLSE(8, 1.5, 8, 64),
				},
			},
		},
	}
}
