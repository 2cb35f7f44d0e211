package compressor

import "github.com/assay-suite/assay/kernels_test/bench"

// memoryPlants read what is not theirs, ignore a layout, leave elements unwritten, or write into inputs.
func memoryPlants() []bench.Plant {
	seeing := func(on []string, name, class, effect, origin string, f func(c *bench.Call)) bench.Plant {
		return bench.Plant{
			Name: name, Class: class, Effect: effect, Origin: origin, On: on, Build: bench.Builder(built).Before(f),
		}
	}
	after := func(on []string, name, class, effect, origin string, f func(c bench.Call, r *bench.Reply)) bench.Plant {
		return bench.Plant{
			Name: name, Class: class, Effect: effect, Origin: origin, On: on, Build: bench.Builder(built).After(f),
		}
	}
	return []bench.Plant{
		seeing(both, "kv-stride-ignored", "strides", "the rows of values are taken to lie without gaps",
			"a view treated as contiguous", bench.StrideIgnored("kv")),
		seeing(both, "gate-has-kv-strides", "strides", "gates are read with the strides and offset of the values",
			"local-inference-lab/vllm#17", func(c *bench.Call) {
				v, kv := c.Views["gate"], c.Views["kv"]
				v.Strides, v.Offset = kv.Strides, kv.Offset
				c.Views["gate"] = v
			}),
		seeing(both, "ape-stride-ignored", "strides", "the rows of the bias are taken to lie without gaps",
			"a view treated as contiguous", bench.StrideIgnored("ape")),
		seeing(carried, "state-stride-ignored", "strides", "the pool of values is taken to lie without gaps",
			"a pool with room between slots", bench.StrideIgnored("state_kv")),
		seeing(carried, "slot-offset-ignored", "strides", "slots are read from the start of their storage",
			"a slice of a metadata buffer", bench.OffsetIgnored("slot")),
		seeing(both, "rows-beyond-masked", "unread-memory", "the first token adds the row after the last one, times 0",
			"partial tile of tokens read whole", bench.RowsBeyondMasked("kv")),
		seeing(carried, "other-slots-masked", "unread-memory", "every slot's last row adds the next slot's first one, "+
			"times 0", "states gathered by a one-hot product", func(c *bench.Call) {
			v := c.Views["state_gate"]
			data := c.Storage[v.Storage].Data
			for s := range v.Shape[0] - 1 {
				at := v.Offset + s*v.Strides[0]
				for row := range v.Shape[1] {
					data[at+row*v.Strides[1]] += 0 * data[at+v.Strides[0]]
				}
			}
		}),
		seeing(both, "sequences-aligned", "batch", "sequences are taken to begin at multiples of the ratio",
			"tiles that are cut without the ends of sequences", func(c *bench.Call) {
				v := c.Views["cu_seqlens"]
				data, r := c.Storage[v.Storage].Data, c.Attrs.Int("ratio")
				v.Each(func(_, at int) { data[at] -= float64(int(data[at]) % r) })
			}),
		seeing(carried, "captured-slots", "graph", "a replayed graph keeps the slots that it was captured with",
			"metadata baked into a launch: sgl-project/sglang#9675", bench.StaleCapture("slot")),
		after(both, "last-tile-unwritten", "unwritten", "rows of a last tile of 4 that is not full are never written",
			"grid rounded down", bench.LastTileUnwritten(4)),
		after(carried, "state-in-place", "input-overwritten", "the new state is written into the pool that was passed in",
			"an in-place update declared pure", func(c bench.Call, _ *bench.Reply) {
				v := c.Views["state_kv"]
				if v.Len() > 0 {
					c.Storage[v.Storage].Data[v.Offset] = 0.5
				}
			}),
		after(both, "bias-in-place", "input-overwritten", "the bias is added to the gates in place", "an in-place epilogue",
			func(c bench.Call, _ *bench.Reply) {
				v := c.Views["gate"]
				if v.Len() > 0 {
					c.Storage[v.Storage].Data[v.Offset]++
				}
			}),
		after(carried, "states-by-slot", "paging", "new states are returned in the order of slots",
			"output indexed by slot", func(c bench.Call, r *bench.Reply) {
				s := r.Outputs["new_state_kv"]
				rows := c.Outputs["new_state_kv"].Shape[0]
				if rows < 2 {
					return
				}
				size := len(s.Data) / rows
				for i := range size {
					s.Data[i], s.Data[size+i] = s.Data[size+i], s.Data[i]
				}
			}),
	}
}
