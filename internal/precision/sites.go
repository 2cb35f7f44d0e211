package precision

import (
	"fmt"
	"strings"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// mix measures one hyper-connection: the mixing GEMM, and the gates that it becomes.
func (m *meter) mix(canon string) ([]Row, error) {
	h, err := m.readMix(canon)
	if err != nil {
		return nil, err
	}
	stem := strings.TrimSuffix(canon, "_fn")
	name := "model.hc_head.in.0"
	switch {
	case strings.HasSuffix(stem, "hc_attn"):
		name = module(canon, "attn_hc.in.0")
	case strings.HasSuffix(stem, "hc_ffn"):
		name = module(canon, "ffn_hc.in.0")
	}
	x, _ := m.enters(canon, name, h.fn.Cols, m.o.Tokens).sample(m.o.Tokens)
	return m.products(canon, Mix, x, h.fn, func(_ Path, out product, r *Row) error {
		got, want := h.gates(x, out.got), h.gates(x, out.want)
		for i, gate := range []string{"max-abs-pre", "max-abs-post", "max-abs-comb"} {
			if len(want[i].Data) > 0 {
				r.Numbers[gate] = numerics.MaxAbs(got[i].Data, want[i].Data)
			}
		}
		return nil
	})
}

// hyper is one hyper-connection's weights.
type hyper struct {
	fn          oracle.Mat
	scale, base []float64
	cfg         oracle.HCConfig
	head        bool
}

func (m *meter) readMix(canon string) (hyper, error) {
	stem := strings.TrimSuffix(canon, "fn")
	h := hyper{cfg: m.set.hc, head: strings.HasSuffix(stem, "hc_head_")}
	var err error
	if h.fn, err = m.all(canon); err != nil {
		return h, err
	}
	scale, err := m.all(stem + "scale")
	if err != nil {
		return h, err
	}
	base, err := m.all(stem + "base")
	if err != nil {
		return h, err
	}
	h.scale, h.base = scale.Data, base.Data
	h.cfg.Streams = streams(h.fn.Rows, h.fn.Cols, h.head)
	wantScale := 3
	if h.head {
		wantScale = 1
	}
	if h.cfg.Streams == 0 || len(h.scale) != wantScale || len(h.base) != h.fn.Rows {
		return h, fmt.Errorf("%s: [%d, %d] with %d scales and %d bases is no hyper-connection of n streams, (2+n)n rows",
			canon, h.fn.Rows, h.fn.Cols, len(h.scale), len(h.base))
	}
	return h, nil
}

// gates are pre, post and comb after sigmoid and Sinkhorn, evaluated in float64: the GEMM alone differs. The head has
// pre only.
func (h hyper) gates(x, gemm oracle.Mat) [3]oracle.Mat {
	mixes := oracle.HCMixWith(func(oracle.Mat, oracle.Mat) oracle.Mat { return gemm.Clone() })(x, h.fn, h.cfg.NormEps)
	if h.head {
		return [3]oracle.Mat{oracle.HCHead(mixes, h.scale[0], h.base, h.cfg.Eps)}
	}
	pre, post, comb := oracle.HCSplit(mixes, h.scale, h.base, h.cfg)
	return [3]oracle.Mat{pre, post, comb}
}

// routeTokens is how many tokens flips are counted on where states are drawn.
const routeTokens = 256

// gate measures one router: the gate's GEMM with the choice of experts, and the bias in fewer bits.
func (m *meter) gate(canon string) ([]Row, error) {
	w, err := m.all(canon)
	if err != nil {
		return nil, err
	}
	stem := strings.TrimSuffix(canon, "weight")
	bias, err := m.optional(stem + "bias")
	if err != nil {
		return nil, err
	}
	hashed := m.has(stem + "tid2eid")
	in := m.enters(canon, module(canon, "post_attention_layernorm.out"), w.Cols, routeTokens)
	x, _ := in.sample(m.o.Tokens)
	many, _ := in.sample(routeTokens)
	exact := oracle.Linear(many, w)
	chosen, err := m.set.experts(exact, bias.Data)
	if err != nil {
		return nil, err
	}
	rows, err := m.products(canon, Gate, x, w, func(p Path, _ product, r *Row) error {
		logits, err := p.quick(many, w)
		if err != nil {
			return err
		}
		r.Numbers["max-abs-weight"] = m.set.scoreChange(logits, exact)
		if hashed {
			r.Note = "routed by token id: the gate only weights"
			return nil
		}
		got, err := m.set.experts(logits, bias.Data)
		r.Numbers["flips"] = flips(got, chosen)
		return err
	})
	if err != nil || len(bias.Data) == 0 || hashed {
		return rows, err
	}
	for _, f := range []format.Format{format.TF32, format.BF16, format.E4M3FN} {
		rounded := append([]float64(nil), bias.Data...)
		f.RoundSlice(rounded)
		got, err := m.set.experts(exact, rounded)
		if err != nil {
			return nil, err
		}
		name := stem + "bias"
		rows = append(rows, Row{Tensor: name, Kind: Bias, Path: f.Name, Layer: layerOf(name), Numbers: suite.Numbers{
			"rel-l2": numerics.RelL2(rounded, bias.Data), "flips": flips(got, chosen),
		}, Note: "rounded without scales"})
	}
	return rows, nil
}
