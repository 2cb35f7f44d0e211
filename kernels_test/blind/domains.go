package blind

import (
	"maps"
	"slices"
)

// moduli are the powers of two that an index is taken modulo.
var moduli = []int{8, 15, 16, 20}

// domain is how far an index operand goes: its largest value that ships, and what it counts.
type domain struct {
	largest int
	counts  string
}

// The domains. Slots, rows of a pool, pages and positions go to 2^20 + 3: V4's max_position_embeddings is 2^20, and a
// pool of pages has as many on one device. Contexts go to 131,072 keys, as extents.go has them.
var (
	slots    = domain{1<<20 + 3, "rows and pages of a pool, and positions"}
	contexts = domain{131072, "keys of a context and tokens of a batch"}
	ids      = domain{129280, "V4-Flash vocab_size: the models whose router hashes token ids"}
	lists    = domain{2048, "entries of a list: DeepSeek-V3.2 index_topk"}
	tokens   = domain{8192, "tokens of one prefill chunk: SGLang's chunked_prefill_size"}
	batches  = domain{512, "requests of a launch, and their slots: SGLang's cuda_graph_max_bs"}
	expertNo = domain{512, "experts: Qwen3-Next-80B num_experts"}
	localNo  = domain{48, "experts of one device: Kimi-K2 and V4-Pro on 8"}
	splitNo  = domain{64, "splits of one launch"}
)

// domains has every operand that holds indices, lengths or positions.
var domains = map[string]domain{
	"positions": slots, "slot_mapping": slots, "block_table": slots, "page_table": slots, "extra_block_table": slots,
	"indices": slots, "extra_indices": slots, "full_to_swa": slots, "req_to_token": slots, "window_base": slots,
	"compressed_base": slots,

	"start": contexts, "end": contexts, "context_lens": contexts, "lengths": contexts, "seq_lens": contexts,
	"seq_len": contexts, "kv_indptr": contexts, "cu_seqlens": contexts, "selected": contexts, "src2dst": contexts,
	"prefix_lens": contexts,

	"token_ids": ids, "topk_length": lists, "extra_topk_length": lists,
	"qo_indptr": tokens, "extend_len": tokens, "num_token_non_padded": tokens, "masked_m": tokens,
	"slot": batches, "request": batches, "req_pool_indices": batches,
	"tid2eid": expertNo, "expert": localNo, "num_states": splitNo,
}

// own are the domains of operands that mean something else in one operator.
var own = map[string]domain{
	"compress_extend start": slots, // the position of a sequence's first new token
}

// Domain is the largest value of an operand of indices that ships, and what it counts; false for others.
func Domain(op, name string) (largest int, counts string, ok bool) {
	d, ok := domainOf(op, name)
	return d.largest, d.counts, ok
}

// Domains are the operands that have one.
func Domains() []string { return slices.Sorted(maps.Keys(domains)) }

func domainOf(op, name string) (domain, bool) {
	if d, ok := own[op+" "+name]; ok {
		return d, true
	}
	d, ok := domains[name]
	return d, ok
}

// bitsOf are the powers of two below an operand's largest value: modulo one beyond it, no index changes.
func bitsOf(op, name string) []int {
	d, ok := domainOf(op, name)
	if !ok {
		return nil
	}
	var out []int
	for _, bits := range moduli {
		if 1<<bits <= d.largest {
			out = append(out, bits)
		}
	}
	return out
}
