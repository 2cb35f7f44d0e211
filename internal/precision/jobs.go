package precision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/oracle"
)

// kindOf tells the role of a tensor by its canonical name; ok is false for tensors that are not examined by themselves.
func kindOf(canon string) (Kind, bool) {
	switch {
	case strings.HasSuffix(canon, "hc_attn_fn"), strings.HasSuffix(canon, "hc_ffn_fn"),
		strings.HasSuffix(canon, "hc_head_fn"):
		return Mix, true
	case strings.HasSuffix(canon, "ffn.gate.weight"):
		return Gate, true
	case strings.HasSuffix(canon, "ffn.gate.bias"):
		return Bias, true
	}
	_, tail, found := strings.Cut(canon, ".attn.indexer.")
	if found && slices.Contains(indexNames, tail) {
		return Index, true
	}
	return "", false
}

// indexNames are an indexer's projections, V4's and V3.2's.
var indexNames = []string{
	"wq_b.weight", "weights_proj.weight", "compressor.wkv.weight", "compressor.wgate.weight", "wk.weight",
}

// jobs lists the steps: each hyper-connection, gate and indexer, then all layers together, then the base.
func (m *meter) jobs() ([]job, error) {
	var out []job
	var indexers []string
	for _, canon := range m.names {
		kind, ok := kindOf(canon)
		if !ok {
			continue
		}
		rows, cols, ok := m.shape(canon)
		if !ok {
			return nil, fmt.Errorf("precision: %s is neither a vector nor a matrix; the checkpoint doctor says what it should "+
				"be", canon)
		}
		switch kind {
		case Mix:
			out = append(out, job{
				canon, emulated * float64(rows*cols*m.o.Tokens), func(context.Context) ([]Row, error) { return m.mix(canon) },
			})
		case Gate:
			out = append(out, job{
				canon, float64(rows*cols) * (emulated*float64(m.o.Tokens) + 6*routeTokens*summed),
				func(context.Context) ([]Row, error) {
					return m.gate(canon)
				},
			})
		case Index:
			prefix, _, _ := strings.Cut(canon, ".attn.indexer.")
			if prefix += ".attn.indexer."; !slices.Contains(indexers, prefix) {
				indexers = append(indexers, prefix)
			}
		}
	}
	slices.SortStableFunc(indexers, func(a, b string) int { return layerOf(a) - layerOf(b) })
	mixes := func(n string) bool { return strings.HasSuffix(n, "hc_attn_fn") }
	if len(indexers) == 0 && !slices.ContainsFunc(m.names, mixes) {
		out = append(out, m.plainJobs()...)
	}
	out = append(out, m.indexJobs(indexers)...)
	out = append(out, m.stackJobs()...)
	if m.o.Base != nil {
		jobs, err := m.baseJobs()
		if err != nil {
			return nil, err
		}
		out = append(out, jobs...)
	}
	if len(out) == 0 {
		return nil, ErrNothing
	}
	return out, nil
}

// ErrNothing says that a checkpoint has no tensor that this package examines.
var ErrNothing = errors.New("precision: the checkpoint has no mHC mix, indexer, router, norm or head by any known " +
	"name, and no base was given: nothing to measure")

// module is the name of Hugging Face's module for a layer's states.
func module(canon, rest string) string {
	return fmt.Sprintf("model.layers.%d.%s", layerOf(canon), rest)
}

// states finds or draws what enters a tensor.
func (m *meter) enters(canon, name string, cols, n int) site {
	if strings.HasPrefix(canon, "mtp.") { // a trace's layers are the main ones
		name = canon
	}
	s := m.states.at(name, cols, n)
	if len(m.states.passes) > 0 && !s.captured {
		m.note("%s was not captured in rows of %d: the states of %s are drawn", name, cols, canon)
	}
	return s
}

// products runs every path on one tensor and gives its rows; effect, which may be nil, adds to a row what the product
// does.
func (m *meter) products(canon string, kind Kind, x, w oracle.Mat,
	effect func(p Path, got product, r *Row) error,
) ([]Row, error) {
	fp32, err := Paths()[0].Contract.GemmBounds(x.Data, w.Data, x.Rows, w.Rows, x.Cols, risk)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", canon, err)
	}
	var rows []Row
	for _, p := range Paths() {
		if strings.Contains(p.W, "fp4") && w.Cols%2 != 0 {
			m.note("%s has %d columns, which do not fill whole bytes of fp4 codes: no path %s", canon, w.Cols, p.Name)
			continue
		}
		got, err := p.product(canon, m.o.Candidate, x, w, fp32)
		if err != nil {
			return nil, err
		}
		r := Row{Tensor: canon, Kind: kind, Path: p.Name, Layer: layerOf(canon), Verdict: got.verdict, Numbers: suite.Numbers{
			"rel-l2": got.relL2, "rho": got.rho, "rho-fp32": got.beyond,
		}}
		if effect != nil {
			if err := effect(p, got, &r); err != nil {
				return nil, fmt.Errorf("%s: %w", canon, err)
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}
