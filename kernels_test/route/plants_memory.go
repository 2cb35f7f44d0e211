package route

import (
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// memoryPlants are faults of what is read or written.
func memoryPlants() []bench.Plant {
	var out []bench.Plant
	add := func(name, op, effect, origin, class string, wrap func(bench.Candidate) bench.Candidate) {
		out = append(out, bench.Plant{
			Name:   name,
			Effect: effect,
			Origin: origin,
			Class:  class,
			On:     []string{op},
			Build: func(c string) (bench.Candidate, error) {
				under, err := built(c)
				return wrap(under), err
			},
		})
	}
	for _, s := range []struct {
		short, op       string
		strided, beyond []string
		over            string
	}{
		{"gate", opGate, []string{"logits"}, []string{"logits", "bias"}, "logits"},
		{"hash", opHash, []string{"logits", "tid2eid"}, []string{"logits"}, "logits"},
		{"combine", opCombine, []string{"expert_out", "shared_out"}, []string{"shared_out"}, "shared_out"},
	} {
		for _, operand := range s.strided {
			add(slug("%s-%s-stride-ignored", s.short, hyphens[operand]), s.op,
				"the rows of "+operand+" are taken to lie without gaps", "a view treated as contiguous", "strides",
				func(c bench.Candidate) bench.Candidate {
					return bench.Before(c, bench.StrideIgnored(operand))
				})
		}
		for _, operand := range s.beyond {
			add(slug("%s-reads-past-%s", s.short, hyphens[operand]), s.op, "a row past "+operand+" enters, times 0",
				"a last tile masked by a product", "unread-memory", func(c bench.Candidate) bench.Candidate {
					return bench.Before(c, func(call *bench.Call) {
						if v, has := call.Views[operand]; has && v.Len() > 0 {
							bench.RowsBeyondMasked(operand)(call)
						}
					})
				})
		}
		add(s.short+"-last-tile", s.op, "tokens of a last tile that is not full, tile 64, are never written",
			"grid rounded down", "unwritten", func(c bench.Candidate) bench.Candidate {
				return bench.After(c, bench.LastTileUnwritten(64))
			})
		add(s.short+"-in-place", s.op, "the call writes into "+s.over, "scratch in an operand", "input-overwritten",
			func(c bench.Candidate) bench.Candidate {
				return bench.After(c, func(call bench.Call, _ *bench.Reply) {
					if v, has := call.Views[s.over]; has {
						v.Each(func(_, at int) { call.Storage[v.Storage].Data[at] = 0.125 })
					}
				})
			})
	}
	for name, operand := range map[string]string{
		"gate": "num_token_non_padded", "hash": "token_ids", "combine": "src2dst",
	} {
		op := map[string]string{"gate": opGate, "hash": opHash, "combine": opCombine}[name]
		add(name+"-captured-"+hyphens[operand], op, "a replayed graph keeps the "+operand+" that it was captured with",
			"host values baked into a graph", "graph", func(c bench.Candidate) bench.Candidate {
				return bench.Before(c, func(call *bench.Call) {
					if call.CaptureWith != nil {
						call.Storage[operand+"_storage"] = call.CaptureWith.Storage[operand+"_storage"]
					}
				})
			})
	}
	slices.SortFunc(out, func(a, b bench.Plant) int { return strings.Compare(a.Name, b.Name) })
	return out
}

var hyphens = map[string]string{
	"num_token_non_padded": "count", "token_ids": "ids", "src2dst": "rows", "logits": "logits", "bias": "bias",
	"tid2eid": "table", "expert_out": "experts", "shared_out": "shared",
}
