package state

import (
	"math"

	"github.com/assay-suite/assay/oracle"
)

// paged is a kernel that addresses a cache, written with the integer types of the reported one. It
// returns the offset of a token's row, in elements.
type paged func(page, token int, s oracle.CacheStrides) int64

// narrowPage multiplies page and stride in 32 bits and adds the rest to a wide pointer.
func narrowPage(page, token int, s oracle.CacheStrides) int64 {
	return int64(int32(page)*int32(s.Page)) + int64(token)*s.Token
}

// narrowAll computes the whole offset in 32 bits.
func narrowAll(page, token int, s oracle.CacheStrides) int64 {
	return int64(int32(page)*int32(s.Page) + int32(token)*int32(s.Token))
}

func wide(page, token int, s oracle.CacheStrides) int64 {
	return int64(page)*s.Page + int64(token)*s.Token
}

// either selects the version of a kernel.
func either(faulty bool, broken paged) paged {
	if faulty {
		return broken
	}
	return wide
}

// reaches checks that the kernel's addresses on one page are those of the 64-bit trace.
func reaches(broken paged, page, size int, s oracle.CacheStrides) func(bool) error {
	return func(faulty bool) error {
		kernel := either(faulty, broken)
		trace, err := oracle.AddressTrace([]int{page}, size, size, 0, s, oracle.Int64)
		if err != nil {
			return err
		}
		for _, a := range trace {
			if got := kernel(page, a.Token, s); got != a.Exact {
				return violated("page %d, token %d: offset %d, the cache has it at %d", page, a.Token, got, a.Exact)
			}
		}
		return nil
	}
}

// around checks the pages on either side of the predicted edge: the first page that a product in 32 bits
// cannot reach must be reached, and so must the one before.
func around(broken paged, s oracle.CacheStrides) func(bool) error {
	return func(faulty bool) error {
		first := int(oracle.FirstWrappedPage(s.Page, oracle.Int32))
		for page := first - 1; page <= first+1; page++ {
			if err := reaches(broken, page, 1, s)(faulty); err != nil {
				return err
			}
		}
		return nil
	}
}

// logit is q·k with q = 1 and one channel, where every page of the cache holds 1 in all its tokens and
// everything outside of the cache is NaN, as poison is.
func logit(broken paged, pages, page, size int, s oracle.CacheStrides) func(bool) error {
	return func(faulty bool) error {
		kernel := either(faulty, broken)
		for token := range size {
			at, sum := kernel(page, token, s), 1.0
			if at < 0 || at >= int64(pages)*s.Page {
				sum = math.NaN()
			}
			if sum != 1 {
				return violated("page %d of %d, token %d: the logit of finite operands is %v (offset %d)", page, pages, token, sum,
					at)
			}
		}
		return nil
	}
}

// addressModels are the 32-bit overflows. They need page ids, not memory.
func addressModels() []Model {
	mla := oracle.CacheStrides{Page: 276480, Token: 576}
	// 16 tokens, K and V side by side, 8 heads of 128
	flex := oracle.CacheStrides{Page: 16 * 2 * 8 * 128, Token: 2 * 8 * 128}
	fat := oracle.CacheStrides{Page: 64 * 2 * 4 * 256, Token: 2 * 4 * 256}
	packed := oracle.CacheStrides{Page: 1039680, Token: 576}
	wider := oracle.CacheStrides{Page: 1400000, Token: 576}
	alone := oracle.CacheStrides{Page: 64 * 576, Token: 576}
	const channels = 56 * 128
	fused, contiguous := oracle.CacheStrides{Page: 3 * channels}, oracle.CacheStrides{Page: channels}
	return []Model{
		{
			Row: "G1", Slug: "mla-page-stride-int32", Class: "address-width",
			Effect: "page times stride is multiplied in 32 bits and wraps above page 7,767",
			Origin: "vllm-project/vllm#47671",
			Cases: []Case{
				{
					ID:  "first-wrapped-page",
					Why: "7,768 · 276,480 is the first product beyond 31 bits: the row lies below the cache",
					Run: reaches(narrowPage, 7768, 64, mla),
				},
				{
					ID:  "silent-alias",
					Why: "15,535 · 276,480 wraps to a positive offset, another sequence's row without a crash",
					Run: reaches(narrowPage, 15535, 64, mla),
				},
				{ID: "around-the-edge", Why: "the edge is computed from the stride, not known", Run: around(narrowPage, mla)},
				{ID: "small-cache", Why: "the last page that 32 bits reach", Blind: true, Run: reaches(narrowPage, 7767, 64, mla)},
			},
		},
		{
			Row: "G2", Slug: "paged-token-stride-int32", Class: "address-width",
			Effect: "token offset times stride is multiplied in 32 bits and wraps at 2^31 elements, silently where the " +
				"address is mapped",
			Origin: "vllm-project/vllm#50427, #50483",
			Cases: []Case{
				{
					ID:  "block-65536",
					Why: "block 2^31 / (16 · 2 · 8 · 128): the first element beyond",
					Run: reaches(narrowAll, 65536, 16, flex),
				},
				{
					ID:  "block-131072",
					Why: "2^32 elements: wraps to offset 0, block 0 is read instead",
					Run: reaches(narrowAll, 131072, 16, flex),
				},
				{
					ID:  "wide-heads-16384",
					Why: "the same edge from another geometry: 64 tokens, 4 heads of 256",
					Run: reaches(narrowAll, 16384, 64, fat),
				},
				{
					ID:    "block-65535",
					Why:   "the last block below the edge, whole",
					Blind: true,
					Run:   reaches(narrowAll, 65535, 16, flex),
				},
			},
		},
		{
			Row: "G3", Slug: "packed-layer-stride-int32", Class: "address-width",
			Effect: "a cache of all layers in one tensor makes the block stride a million elements; the offset wraps at block " +
				"2,066 and finite operands give NaN",
			Origin: "ROCm/aiter#4427, #4474, vllm-project/vllm-xpu-kernels#445",
			Cases: []Case{
				{
					ID:  "block-2066",
					Why: "the reported block: poison outside of the cache reaches the logit",
					Run: logit(narrowAll, 3000, 2066, 64, packed),
				},
				{
					ID:  "stride-1.4-m",
					Why: "the widest reported stride, at the block that its own edge predicts",
					Run: logit(narrowAll, 2000, int(oracle.FirstWrappedPage(wider.Page, oracle.Int32)), 64, wider),
				},
				{
					ID:  "trace-4132",
					Why: "2^32 crossed: the logit is finite but of another block, only the address shows it",
					Run: reaches(narrowAll, 4132, 64, packed),
				},
				{
					ID:    "one-layer-cache",
					Why:   "the same block in a cache of one layer",
					Blind: true,
					Run:   logit(narrowAll, 3000, 2066, 64, alone),
				},
			},
		},
		{
			Row: "G4", Slug: "strided-qkv-int32", Class: "address-width",
			Effect: "token index times stride wraps for Q, K and V that are views of one fused projection",
			Origin: "thu-ml/SageAttention#387; 7,168 channels reproduce the reported length of 99,866",
			Cases: []Case{
				{
					ID:  "length-99866",
					Why: "last token of the reported length, stride 3 · 7,168",
					Run: reaches(narrowAll, 99865, 1, fused),
				},
				{ID: "length-250000", Why: "wraps to a positive offset, a mapped row", Run: reaches(narrowAll, 249999, 1, fused)},
				{
					ID:  "contiguous-equals-strided",
					Why: "metamorphic: the same token through both layouts is the same token; the view must not matter",
					Run: func(faulty bool) error {
						kernel := either(faulty, narrowAll)
						for token := 99800; token < 99900; token++ {
							if a, b := kernel(token, 0, contiguous)/contiguous.Page, kernel(token, 0, fused)/fused.Page; a != b {
								return violated("token %d is row %d when contiguous and row %d as a view", token, a, b)
							}
						}
						return nil
					},
				},
				{
					ID:    "contiguous",
					Why:   "the same length without the view",
					Blind: true,
					Run:   reaches(narrowAll, 99865, 1, contiguous),
				},
			},
		},
	}
}
