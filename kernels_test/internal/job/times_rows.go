package job

import (
	"fmt"
	"maps"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// timeRow is a shape at which a kernel's time is taken. Sizes are those of models in service, cut where inputs would
// not fit into 128 MiB; class says what the shape stands for.
type timeRow struct {
	class string
	dims  map[string]int
	// flops counts the floating-point operations of one call where the tensor cores do them; nil: bytes decide.
	flops func(d map[string]int) float64
	fp8   bool // the operations are e4m3's
	// bytes counts what a kernel has to move where that is not all operands and outputs; nil: all of them.
	bytes func(d map[string]int) float64
}

// timeRows lists the shapes by operator. An operator that is not here is not timed, and the report says so.
func timeRows() map[string][]timeRow {
	norm := []timeRow{
		{class: "decode t32", dims: map[string]int{"rows": 32, "width": 7168}},
		{class: "prefill t2048", dims: map[string]int{"rows": 2048, "width": 7168}},
	}
	quantise := []timeRow{
		{class: "decode t32", dims: map[string]int{"bf16": 1, "fmt": 0, "group": 128, "k": 7168, "m": 32}},
		{class: "prefill t2048", dims: map[string]int{"bf16": 1, "fmt": 0, "group": 128, "k": 7168, "m": 2048}},
	}
	states := []timeRow{
		{class: "decode t32", dims: map[string]int{"tokens": 32, "heads": 32, "dim": 128}},
		{class: "prefill t2048", dims: map[string]int{"tokens": 2048, "heads": 32, "dim": 128}},
	}
	gate := []timeRow{
		{class: "decode t32", dims: map[string]int{"tokens": 32, "experts": 256, "k": 8, "groups": 1, "keep": 1}},
		{class: "prefill t4096", dims: map[string]int{"tokens": 4096, "experts": 256, "k": 8, "groups": 1, "keep": 1}},
	}
	streams := []timeRow{
		{class: "decode t32", dims: map[string]int{"tokens": 32, "streams": 4, "width": 4096}},
		{class: "prefill t1024", dims: map[string]int{"tokens": 1024, "streams": 4, "width": 4096}},
	}
	return map[string][]timeRow{
		"rms_norm": norm, "layer_norm": norm, "quantise_fp8": quantise, "merge_state": states, "moe_gate": gate,
		"hash_gate": {
			{class: "decode t32", dims: map[string]int{"tokens": 32, "experts": 256, "k": 6, "vocabulary": 129280}},
			{class: "prefill t4096", dims: map[string]int{"tokens": 4096, "experts": 256, "k": 6, "vocabulary": 129280}},
		},
		"mhc_pre": streams, "mhc_post": streams, "mhc_head": streams,
		"sinkhorn": {{class: "prefill t4096", dims: map[string]int{"tokens": 4096, "streams": 4}}},
		"moe_combine": {
			{class: "decode t32", dims: map[string]int{"tokens": 32, "k": 8, "width": 7168}},
			{class: "prefill t512", dims: map[string]int{"tokens": 512, "k": 8, "width": 4096}},
		},
		"rope": {
			{class: "decode t32", dims: map[string]int{"tokens": 32, "heads": 64, "width": 128, "rotary": 64, "span": 65536}},
			{class: "prefill t1024", dims: map[string]int{
				"tokens": 1024, "heads": 64, "width": 128, "rotary": 64, "span": 65536,
			}},
		},
		"mla_kv_write":   {{class: "prefill t2048", dims: map[string]int{"tokens": 2048, "page": 64, "pages": 40}}},
		"block_fp8_gemm": gemms(true, map[string]int{"e8m0": 0}),
		"bf16_gemm":      gemms(false, nil), "dense_gemm": gemms(false, nil),
		"grouped_gemm":         experts(512, 1),
		"masked_gemm":          experts(128, 0),
		"indexer_logits":       {indexerRow()},
		"indexer_logits_paged": {pagedRow(32, 4096)},
		"gqa_attention": {attentionRow(32, 2048, map[string]int{
			"heads": 32, "kv-heads": 1, "dim": 128, "values": 128,
		})},
		"mla_attention": {attentionRow(16, 2048, map[string]int{"heads": 128, "rank": 512, "rope": 64, "nope": 128})},
	}
}

func gemms(fp8 bool, more map[string]int) []timeRow {
	var out []timeRow
	for _, m := range []int{64, 2048} {
		d := map[string]int{"m": m, "n": 4096, "k": 4096}
		maps.Copy(d, more)
		out = append(out, timeRow{
			class: fmt.Sprintf("m%d n4096 k4096", m), dims: d, fp8: fp8,
			flops: func(d map[string]int) float64 { return 2 * float64(d["m"]) * float64(d["n"]) * float64(d["k"]) },
		})
	}
	return out
}

// experts are four experts, all full where full is 1.
func experts(m, full int) []timeRow {
	return []timeRow{{
		class: fmt.Sprintf("e4 m%d n2048 k2048", m), fp8: true,
		dims: map[string]int{"e": 4, "m": m, "n": 2048, "k": 2048, "align": 128, "full": full},
		flops: func(d map[string]int) float64 {
			return 2 * float64(d["e"]) * float64(d["m"]) * float64(d["n"]) * float64(d["k"])
		},
	}}
}

func indexerRow() timeRow {
	return timeRow{
		class: "prefill t512 s4608", fp8: true,
		dims: map[string]int{"bits": 8, "dim": 128, "heads": 64, "next": 512, "p0": 4096, "ratio": 1, "req": 1},
		flops: func(d map[string]int) float64 {
			return 2 * float64(d["next"]) * (float64(d["p0"]) + float64(d["next"])/2) * float64(d["heads"]) * float64(d["dim"])
		},
	}
}

// pagedRow is a decode step of requests with as many keys each: every key is read once.
func pagedRow(requests, keys int) timeRow {
	d := map[string]int{"bits": 8, "dim": 128, "heads": 64, "next": 1, "page": 64, "ratio": 1, "req": requests}
	for i := range requests {
		d[fmt.Sprintf("p%d", i)] = keys - 1
	}
	return timeRow{
		class: fmt.Sprintf("decode b%d s%d", requests, keys), dims: d,
		bytes: func(d map[string]int) float64 {
			all := float64(requests) * float64(keys)
			return all*float64(d["dim"]+4) + 4*all + float64(requests*d["heads"]*(d["dim"]+4))
		},
	}
}

// attentionRow is a decode step of requests with as many keys each.
func attentionRow(requests, keys int, more map[string]int) timeRow {
	d := map[string]int{"requests": requests, "page": 64}
	maps.Copy(d, more)
	for i := range requests {
		d[fmt.Sprintf("q%d", i)], d[fmt.Sprintf("kv%d", i)] = 1, keys
	}
	return timeRow{
		class: fmt.Sprintf("decode b%d s%d", requests, keys), dims: d,
		bytes: func(d map[string]int) float64 {
			row := d["kv-heads"]*(d["dim"]+d["values"]) + d["rank"] + d["rope"]
			io := d["heads"] * (d["dim"] + d["values"] + 2*d["rank"] + d["rope"])
			return 2 * (float64(requests*keys*row) + float64(requests*io))
		},
	}
}

// size counts the bytes of a call's operands and outputs.
func size(c bench.Call) float64 {
	n := 0
	for _, v := range c.Views {
		n += v.Len() * bench.Width(c.Storage[v.Storage].DType)
	}
	for _, o := range c.Outputs {
		all := 1
		for _, d := range o.Shape {
			all *= d
		}
		n += all * bench.Width(o.DType)
	}
	return float64(n)
}
