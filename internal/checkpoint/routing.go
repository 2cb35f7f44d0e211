package checkpoint

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/assay-suite/assay/safetensors"
)

// tables checks every tid2eid: the experts of each token id exist, and none is named twice in a row.
func (p *patient) tables(ctx context.Context) error {
	for _, t := range p.tensors {
		if !strings.HasSuffix(t.canon, ".ffn.gate.tid2eid") || len(t.info.Shape) != 2 {
			continue
		}
		if d := t.info.DType; d != safetensors.I64 && d != safetensors.I32 {
			continue // its dtype has been blamed
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.table(t); err != nil {
			return err
		}
	}
	return nil
}

// experts is how many routed experts the layer of a tensor has: the rows of its gate.
func (p *patient) experts(t *tensor) int {
	gate := p.byCanon[strings.TrimSuffix(t.canon, "tid2eid")+"weight"]
	switch {
	case gate != nil && len(gate.info.Shape) == 2:
		return gate.info.Shape[0]
	case p.config != nil:
		return p.config.Experts
	}
	return 0
}

func (p *patient) table(t *tensor) error {
	n, k := p.experts(t), t.info.Shape[1]
	if n == 0 || k == 0 {
		return nil
	}
	var outside, repeats int
	var firstOut, firstRep [2]int64 // token, expert
	const rows = 1 << 14
	for from := 0; from < t.info.Shape[0]; from += rows {
		raw, err := t.file.Rows(t.stored, from, min(from+rows, t.info.Shape[0]))
		if err != nil {
			return err
		}
		ids := wholes(raw, t.info.DType)
		for i, id := range ids {
			token := int64(from + i/k)
			if id < 0 || id >= int64(n) {
				if outside++; outside == 1 {
					firstOut = [2]int64{token, id}
				}
			}
			if slices.Contains(ids[i-i%k:i], id) {
				if repeats++; repeats == 1 {
					firstRep = [2]int64{token, id}
				}
			}
		}
	}
	if outside > 0 {
		p.add(Certain, KindTableRange, []string{t.stored}, "%s routes %d entries outside the %d experts, first token id %d "+
			"to expert %d; fetch or convert the table again", t.stored, outside, n, firstOut[0], firstOut[1])
	}
	if repeats > 0 {
		p.add(Certain, KindTableRepeat, []string{t.stored}, "%s names an expert twice for one token in %d places, first "+
			"token id %d and expert %d: the token would see %d experts instead of %d; fetch or convert the table again",
			t.stored, repeats, firstRep[0], firstRep[1], k-1, k)
	}
	return nil
}

func wholes(raw []byte, d safetensors.DType) []int64 {
	w := d.Bits() / 8
	out := make([]int64, len(raw)/w)
	for i := range out {
		if w == 8 {
			out[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]))
		} else {
			out[i] = int64(int32(binary.LittleEndian.Uint32(raw[4*i:])))
		}
	}
	return out
}
