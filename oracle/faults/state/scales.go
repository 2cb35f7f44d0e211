package state

import "math"

// A parameter fresh from the allocator holds whatever the memory held: these loaders take that value, so
// that zero, old data and poison are three cases.

// expert is one expert of an NVFP4 layer with one weight and one activation, stored as multiples of a
// power of two.
type expert struct {
	weight, weightScale float64
	inputScale          *float64 // nil in a weight-only checkpoint
}

// loadAlpha returns the factor of an expert's product and the scale by which its activation is divided.
// The corrected loader serves a missing input scale unquantised; the faulty one keeps fresh memory.
func loadAlpha(e expert, fresh float64, faulty bool) (alpha, input float64) {
	switch {
	case e.inputScale != nil:
		input = *e.inputScale
	case faulty:
		input = fresh
	default:
		input = 1
	}
	return input * e.weightScale, input
}

// experts checks the layer against x · w · s for each expert, exactly: all factors are powers of two
// times small integers.
func experts(fresh float64, layer ...expert) func(bool) error {
	return func(faulty bool) error {
		const x = 6.0
		for i, e := range layer {
			alpha, input := loadAlpha(e, fresh, faulty)
			if math.IsNaN(input) {
				return violated("expert %d: its input scale was never written", i)
			}
			stored := x
			if input > 0 {
				stored = x / input
			}
			if got, want := stored*e.weight*alpha, x*e.weight*e.weightScale; got != want {
				return violated("expert %d contributes %v, want %v (ratio %v)", i, got, want, got/want)
			}
		}
		return nil
	}
}

// gateUp loads the scale vector of a fused gate and up projection and returns the one scale that the
// kernel takes for both: the largest. scales has one entry when the checkpoint is fused.
func gateUp(scales []float64, fresh float64, faulty bool) float64 {
	slots := [2]float64{fresh, fresh}
	copy(slots[:], scales)
	if len(scales) == 1 && !faulty {
		slots[1] = scales[0]
	}
	return max(slots[0], slots[1])
}

// gateUpKept checks that rows stored under the checkpoint's scales mean the same under the loaded one. A
// loader with two scales restates the rows under the larger, exact for powers of two.
func gateUpKept(fresh float64, scales ...float64) func(bool) error {
	return func(faulty bool) error {
		loaded := gateUp(scales, fresh, faulty)
		for row := range 2 {
			s := scales[min(row, len(scales)-1)]
			stored := float64(3 + row)
			got := stored * loaded
			if len(scales) == 2 {
				got = stored * (s / loaded) * loaded
			}
			if got != stored*s {
				return violated("row %d means %v after loading, %v in the checkpoint", row, got, stored*s)
			}
		}
		return nil
	}
}

// shard is one tensor of a merged column: the slots that it covers and its per-tensor scale.
type shard struct {
	slots []int
	scale float64
}

// mergedScales loads the per-tensor scales of a merged column. The faulty loader does not look into a
// tuple of slots and writes slot 0.
func mergedScales(slots int, fresh float64, shards []shard, faulty bool) []float64 {
	out := make([]float64, slots)
	for i := range out {
		out[i] = fresh
	}
	for _, s := range shards {
		if faulty && len(s.slots) > 1 {
			out[0] = s.scale
			continue
		}
		for _, i := range s.slots {
			out[i] = s.scale
		}
	}
	return out
}

// mergedKept checks each slot's scale, in a checkpoint whose shards have scales 2, 4, 8, ...
func mergedKept(slots int, fresh float64, tuples ...[]int) func(bool) error {
	return func(faulty bool) error {
		shards, want := make([]shard, len(tuples)), make([]float64, slots)
		for i, t := range tuples {
			shards[i] = shard{t, math.Ldexp(1, i+1)}
			for _, s := range t {
				want[s] = shards[i].scale
			}
		}
		for i, got := range mergedScales(slots, fresh, shards, faulty) {
			if got != want[i] {
				return violated("slot %d of %d has scale %v, the checkpoint says %v", i, slots, got, want[i])
			}
		}
		return nil
	}
}

// cacheScales loads the k and v scales of an attention layer. A layer reads attributes k_scale and
// v_scale, 1 where they are absent; the faulty loader stores them under a name that nobody reads.
func cacheScales(checkpoint map[string]float64, faulty bool) (k, v float64) {
	layer := map[string]float64{}
	for name, attribute := range map[string]string{"attn.k_proj.k_scale": "k_scale", "attn.v_proj.v_scale": "v_scale"} {
		value, ok := checkpoint[name]
		if !ok {
			continue
		}
		if faulty {
			attribute += "_float"
		}
		layer[attribute] = value
	}
	read := func(attribute string) float64 {
		if value, ok := layer[attribute]; ok {
			return value
		}
		return 1
	}
	return read("k_scale"), read("v_scale")
}

// plumbed is a probe: one key and value of 1, stored divided by nothing, must come out times the scales
// of the checkpoint.
func plumbed(k, v float64) func(bool) error {
	return func(faulty bool) error {
		gotK, gotV := cacheScales(map[string]float64{"attn.k_proj.k_scale": k, "attn.v_proj.v_scale": v}, faulty)
		if gotK != k || gotV != v {
			return violated("k and v come out times %v and %v; the checkpoint says %v and %v", gotK, gotV, k, v)
		}
		return nil
	}
}

func scaleModels() []Model {
	half := 0.5
	nan := math.NaN()
	return []Model{
		{
			Row: "Q6", Slug: "input-scale-never-written", Class: "unwritten-parameter",
			Effect: "a checkpoint without input scales leaves that parameter as the allocator gave it: with 0, alpha is 0 and " +
				"the expert contributes nothing",
			Origin: "vllm-project/vllm#54189",
			Cases: []Case{
				{
					ID:  "weight-only-zeros",
					Why: "two experts without input scale, fresh memory of zeros",
					Run: experts(0, expert{3, 0.25, nil}, expert{-5, 0.5, nil}),
				},
				{
					ID:  "one-expert-without",
					Why: "three experts, the last without; memory holds old data",
					Run: experts(-2, expert{3, 0.25, &half}, expert{1, 2, &half}, expert{7, 4, nil}),
				},
				{
					ID:  "poison",
					Why: "every parameter must have been written, whatever it does to the result",
					Run: experts(nan, expert{1, 1, nil}),
				},
				{
					ID:    "complete",
					Why:   "a checkpoint with all scales",
					Blind: true,
					Run:   experts(nan, expert{3, 0.25, &half}, expert{-5, 0.5, &half}),
				},
				{
					ID:    "old-data-positive",
					Why:   "a positive leftover cancels between activation and alpha",
					Blind: true,
					Run:   experts(2, expert{3, 0.25, nil}),
				},
			},
		},
		{
			Row: "Q7", Slug: "fused-gate-up-scale-half-loaded", Class: "unwritten-parameter",
			Effect: "a fused checkpoint has one scale for gate and up; one of two slots is loaded and the largest is taken " +
				"with garbage",
			Origin: "sgl-project/sglang#14102",
			Cases: []Case{
				{ID: "leftover-3", Why: "old data larger than the scale wins", Run: gateUpKept(3, 0.5)},
				{ID: "poison", Why: "a slot that was never written", Run: gateUpKept(nan, 0.5)},
				{ID: "leftover-max", Why: "the largest fp32 value in fresh memory", Run: gateUpKept(math.MaxFloat32, 2)},
				{ID: "fresh-zeros", Why: "fresh memory of zeros never wins", Blind: true, Run: gateUpKept(0, 0.5)},
				{ID: "two-scales", Why: "an unfused checkpoint fills both slots", Blind: true, Run: gateUpKept(nan, 0.5, 2)},
			},
		},
		{
			Row: "Q8", Slug: "tuple-shard-scale-first-slot", Class: "unwritten-parameter",
			Effect: "a shard that covers several slots sets the per-tensor scale of slot 0 alone",
			Origin: "vllm-project/vllm#38517",
			Cases: []Case{
				{
					ID:  "tuple-0-1-2",
					Why: "four partitions: one shard for the first three, one for the last",
					Run: mergedKept(4, nan, []int{0, 1, 2}, []int{3}),
				},
				{
					ID:  "tuple-1-2",
					Why: "a tuple without slot 0: a wrong slot is written, too",
					Run: mergedKept(3, 1, []int{0}, []int{1, 2}),
				},
				{
					ID:  "leftover-equals-last",
					Why: "old data that equals one of the scales",
					Run: mergedKept(4, 2, []int{3}, []int{0, 1, 2}),
				},
				{
					ID:    "one-slot-each",
					Why:   "unfused shards",
					Blind: true,
					Run:   mergedKept(4, nan, []int{2}, []int{0}, []int{3}, []int{1}),
				},
			},
		},
		{
			Row: "Q18", Slug: "kv-scale-read-by-another-name", Class: "renamed-parameter",
			Effect: "the KV scale is stored under one name and read under another, so it is 1",
			Origin: "sgl-project/sglang#20705",
			Cases: []Case{
				{ID: "scales-2-and-0.75", Why: "both scales differ from 1 and from each other", Run: plumbed(2, 0.75)},
				{ID: "k-only", Why: "the v scale is neutral", Run: plumbed(0.06, 1)},
				{ID: "v-only", Why: "the k scale is neutral", Run: plumbed(1, 0.5)},
				{ID: "both-1", Why: "an uncalibrated checkpoint", Blind: true, Run: plumbed(1, 1)},
			},
		},
	}
}
