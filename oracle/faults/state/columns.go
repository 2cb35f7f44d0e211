package state

import "slices"

// tensorOf is a shard with its slot's number as every weight: a value says where it came from.
func tensorOf(slot, rows int) []int { return slices.Repeat([]int{slot}, rows) }

// mergeColumns puts the tensors of a stream into one parameter, slot after slot. sizes are the rows of
// each slot, stream the order in which slots arrive. The faulty loader places them as they come.
func mergeColumns(sizes, stream []int, faulty bool) []int {
	var out []int
	if faulty {
		for _, slot := range stream {
			out = append(out, tensorOf(slot, sizes[slot])...)
		}
		return out
	}
	offset := make([]int, len(sizes)+1)
	for i, n := range sizes {
		offset[i+1] = offset[i] + n
	}
	out = make([]int, offset[len(sizes)])
	for _, slot := range stream {
		copy(out[offset[slot]:offset[slot+1]], tensorOf(slot, sizes[slot]))
	}
	return out
}

// inSlots checks that every row carries the tag of the slot that it lies in.
func inSlots(sizes, stream []int) func(bool) error {
	return func(faulty bool) error {
		var want []int
		for slot, n := range sizes {
			want = append(want, tensorOf(slot, n)...)
		}
		if got := mergeColumns(sizes, stream, faulty); !slices.Equal(got, want) {
			return violated("streamed as %v, the rows are from slots %v; they must be %v", stream, got, want)
		}
		return nil
	}
}

// headOf is the KV head that a rank holds when there are more ranks than heads. Neighbouring ranks share
// a head; the faulty rule deals heads out in turn.
func headOf(rank, ranks, heads int, faulty bool) int {
	if faulty {
		return rank % heads
	}
	return rank / (ranks / heads)
}

// replicas checks each rank against its query heads: query head q attends to KV head q·heads/queries,
// and a rank has queries/ranks neighbouring query heads.
func replicas(queries, heads, ranks int) func(bool) error {
	return func(faulty bool) error {
		for rank := range ranks {
			got := headOf(rank, ranks, heads, faulty)
			for q := rank * queries / ranks; q < (rank+1)*queries/ranks; q++ {
				if want := q * heads / queries; got != want {
					return violated("%d KV heads on %d ranks: rank %d holds head %d, its query head %d needs head %d", heads, ranks,
						rank, got, q, want)
				}
			}
		}
		return nil
	}
}

// permutations lists all orders of 0 .. n-1.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			out = append(out, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return out
}

func columnModels() []Model {
	return []Model{
		{
			Row: "L1", Slug: "merged-columns-in-stream-order", Class: "slot-order",
			Effect: "the shards of a merged column are placed in the order in which the file has them",
			Origin: "vllm-project/vllm#41057",
			Cases: []Case{
				{
					ID:  "stream-1-0",
					Why: "two slots of equal size, the second first: no shape complains",
					Run: inSlots([]int{2, 2}, []int{1, 0}),
				},
				{
					ID:  "stream-z-q-k-v",
					Why: "slots q, k, v, z streamed as z, q, k, v, sizes of grouped heads",
					Run: inSlots([]int{4, 2, 2, 4}, []int{3, 0, 1, 2}),
				},
				{ID: "every-order-of-4", Why: "all 24 orders", Run: func(faulty bool) error {
					for _, stream := range permutations(4) {
						if err := inSlots([]int{3, 1, 1, 3}, stream)(faulty); err != nil {
							return err
						}
					}
					return nil
				}},
				{
					ID:    "stream-in-order",
					Why:   "a file that has them in order",
					Blind: true,
					Run:   inSlots([]int{4, 2, 2, 4}, []int{0, 1, 2, 3}),
				},
			},
		},
		{
			Row: "L3", Slug: "kv-head-replicas-in-turn", Class: "head-replica",
			Effect: "with more ranks than KV heads a rank gets head rank mod heads and not that of its query heads",
			Origin: "vllm-project/vllm#2379, #1735",
			Cases: []Case{
				{ID: "2-heads-4-ranks", Why: "the smallest: heads 0 0 1 1, not 0 1 0 1", Run: replicas(8, 2, 4)},
				{ID: "4-heads-8-ranks", Why: "one query head a rank", Run: replicas(8, 4, 8)},
				{ID: "2-heads-16-ranks", Why: "eight replicas of a head", Run: replicas(32, 2, 16)},
				{ID: "heads-equal-ranks", Why: "no replicas", Blind: true, Run: replicas(8, 4, 4)},
				{ID: "one-head", Why: "multi-query: every rank holds head 0", Blind: true, Run: replicas(8, 1, 4)},
			},
		},
	}
}
