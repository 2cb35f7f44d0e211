package blind

import (
	"regexp"
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// symbols says what the letters of a Doc's shapes count, by suite; "" holds for those that say nothing else. Letters
// that are in no table are sizes that follow from others.
var symbols = map[string]map[string]kind{
	"": {
		"T": rows, "Q": rows, "B·N": rows, "M": rows, "R": rows, "B": requests, "B+1": requests, "H": heads, "G": kvHeads,
		"D": headDim, "DV": headDim, "d_v": headDim, "S": keys, "S2": keys, "P": table, "P2": table, "W": table,
		"E": experts, "K": chosen, "C": hidden, "n": streams, "top_k": list,
	},
	"indexer":    {"H": indexHeads, "D": indexDim, "N": requests, "M": keys, "max_seqlen_k": keys, "E/2": indexPairs},
	"topk":       {"M": table},
	"sparse":     {"N": list, "N2": list, "M": table, "M2": table, "W": list, "K": list},
	"compressor": {"N": keys, "C": headDim, "W": headDim, "r": ratio, "R": ratio, "M": rows, "P": requests},
	"dense":      {"R": latent, "E": ropePart, "D": gqaDim, "DV": gqaDim, "N": keys, "M": keys},
	"mhc":        {"(2+n)n": mixes},
	"route":      {"top_k": chosen, "V": vocab},
	"gemm": {
		"N": inner, "K": inner, "E": local, "ceil(K/128)": blocks, "ceil(N/128)": blocks, "B": requests, "P": packed,
		"Q": packed, "ceil(K/group_size)": blocks,
	},
	"norm": {"D": hidden, "rotary_dim/2": rotary, "M": keys},
}

// operators whose letters mean something else than in the rest of their suite.
var special = map[string]map[string]kind{
	"merge_states": {"N": splits, "D": valueDim},
	"merge_state":  {"D": valueDim},
	"rope":         {"D": headDim, "rotary_dim": rotated},
	"rope_table":   {"rotary_dim": rotated},
	"page_table":   {"R": requests},
	"kv_write":     {"N": keys},
}

var brackets = regexp.MustCompile(`\[([^\]]*)\]`)

// kindsOf are the kinds of the dimensions of an operator's tensor in a call, "" for a size that follows from others.
func kindsOf(suite string, f bench.Family, name string, rank int) []kind {
	out := make([]kind, rank)
	all := letters(f.Doc, name, rank)
	for i, symbol := range all {
		_, own := special[f.Op][symbol]
		if !own && symbol == "D" && (suite == "sparse" || suite == "norm") && slices.Contains(all, "H") {
			out[i] = headDim // whatever a D alone is
			continue
		}
		for _, t := range []map[string]kind{special[f.Op], symbols[suite], symbols[""]} {
			if k, ok := t[symbol]; ok {
				out[i] = k
				break
			}
		}
	}
	return out
}

// letters are the letters of a tensor's shape of a rank, as its Doc has them.
func letters(d bench.Doc, name string, rank int) []string {
	all := slices.Concat(d.Operands, d.Outputs)
	at := slices.IndexFunc(all, func(t bench.TensorDoc) bool { return t.Name == name })
	if at < 0 {
		return nil
	}
	if as, ok := strings.CutPrefix(all[at].Shape, "as "); ok && as != name {
		return letters(d, as, rank)
	}
	for _, m := range brackets.FindAllStringSubmatch(all[at].Shape, -1) {
		if parts := strings.Split(m[1], ", "); len(parts) == rank {
			return parts
		}
	}
	return nil
}

// lengthOf says which kind an operand of lengths counts: a kernel that looks no further takes them to be shorter.
var lengthOf = map[string]kind{
	"end": keys, "context_lens": keys, "lengths": keys, "seq_lens": keys, "seq_len": keys,
	"topk_length": list, "extra_topk_length": list, "num_states": splits, "masked_m": rows,
	"num_token_non_padded": rows,
}

// integer tells whether a dtype holds indices.
func integer(dtype string) bool { return dtype == bench.I32 || dtype == bench.I64 }

func sortedTrue(set map[int]bool) []int {
	var out []int
	for n, in := range set {
		if in {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}
