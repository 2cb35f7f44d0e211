package state

import (
	"math"
	"math/rand/v2"
	"slices"
)

// parts adds a row in fp32, in n parts of neighbouring elements.
func parts(row []float32, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		for _, v := range row[i*len(row)/n : (i+1)*len(row)/n] {
			out[i] += v
		}
	}
	return out
}

// sum adds from left to right in fp32.
func sum(values []float32) float32 {
	var acc float32
	for _, v := range values {
		acc += v
	}
	return acc
}

// rowOfBatch is the result of one row in a launch of m rows. One kernel serves every m; the faulty
// dispatch gives a single row to another, which does not split the sum.
func rowOfBatch(row []float32, m int, faulty bool) float32 {
	if faulty && m == 1 {
		return sum(row)
	}
	return sum(parts(row, 4))
}

// sameForAnyM compares a row's bits over launches of different size: decode is 1, a verify step k + 1.
func sameForAnyM(row []float32) func(bool) error {
	return func(faulty bool) error {
		want := rowOfBatch(row, 1, faulty)
		for _, m := range []int{2, 3, 4, 8} {
			if got := rowOfBatch(row, m, faulty); math.Float32bits(got) != math.Float32bits(want) {
				return violated("the row is %v alone and %v among %d", want, got, m)
			}
		}
		return nil
	}
}

// resident is the result of sequence i when n share the device, given the order in which the partial
// sums of its splits arrive. The mode promises one order; the faulty one has room for 8 sequences'
// partials and lets the others add theirs as they come.
func resident(row []float32, i int, order []int, faulty bool) float32 {
	p := parts(row, 4)
	if !faulty || i < 8 {
		return sum(p)
	}
	var acc float32
	for _, at := range order {
		acc += p[at]
	}
	return acc
}

// sameForAnyLoad gives every one of n sequences the same row and enumerates all orders of arrival.
func sameForAnyLoad(row []float32, n int) func(bool) error {
	return func(faulty bool) error {
		want := sum(parts(row, 4))
		results := map[float32]bool{}
		for i := range n {
			for _, order := range permutations(4) {
				results[resident(row, i, order, faulty)] = true
			}
		}
		if len(results) > 1 || !results[want] {
			return violated("%d sequences at once: %d different results of one row", n, len(results))
		}
		return nil
	}
}

// gaussian is a row of n fp32 values from a seed.
func gaussian(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64())
	}
	return out
}

// integers is a row of small whole numbers, whose sum is exact in every order.
func integers(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(i*5%7 - 3)
	}
	return out
}

// cancelling has two large values that cancel: what is added between them is lost.
func cancelling(n int) []float32 {
	out := integers(n)
	out[1], out[n-2] = 1<<27, -1<<27
	return out
}

// greedy compares the token that a margin between two rows picks, alone and in a verify step.
func greedy(a, b []float32) func(bool) error {
	return func(faulty bool) error {
		alone := rowOfBatch(a, 1, faulty) > rowOfBatch(b, 1, faulty)
		for _, m := range []int{2, 4} {
			if got := rowOfBatch(a, m, faulty) > rowOfBatch(b, m, faulty); got != alone {
				return violated("the first of two logits leads: %v when decoded, %v when verified among %d", alone, got, m)
			}
		}
		return nil
	}
}

func batchModels() []Model {
	bump := slices.Clone(integers(64))
	bump[0]++
	return []Model{
		{
			Row: "A7", Slug: "single-row-kernel-differs", Class: "batch-variance",
			Effect: "one row and several rows take kernels that add in different orders, so decode and verify disagree",
			Origin: "vllm-project/vllm#54506",
			Cases: []Case{
				{ID: "gaussian", Why: "an ordinary row, compared bit for bit", Run: sameForAnyM(gaussian(512, 7))},
				{
					ID:  "cancelling",
					Why: "large values that cancel, one in the first split and one in the last",
					Run: sameForAnyM(cancelling(64)),
				},
				{ID: "greedy-token", Why: "two logits whose order turns with the kernel", Run: greedy(cancelling(64), bump)},
				{ID: "exact-row", Why: "small integers are exact in every order", Blind: true, Run: sameForAnyM(integers(64))},
				{
					ID:    "same-batch-twice",
					Why:   "rerunning one launch shows no difference",
					Blind: true,
					Run: func(faulty bool) error {
						row := gaussian(512, 7)
						if a, b := rowOfBatch(row, 1, faulty), rowOfBatch(row, 1, faulty); a != b {
							return violated("two runs give %v and %v", a, b)
						}
						return nil
					},
				},
			},
		},
		{
			Row: "N8", Slug: "batch-invariant-up-to-8", Class: "batch-variance",
			Effect: "the batch-invariant mode holds for few sequences; beyond them partial sums are added in order of arrival",
			Origin: "vllm-project/vllm#51187 reports the symptom (three results in five runs at about 44 sequences, none up " +
				"to 8); the mechanism is this model's",
			Cases: []Case{
				{ID: "44-sequences", Why: "the reported load", Run: sameForAnyLoad(gaussian(512, 11), 44)},
				{ID: "9-sequences-cancelling", Why: "one beyond, with values that cancel", Run: sameForAnyLoad(cancelling(64), 9)},
				{ID: "8-sequences", Why: "the load of a small test", Blind: true, Run: sameForAnyLoad(gaussian(512, 11), 8)},
				{ID: "44-exact", Why: "the load without values that round", Blind: true, Run: sameForAnyLoad(integers(64), 44)},
			},
		},
	}
}
