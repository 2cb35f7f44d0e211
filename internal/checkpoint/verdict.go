package checkpoint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/quant"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/safetensors"
)

// Format is one way in which weights of the checkpoint are stored.
type Format struct {
	Layout, Detail string
	Tensors        int    // of codes
	Bytes          int64  // with scales and what else belongs to them
	Why            string // why values were not examined; "" when they were
}

// tooMuch is the share of bytes not examined from which an examination is partial.
const tooMuch = 0.10

// Unexamined is the number of bytes whose values were not looked at.
func (r Report) Unexamined() int64 {
	n := int64(0)
	for _, f := range r.Formats {
		if f.Why != "" {
			n += f.Bytes
		}
	}
	return n
}

// Verdict is the exit code and the closing line that the findings amount to: 1 with a certain or likely one, 3 where
// nothing or not enough was examined, else 0.
func (r Report) Verdict() (suite.Code, string) {
	look := ""
	if n := r.Count(Look); n > 0 {
		look = fmt.Sprintf(", %d worth a look", n)
	}
	if bad := r.Count(Certain) + r.Count(Likely); bad > 0 {
		first := r.Findings[0]
		return suite.Regression, fmt.Sprintf("fault: %d certain, %d likely%s; first: %s", r.Count(Certain), r.Count(Likely),
			look, first.Text)
	}
	left := r.Unexamined()
	switch {
	case r.Tensors == 0 || r.Bytes == 0:
		return suite.Inconclusive, "nothing was examined: the checkpoint has no tensor data"
	case float64(left) > tooMuch*float64(r.Bytes):
		return suite.Inconclusive, fmt.Sprintf("partial: the values of %.0f %% of the bytes were not examined (%s)%s",
			100*float64(left)/float64(r.Bytes), r.reasons(), look)
	case left > 0:
		return suite.Pass, fmt.Sprintf("no fault found; not examined: %s%s", r.reasons(), look)
	}
	return suite.Pass, "no fault found" + look
}

func (r Report) reasons() string {
	var out []string
	for _, f := range r.Formats {
		if f.Why != "" && !slices.Contains(out, f.Why) {
			out = append(out, f.Why)
		}
	}
	return strings.Join(out, "; ")
}

// size says how many tensors there are, and how many there should be.
func (r Report) size() string {
	s := fmt.Sprintf("%d in %d shards", r.Tensors, r.Shards)
	if r.Expected > 0 {
		s += fmt.Sprintf("; the config calls for %d", r.Expected)
	}
	return s
}

// formats counts how weights are stored.
func (p *patient) formats() []Format {
	type key struct{ layout, detail, why string }
	byKey := map[key]*Format{}
	for _, t := range p.tensors {
		of := t
		if t.of != nil {
			of = t.of
		}
		k := key{layout: quant.Plain, detail: string(of.info.DType)}
		switch w := of.weight; {
		case w != nil:
			k.layout, k.detail = w.Layout, w.Detail
		case of.part != quant.None || isFloat(of.info.DType):
		case len(of.faults) > 0:
			k.layout, k.why = "unreadable", "weights whose scales are missing or misshapen"
		case p.plan.Refused != "" && !isTable(of):
			k.layout, k.why = "unsupported", p.plan.Refused
		case isTable(of):
			k.layout = "table"
		default:
			k.layout, k.why = "unknown", fmt.Sprintf("%s tensors that nothing says how to read", of.info.DType)
		}
		f := byKey[k]
		if f == nil {
			f = &Format{Layout: k.layout, Detail: k.detail, Why: k.why}
			byKey[k] = f
		}
		if of == t {
			f.Tensors++
		}
		f.Bytes += t.info.Size
	}
	var out []Format
	for _, f := range byKey {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b Format) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Layout, b.Layout), cmp.Compare(a.Detail, b.Detail),
			cmp.Compare(a.Why, b.Why))
	})
	return out
}

// isTable tells a tensor of integers that is no weight: a routing table, position ids, a mask, a vector, a few bytes.
func isTable(t *tensor) bool {
	if t.info.Size < 4096 || len(t.info.Shape) < 2 {
		return true
	}
	switch t.info.DType {
	case safetensors.I64, safetensors.U64, safetensors.Bool:
		return true
	}
	return slices.ContainsFunc([]string{"mask", "index", "_ids", "tid2eid"}, func(s string) bool {
		return strings.Contains(t.stored, s)
	})
}
