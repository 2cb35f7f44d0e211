package dense

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// A prompt that is written into pages by the slots of a page table, and read back through that table, attends as it
// does without any cache: the operators' words fit together. Keys of fp8 caches are the written codes.
func TestWrittenThenReadIsRagged(t *testing.T) {
	for _, contract := range []string{"bf16", "fp8-kv"} {
		reqs := []req{{5, 5}, {9, 9}, {1, 1}}
		g := bench.Gen{
			Rand:     suite.Rand("dense/chain/" + contract),
			Shape:    shape("odd", 0, reqs...),
			Contract: numerics.Contract{Name: contract},
		}
		ragged, err := drawGQA(g)
		require.NoError(t, err)
		tokens := running(reqs, keys)[len(reqs)]
		delete(ragged.Operands, "workspace")

		table := drawn(t, bench.Gen{Rand: g.Rand, Shape: shape("mha", 4, reqs...)}, drawPageTable)
		pages := evaluate(t, "page_table", contract, table)
		pool := 0
		for _, id := range pages["page_table"] {
			pool = max(pool, int(id)+1)
		}
		write := bench.Problem{
			Attrs: bench.Attrs{"page_size": 4.0, "k_scale": ragged.Attrs["k_scale"], "v_scale": ragged.Attrs["v_scale"]},
			Operands: map[string]bench.Operand{
				"slot_mapping": {DType: bench.I32, Shape: []int{tokens}, Values: pages["slot_mapping"]},
			},
			Outputs: map[string]bench.Output{},
		}
		for _, half := range []string{"k", "v"} {
			o := pick(ragged.Operands[half], upTo(tokens))
			cache := o.DType
			if o.DType == bench.E4M3 { // what was meant to be stored, before the scale
				o.DType = bench.F32
				for i := range o.Values {
					o.Values[i] = bench.Round(bench.F32, o.Values[i]*ragged.Attrs.Num(half+"_scale"))
				}
			}
			write.Operands[half] = o
			write.Outputs[half+"_cache"] = bench.Output{
				DType:   cache,
				Shape:   append([]int{pool, 4}, o.Shape[1:]...),
				Prefill: bench.PreNaN,
			}
		}
		caches := evaluate(t, "kv_write", contract, write)

		paged := ragged.Clone()
		for _, name := range []string{"k", "v", "kv_indptr"} {
			delete(paged.Operands, name)
		}
		for name, o := range write.Outputs {
			paged.Operands[name] = bench.Operand{DType: o.DType, Shape: o.Shape, Values: caches[name]}
		}
		paged.Attrs["page_size"] = 4.0
		ids := table.Outputs["page_table"].Shape
		paged.Operands["page_table"] = bench.Operand{DType: bench.I32, Shape: ids, Values: pages["page_table"]}
		paged.Operands["seq_lens"] = table.Operands["seq_lens"]
		want, got := evaluate(t, "gqa_attention", contract, ragged), evaluate(t, "gqa_attention", contract, paged)
		for _, name := range []string{"o", "lse"} {
			require.Equal(t, want[name], got[name], "%s under %s", name, contract)
		}
	}
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func drawn(t *testing.T, g bench.Gen, draw func(bench.Gen) (bench.Problem, error)) bench.Problem {
	t.Helper()
	p, err := draw(g)
	require.NoError(t, err)
	return p
}

// evaluate runs the built-in kernel of an operator.
func evaluate(t *testing.T, op, contract string, p bench.Problem) bench.Results {
	t.Helper()
	k, err := builtKernels(contract)
	require.NoError(t, err)
	out, err := k[op](p.Args())
	require.NoError(t, err)
	return out
}
